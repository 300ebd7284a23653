"""Every quantity on the way to a stage's answer, by name: made from the method's own lines.

Of a line every part of its tree; of a sum every partial sum, with and without its weights, and as it is in an equation
multiplied by α² or α⁴; of a matrix times weighed rows each row's share; of a sum in y its slope.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from types import CodeType
from typing import Any

import numpy as np

from verify.method.lines import FORMULAS, Procedure
from verify.method.player import FUNCTIONS, Space
from verify.method.summands import LETTERS, WEIGHTS

GIVEN, PART, SUM, SCALED = range(4)
"""Kinds of names: what is handed over, a part of a line's tree, a partial sum, something multiplied by a number."""
GREEK = LETTERS | {
    "alpha": "α", "alpha_1": "α₁", "alpha_2": "α₂", "h_width": "the ramp's width in h", "h_star": "h(x, ỹ*)",
    "lam_width": "the ramp's width in λ", "eps_lam": "the ramp's width in λ", "ramp_constant": "τ", "sigma_f": "σ_f",
    "sigma_g": "σ_g", "step": "Δ_t", "x_next": "x_{t+1}", "eta": "η", "weights": "ρ", "y_0": "ỹ*", "y_free": "y_free",
    "ramp_h": "σ_h(h)", "ramp_lam": "σ_λ(λ̃)", "lam_W": "λ_W", "upper": "∇_y f", "lower": "(∇_y g − Bᵀλ̃)",
    "grad_f": "∇_x f(x, ỹ)", "grad_g": "∇_x g(x, ỹ)", "grad_g_star": "∇_x g(x, ỹ*)", "c": "(g_xyᵀx + g_y)",
    "r": "(Ax − b)",
}  # fmt: skip
"""Names of the lines as the paper writes them."""
TITLES: Mapping[tuple[Procedure, str], str] = {
    ("lagrangian", "upper"): "∇_y f", ("lagrangian", "lower"): "∇_y g − Bᵀλ̃",
    ("lagrangian", "gradient"): "the slope of line 5", ("line_6", "grad_f"): "∇_x f(x, ỹ)",
    ("line_6", "estimate"): "the estimate of line 6", ("lower_level", "c"): "g_xyᵀx + g_y",
    ("lower_level", "r"): "Ax − b", ("step", "v"): "Δ_t − η g_t",
    ("step", "step_next"): "Δ_{t+1} = clip_D(Δ_t − η g_t)",
    ("noise", "answer"): "the estimate with its noise",
}  # fmt: skip
"""What whole lines are called."""
MOST_TERMS = 9
"""Terms of a sum all of whose partial sums are made."""
POWERS = ((2, "α²"), (4, "α⁴"), (-2, "α⁻²"), (-4, "α⁻⁴"))


@dataclass(frozen=True, eq=False)
class Named:
    """A quantity.

    Args:
        name: In the paper's letters.
        value: A number, an array, a tuple of these, or one of the two kinds of lists below.
        kind: How it is made; the smaller, the plainer.
        terms: Of a sum its terms with their signs; empty for anything else.
    """

    name: str
    value: Any
    kind: int
    terms: frozenset[str] = frozenset()


class Each(list[Any]):
    """A quantity with another value each time that an expression is computed."""


class ByAnswers(list[Any]):
    """A quantity with another value after each answer of the oracle."""


@dataclass(frozen=True)
class SignedTerm:
    """A summand: its sign, its weight's name, its product, and the product as it is written."""

    sign: int
    weight: str
    node: ast.expr
    text: str


def named_of(
    procedure: Procedure, space: Space, lines: Sequence[str] | None = None, *, note: str = ""
) -> Iterator[Named]:
    """Parts and partial sums of a procedure's lines over a space that has its values."""
    for line, formula in FORMULAS[procedure].items():
        if lines is not None and line not in lines:
            continue
        title = TITLES.get((procedure, line), "")
        tree = ast.parse(formula, mode="eval").body
        for node in ast.walk(tree):
            if not isinstance(node, ast.expr) or isinstance(node, ast.Constant):
                continue
            value = value_of(node, space)
            if value is not None:
                is_given = isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) not in FORMULAS[procedure]
                if is_given and note:
                    continue
                kind = GIVEN if is_given else PART
                name = title if node is tree and title else spelt(node)
                yield Named(f"{name}{note}", value, kind)
        terms = terms_of(procedure, line)
        if len(terms) > 1:
            yield from sums(terms, space, title=title, note=note)


