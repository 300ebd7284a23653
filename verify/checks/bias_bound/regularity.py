"""Where the bias bound needs more than its text says: points near a kink of F, and a Hessian that is only Hölder."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from spec import Holder
from verify.checks.bias_bound.steps import penalty_bias
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.premises import SHOWN_ALPHA, at_truth, estimate, frozen, regular_truth, sweep_ends
from verify.evidence.model import Point, PremiseEvidence
from verify.evidence.rates import fit_rate
from verify.truth import lower_level as exact_lower_level
from verify.truth.geometry import EPS, quadratic_of
from verify.truth.pair import holder_bias, holder_minimiser


@check("bias-bound/uniformity", instances=("toy2", "kink", "experiment-1d", "swapping-rows"), needs=("hypergradient",))
def uniform_in_x(case: Case) -> Measurement:
    """The same bound at points approaching a kink of F with alpha."""
    kink = Fraction(case.instance.known["kink"])
    lam_width = case.call(SHOWN_ALPHA).parameters.lam_width
    switching = _switching_rows(case, kink)
    points = []
    for alpha in case.profile.alphas:
        offset = Fraction(alpha) ** 2 * Fraction(lam_width)
        found = [_distance_at(case, alpha, kink + offset * c, Fraction(alpha)) for c in _OFFSETS]
        worst = max(found, key=lambda pair: pair[0])
        points.append(Point(at=alpha, measured=worst[0], uncertainty=max(u for _, u in found)))
    name = "sup over x of the bias" if case.as_written else "sup over x of the distance to ∂_rF"
    rate = fit_rate(points, quantity=name, variable="alpha")
    offset = Fraction(SHOWN_ALPHA) ** 2 * Fraction(lam_width)
    here = max(_distance_at(case, SHOWN_ALPHA, kink + side * offset, Fraction(SHOWN_ALPHA))[0] for side in (1, -1))
    shown = compare(
        "error at distance α²ε_λ from the kink", here, "<=", SHOWN_ALPHA,
        context={"alpha": SHOWN_ALPHA, "lam_width": lam_width}, role="support",
    )  # fmt: skip
    values = sweep_ends(points) | {"kink at x": str(kink), "error at distance alpha^2 lam_width, alpha = 0.1": here}
    note = f"x approaches the kink at {kink} as α²ε_λ; the error stays."
    if not case.as_written and switching > 1:
        finding = f"{switching} rows switch at x = {kink}; the repaired bound then fails too, it scales as "
        unmet = PremiseEvidence(
            premise="independent-switching", holds=False, finding=f"{finding}alpha^{rate.exponent:+.2f}"
        )
        return Measurement((unmet, rate.model_copy(update={"role": "support"})), values, note)
    return Measurement((rate, shown), values, note)


def _switching_rows(case: Case, kink: Fraction) -> int:
    """How many rows are weakly active at the kink."""
    return len(exact_lower_level.solve(quadratic_of(case.instance.problem), (kink,)).weakly_active)


_OFFSETS = tuple(side * c for c in (Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(10)) for side in (1, -1))


def _distance_at(case: Case, alpha: float, x: Fraction, radius: Fraction) -> tuple[float, float]:
    """|estimate - F'(x)|, or under the repaired reading the distance to F' over the ball; with its rounding."""
    at = case.instance.at(x)
    there = replace(case, instance=at)
    truth = regular_truth(at)
    geometry, call = at_truth(there, truth, alpha)
    found = float(estimate(there, call, geometry.minimiser)[0])
    rounding = geometry.rounding(geometry.minimiser, frozen=frozen(case))
    if case.as_written:
        return abs(found - float(truth.grad_F[0])), rounding
    # F' is affine between kinks, so its range over the ball is attained at the ends and beside the kink.
    kink = Fraction(case.instance.known["kink"])
    samples = [x, x - radius, x + radius, kink - radius / 10**6, kink + radius / 10**6]
    problem = quadratic_of(case.instance.problem)
    slopes = [float(exact_lower_level.hypergradient(problem, (z,))[0]) for z in samples if abs(z - x) <= radius]
    return max(0.0, min(slopes) - found - rounding, found - max(slopes) - rounding), rounding


@check(
    "bias-bound/hessian-lipschitz",
    instances=("holder-1-4", "holder-3-4", "toy1", "two-of-three"),
    needs=("hypergradient",),
)
def hessian_regularity(case: Case) -> Measurement:
    """T3 where g is smooth but its Hessian is only Hölder continuous."""
    problem = case.instance.problem
    if not isinstance(problem, Holder):
        return penalty_bias(case)
    points = []
    for alpha in case.profile.alphas:
        y = holder_minimiser(alpha)
        call = case.call(alpha, y_star=np.zeros(1), lam=np.zeros(1))
        error = float(abs(estimate(case, call, np.array([y]))[0] + 1.0))
        points.append(Point(at=alpha, measured=error, uncertainty=8 * EPS, predicted=holder_bias(problem, alpha)))
    rate = fit_rate(points, quantity="T₃", variable="alpha")
    if case.as_written:
        note = "At x = 0 the estimate is -1 - α^{2s} by hand: ỹ = -α², α₁(ỹ + ỹ|ỹ|^s) = -1 - α^{2s}."
        return Measurement((rate,), sweep_ends(points), note)
    return Measurement((_hessian_premise(problem), rate.model_copy(update={"role": "support"})))


def _hessian_premise(problem: Holder) -> PremiseEvidence:
    """How ∂²g/∂x∂y(0, r) leaves its value at r = 0: Lipschitz means at least linearly."""
    from f2csa_ref import objectives_of

    objectives = objectives_of(problem)
    zero = np.zeros(1)

    def quotient(r: float) -> float:
        return float((objectives.grad_x_g(zero, np.array([r])) - objectives.grad_x_g(zero, zero))[0] / r)

    radii = [2.0**-k for k in range(4, 16)]
    changes = [Point(at=r, measured=abs(quotient(r) - 1.0), uncertainty=4 * EPS) for r in radii]
    rate = fit_rate(changes, quantity="change of ∇²g", variable="distance")
    finding = f"∇²g changes like distance^{rate.exponent:.2f}, not distance^1"
    return PremiseEvidence(premise="hessian-lipschitz", holds=rate.interval[0] >= 0.95, finding=finding)
