"""Expressions of the claims' order data, parsed once and evaluated over whatever their names stand for."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from spec.claims import Relation
from spec.errors import InvalidInputError
from verify.proofs.orders.order import ONE, ZERO, Order

_RULE = "must be made of names, 0, 1, + * / ^ and parentheses"
_COMPARISON = re.compile(r"\s*(<=|>=)\s*")


def evaluate(text: str, lookup: Callable[[str, Relation], Order], side: Relation = "upper") -> Order:
    """The order of an expression as a bound from one side; a divisor is bounded from the other.

    Refused if the expression is malformed; there is no order if a bound it needs is not available.
    """
    return _order(parse(text), lookup, side)


def names_in(text: str) -> tuple[str, ...]:
    """The names an expression uses, in order of appearance."""
    names = [node for node in ast.walk(parse(text)) if isinstance(node, ast.Name)]
    return tuple(dict.fromkeys(node.id for node in sorted(names, key=lambda node: node.col_offset)))


def split(text: str) -> tuple[str, str]:
    """The larger and the smaller side of an inequality, which has exactly one ``<=`` or ``>=``."""
    parts = _COMPARISON.split(text.strip())
    if len(parts) != 3:
        raise InvalidInputError("inequality", "must have the form A <= B or A >= B", text)
    left, sign, right = parts
    return (right, left) if sign == "<=" else (left, right)


@lru_cache(maxsize=1024)
def parse(text: str) -> ast.expr:
    """The expression as a tree of a few kinds of nodes, refused if it holds others; ``^`` is a power."""
    try:
        tree = ast.parse(text.replace("^", "**"), mode="eval").body
        _order(tree, lambda _name, _side: ONE, "upper")
    except SyntaxError:
        raise InvalidInputError("expression", _RULE, text) from None
    except InvalidInputError as error:
        raise InvalidInputError("expression", error.rule, text) from None
    return tree


def _order(node: ast.expr, lookup: Callable[[str, Relation], Order], side: Relation) -> Order:
    other: Relation = "lower" if side == "upper" else "upper"
    match node:
        case ast.Name(id=name):
            return lookup(name, side)
        case ast.Constant(value=0 | 1 as value):
            return ONE if value else ZERO
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _order(left, lookup, side) + _order(right, lookup, side)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _order(left, lookup, side) * _order(right, lookup, side)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _order(left, lookup, side) * _order(right, lookup, other).power(Fraction(-1))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            exponent = _number(right)
            if exponent is None:
                raise InvalidInputError("expression", "must have numbers as powers")
            return _order(left, lookup, side if exponent >= 0 else other).power(exponent)
    raise InvalidInputError("expression", _RULE)


def _number(node: ast.expr) -> Fraction | None:
    match node:
        case ast.Constant(value=int() as value):
            return Fraction(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _number(operand)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            top, bottom = _number(left), _number(right)
            return None if top is None or not bottom else top / bottom
    return None
