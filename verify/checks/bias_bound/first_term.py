"""T1: what the minimiser's allowed error costs, and its constant, the Lipschitz constant of y*."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from verify.checks.bias_bound.steps import allowed_error, slip_spent
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.exact import (
    DIRECTION_ALPHA,
    Spending,
    exact_rate,
    multipliers_clear_of_the_ramp,
)
from verify.checks.measuring.piece_constants import PieceConstants, share_of
from verify.checks.measuring.premises import (
    DEGENERATE,
    REGULAR,
    at_truth,
    estimate,
    h_width,
    regular_truth,
    sweep_ends,
    sweep_point,
)
from verify.evidence.model import ComparisonEvidence, Evidence, Point
from verify.evidence.rates.rates import fit_rate
from verify.subjects.protocol import Call
from verify.truth.enclosures.pair import Truth
from verify.truth.geometry import EPS, Geometry, ramp


@check("bias-bound/T1", instances=(*REGULAR, *DEGENERATE), needs=("hypergradient",))
def inexact_minimiser(case: Case) -> Measurement:
    """The minimiser's allowed error, spent in the direction that moves the estimate most.

    Stopped at a gradient of norm α the change is held against α‖Dy*‖ too, from above and from below.
    """
    truth = regular_truth(case.instance)
    points = []
    for alpha in case.profile.alphas:
        tried = [_moved(case, geometry, call) for geometry, call in _pairs(case, truth, alpha)]
        points.append(max(tried, key=lambda point: point.measured))
    evidence: list[Evidence] = [fit_rate(points, quantity="T₁ at the worst allowed ỹ", variable="alpha")]
    stop = "‖ỹ - y*‖ = α³" if case.reading.inner_stop == "distance" else "‖∇_yL(x, ỹ)‖ = α"
    note = f"The error of ỹ has {stop} along the top right singular vector of the estimator's Jacobian in y."
    if case.reading.inner_stop != "distance" and case.reading.dual_term == "cancelled":
        evidence.append(_constant(case, truth, points))
    geometry, call = at_truth(case, truth, DIRECTION_ALPHA)
    # Beside a ramp the weights move with the multipliers' error, too: there the formula spends both.
    if multipliers_clear_of_the_ramp(truth, call.parameters.lam_width):
        spending = slip_spent(case, geometry, Spending(rho=geometry.rho))
        every_error = range(len(truth.y_star))
        evidence += exact_rate(case, truth, [spending], "T1", name="T₁ at the worst ỹ", every_error=every_error)
    return Measurement(tuple(evidence), sweep_ends(points), note)


def _pairs(case: Case, truth: Truth, alpha: float) -> Iterator[tuple[Geometry, Call]]:
    """The exact pair, and the multipliers with the allowed error spent on each weakly active row, which it weighs."""
    geometry, call = at_truth(case, truth, alpha)
    yield geometry, call
    for row in truth.weakly_active:
        lam = truth.lam + alpha**3 * np.eye(len(truth.lam))[row]
        h = geometry.h.copy()
        h[list(truth.weakly_active)] = 0.0
        rho = ramp(h, lam, h_width(case, alpha, call), call.parameters.lam_width)
        yield replace(geometry, lam=lam, rho=rho), replace(call, lam=lam)


def _moved(case: Case, geometry: Geometry, call: Call) -> Point:
    """How far the worst allowed error of the minimiser moves the estimate."""
    error = allowed_error(case, geometry)
    there, here = (estimate(case, call, geometry.minimiser + shift) for shift in (error, 0.0 * error))
    # A subject's own answers may be larger than the formulas': what cancels in the difference is rounded, too.
    own = 4 * EPS * float(np.linalg.norm(there) + np.linalg.norm(here))
    rounding = own + 2 * geometry.rounding(geometry.minimiser, dual_term=case.reading.dual_term)
    return sweep_point(geometry.alpha, there - here, rounding, float(np.linalg.norm(geometry.E @ error)))


def _constant(case: Case, truth: Truth, points: list[Point]) -> ComparisonEvidence:
    """How far T₁ is from α‖Dy*‖, over the terms of higher order that the master identity leaves beside it."""
    shares = {}
    for point in points:
        constants = PieceConstants.of(at_truth(case, truth, point.at)[0], truth)
        beside = constants.first_order + min(constants.without_modulus, constants.with_modulus)
        off = abs(point.measured - point.at * constants.L_y) - point.uncertainty
        shares[point.at] = share_of(max(0.0, off), point.at * beside)
    worst = max(shares, key=lambda alpha: shares[alpha])
    quantity = "|T₁ - α‖Dy*‖| over its terms of higher order"
    return compare(quantity, shares[worst], "<=", 1.0, 1e-9, context={"alpha": worst})
