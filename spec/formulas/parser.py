"""A formula's text, read by Python's own grammar into the typed tree: a closed list of names, and nothing is evaluated.

``^`` is a power (Python's binds looser than ``+``, so it becomes ``**`` before parsing), ``@`` a product of matrices,
``.T`` a transpose, ``v[active]`` the rows of a set, ``v * w`` of two vectors their product entry by entry; ``O(...)``,
``Omega(...)`` and ``Theta(...)`` stand on the right of ``<=``, ``>=`` and ``==``. ``observed("words")`` is a number
that a check brings: of the program under test, of a law or a run, or of what was read.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from fractions import Fraction

from spec.errors import InvalidInputError
from spec.formulas.signatures import SIGNATURES, is_matrix, is_vector
from spec.formulas.tree import ORDERS, ROW_SETS, ROWS, TRUTH, Node, Quantity, Shape, exponent_of, shape_words

MOST_POWER = 64
"""Largest exponent that is read: larger ones make numbers that no place can be asked with."""
MOST_DIGITS = 60
MOST_LETTERS = 2000
"""Longest formula that is read: Python's parser recurses."""

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.Pow: "^",
}  # fmt: skip
_RELATIONS: dict[type[ast.cmpop], str] = {ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "==", ast.Lt: "<", ast.Gt: ">"}


