"""Lemma "Hypergradient Bias Bound": the estimator's bias is O(alpha), and its proof T1 + T2 + T3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spec.exact import Vector
from verify.checks.measuring.agreement import on_sweep
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.exact import (
    DIRECTION_ALPHA,
    Spending,
    exact_direction,
    exact_rate,
    multipliers_clear_of_the_ramp,
    unit,
)
from verify.checks.measuring.own_values import AGREEMENT_ROUNDINGS
from verify.checks.measuring.premises import (
    DEGENERATE,
    REGULAR,
    SHOWN_ALPHA,
    at_truth,
    estimate,
    h_width,
    regular_truth,
    shown_vector,
    shrinks,
    sweep_ends,
    sweep_point,
    with_maps_frozen,
)
from verify.checks.measuring.rounding_bounds import rounding_of_estimate, rows_are_exact
from verify.evidence.model import Point, RateEvidence
from verify.evidence.rates.rates import fit_rate
from verify.subjects.protocol import Call
from verify.truth.enclosures.pair import Truth, minimiser_and_bias
from verify.truth.geometry import EPS, Geometry, quadratic_of, ramp, spectral_norm
from verify.truth.lower_level import lower_level as exact_lower_level

SMALLEST_RETREAT = 0.02
"""A retreat of this share of δ leaves a ramp of width δ² for every alpha up to 1/4 (δ = 1/64)."""


@check("bias-bound/T3", instances=(*REGULAR, *DEGENERATE), needs=("hypergradient",))
def penalty_bias(case: Case) -> Measurement:
    """Exact pair, exact minimiser: what the penalty itself costs."""
    truth = regular_truth(case.instance)
    points = [_penalty_bias_at(case, truth, alpha)[0] for alpha in case.profile.alphas]
    point, call, shown = _penalty_bias_at(case, truth, SHOWN_ALPHA)
    rate = fit_rate(points, quantity="T₃", variable="alpha")
    beside = compare(
        "T₃ of the subject against its exact rational value", point.measured, "==", point.predicted or 0.0,
        point.uncertainty, role="support",
        context={"alpha": SHOWN_ALPHA, "estimate": shown_vector(shown), "gradient of F": shown_vector(truth.grad_F)},
    )  # fmt: skip
    note = (
        f"At alpha = {SHOWN_ALPHA:g}, with the exact pair (y*, λ*) and the exact penalty minimiser, the estimate is "
        f"{shown_vector(shown)} while ∇F = {shown_vector(truth.grad_F)}."
    )
    values: dict[str, float | str] = {
        "alpha": SHOWN_ALPHA,
        "y_star": shown_vector(truth.y_star),
        "lam_star": shown_vector(truth.lam),
        "estimate": shown_vector(shown),
        "grad_F": shown_vector(truth.grad_F),
    }
    # What is derived has weight 1 on active rows; on the ramp of its multiplier a row has less.
    clear = multipliers_clear_of_the_ramp(truth, call.parameters.lam_width)
    spendings = [Spending(rho=at_truth(case, truth, DIRECTION_ALPHA)[0].rho)] if clear else []
    exact = exact_rate(case, truth, spendings, "T3", name="T₃")
    exact = tuple(_on_same_alphas(case, item, points) if isinstance(item, RateEvidence) else item for item in exact)
    return Measurement((rate, beside, *exact), values, note)


def _penalty_bias_at(case: Case, truth: Truth, alpha: float) -> tuple[Point, Call, Vector]:
    """T3 at one alpha beside its exact value, the call, and the estimate.

    The subject is asked at the exact minimiser, correctly rounded: a minimiser found in doubles is off by their
    roundings times the condition of the system it solves, which the estimator's Jacobian in y multiplies by α⁻⁴.
    """
    geometry, call = at_truth(case, truth, alpha)
    dual_term, grad_F = case.reading.dual_term, truth.grad_F
    y, ideal = minimiser_and_bias(case.instance, truth, geometry, dual_term=dual_term)
    answer = estimate(case, call, y)
    # The gradient of F, the difference from it, and the two norms are rounded as well.
    exact_rows = truth.lower is not None and rows_are_exact(case.instance, truth.lower.y_star)
    width = None if exact_rows else h_width(case, alpha, call)
    rounding = rounding_of_estimate(geometry, y, dual_term=dual_term, h_width=width) + EPS * float(
        np.linalg.norm(grad_F)
    )
    return sweep_point(alpha, answer - grad_F, rounding + len(grad_F) * EPS * ideal, ideal), call, answer


def _on_same_alphas(case: Case, rate: RateEvidence, points: Sequence[Point]) -> RateEvidence:
    """A closed form begins where its formulas hold, the sweep perhaps at larger alphas."""
    known = set() if rate.closed_form is None else {alpha for alpha, _ in rate.closed_form.values}
    return on_sweep(case, rate, [point for point in points if point.at in known])


@check("bias-bound/L-H-y", instances=REGULAR, needs=("hypergradient",))
def lipschitz_in_y(case: Case) -> Measurement:
    """The Lipschitz constant of the estimator in ỹ; the estimator is affine in ỹ, so a unit step measures it."""
    truth = regular_truth(case.instance)
    points = []
    for alpha in case.profile.alphas:
        geometry, call = at_truth(case, truth, alpha)
        step = geometry.worst_y_within(1.0)
        moved = estimate(case, call, geometry.minimiser + step) - estimate(case, call, geometry.minimiser)
        rounding = 2 * geometry.rounding(np.abs(geometry.minimiser) + np.abs(step), dual_term=case.reading.dual_term)
        points.append(sweep_point(alpha, moved, rounding, spectral_norm(geometry.E)))
    rate = fit_rate(points, quantity="L_{H,y}", variable="alpha")
    geometry, _ = at_truth(case, truth, DIRECTION_ALPHA)
    spending = Spending(rho=geometry.rho, y=(0, unit(geometry.worst_y_within(1.0))))
    exact = exact_rate(case, truth, [spending], "T1", name="L_{H,y}", every_error=range(len(truth.y_star)))
    return Measurement((rate, *exact), sweep_ends(points), "L_{H,y} is the norm of f_xy + α₁g_xy - α₂AᵀρB.")


@check("bias-bound/T2", instances=("weakly-active", *REGULAR, "licq-fails", "infeasible"), needs=("hypergradient",))
def inexact_multipliers(case: Case) -> Measurement:
    """The multipliers' allowed error alpha**3, spent in the direction that moves the estimate most.

    The literal text does not keep active multipliers away from 0; where ε_λ may shrink, it may be as small as δ. Of a
    multiplier that clears the ramp its width says nothing.
    """
    frozen = with_maps_frozen(case)
    truth = regular_truth(case.instance)
    if truth.weakly_active:
        return _weakly_active_multipliers(frozen)
    points = []
    for alpha in case.profile.alphas:
        geometry, call = at_truth(case, truth, alpha)
        error, response = _worst_multipliers(case, geometry)
        ends = [with_pair(case, geometry, truth.y_star, truth.lam + s * error, alpha) for s in (1.0, -1.0)]
        held = all((end.rho == geometry.rho).all() for end in ends)
        here = estimate(case, call, geometry.minimiser)
        # Where no weight moves the change is linear, and as large for either sign.
        changes = [estimate(case, replace(call, lam=e.lam), e.minimiser) - here for e in (ends[:1] if held else ends)]
        change = max(changes, key=lambda one: float(np.linalg.norm(one)))
        rounding = 2 * geometry.rounding(geometry.minimiser, dual_term=case.reading.dual_term)
        predicted = float(np.linalg.norm(response @ (ends[0].lam - truth.lam))) if held else None
        points.append(sweep_point(alpha, change, rounding, predicted))
    rate = fit_rate(points, quantity="T₂ at the worst allowed λ̃", variable="alpha")
    note = "‖λ̃ - λ*‖ = α³ in the direction of the whole ball that moves the estimate most."
    if not multipliers_clear_of_the_ramp(truth, case.call(DIRECTION_ALPHA).parameters.lam_width):
        return Measurement((rate,), sweep_ends(points), note)
    geometry, _ = at_truth(case, truth, DIRECTION_ALPHA)
    spending = Spending(rho=geometry.rho, lam=(3, _lam_direction(case, geometry)))
    exact = exact_rate(case, truth, [spending], "T2", name="T₂ at the worst λ̃", every_error=range(len(truth.lam)))
    return Measurement((rate, *exact), sweep_ends(points), note)


def _weakly_active_multipliers(case: Case) -> Measurement:
    """T2 where an active row has multiplier 0, over errors δ of one multiplier: with ε_λ = δ one switches a weight."""
    problem = quadratic_of(case.instance.problem)
    lower = exact_lower_level.solve(problem, case.instance.x)
    y_star, lam = (np.array([float(value) for value in values]) for values in (lower.y_star, lower.lam))
    active = np.array([i in lower.active for i in range(problem.p)])
    h = np.where(active, 0.0, problem.arrays.A @ case.x - problem.arrays.B @ y_star - problem.arrays.b)
    points = []
    for alpha in case.profile.alphas:
        call = case.call(alpha, y_star=y_star, lam=lam)
        width, errors = h_width(case, alpha, call), alpha**3 * np.vstack([np.eye(len(lam)), -np.eye(len(lam))])
        estimates = []
        for multipliers in (lam, *(lam + error for error in errors)):
            rho = ramp(h, multipliers, width, call.parameters.lam_width)
            geometry = Geometry(problem, case.x, alpha, y_star, multipliers, rho)
            estimates.append(estimate(case, replace(call, lam=multipliers), geometry.minimiser))
        change = max((moved - estimates[0] for moved in estimates[1:]), key=lambda one: float(np.linalg.norm(one)))
        rounding = 2 * geometry.rounding(y_star, dual_term=case.reading.dual_term)
        points.append(sweep_point(alpha, change, rounding, None))
    rate = fit_rate(points, quantity="T₂ at the worst allowed λ̃", variable="alpha")
    moves = "ε_λ = δ: the row's weight jumps from 0 to 1" if shrinks(case) else "ε_λ fixed: its weight moves by δ/ε_λ"
    return Measurement((rate,), sweep_ends(points), f"λ* = 0 on an active row, λ̃ = δ there, {moves}.")


@check("bias-bound/conditional-mean", instances=REGULAR, needs=("hypergradient",), sure=2)
def formula_at_given_stages(case: Case) -> Measurement:
    """The noise-free estimate at given inner solutions against ∇_xL there, far from and near the solution.

    As written the mean over the inner solvers' randomness is meant as well: two equally likely runs tell them apart.
    """
    truth = regular_truth(case.instance)
    worst, at = 0.0, SHOWN_ALPHA
    apart = 0.0
    for alpha in case.profile.alphas[:6]:
        geometry, _ = at_truth(case, truth, alpha)
        for scale in (1.0, 0.1, alpha**2):
            y_star = truth.y_star + scale * case.rng.standard_normal(len(truth.y_star))
            lam = np.abs(truth.lam + scale * case.rng.standard_normal(len(truth.lam)))
            y = y_star + scale * case.rng.standard_normal(len(y_star))
            given = replace(geometry, y_star=y_star, lam=lam)
            call = case.call(alpha, y_star=y_star, lam=lam)
            width = h_width(case, alpha, call)
            given = replace(given, rho=ramp(given.h, lam, width, call.parameters.lam_width))
            answer = estimate(case, call, y)
            exact = given.estimate(y, dual_term=case.reading.dual_term)
            rounding = given.rounding(y, dual_term=case.reading.dual_term, h_width=width)
            ratio = float(np.linalg.norm(answer - exact)) / max(rounding, EPS**2)
            if ratio > worst:
                worst, at = ratio, alpha
            if case.as_written:
                other = estimate(case, call, y + alpha * (y - y_star))
                apart = max(apart, float(np.linalg.norm(other - answer)) / 2 / max(rounding, EPS**2))
    formula = compare(
        "difference of the estimate from ∇_xL at the given stages, in roundings", worst, "<=", AGREEMENT_ROUNDINGS,
        context={"alpha": at},
    )  # fmt: skip
    if not case.as_written:
        return Measurement((formula,))
    runs = compare(
        "difference of one run's ∇_xL from the mean over two equally likely runs, in roundings", apart, "<=",
        AGREEMENT_ROUNDINGS,
    )  # fmt: skip
    return Measurement((formula, runs), {}, "Two runs whose ỹ differ have different ∇_xL; neither equals their mean.")


@check("bias-bound/ramp", instances=(*REGULAR, *DEGENERATE), needs=("hypergradient",))
def ramp_under_error(case: Case) -> Measurement:
    """The lower-level point's allowed error alpha**3, spent where it hurts: inside, where a row may switch off."""
    truth = regular_truth(case.instance)
    points, worst_rho = [], 1.0
    for alpha in case.profile.alphas:
        geometry, _ = at_truth(case, truth, alpha)
        sizes = []
        for error in geometry.retreats(alpha**3):
            moved = with_pair(case, geometry, truth.y_star + error, truth.lam, alpha)
            call = case.call(alpha, y_star=moved.y_star, lam=truth.lam)
            sizes.append(float(np.linalg.norm(estimate(case, call, moved.minimiser) - truth.grad_F)))
            worst_rho = min([worst_rho, *moved.rho[truth.active > 0].tolist()])
        rounding = geometry.rounding(geometry.minimiser, dual_term=case.reading.dual_term)
        points.append(Point(at=alpha, measured=max(sizes), uncertainty=rounding))
    rate = fit_rate(points, quantity="bias at the worst allowed ỹ*", variable="alpha")
    note = f"ỹ* is off by α³, feasibly; the smallest weight an active row then gets is {worst_rho:.3g}."
    exact = exact_rate(case, truth, _retreat_spendings(case, truth), "bias", name="bias at the worst ỹ*")
    return Measurement((rate, *exact), sweep_ends(points) | {"smallest rho of an active row": worst_rho}, note)