def sums(terms: Sequence[SignedTerm], space: Space, *, title: str = "", note: str = "") -> Iterator[Named]:
    """All partial sums; of those that carry one weight in common, without it too."""
    parts = [(term, value_of(term.node, space)) for term in terms]
    summands = [(term, value) for term, value in parts if value is not None and np.any(value)]
    for term, value in summands:
        yield Named(f"{term.text}{note}", value, PART)
        yield from _rows(term, space, note)
    shapes = {np.shape(value) for _, value in summands}
    if len(shapes) != 1 or len(summands) > MOST_TERMS:
        return
    weights = {name: space[name] if name else 1.0 for name in WEIGHTS if not name or name in space}
    whole = len(summands)
    for size in range(whole, 0, -1):
        for chosen in combinations(summands, size):
            is_next = all(summands.index(a) + 1 == summands.index(b) for a, b in pairwise(chosen))
            kind = PART if is_next and size > 1 else SUM
            of = {term.weight for term, _ in chosen}
            labels = frozenset(_signed(term, term.weight) for term, _ in chosen)
            value = sum(term.sign * weights[term.weight] * value for term, value in chosen)
            name = title if title and size == whole else _joined(labels, [t for t, _ in chosen])
            if size > 1 or of != {""} or chosen[0][0].sign < 0:
                yield Named(f"{name}{note}", value, kind, labels)
            if len(of) == 1 and of != {""} and size > 1:
                plain = sum(term.sign * value for term, value in chosen)
                bare = frozenset(_signed(term, "") for term, _ in chosen)
                yield Named(f"{_joined(bare, [t for t, _ in chosen], plain=True)}{note}", plain, kind, bare)


def scaled_by_alpha(named: Iterable[Named], alpha: float) -> Iterator[Named]:
    """The same times powers of α, as in an equation that was multiplied by one."""
    for one in named:
        if isinstance(one.value, np.ndarray) and one.kind in (PART, SUM):
            for power, sign in POWERS:
                yield Named(f"{sign}·({one.name})", alpha**power * one.value, SCALED)


def slopes(procedure: Procedure, line: str, space: Space, size: int) -> Iterator[Named]:
    """Matrices of a sum's terms in y, and their partial sums."""
    matrices = []
    weights = {name: space[name] if name else 1.0 for name in WEIGHTS}
    for term in terms_of(procedure, line):
        at_zero = value_of(term.node, _at(procedure, space, np.zeros(size)))
        units = [value_of(term.node, _at(procedure, space, unit)) for unit in np.eye(size)]
        matrix = np.array([unit - at_zero for unit in units]).T
        if np.any(matrix):
            matrices.append((term, matrix, _slope_name(term)))
    for count in range(1, len(matrices) + 1):
        for chosen in combinations(matrices, count):
            value = sum(term.sign * weights[term.weight] * matrix for term, matrix, _ in chosen)
            labels = frozenset(f"{WEIGHTS[term.weight]}{name}" for term, _, name in chosen)
            name = " + ".join(f"{WEIGHTS[term.weight]}{name}" for term, _, name in chosen)
            yield Named(name, value, PART, labels if count > 1 else frozenset())
            if count == 1:
                term, matrix, name = chosen[0]
                yield Named(name, np.sign(term.sign) * np.sign(1.0) * _positive(matrix), PART)


def _positive(matrix: Any) -> Any:
    return matrix if np.trace(matrix) >= 0 else -matrix


def _slope_name(term: SignedTerm) -> str:
    if isinstance(term.node, ast.BinOp) and isinstance(term.node.right, ast.Name):
        return spelt(term.node.left)
    return term.text.replace("(ρ∘h)", " diag(ρ) B")


def _at(procedure: Procedure, space: Space, y: Any) -> Space:
    """The space with another y, and the lines that depend on it."""
    moved_space = dict(space) | {"y": y}
    for line in ("h",):
        moved_space[line] = value_of(ast.parse(FORMULAS[procedure][line], mode="eval").body, moved_space)
    return moved_space


def products(factors: Mapping[str, Any], kind: int = PART) -> Iterator[Named]:
    """All products of two or more factors, as far as numpy multiplies them entry by entry."""
    for size in range(2, len(factors) + 1):
        for chosen in combinations(factors, size):
            value: Any = 1.0
            for name in chosen:
                value = value * factors[name]
            yield Named(" · ".join(chosen), value, kind)


def pairs(named: Mapping[str, Any]) -> Iterator[Named]:
    """Two quantities handed back together, and one after another in one vector."""
    for (first, a), (second, b) in combinations(named.items(), 2):
        yield Named(f"({first}, {second})", (a, b), PART)
        if np.ndim(a) == 1 and np.ndim(b) == 1:
            yield Named(f"{first} and {second} in one", np.concatenate([a, b]), PART)


