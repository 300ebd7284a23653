"""The method's formulas written out: each line in terms of blocks and stage values, and as a sum of products."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from verify.method.lines import FORMULAS, Procedure

WEIGHTS = {"": "", "alpha_1": "α₁", "alpha_2": "α₂"}
"""What may stand in front of a product, in letters."""
LETTERS = {"y": "ỹ", "y_penalty": "ỹ", "y_star": "ỹ*", "lam": "λ̃", "rho": "ρ"}


@dataclass(frozen=True)
class Summand:
    """A product with its sign and its weight."""

    sign: int
    weight: str
    product: str
    shown: str

    @property
    def name(self) -> str:
        """In the paper's letters: ``−α₁g_xy ỹ*``."""
        return f"{'−' if self.sign < 0 else ''}{WEIGHTS[self.weight]}{self.shown}"

    @property
    def formula(self) -> str:
        """The whole of it."""
        weighed = f"{self.weight} * ({self.product})" if self.weight else self.product
        return f"-({weighed})" if self.sign < 0 else weighed


class _Written(ast.NodeTransformer):
    """Puts in the place of every line of a procedure what it is made of; weights stay."""

    def __init__(self, procedure: Procedure) -> None:
        self.lines = FORMULAS[procedure]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in WEIGHTS or self.lines.get(node.id, node.id) == node.id:
            return node
        return _parsed(self.lines[node.id], self)


def _parsed(formula: str, written: _Written) -> ast.expr:
    tree: ast.expr = written.visit(ast.parse(formula, mode="eval").body)
    return tree


@lru_cache
def written_out(procedure: Procedure, line: str) -> str:
    """A line over what its procedure is given: ``f_xx @ x + f_xy @ y_penalty + f_x``."""
    return ast.unparse(_parsed(FORMULAS[procedure][line], _Written(procedure)))


@lru_cache
def summands(procedure: Procedure, line: str) -> tuple[Summand, ...]:
    """A line as a sum; what is added and taken off is left out."""
    terms = [*_terms(ast.parse(written_out(procedure, line), mode="eval").body)]
    remaining = [(sign, w, node) for sign, w, node in terms if not any(
        (-sign, w, ast.unparse(node)) == (s, v, ast.unparse(other)) for s, v, other in terms)]  # fmt: skip
    return tuple(Summand(sign, weight, ast.unparse(node), _shown(node)) for sign, weight, node in remaining)


def _terms(node: ast.expr) -> Iterator[tuple[int, str, ast.expr]]:
    """Sign, weight and product of each term."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from ((-sign, weight, term) for sign, weight, term in _terms(node.operand))
    elif not isinstance(node, ast.BinOp):
        yield 1, "", node
    elif isinstance(node.op, ast.Add | ast.Sub):
        yield from _terms(node.left)
        turned = -1 if isinstance(node.op, ast.Sub) else 1
        yield from ((turned * sign, weight, term) for sign, weight, term in _terms(node.right))
    elif isinstance(node.left, ast.Name) and node.left.id in WEIGHTS:
        yield from ((sign, node.left.id, term) for sign, _, term in _terms(node.right))
    else:
        for sign, weight, term in _terms(node.right):
            yield sign, weight, ast.BinOp(node.left, node.op, term)


def _shown(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return LETTERS.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{_shown(node.value)}ᵀ"
    assert isinstance(node, ast.BinOp)  # products have no other nodes
    left, right = _shown(node.left), _shown(node.right)
    if isinstance(node.op, ast.Mult):
        return f"({left}∘{right})"
    return f"{left} {right}" if "_" in left and not left.endswith("ᵀ") else f"{left}{right}"
