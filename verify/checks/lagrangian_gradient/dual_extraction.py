"""Lemma "Lagrangian Gradient Approximation": what replacing λ* by λ̃ does to the penalty gradient."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter

import numpy as np

from spec import OracleParameters
from spec.atlas import find
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.exact import symbolic_rate
from verify.checks.measuring.gradient_change import exact_leading, gradient, one_beyond, rounding_of, worst_change
from verify.checks.measuring.own_values import agreement, roundings
from verify.checks.measuring.premises import (
    REGULAR,
    SHOWN_ALPHA,
    PremiseUnmetError,
    at_truth,
    feasible,
    h_width,
    keeps_dual_term,
    regular_truth,
    shrinks,
    sweep_point,
    with_maps_frozen,
)  # fmt: skip
from verify.evidence.model import Point
from verify.evidence.rates.rates import fit_rate
from verify.truth.geometry import EPS, quadratic_of, ramp, spectral_norm

RAMP_PIECES = 96
"""Pieces on which a ramp's slope is read, from below it to above."""
RAMP_TRIALS = 200
FEW = ("toy1", "absolute-moving", "two-of-three", "random-3x5x4")
MOVING = tuple(name for name in REGULAR if "A-nonzero" in find(name).strata)
"""Where both parts of the gradient see the multipliers."""


@check("dual-extraction", instances=("weakly-active", *MOVING, "box-rational", "licq-fails", "infeasible"),
       needs=("hypergradient", "penalty_minimiser"))  # fmt: skip
def conclusion(case: Case) -> Measurement:
    """‖∇L_{λ*} - ∇L_{λ̃}‖ in (x, y) at a fixed y one unit beyond a row, λ̃ off by δ = α³; the worst row and error.

    Where ε_λ may be any small number it is spent as ε_λ = δ; else it is fixed. Where ỹ* is a map of x, what its
    derivative adds is the same on both sides: the difference is that of frozen maps.
    """
    case = with_maps_frozen(case)
    # Weak activity is welcome here, dependent rows are not.
    lower = feasible(case.instance)
    if not lower.licq:
        raise PremiseUnmetError("licq", f"the active rows have rank {lower.licq_rank}")
    name = "‖∇L_{λ*} - ∇L_{λ̃}‖ at a fixed y"
    changes = [worst_change(case, alpha, lower) for alpha in (*case.profile.alphas, SHOWN_ALPHA)]
    points, off = [one.point for one in changes], {one.point.at: one.off for one in changes}
    rate = fit_rate(points[:-1], quantity=name, variable="alpha")
    shown = changes[-1]
    moved, claimed = shown.point.measured, (SHOWN_ALPHA**-2 + SHOWN_ALPHA**-4) * SHOWN_ALPHA**3
    ratio = compare("‖∇L_{λ*} - ∇L_{λ̃}‖ in units of (α₁ + α₂)δ", moved / claimed, "<=", _constant(case, shown.y),
                    context={"alpha": SHOWN_ALPHA}, role="support")  # fmt: skip
    values: dict[str, float | str] = {
        "alpha": SHOWN_ALPHA, "difference of the gradients": moved, "its part in x": shown.in_x,
        "(alpha_1 + alpha_2) delta": claimed, "ratio": moved / claimed,
    }  # fmt: skip
    width = "δ" if shrinks(case) else "fixed"
    note = (
        f"y is fixed, one unit beyond the worst row; λ̃ is λ* off by δ in the worst direction, ε_λ = {width}. "
        "A weight changes by up to min(1, δ/ε_λ) and is multiplied by α₂h."
    )
    exact = symbolic_rate(case, exact_leading(case, lower), rate, off, name=name)
    return Measurement((rate, ratio, *exact), values, note)


@check("dual-extraction/linear-term", instances=FEW, needs=("hypergradient", "penalty_minimiser"))
def linear_term(case: Case) -> Measurement:
    """The part that is linear in λ* - λ̃, isolated by holding the weights: -α₁Bᵀ in y, and α₁Aᵀ in x if it is kept."""
    case = with_maps_frozen(case)
    truth = regular_truth(case.instance)
    a = quadratic_of(case.instance.problem).arrays
    jacobian = np.vstack([a.A.T if keeps_dual_term(case) else 0 * a.A.T, -a.B.T])
    points, off = [], {}
    for alpha in case.profile.alphas:
        geometry, call = at_truth(case, truth, alpha)
        call = replace(call, rho=geometry.rho)
        error = geometry.worst_lam_within(alpha**3, jacobian)
        moved = replace(geometry, lam=truth.lam + error)
        change = gradient(case, call, moved, truth.y_star) - gradient(case, call, geometry, truth.y_star)
        exact, rounding = alpha**-2 * jacobian @ error, rounding_of(geometry, truth.y_star)
        points.append(sweep_point(alpha, change, rounding, float(np.linalg.norm(exact))))
        off[alpha] = roundings(change, exact, rounding)
    name = "‖α₁[A, -B]ᵀ(λ* - λ̃)‖" if keeps_dual_term(case) else "‖α₁Bᵀ(λ* - λ̃)‖"
    rate = fit_rate(points, quantity=name, variable="alpha")
    M = max(spectral_norm(a.A), spectral_norm(a.B))
    M, unit = (2 * M, "2M") if keeps_dual_term(case) else (M, "M")
    largest = max(((p.measured - p.uncertainty) / (M * p.at) for p in rate.points if p.usable), default=0.0)
    # What is left to round are α₁δ, the norm M and the quotient: a few operations a row or column.
    rounding = 8 * sum(a.B.shape) * EPS
    within = compare(f"linear term in units of {unit}·α₁δ", largest, "<=", 1.0, rounding)
    return Measurement((rate, within, agreement(case, off, name)))


