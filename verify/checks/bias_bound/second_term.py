"""Term T2 of the bias lemma's proof: its split in two, and the size of the penalty weights that multiply it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import sqrt

from spec.parameters import PenaltyParameters
from spec.problem import Problem
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.finite_laws import ZERO, exactly, minus, plus, square
from verify.checks.measuring.premises import regular_truth
from verify.evidence.model import Point
from verify.evidence.rates import fit_rate
from verify.truth.algebra.rationals import Vector
from verify.truth.geometry import quadratic_of
from verify.truth.stages import Setting, evaluate

ALPHA = Fraction(1, 10)
Parts = tuple[Vector, Vector, Vector]
"""T2 as a vector, the part of the minimiser's shift, the part of the multiplier itself."""


def parts(problem: Problem, x: Vector, row: int, sign: int) -> Parts:
    """With λ̃ off by ±α³ on one row, which is on its ramp; T2 from whole calls, its parts from derivatives."""
    quadratic = quadratic_of(problem)
    exact = Setting(quadratic, x, ALPHA).lower
    width = 2 * max(exact.lam)
    lam = tuple(value + sign * ALPHA**3 * int(i == row) for i, value in enumerate(exact.lam))

    def called(multipliers: Vector) -> tuple[Vector, Vector, Vector]:
        given = {"y_star": exact.y_star, "lam": multipliers}
        made = evaluate(Setting(quadratic, x, ALPHA, lam_width=width, given=given))
        return made.y_penalty, made.rho, tuple(v for v in made.hypergradient if isinstance(v, Fraction))

    (y, rho, here), (y_0, rho_0, there) = called(lam), called(exact.lam)
    rows, a_1, a_2 = quadratic.constraints, ALPHA**-2, ALPHA**-4
    A, B, b = (getattr(rows, name).to_fractions() for name in ("A", "B", "b"))
    h_0 = [_dot(A[i], x) - _dot(B[i], y_0) - b[0][i] for i in range(len(A))]
    shift, names = minus(y, y_0), [entry.to_fractions() for entry in (quadratic.f.xy, quadratic.g.xy)]
    pulled = [r * _dot(row_of_B, shift) for r, row_of_B in zip(rho, B, strict=True)]
    weighed = [(r - q) * h for r, q, h in zip(rho, rho_0, h_0, strict=True)]
    of_shift = tuple(
        _dot(names[0][k], shift) + a_1 * _dot(names[1][k], shift) - a_2 * _dot([line[k] for line in A], pulled)
        for k in range(len(x))
    )
    of_multiplier = tuple(a_2 * _dot([line[k] for line in A], weighed) for k in range(len(x)))
    return minus(here, there), of_shift, of_multiplier


def _dot(a: list[Fraction] | Vector, b: list[Fraction] | Vector) -> Fraction:
    return sum((u * v for u, v in zip(a, b, strict=True)), ZERO)


@check("bias-bound/T2-split", instances=("two-of-three", "scalar-rational", "toy1", "random-2x3x4"))
def split(case: Case) -> Measurement:
    """T2 over the lengths of its parts; repaired, what is left of it without them: every active row, both signs."""
    regular_truth(case.instance)
    active = Setting(quadratic_of(case.instance.problem), case.instance.x, ALPHA).lower.strictly_active
    found = [parts(case.instance.problem, case.instance.x, i, sign) for i, sign in product(active, (1, -1))]
    return judged(found, repaired=not case.as_written)


def judged(found: list[Parts], *, repaired: bool) -> Measurement:
    """The comparison for given parts."""
    lengths = [(_length(whole), _length(one) + _length(other)) for whole, one, other in found]
    whole, apart = max(lengths)
    values: dict[str, float | str] = {"T2": whole, "its parts together": apart}
    if repaired:
        left = max(square(minus(whole, plus(one, other))) for whole, one, other in found)
        return Measurement((exactly("‖T2 - its two parts‖²", left),), values)
    ratio = max(whole / together if together else float(whole > 0) for whole, together in lengths)
    return Measurement((compare("T2 over the lengths of its two parts", ratio, "<=", 1.0, 1e-12),), values)


def _length(vector: Vector) -> float:
    return sqrt(float(square(vector)))


def _sum_of_weights(alpha: float) -> float:
    weights = PenaltyParameters(alpha=alpha)
    return weights.alpha_1 + weights.alpha_2


@check("bias-bound/penalty-weights", instances=("toy1",))
def penalty_weights(case: Case) -> Measurement:
    """α₁ + α₂ against α."""
    return sizes(case, _sum_of_weights)


def sizes(case: Case, weights: Callable[[float], float]) -> Measurement:
    """The rate of a function of α."""
    points = [Point(at=alpha, measured=weights(alpha)) for alpha in case.profile.alphas]
    rate = fit_rate(points, quantity="α₁ + α₂", variable="alpha")
    return Measurement((rate,), values_at("α₁ + α₂ at alpha", points[:2]))
