"""Lemma "Solution Error": how far an inexact multiplier moves the penalty minimiser."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from spec.atlas import find
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.exact import DIRECTION_ALPHA, Spending, exact_rate, multipliers_clear_of_the_ramp, unit
from verify.checks.measuring.premises import REGULAR, PremiseUnmetError, at_truth, regular_truth
from verify.checks.measuring.rounding_bounds import gradient_left
from verify.evidence.model import ComparisonEvidence, Point, RateEvidence
from verify.evidence.rates.rates import fit_rate
from verify.subjects.protocol import Call
from verify.truth.algebra.rationals import is_positive_definite, rational
from verify.truth.algebra.reals import extreme_eigenvalue, frobenius_norm
from verify.truth.algebra.rings import RATIONALS
from verify.truth.enclosures.pair import Truth
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.functions_of_alpha.scenario import Error, Scenario
from verify.truth.geometry import EPS, Geometry, quadratic_of, ramp, spectral_norm

SOME_ACTIVE = tuple(name for name in REGULAR if "no-active-row" not in find(name).strata)


@check("solution-error", instances=(*REGULAR, "licq-fails", "infeasible"), needs=("penalty_minimiser",))
def shift(case: Case) -> Measurement:
    """‖Δy‖ between the subject's minimisers at λ* and at the worst allowed λ̃, over all rows."""
    truth = regular_truth(case.instance)
    rate, values = _shift_rate(case, truth, rows=None, quantity="‖Δy‖ at the worst allowed λ̃")
    exact = _exact_shift(case, truth, rows=None, name="‖Δy‖ at the worst λ̃")
    note = "‖λ̃ - λ*‖ = α³ in the direction of the whole ball that moves the minimiser most."
    return Measurement((rate, _accuracy(case, truth), *exact), values, note)


@check("solution-error/active-rows", instances=SOME_ACTIVE, needs=("penalty_minimiser",))
def shift_on_active_rows(case: Case) -> Measurement:
    """The same with the multipliers' error on active rows only, where the quadratic penalty resists it."""
    truth = regular_truth(case.instance)
    if not truth.active.any():
        raise PremiseUnmetError("some-row-active", "no row is active, so no multiplier can be off on one")
    rate, values = _shift_rate(case, truth, rows=truth.active, quantity="‖Δy‖, λ̃ off on active rows only")
    exact = _exact_shift(case, truth, rows=truth.active, name="‖Δy‖, λ̃ off on active rows only")
    return Measurement((rate, *exact), values)


@check("solution-error/monotonicity", instances=("toy1", "two-of-three", "box-rational", "random-3x5x4"),
       needs=("penalty_minimiser",))  # fmt: skip
def monotonicity(case: Case) -> Measurement:
    """μ‖Δy‖ ≤ ‖∇_yL_{λ*}(ỹ) - ∇_yL_{λ̃}(ỹ)‖, decided exactly, and at the subject's own minimisers up to rounding."""
    truth = regular_truth(case.instance)
    exact, evidence = [], []
    for alpha in case.profile.alphas[:6]:
        geometry, call = at_truth(case, truth, alpha)
        moved = _moved_worst(case, truth, geometry, call, None)
        if (ratio := _exact_ratio(case, geometry, moved)) is not None:
            exact.append((ratio, alpha))
            evidence.append(_own_ratio(case, call, geometry, moved, alpha))
    if not exact:
        raise PremiseUnmetError("penalty-strong-convexity", "L is convex in y at no α of the sweep")
    ratio, at = max(exact)
    decided = compare("μ‖Δy‖ / ‖difference of the gradients‖, exactly", ratio, "<=", 1.0, rung="symbolic",
                      context={"alpha": at})  # fmt: skip
    return Measurement((decided, max(evidence, key=lambda one: one.measured - one.tolerance)))


