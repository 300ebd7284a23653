"""What errors of the lower-level pair alone do to the estimator, and the sum that the proof adds all errors up to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from spec.exact import Vector
from verify.checks.bias_bound.steps import allowed_error, with_pair
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.own_values import AGREEMENT_ROUNDINGS
from verify.checks.measuring.premises import (
    PremiseUnmetError,
    at_truth,
    estimate,
    feasible,
    h_width,
    regular_truth,
    sweep_ends,
    with_maps_frozen,
)
from verify.evidence.model import ComparisonEvidence, Point
from verify.evidence.rates.rates import fit_rate
from verify.truth.enclosures.pair import Truth
from verify.truth.formulas import as_float
from verify.truth.geometry import Geometry, quadratic_of, ramp

ON_THE_RAMP = 0.5
"""A multiplier at this share of ε_λ lies on its ramp, and the slope from zero to there is the ramp's."""


@check(
    "bias-bound/L-H-lambda",
    instances=("weakly-active", "toy1", "absolute-moving", "two-of-three", "random-3x5x4", "interior"),
    needs=("hypergradient",),
)
def lipschitz_in_lam(case: Case) -> Measurement:
    """The estimate's slope in one multiplier on its ramp, at the penalty minimiser of the exact pair; the worst row.

    The subject computes the weights itself, so that they move with the multiplier.
    """
    case, lower = with_maps_frozen(case), feasible(case.instance)
    if not lower.licq:
        raise PremiseUnmetError("licq", f"{len(lower.active)} rows are active, their rank is {lower.licq_rank}")
    problem = quadratic_of(case.instance.problem)
    y_star, lam = as_float(lower.y_star), as_float(lower.lam)
    h = np.array([0.0 if i in lower.active else float(value) for i, value in enumerate(lower.h)])
    points, worst, at = [], 0.0, case.profile.alphas[0]
    for alpha in case.profile.alphas:
        call = case.call(alpha, y_star=y_star, lam=lam)
        width, lam_width = h_width(case, alpha, call), call.parameters.lam_width
        pair = Geometry(problem, case.x, alpha, y_star, lam, ramp(h, lam, width, lam_width))
        y, step = pair.minimiser, ON_THE_RAMP * lam_width
        rounding = 2 * pair.rounding(y, dual_term=case.reading.dual_term, h_width=width)
        seen, exact = [], []
        for i in range(problem.p):
            ends = [np.where(np.arange(problem.p) == i, value, lam) for value in (0.0, step)]
            low, high = (estimate(case, replace(call, lam=end), y) for end in ends)
            given = [replace(pair, lam=end, rho=ramp(h, end, width, lam_width)) for end in ends]
            low_exact, high_exact = (one.estimate(y, dual_term=case.reading.dual_term) for one in given)
            seen.append((high - low) / step)
            exact.append((high_exact - low_exact) / step)
        off = max(float(np.linalg.norm(a - b)) for a, b in zip(seen, exact, strict=True)) * step / rounding
        worst, at = max((worst, at), (off, alpha))
        largest, predicted = (max(float(np.linalg.norm(slope)) for slope in slopes) for slopes in (seen, exact))
        points.append(Point(at=alpha, measured=largest, uncertainty=rounding / step, predicted=predicted))
    rate = fit_rate(points, quantity="L_{H,λ}", variable="alpha")
    note = (
        "From multiplier 0 to ε_λ/2 a row's weight rises by 1/2: the slope is α₂A_i h_i(x, ỹ)/ε_λ, and α₁A_i beside it "
        "where the dual term is kept."
    )
    return Measurement((rate, _agreement("changes of the estimate", worst, at)), sweep_ends(points), note)