class Reader:
    """Reads formulas over a table of quantities; ``arguments`` are those of the definition that is read."""

    def __init__(self, table: Mapping[str, Quantity], where: str, arguments: Mapping[str, Shape] | None = None) -> None:
        self._table, self._where, self._arguments = table, where, arguments or {}
        self._text = ""

    def read(self, text: str) -> Node:
        """The tree of a formula of any shape."""
        if len(text) > MOST_LETTERS:
            raise self.refused(f"must have at most {MOST_LETTERS} letters", len(text))
        self._text = " ".join(text.replace("^", "**").split())
        try:
            return self._node(ast.parse(self._text, mode="eval").body)
        except SyntaxError as error:
            raise self.refused(f"is no formula ({error.msg})", text.strip()) from None
        except (RecursionError, MemoryError, ValueError) as error:
            if isinstance(error, InvalidInputError):
                raise
            raise self.refused(
                "is no formula (nested too deeply, or a character that none has)", text.strip()[:60]
            ) from None

    def refused(self, rule: str, value: object = "") -> InvalidInputError:
        """One line: where, rule, value."""
        return InvalidInputError(self._where, rule, value)

    def _node(self, tree: ast.expr) -> Node:
        match tree:
            case ast.Constant(value=int() | float()) if not isinstance(tree.value, bool):
                # As it is written: what Python read is a double.
                written = ast.get_source_segment(self._text, tree) or ""
                return Node("number", str(self._number(written)), (), ())
            case ast.Name():
                return self._name(tree.id)
            case ast.Attribute(attr="T"):
                inner = self._node(tree.value)
                if not is_matrix(inner.shape):
                    raise self.refused(".T must be of a matrix", shape_words(inner.shape))
                return Node("transpose", "T", (inner,), inner.shape[::-1])
            case ast.UnaryOp(op=ast.USub()):
                inner = self._node(tree.operand)
                if inner.shape and not (is_vector(inner.shape) or is_matrix(inner.shape)):
                    raise self.refused("- must be of a number, vector or matrix", shape_words(inner.shape))
                return Node("negative", "-", (inner,), inner.shape)
            case ast.BinOp(op=operator) if type(operator) in _BINARY:
                return self._binary(_BINARY[type(operator)], self._node(tree.left), self._node(tree.right))
            case ast.Subscript(slice=ast.Name(id=rows)) if rows in ROW_SETS:
                inner = self._node(tree.value)
                if inner.shape[:1] != ("p",):
                    raise self.refused(f"takes rows [{rows}] of what has none", ast.unparse(tree))
                return Node("select", rows, (inner,), (rows, *inner.shape[1:]))
            case ast.Compare(ops=[relation], comparators=[right]) if type(relation) in _RELATIONS:
                return self._relation(_RELATIONS[type(relation)], self._node(tree.left), self._node(right))
            case ast.BoolOp():
                parts = tuple(self._node(part) for part in tree.values)
                for part in parts:
                    if part.shape != TRUTH:
                        raise self.refused("and, or must join statements", shape_words(part.shape))
                return Node("logic", "and" if isinstance(tree.op, ast.And) else "or", parts, TRUTH)
            case ast.Call(func=ast.Name(id="observed"), args=[ast.Constant(value=str() as words)], keywords=[]):
                return Node("observed", words.replace("**", "^"), (), ())
            case ast.Call(func=ast.Name(id=name), keywords=[]):
                return self._call(name, tuple(self._node(part) for part in tree.args))
        raise self.refused("uses what the language has not", ast.unparse(tree))

    def _number(self, written: str) -> Fraction:
        if len(written) > MOST_DIGITS or len(written.lower().partition("e")[2]) > 3:
            raise self.refused(f"must have numbers of at most {MOST_DIGITS} digits, powers of ten of two", written)
        try:
            return Fraction(written.replace("_", ""))
        except ValueError:
            raise self.refused("must have decimal numbers", written) from None

    def _name(self, name: str) -> Node:
        if name in self._arguments:
            return Node("argument", name, (), self._arguments[name])
        if name in ROW_SETS:
            return Node("rows", name, (), ROWS)
        quantity = self._table.get(name)
        if quantity is None:
            raise self._unknown("names an unknown quantity", name)
        if quantity.arguments:
            raise self.refused(f"needs arguments ({', '.join(quantity.local)})", name)
        return Node("quantity", name, (), quantity.shape)

    def _unknown(self, rule: str, name: str) -> InvalidInputError:
        near = difflib.get_close_matches(name, [*self._table, *self._arguments, *ROW_SETS, *SIGNATURES], 1)
        return self.refused(rule + (f"; did you mean {near[0]}?" if near else ""), name)

    def _binary(self, operator: str, a: Node, b: Node) -> Node:
        s, t = a.shape, b.shape
        plain = [not shape or is_vector(shape) or is_matrix(shape) for shape in (s, t)]
        if not all(plain):
            raise self.refused(f"applies {operator} to what is no number, vector or matrix")
        if operator in "+-" and s == t:
            return Node("binary", operator, (a, b), s)
        if operator == "*" and (not s or not t or (s == t and len(s) == 1)):
            return Node("binary", operator, (a, b), s or t)
        if operator == "/" and not t:
            return Node("binary", operator, (a, b), s)
        if operator == "@" and s and t and s[-1] == t[0]:
            return Node("binary", operator, (a, b), s[:-1] + t[1:])
        if operator == "^" and not s and _is_exponent(b):
            return Node("binary", operator, (a, b), ())
        raise self.refused(
            f"applies {operator} to shapes that do not fit", f"{shape_words(s)} {operator} {shape_words(t)}"
        )

    def _relation(self, relation: str, a: Node, b: Node) -> Node:
        if b.is_order:
            if a.shape or ORDERS[b.name] != relation:
                rule = f"must hold a number {ORDERS[b.name]} {b.name}(...)"
                raise self.refused(rule, f"{shape_words(a.shape)} {relation} {b.name}(...)")
            return Node("relation", relation, (a, b), TRUTH)
        if is_vector(a.shape) and not b.shape:
            return Node("relation", relation, (a, b), (a.shape[0], *TRUTH))  # every entry against a number
        if a.shape != b.shape or not (not a.shape or is_vector(a.shape) or is_matrix(a.shape)):
            raise self.refused(
                f"compares shapes that do not fit by {relation}",
                f"{shape_words(a.shape)} {relation} {shape_words(b.shape)}",
            )
        return Node("relation", relation, (a, b), TRUTH)

    def _call(self, name: str, args: tuple[Node, ...]) -> Node:
        shapes = tuple(a.shape for a in args)
        quantity = self._table.get(name)
        if quantity is not None and quantity.arguments:
            if shapes != tuple(quantity.local.values()):
                wanted = ", ".join(f"{word}: {shape_words(shape)}" for word, shape in quantity.arguments)
                raise self.refused(f"{name} must have ({wanted})", ", ".join(map(shape_words, shapes)) or "nothing")
            return Node("quantity", name, args, quantity.shape)
        if name not in SIGNATURES:
            raise self._unknown("calls an unknown function", name)
        out = SIGNATURES[name](shapes)
        if out is None:
            raise self.refused(f"{name} cannot take", ", ".join(map(shape_words, shapes)) or "nothing")
        return Node("function", name, args, out)


def _is_exponent(node: Node) -> bool:
    """Whether it is a rational constant, its denominator 1 or 2, of a size that is read."""
    if any(part.kind not in ("number", "negative", "binary") for part in node.walk()):
        return False
    if any(part.kind == "binary" and part.name != "/" for part in node.walk()):
        return False
    try:
        power = exponent_of(node)
    except ZeroDivisionError:
        return False
    return abs(power) <= MOST_POWER and power.denominator in (1, 2)