def _exact_ratio(case: Case, geometry: Geometry, moved: Geometry) -> float | None:
    """The two sides' quotient in exact arithmetic at rational α, λ̃ and weights; none where there is no minimiser.

    A double at most 1 where the quotient is at most 1, and larger where it is larger: both sides may be equal.
    """
    family, alpha = (
        PenaltyFamily.at(quadratic_of(case.instance.problem), case.instance.x),
        Fraction(str(geometry.alpha)),
    )
    off = Error(power=0, direction=tuple(map(Fraction, (moved.lam - geometry.lam).tolist())))
    plain, other = (
        family.lagrangian_over(
            RATIONALS, rational(alpha), Scenario(rho=tuple(map(Fraction, rho.tolist())), lam_error=errors)
        )
        for rho, errors in ((geometry.rho, ()), (moved.rho, (off,)))
    )
    hessian = plain.H.entries
    if not (is_positive_definite(hessian) and is_positive_definite(other.H.entries)):
        return None
    y, y_moved = plain.minimiser(), other.minimiser()
    shift, change = y_moved - y, plain.gradient_y(y_moved) - other.gradient_y(y_moved)
    left = extreme_eigenvalue(hessian, smallest=True) * frobenius_norm(shift.entries)
    right = frobenius_norm(change.entries)
    if right.sign == 0:
        return math.inf if left.sign > 0 else 0.0
    ratio = float(left / right)
    return min(ratio, 1.0) if (left - right).sign <= 0 else max(ratio, math.nextafter(1.0, 2.0))


def _own_ratio(case: Case, call: Call, geometry: Geometry, moved: Geometry, alpha: float) -> ComparisonEvidence:
    """The same quotient at the subject's minimisers, up to what two direct solves in doubles may leave."""
    y, y_moved = _minimisers(case, call, geometry, moved)
    mu = float(np.linalg.eigvalsh(geometry.H)[0])
    # L is quadratic: the gradients' difference at a point y off the minimiser by e is H e less that of the other.
    change = float(np.linalg.norm(geometry.gradient_y(y_moved) - moved.gradient_y(y_moved)))
    left, left_moved = gradient_left(geometry, y), gradient_left(moved, y_moved)
    softest = float(np.linalg.eigvalsh(moved.H)[0])
    # ‖e‖ ≤ left/μ at either minimiser; the second also moves the gradients' difference, which is rounded itself.
    carried = left + left_moved * (mu + spectral_norm(geometry.H - moved.H)) / softest + left + left_moved
    ratio = mu * float(np.linalg.norm(y_moved - y))
    size = change or 1.0
    return compare("μ‖Δy‖ / ‖difference of the gradients‖ at the subject's minimisers", ratio / size, "<=", 1.0,
                   carried / size, context={"alpha": alpha})  # fmt: skip


def _shift_rate(
    case: Case, truth: Truth, *, rows: Vector | None, quantity: str
) -> tuple[RateEvidence, dict[str, float | str]]:
    points = []
    for alpha in _convex_alphas(case):
        geometry, call = at_truth(case, truth, alpha)
        moved = _moved_worst(case, truth, geometry, call, rows)
        y, y_moved = _minimisers(case, call, geometry, moved)
        # Rounding of the gradient at the solution, carried to y by the softest direction it can reach.
        rounding = EPS * (_gradient_scale(geometry) / float(np.linalg.eigvalsh(geometry.H)[0]) + spectral_norm(y[None]))
        points.append(
            Point(
                at=alpha,
                measured=float(np.linalg.norm(y_moved - y)),
                uncertainty=4 * rounding,
                predicted=float(np.linalg.norm(moved.minimiser - geometry.minimiser)),
            )
        )
    values: dict[str, float | str] = {f"‖Δy‖ at alpha = {p.at:g}": p.measured for p in points[:1]}
    return fit_rate(points, quantity=quantity, variable="alpha"), values


def _exact_shift(
    case: Case, truth: Truth, *, rows: Vector | None, name: str
) -> tuple[RateEvidence | ComparisonEvidence, ...]:
    geometry, call = at_truth(case, truth, DIRECTION_ALPHA)
    if not multipliers_clear_of_the_ramp(truth, call.parameters.lam_width):
        return ()
    direction = unit(geometry.worst_lam_within(DIRECTION_ALPHA**3, geometry.lam_to_minimiser(), rows=rows))
    spending = Spending(rho=geometry.rho, lam=(3, direction))
    allowed = range(len(truth.lam)) if rows is None else np.flatnonzero(rows).tolist()
    return exact_rate(case, truth, [spending], "solution-shift", name=name, every_error=allowed)