@check(
    "bias-bound/y-star-error",
    instances=("toy2", "scalar-rational", "experiment-1d", "random-2x3x4", "random-3x5x4", "toy1"),
    needs=("hypergradient",),
)
def inexact_lower_level(case: Case) -> Measurement:
    """What ỹ* off by δ along the top singular vector of g_xy adds to the estimate, all else given and held."""
    truth = regular_truth(case.instance)
    g_xy = quadratic_of(case.instance.problem).arrays.g_xy
    direction = np.linalg.svd(g_xy)[2][0]
    points, worst, at = [], 0.0, case.profile.alphas[0]
    for alpha in case.profile.alphas:
        geometry, call = at_truth(case, truth, alpha)
        held, y = replace(call, rho=geometry.rho), geometry.minimiser
        moved = truth.y_star + alpha**3 * direction
        change = estimate(case, replace(held, y_star=moved), y) - estimate(case, held, y)
        exact = -(alpha**-2) * g_xy @ (moved - truth.y_star)
        rounding = 2 * geometry.rounding(y, dual_term=case.reading.dual_term)
        worst, at = max((worst, at), (float(np.linalg.norm(change - exact)) / rounding, alpha))
        sizes = (float(np.linalg.norm(vector)) for vector in (change, exact))
        points.append(Point(at=alpha, measured=next(sizes), uncertainty=rounding, predicted=next(sizes)))
    rate = fit_rate(points, quantity="change of the estimate at the worst ỹ*", variable="alpha")
    note = "ỹ* enters as -α₁∇_x g(x, ỹ*): an error of α³ along g_xy's top singular vector changes that by α‖g_xy‖."
    return Measurement((rate, _agreement("changes of the estimate", worst, at)), sweep_ends(points), note)


@check(
    "bias-bound/triangle",
    instances=("toy1", "two-of-three", "toy2", "experiment-1d", "random-2x3x4"),
    needs=("hypergradient",),
)
def sum_of_terms(case: Case) -> Measurement:
    """The subject's bias under errors spent together against the sum of the terms, each from the formulas.

    With no error at all the sum is T3 alone and the bias equals it: nothing smaller than the sum would do.
    """
    truth = regular_truth(case.instance)
    worst, at, shown = -np.inf, 0.0, ""
    for alpha in case.profile.alphas:
        for name, total, bias, rounding in _sums(case, truth, alpha):
            if (bias - total) / rounding > worst:
                worst, at, shown = (bias - total) / rounding, alpha, name
    compared = compare(
        "excess of the bias over the sum of the terms, in roundings", worst, "<=", AGREEMENT_ROUNDINGS,
        context={"alpha": at, "errors": shown},
    )  # fmt: skip
    return Measurement((compared,), {}, "The terms are norms of successive differences that add up to the bias.")


def _sums(case: Case, truth: Truth, alpha: float) -> Iterator[tuple[str, float, float, float]]:
    """Which errors are spent, the sum of the terms, the subject's bias, and what counts as rounding."""
    exact, _ = at_truth(case, truth, alpha)
    dual_term = case.reading.dual_term

    def at_its_minimiser(pair: Geometry) -> Vector:
        return pair.estimate(pair.minimiser, dual_term=dual_term)

    T3 = float(np.linalg.norm(at_its_minimiser(exact) - truth.grad_F))
    slip = alpha**3 * np.array([1.0 if value >= alpha**3 else 0.0 for value in truth.lam])
    off_lam = truth.lam - slip / max(1.0, float(np.linalg.norm(slip)) / alpha**3)
    # As written the lower-level solution is not varied: it is in no term.
    retreats = [] if case.as_written else exact.retreats(alpha**3)
    tried = [("none", truth.y_star, truth.lam, False), ("ỹ and λ̃", truth.y_star, off_lam, True)]
    tried += [("all", truth.y_star + error, off_lam, True) for error in retreats]
    for name, y_star, lam, inexact in tried:
        off_dual = with_pair(case, exact, truth.y_star, lam, alpha)
        pair = with_pair(case, exact, y_star, lam, alpha)
        y = pair.minimiser + (allowed_error(case, pair) if inexact else 0.0)
        T2 = float(np.linalg.norm(at_its_minimiser(off_dual) - at_its_minimiser(exact)))
        of_y_star = float(np.linalg.norm(at_its_minimiser(pair) - at_its_minimiser(off_dual)))
        T1 = float(np.linalg.norm(pair.estimate(y, dual_term=dual_term) - at_its_minimiser(pair)))
        call = case.call(alpha, y_star=y_star, lam=lam, rho=pair.rho)
        bias = float(np.linalg.norm(estimate(case, call, y) - truth.grad_F))
        yield name, T1 + T2 + T3 + of_y_star, bias, pair.rounding(y, dual_term=dual_term)


def _agreement(what: str, worst: float, alpha: float) -> ComparisonEvidence:
    """Whether the subject's own values are the formulas': a rate of wrong values says nothing of the claim."""
    return compare(
        f"{what} against the formulas, in roundings", worst, "<=", AGREEMENT_ROUNDINGS, context={"alpha": alpha}
    )
