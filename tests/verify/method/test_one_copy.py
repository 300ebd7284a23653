"""Lines 5 and 6 of Algorithm 1 stand where they must and nowhere else; those that stand twice are held together."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from verify.conformance.blame.sums.call_points import BLOCKS, VALUES, CallPoint, Names, point_of
from verify.conformance.blame.sums.right_sums import RIGHT_PARTS, Space, right_sum
from verify.conformance.bugs.bent_subject import lagrangian
from verify.conformance.probes.probes import Probe, probes
from verify.method.player import Player
from verify.method.summands import summands, written_out
from verify.method.terms import GROUPS, TERMS

ROOT = Path(__file__).parents[3] / "verify"
LINE_5 = (frozenset({"f_yy", "g_yy", "B.T"}), frozenset({"f_xy.T", "g_xy.T", "B.T"}))
LINE_6 = (frozenset({"f_xy", "g_xy", "A.T"}),)
"""What a copy of either multiplies in one file."""
WRITTEN = {
    "truth/formulas.py": "over rings, in the form that keeps the digits",
    "method/lines.py": "as data, the way a programmer writes it",
    "checks/inner_cost/counting.py": "what one call draws, gradient by gradient: its rounding is on record",
}
"""Where either is written, and why there; the certificate checker multiplies by functions of its own, on purpose."""
NONE = {
    "checks/measuring/rounding_bounds.py": "sizes of line 5's terms",
    "conformance/blame/accuracy/lower_residuals.py": "terms of the lower level's residual, and mistakes in their place",
    "truth/geometry.py": "derivatives of the method's values in x",
}
"""What multiplies the same blocks for something else."""


def multiplied(node: ast.AST) -> frozenset[str]:
    """Names of what is multiplied as matrices under a node."""

    def name(operand: ast.AST) -> str:
        if isinstance(operand, ast.UnaryOp):
            return name(operand.operand)
        if isinstance(operand, ast.Attribute) and operand.attr == "T":
            return f"{name(operand.value)}.T"
        if isinstance(operand, ast.BinOp) and isinstance(operand.op, ast.Mult):
            return name(operand.right)
        return (
            operand.attr if isinstance(operand, ast.Attribute) else operand.id if isinstance(operand, ast.Name) else ""
        )

    products = (n for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.MatMult))
    return frozenset(name(n.left) for n in products)


def all_multiplied(tree: ast.AST) -> frozenset[str]:
    """What a file multiplies, in code and in formulas that it has as texts."""
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    formulas = [text for text in texts if "@" in text and "\n" not in text]
    parsed = [made for text in formulas if (made := parse(text)) is not None]
    return frozenset().union(*map(multiplied, (tree, *parsed)))


def has_a_line(blocks: frozenset[str]) -> bool:
    return any(line <= blocks for line in (*LINE_5, *LINE_6))


def parse(text: str) -> ast.AST | None:
    try:
        return ast.parse(text, mode="eval")
    except SyntaxError:
        return None


def test_no_second_copy() -> None:
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in ROOT.rglob("*.py")}
    # Every line above has one of these two blocks of f.
    near = {name: text for name, text in sources.items() if "f_yy" in text or "f_xy" in text}
    found = {name for name, text in near.items() if has_a_line(all_multiplied(ast.parse(text)))}
    assert found == WRITTEN.keys() | NONE.keys()


def test_a_copy_is_seen() -> None:
    copy = "def f(q): return q.f_xx @ x + q.f_xy @ y + a_1 * (q.g_xy @ d) + a_2 * (q.A.T @ (rho * h))"
    assert has_a_line(all_multiplied(ast.parse(copy)))
    table = "ROWS = {'a': 'f_xy.T @ x + f_yy @ y', 'b': 'g_yy @ y', 'c': 'B.T @ (rho * h)'}"
    assert has_a_line(all_multiplied(ast.parse(table)))
    assert not has_a_line(all_multiplied(ast.parse("h = q.A @ x - q.B @ y - q.b")))


@cache
def points() -> list[tuple[Probe, CallPoint]]:
    return [
        (probe, point)
        for probe in probes()
        if probe.call.draws is None
        and (point := point_of(probe)) is not None
        and probe.call.reading.dual_term == "cancelled"
    ]


@pytest.mark.parametrize(("space", "procedure", "line"), [("x", "line_6", "estimate"), ("y", "lagrangian", "gradient")])
def test_the_lines_their_sums_and_the_formulas_over_rings_are_one(space: Space, procedure: str, line: str) -> None:
    assert len(points()) > 20
    for probe, c in points():
        around = lagrangian(c.q, c.x, replace(probe.call, alpha=c.alpha))
        right = around.estimate(c.y) if space == "x" else around.gradient_y(c.y)
        names = Names(c, {})
        given = {name: names[name] for name in (*BLOCKS, *VALUES)}
        played = Player().line(procedure, line, given)  # type: ignore[arg-type]  # as above
        size = sum(np.abs(part.at(c)) for part in RIGHT_PARTS[space]) + np.abs(c.value(written_out(procedure, line)))  # type: ignore[arg-type]  # as above
        allowed = 1e-13 * (1 + size) * c.alpha_2
        for other in (played, right_sum(space, c)):
            assert (np.abs(other - right) <= allowed).all(), probe.id


def test_summands_are_spelt_in_the_papers_letters() -> None:
    assert [s.name for s in summands("line_6", "estimate")] == [
        "f_xx x", "f_xy ỹ", "f_x", "α₁g_xy ỹ", "−α₁g_xy ỹ*", "α₂Aᵀ(ρ∘Ax)", "−α₂Aᵀ(ρ∘Bỹ)", "−α₂Aᵀ(ρ∘b)",
    ]  # fmt: skip
    assert [s.name for s in summands("lagrangian", "gradient")] == [
        "f_xyᵀx", "f_yy ỹ", "f_y", "α₁g_xyᵀx", "α₁g_yy ỹ", "α₁g_y", "−α₁Bᵀλ̃",
        "−α₂Bᵀ(ρ∘Ax)", "α₂Bᵀ(ρ∘Bỹ)", "α₂Bᵀ(ρ∘b)",
    ]  # fmt: skip


def sizes(c: CallPoint) -> dict[str, int]:
    n, m, p = c.sizes
    return {"x": n, "y": m, "rows": p, "weights": p}


@pytest.mark.parametrize("kind", ["x", "y", "rows", "weights"])
def test_every_term_has_the_shape_of_its_kind(kind: str) -> None:
    for name, term in TERMS[kind].items():
        for _, c in points()[:5]:
            assert c.value(term.formula).shape == (sizes(c)[kind],), name


def test_groups_are_what_their_names_say() -> None:
    probe: Probe
    for probe, c in points():
        parts = lagrangian(c.q, c.x, replace(probe.call, alpha=c.alpha)).terms(c.y)
        for name, part in (("∇_x f(x,ỹ)", parts["f"]), ("Aᵀ(ρ∘h(x,ỹ))", parts["penalty"] / c.alpha_2),
                           ("(∇_x g(x,ỹ) − ∇_x g(x,ỹ*))", parts["g_difference"] / c.alpha_1)):  # fmt: skip
            np.testing.assert_allclose(c.value(GROUPS["x"][name].formula), part, atol=1e-12)
        both = (c.value(GROUPS["x"][f"∇_x g(x,{y})"].formula) for y in ("ỹ", "ỹ*"))
        np.testing.assert_allclose(next(both) - next(both), parts["g_difference"] / c.alpha_1, atol=1e-12)