def _accuracy(case: Case, truth: Truth) -> ComparisonEvidence:
    """Whether the subject minimises the penalty Lagrangian at all: a rate of wrong minimisers says nothing."""
    alpha = _convex_alphas(case)[0]
    geometry, call = at_truth(case, truth, alpha)
    y, _ = _minimisers(case, call, geometry, geometry)
    # Both are direct solves in doubles: each is as far off as the gradient that it leaves, over the least curvature.
    softest = float(np.linalg.eigvalsh(geometry.H)[0])
    return compare(
        "distance of the subject's penalty minimiser from the exact one",
        float(np.linalg.norm(y - geometry.minimiser)), "<=", 0.0, 2 * gradient_left(geometry, y) / softest,
        context={"alpha": alpha},
    )  # fmt: skip


def _constants(case: Case) -> tuple[float, float]:
    """μ_g, and the paper's C_f: the smoothness of f in (x, y), not in y alone."""
    a = quadratic_of(case.instance.problem).arrays
    return float(np.linalg.eigvalsh(a.g_yy)[0]), spectral_norm(np.block([[a.f_xx, a.f_xy], [a.f_xy.T, a.f_yy]]))


def _convex_alphas(case: Case) -> list[float]:
    """The part of the sweep on which the penalty Lagrangian is surely strongly convex."""
    mu_g, C_f = _constants(case)
    return [alpha for alpha in case.profile.alphas if 2 * C_f * alpha**2 <= mu_g]


def _moved_worst(case: Case, truth: Truth, geometry: Geometry, call: Call, rows: Vector | None) -> Geometry:
    """The same with the multipliers' error α³ that moves the minimiser most, weights on their ramps included.

    A negative λ̃ is within the premise, and its row's weight is 0; of both signs the worse counts.
    """
    lam_width, width = call.parameters.lam_width, _width(case, call, geometry)
    response, distance = geometry.lam_to_minimiser(lam_width=lam_width), geometry.alpha**3
    error = geometry.worst_lam_within(distance, response, rows=rows)
    h = geometry.h * (truth.active == 0)
    signed = (truth.lam + error, truth.lam - error)
    ends = [replace(geometry, lam=lam, rho=ramp(h, lam, width, lam_width)) for lam in signed]
    if all((end.rho == geometry.rho).all() for end in ends):
        return ends[0]
    return max(ends, key=lambda end: float(np.linalg.norm(end.minimiser - geometry.minimiser)))


def _minimisers(case: Case, call: Call, geometry: Geometry, moved: Geometry) -> tuple[Vector, Vector]:
    def minimise(at: Geometry) -> Vector:
        given = replace(call, lam=at.lam, rho=at.rho)
        return case.stages.penalty_minimiser(case.instance.problem, case.x, given, 0.0)

    return minimise(geometry), minimise(moved)


def _gradient_scale(geometry: Geometry) -> float:
    """Size of the terms that cancel in the gradient of the penalty Lagrangian at its minimiser."""
    a = geometry.a
    size_h = np.abs(a.A) @ np.abs(geometry.x) + np.abs(a.B) @ np.abs(geometry.y_star) + np.abs(a.b)
    penalty = geometry.alpha**-4 * np.abs(a.B.T) @ (geometry.rho * size_h)
    lower = geometry.alpha**-2 * (
        np.abs(a.g_yy) @ np.abs(geometry.y_star) + np.abs(a.B.T) @ geometry.lam + np.abs(a.g_y)
    )
    return float(np.linalg.norm(penalty + lower))


def _width(case: Case, call: Call, geometry: Geometry) -> float:
    return call.parameters.h_width(case.reading, geometry.alpha**3, spectral_norm(geometry.a.B))