@check("dual-extraction/activation-locality", instances=("toy1",), needs=("activation",), sure=2)
def activation_locality(case: Case) -> Measurement:
    """Where a change of the multiplier changes the weight: inside the band |h| <= width, or above it as well?

    As written at row values that an ỹ* within δ of y* can have: a feasible y* lets them exceed 0 by ‖B‖δ.
    """
    alpha = SHOWN_ALPHA
    call = case.call(alpha)
    width, lam_width = h_width(case, alpha, call), call.parameters.lam_width
    reach = spectral_norm(quadratic_of(case.instance.problem).arrays.B) * alpha**3
    above = [reach] if case.as_written and reach > width else []
    outside = [*above, -1.001 * width, -10 * width, -1.0]
    weights = [[_rho(case, h, lam, width, lam_width) for lam in (0.0, alpha**3)] for h in outside]
    change, h = max(((abs(low - high), h) for h, (low, high) in zip(outside, weights, strict=True)), key=itemgetter(0))
    context = {"alpha": alpha, "h": h, "width": width, "largest h within reach": reach}
    where = "outside the band" if case.as_written else "below the ramp"
    compared = compare(f"largest change of a weight {where}", change, "==", 0.0, context=context)
    values: dict[str, float | str] = {"h": h, "change of rho": change, "width": width, "largest h within reach": reach}
    note = "σ_h is 1 for every h >= 0: a multiplier crossing ε_λ changes the weight of a row violated by up to ‖B‖δ."
    # Three rows at once and random places: a shifted row or a smoother ramp would agree at the corners.
    h_tried, lam_tried = case.rng.uniform(-2, 2, (RAMP_TRIALS, 3)) * width, case.rng.uniform(-0.5, 2, (RAMP_TRIALS, 3))
    tried = [(h, lam * lam_width, width, lam_width) for h, lam in zip(h_tried, lam_tried, strict=True)]
    worst = max(float(np.abs(case.stages.activation(*at) - ramp(*at)).max()) for at in tried)
    quantity = "largest difference of a weight from the product of the two ramps"
    return Measurement((compared, compare(quantity, worst, "==", 0.0, 1e-12)), values, note)


@check("dual-extraction/ramp-slope", instances=("toy1",), needs=("activation",))
def ramp_slope(case: Case) -> Measurement:
    """Steepest piece of the subject's ramp against δ, and in units of 1/width: that of a straight ramp is 1."""
    points, slopes = [], []
    for alpha in case.profile.alphas:
        call = case.call(alpha)
        width = h_width(case, alpha, call)
        # Beyond both ends of the ramp; no piece is so narrow that the quotient loses its digits.
        h = width * np.linspace(-1.5, 0.5, RAMP_PIECES + 1)
        rho = case.stages.activation(h, np.ones_like(h), width, call.parameters.lam_width)
        slopes.append(float(np.abs(np.diff(rho)).max()) * RAMP_PIECES / 2)
        points.append(Point(at=alpha**3, measured=slopes[-1] / width, uncertainty=RAMP_PIECES * EPS / width))
    steepest = max(slopes, key=lambda slope: abs(slope - 1))
    rate = fit_rate(points, quantity="slope of the ramp", variable="inner_tol")
    straight = compare("steepest slope of the ramp, times its width", steepest, "==", 1.0, 64 * RAMP_PIECES * EPS)
    shown: dict[str, float | str] = {"slope at the smallest delta": points[-1].measured}
    return Measurement((rate, straight), shown, "The slope is 1/width.")


@check("dual-extraction/active-rows", instances=FEW, needs=("hypergradient", "penalty_minimiser"))
def active_rows(case: Case) -> Measurement:
    """The difference where every active multiplier stays above ε_λ: no weight changes, only α₁δ remains."""
    case = with_maps_frozen(case)
    truth = regular_truth(case.instance)
    a = quadratic_of(case.instance.problem).arrays
    smallest = min((value for value in truth.lam if value > 0), default=np.inf)
    parameters = OracleParameters(lam_width=float(min(0.1, smallest / 4)))
    y = one_beyond(a.B, truth.y_star)
    jacobian = np.vstack([a.A.T if keeps_dual_term(case) else 0 * a.A.T, -a.B.T])
    points, off = [], {}
    for alpha in case.profile.alphas:
        geometry, call = at_truth(case, truth, alpha)
        call = replace(call, parameters=parameters)
        error = geometry.worst_lam_within(min(alpha**3, smallest / 4), jacobian, rows=truth.active)
        moved = replace(geometry, lam=truth.lam + error)
        change = gradient(case, call, moved, y) - gradient(case, call, geometry, y)
        exact, rounding = alpha**-2 * jacobian @ error, rounding_of(geometry, y)
        points.append(sweep_point(alpha, change, rounding, float(np.linalg.norm(exact))))
        off[alpha] = roundings(change, exact, rounding)
    name = "‖∇L_{λ*} - ∇L_{λ̃}‖, active multipliers above ε_λ"
    return Measurement((fit_rate(points, quantity=name, variable="alpha"), agreement(case, off, name)))


def _constant(case: Case, y: Vector) -> float:
    """The repaired constant M(1 + |h|/ε_λ), or the claimed M as written (no other constant is stated)."""
    a = quadratic_of(case.instance.problem).arrays
    M = 2 * max(spectral_norm(a.A), spectral_norm(a.B))
    if case.reading_name == "as-written":
        return M
    h = float(np.linalg.norm(a.A @ case.x - a.B @ y - a.b))
    return M * (1 + h / OracleParameters().lam_width)


def _rho(case: Case, h: float, lam: float, width: float, lam_width: float) -> float:
    return float(case.stages.activation(np.array([h]), np.array([lam]), width, lam_width)[0])
