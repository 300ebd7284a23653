"""Lemma "Solution Error": how far an inexact multiplier moves the penalty minimiser."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spec.atlas import find
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.exact import DIRECTION_ALPHA, Spending, exact_rate, multipliers_clear_of_the_ramp, unit
from verify.checks.measuring.premises import REGULAR, PremiseUnmetError, at_truth, regular_truth
from verify.evidence.model import ComparisonEvidence, Point, RateEvidence
from verify.evidence.rates import fit_rate
from verify.subjects.protocol import Call
from verify.truth.geometry import EPS, Geometry, quadratic_of, ramp, solve, spectral_norm
from verify.truth.pair import Truth

SOME_ACTIVE = tuple(name for name in REGULAR if "no-active-row" not in find(name).strata)


@check("solution-error", instances=(*REGULAR, "licq-fails", "infeasible"), needs=("penalty_minimiser",))
def shift(case: Case) -> Measurement:
    """‖Δy‖ between the subject's minimisers at λ* and at the worst allowed λ̃, over all rows."""
    truth = regular_truth(case.instance)
    rate, values = _shift_rate(case, truth, rows=None, quantity="‖Δy‖ at the worst allowed λ̃")
    exact = _exact_shift(case, truth, rows=None, name="‖Δy‖ at the worst λ̃")
    note = "‖λ̃ - λ*‖ = α³ in the direction that moves the minimiser most."
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
    """μ‖Δy‖ ≤ ‖∇_yL_{λ*}(ỹ) - ∇_yL_{λ̃}(ỹ)‖ at the subject's own minimisers; the largest ratio counts."""
    truth = regular_truth(case.instance)
    worst, at = -np.inf, 0.0
    for alpha in case.profile.alphas[:6]:
        geometry, call = at_truth(case, truth, alpha)
        lam = truth.lam + geometry.worst_lam_within(alpha**3, _response(geometry))
        moved = replace(geometry, lam=lam)
        y, y_moved = _minimisers(case, call, geometry, moved)
        mu = float(np.linalg.eigvalsh(geometry.H)[0])
        change = float(np.linalg.norm(geometry.gradient_y(y_moved) - moved.gradient_y(y_moved)))
        ratio = mu * float(np.linalg.norm(y_moved - y)) / change
        if ratio > worst:
            worst, at = ratio, alpha
    compared = compare("μ‖Δy‖ / ‖difference of the gradients‖", worst, "<=", 1.0, 1e-4, context={"alpha": at})
    return Measurement((compared,))


def _shift_rate(
    case: Case, truth: Truth, *, rows: Vector | None, quantity: str
) -> tuple[RateEvidence, dict[str, float | str]]:
    points = []
    for alpha in _convex_alphas(case):
        geometry, call = at_truth(case, truth, alpha)
        response = _response(geometry)
        lam = truth.lam + geometry.worst_lam_within(alpha**3, response, rows=rows)
        rho = ramp(geometry.h * (truth.active == 0), lam, _width(case, call, geometry), call.parameters.lam_width)
        moved = replace(geometry, lam=lam, rho=rho)
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
    direction = unit(geometry.worst_lam_within(DIRECTION_ALPHA**3, _response(geometry), rows=rows))
    spending = Spending(rho=geometry.rho, lam=(3, direction))
    allowed = range(len(truth.lam)) if rows is None else np.flatnonzero(rows).tolist()
    return exact_rate(case, truth, [spending], "solution-shift", name=name, every_error=allowed)


MINIMISER_ACCURACY = 1e-6
"""How far the subject's minimiser may be from the true one, relative to 1 + ‖y‖: far below any shift measured."""


def _accuracy(case: Case, truth: Truth) -> ComparisonEvidence:
    """Whether the subject minimises the penalty Lagrangian at all: a rate of wrong minimisers says nothing."""
    alpha = _convex_alphas(case)[0]
    geometry, call = at_truth(case, truth, alpha)
    y, _ = _minimisers(case, call, geometry, geometry)
    return compare(
        "distance of the subject's penalty minimiser from the exact one",
        float(np.linalg.norm(y - geometry.minimiser)), "<=", 0.0, MINIMISER_ACCURACY * (1 + float(np.linalg.norm(y))),
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


def _response(geometry: Geometry) -> Vector:
    """Derivative of the minimiser in the multipliers, weights held, shape (m, p)."""
    return solve(geometry.H, geometry.alpha**-2 * geometry.a.B.T)


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