@check("bias-bound", instances=(*REGULAR, *DEGENERATE), needs=("hypergradient", "lower_level"))
def bias(case: Case) -> Measurement:
    """All premises' errors at once, and the subject's own run from start to end; the larger bias counts."""
    truth = regular_truth(case.instance)
    points = []
    for alpha in case.profile.alphas:
        geometry, _ = at_truth(case, truth, alpha)
        own = case.stages.hypergradient(case.instance.problem, case.x, case.call(alpha))
        sizes = [float(np.linalg.norm(own - truth.grad_F))]
        sizes += [float(np.linalg.norm(estimate_ - truth.grad_F)) for estimate_ in _spent(case, truth, alpha, geometry)]
        rounding = geometry.rounding(geometry.minimiser, dual_term=case.reading.dual_term)
        points.append(Point(at=alpha, measured=max(sizes), uncertainty=rounding))
    rate = fit_rate(points, quantity="bias", variable="alpha")
    note = "All allowed errors (ỹ*, λ̃, ỹ) are spent together, each in its worst direction found."
    if not multipliers_clear_of_the_ramp(truth, case.call(DIRECTION_ALPHA).parameters.lam_width):
        return Measurement((rate,), sweep_ends(points), note)
    geometry, _ = at_truth(case, truth, DIRECTION_ALPHA)
    lam = (3, _lam_direction(case, geometry))
    spendings = [
        slip_spent(case, replace(geometry, rho=spending.rho), replace(spending, lam=lam), sign=sign)
        for spending in (Spending(rho=geometry.rho), *_retreat_spendings(case, truth))
        for sign in (1.0, -1.0)
    ]
    return Measurement((rate, *exact_rate(case, truth, spendings, "bias", name="bias")), sweep_ends(points), note)