@lru_cache
def terms_of(procedure: Procedure, line: str) -> tuple[SignedTerm, ...]:
    """A line as a sum, lines that are sums themselves written out; products stay whole."""
    lines = FORMULAS[procedure]

    def expanded(node: ast.expr, sign: int, weight: str, above: frozenset[str]) -> Iterator[SignedTerm]:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            yield from expanded(node.left, sign, weight, above)
            yield from expanded(node.right, -sign if isinstance(node.op, ast.Sub) else sign, weight, above)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield from expanded(node.operand, -sign, weight, above)
        elif isinstance(node, ast.BinOp) and isinstance(node.left, ast.Name) and node.left.id in WEIGHTS and not weight:
            yield from expanded(node.right, sign, node.left.id, above)
        elif isinstance(node, ast.Name) and node.id in lines and node.id not in above and node.id != "h":
            inner = ast.parse(lines[node.id], mode="eval").body
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add | ast.Sub):
                yield from expanded(inner, sign, weight, above | {node.id})
            else:
                yield SignedTerm(sign, weight, node, spelt(node))
        else:
            yield SignedTerm(sign, weight, node, spelt(node))

    return tuple(_merged([*expanded(ast.parse(lines[line], mode="eval").body, 1, "", frozenset({line}))]))


def _merged(terms: Sequence[SignedTerm]) -> Iterator[SignedTerm]:
    """Terms without what is added and taken off; one matrix at two points is that matrix at their difference."""
    taken: set[int] = set()
    for i, term in enumerate(terms):
        if i in taken:
            continue
        for j in range(i + 1, len(terms)):
            other = terms[j]
            if j in taken or other.weight != term.weight or other.sign == term.sign:
                continue
            if other.text == term.text:
                taken |= {i, j}
                break
            if _is_product(term.node) and _is_product(other.node) and _matrix(term) == _matrix(other):
                taken |= {i, j}
                node = ast.parse(f"({_matrix(term)}) @ w", mode="eval").body
                yield SignedTerm(term.sign, term.weight, node, spelt(node))
                break
        if i not in taken:
            yield term


def _is_product(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and isinstance(node.right, ast.Name)


def _matrix(term: SignedTerm) -> str:
    return ast.unparse(term.node.left) if isinstance(term.node, ast.BinOp) else ""


def _rows(term: SignedTerm, space: Space, note: str) -> Iterator[Named]:
    """Of a transposed matrix times numbers of rows: each row's share, and what they come to so far."""
    node = term.node
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and isinstance(node.left, ast.Attribute)):
        return
    matrix, numbers = value_of(node.left.value, space), value_of(node.right, space)
    if np.ndim(matrix) == 2 and np.ndim(numbers) == 1:
        shares = term.sign * matrix * numbers[:, None]
        yield Named(f"row by row, {term.text}{note}", shares, SCALED)


def value_of(node: ast.expr, space: Space) -> Any:
    """What a node comes to as a number or an array of doubles; ``None`` where it has no such value."""
    try:
        value = eval(_compiled(ast.unparse(node)), FUNCTIONS, space)
    except (NameError, ValueError, TypeError, IndexError, np.linalg.LinAlgError):
        return None
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind == "f" else None
    return float(value) if isinstance(value, int | float | np.floating) and not isinstance(value, bool) else None


@lru_cache(maxsize=2048)
def _compiled(formula: str) -> CodeType:
    return compile(formula, f"<{formula}>", "eval")


def spelt(node: ast.expr) -> str:
    """A node in the paper's letters."""
    if isinstance(node, ast.Name):
        return GREEK.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{spelt(node.value)}ᵀ" if node.attr == "T" else f"{spelt(node.value)}.{node.attr}"
    if isinstance(node, ast.UnaryOp):
        return f"−{spelt(node.operand)}"
    if isinstance(node, ast.BinOp):
        left, right = spelt(node.left), spelt(node.right)
        if isinstance(node.op, ast.MatMult):
            return f"{left} {_bracketed(node.right, right)}"
        if isinstance(node.op, ast.Mult):
            if left in ("α₁", "α₂"):
                return f"{left}{_bracketed(node.right, right)}"
            return f"({left}∘{right})" if left in ("ρ", "σ_h(h)") else f"{left}·{_bracketed(node.right, right)}"
        signs: dict[type[ast.operator], str] = {ast.Add: " + ", ast.Sub: " − ", ast.Div: "/", ast.Pow: "^"}
        sign = signs.get(type(node.op), " ? ")
        return f"{left}{sign}{right}"
    if isinstance(node, ast.Call):
        inside = ", ".join(spelt(part) for part in node.args)
        return f"{spelt(node.func)}({inside})"
    if isinstance(node, ast.Subscript):
        return f"{spelt(node.value)}[{spelt(node.slice)}]"
    return ast.unparse(node)


def _bracketed(node: ast.expr, text: str) -> str:
    return f"({text})" if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) else text


def _signed(term: SignedTerm, weight: str) -> str:
    return f"{'−' if term.sign < 0 else '+'}{WEIGHTS[weight]}{term.text}"


def _joined(labels: frozenset[str], terms: Sequence[SignedTerm], *, plain: bool = False) -> str:
    ordered = [_signed(term, "" if plain else term.weight) for term in terms]
    assert labels == frozenset(ordered)  # one label a term
    text = " ".join(f"{label[0]} {label[1:]}" for label in ordered)
    return text.removeprefix("+ ") if text.startswith("+") else text.replace("− ", "−", 1)
