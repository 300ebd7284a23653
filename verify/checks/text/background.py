"""What the paper says of its field, as far as it can be computed: kinks and implicit gradients; all exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from spec import InvalidInputError, Quadratic
from spec.problem import parse_problem
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.formula_evidence import brought
from verify.truth.algebra.numbers import Real
from verify.truth.algebra.rationals import blocks, column, fractions
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level

STEEPER = 2
"""Factor on the second derivatives of the other lower level."""


def largest_jump(problem: Quadratic, x: Sequence[Fraction]) -> Fraction:
    """Largest difference of an entry of ∇F between the pieces of F that adjoin x; 0 where there is one."""
    gradients = set(lower_level.pieces(problem, x, lower_level.solve(problem, x)).values())
    jumps: list[Fraction] = [max(entries) - min(entries) for entries in zip(*gradients, strict=True)]
    return max(jumps)


@check("background/nonsmooth", instances=("kink", "experiment-1d"))
def nonsmooth(case: Case) -> Measurement:
    """The change of ∇F at the instance's known kink, from the pieces on its two sides."""
    kink = case.instance.known.get("kink")
    if kink is None:
        raise InvalidInputError("instance", "must have a known kink", case.instance.name)
    jump = largest_jump(quadratic_of(case.instance.problem), (Fraction(kink),))
    return Measurement(brought(case, (jump,), rung="symbolic", context={"x": kink}))


def with_other_curvature(problem: Quadratic, x: Sequence[Fraction], factor: int) -> Quadratic:
    """A lower level with the same first derivatives at (x, y*) and ``factor`` times the second ones in y."""
    y = lower_level.solve(problem, x).y_star
    old = [[Fraction(str(v)) for v in row] for row in problem.g.yy.to_list()]
    pull = [sum((a * b for a, b in zip(row, y, strict=True)), Fraction(0)) for row in old]
    moved = [Fraction(str(v)) - (factor - 1) * p for v, p in zip(problem.g.y.to_list(), pull, strict=True)]
    data = problem.to_dict()
    data["g"] = data["g"] | {"yy": [[str(factor * v) for v in row] for row in old], "y": list(map(str, moved))}
    return quadratic_of(parse_problem(data))


@check("background/implicit-gradient", instances=("interior",))
def implicit_gradient(case: Case) -> Measurement:
    """∇F of two lower levels whose first derivatives agree at the solution."""
    problem, x = quadratic_of(case.instance.problem), case.instance.x
    other = with_other_curvature(problem, x, STEEPER)
    solutions = [lower_level.solve(p, x).y_star for p in (problem, other)]
    gradients = [lower_level.hypergradient(p, x) for p in (problem, other)]
    same = compare("distance between the two solutions", _apart(*solutions), "==", 0.0, rung="symbolic")
    rows, at, y = blocks(problem), column(x), column(solutions[0])
    direct = fractions(rows.f_x + rows.f_xx * at + rows.f_xy * y)
    implicit = _apart(gradients[0], direct)
    quantity = "difference of ∇F between the two lower levels in parts of its implicit term"
    differ = compare(quantity, _apart(*gradients) / implicit, ">=", 0.1, rung="symbolic")
    return Measurement((differ, same))


def _apart(a: Sequence[Real], b: Sequence[Real]) -> float:
    return max(abs(float(u) - float(v)) for u, v in zip(a, b, strict=True))