def slip_spent(case: Case, geometry: Geometry, spending: Spending, *, sign: float = 1.0) -> Spending:
    """The same errors with the minimiser's own, under this reading's stopping rule, in its worst direction."""
    if case.reading.inner_stop == "distance":
        return replace(spending, y=(3, sign * unit(geometry.worst_y_within(1.0))))
    return replace(spending, gradient=(1, sign * unit(geometry.H @ geometry.worst_y_with_gradient(1.0))))


def _lam_direction(case: Case, geometry: Geometry) -> Vector:
    return unit(_worst_multipliers(case, geometry)[0])


def _worst_multipliers(case: Case, geometry: Geometry) -> tuple[Vector, Vector]:
    """The error α³ of the multipliers that moves the estimate most, weights on their ramps included; and how it does.

    A negative λ̃ has weight 0, as λ̃ = 0 has: for small α that is a row with weight 0 at λ*, too.
    """
    lam_width = case.call(geometry.alpha).parameters.lam_width
    response = geometry.lam_to_estimate(dual_term=case.reading.dual_term, lam_width=lam_width)
    return geometry.worst_lam_within(geometry.alpha**3, response), response


def _retreat_spendings(case: Case, truth: Truth) -> list[Spending]:
    """Errors of ỹ* to try, each with the weights it leaves at every alpha: the ramp is a power of alpha wide."""
    geometry, call = at_truth(case, truth, DIRECTION_ALPHA)
    width_in_errors = h_width(case, DIRECTION_ALPHA, call) / DIRECTION_ALPHA**3
    spendings = []
    for error in geometry.retreats(1.0):
        direction = exact_direction(error)
        h = np.where(geometry.rho > 0, -geometry.a.B @ direction, -np.inf)
        if case.reading.ramp_width == "delta":
            rho = geometry.rho * np.clip(1 + h / width_in_errors, 0.0, 1.0)
        elif (np.abs(h[(h != 0) & np.isfinite(h)]) < SMALLEST_RETREAT).any():
            continue  # within the narrow ramp at some alpha: its weight is no constant
        else:
            rho = np.where(h < 0, 0.0, geometry.rho)
        spendings.append(Spending(rho=rho, y_star=(3, direction)))
    return spendings


def allowed_error(case: Case, geometry: Geometry) -> Vector:
    if case.reading.inner_stop == "distance":
        return geometry.worst_y_within(geometry.alpha**3)
    return geometry.worst_y_with_gradient(geometry.alpha)


def with_pair(case: Case, geometry: Geometry, y_star: Vector, lam: Vector, alpha: float) -> Geometry:
    """The same instance with another lower-level pair, its weights recomputed."""
    call = case.call(alpha)
    moved = replace(geometry, y_star=y_star, lam=lam)
    # Moving by what h moves keeps the boundary exact where y* is.
    a = geometry.a
    boundary = np.where(geometry.rho > 0, 0.0, geometry.h)
    h = boundary - a.B @ (y_star - geometry.y_star)
    return replace(moved, rho=ramp(h, lam, h_width(case, alpha, call), call.parameters.lam_width))


def _spent(case: Case, truth: Truth, alpha: float, geometry: Geometry) -> list[Vector]:
    """Estimates with every premise's error spent, over the candidates for the worst and all their signs."""
    shift, _ = _worst_multipliers(case, geometry)
    multipliers, questions = [truth.lam + sign * shift for sign in (1.0, -1.0)], []
    for error in (np.zeros(len(truth.y_star)), *geometry.retreats(alpha**3)):
        for lam in multipliers:
            moved = with_pair(case, geometry, truth.y_star + error, lam, alpha)
            slip = allowed_error(case, moved)
            call = case.call(alpha, y_star=moved.y_star, lam=lam)
            ends = (moved.minimiser + sign * slip for sign in (1.0, -1.0))
            questions += [(case.x, replace(call, y_penalty=y)) for y in ends]
    return case.stages.hypergradients(case.instance.problem, questions)
