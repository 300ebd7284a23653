"""Where the bias bound needs more of g than its text says: a Hessian that is only Hölder."""

from __future__ import annotations

import numpy as np

from spec import Holder
from verify.checks.bias_bound.steps import penalty_bias
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.own_values import points_agree
from verify.checks.measuring.premises import estimate, sweep_ends
from verify.evidence.model import Point, PremiseEvidence
from verify.evidence.rates import fit_rate
from verify.truth.geometry import EPS
from verify.truth.pair import holder_bias, holder_minimiser

HALF = 0.45
"""Smallest exponent measured of a Hessian that is Hölder with exponent one half."""


@check(
    "bias-bound/hessian-lipschitz",
    instances=("holder-1-2", "holder-1-4", "holder-3-4", "toy1", "two-of-three"),
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
    # A subject that is right agrees with α^{2s} everywhere: a rate of wrong values says nothing.
    evidence = (rate, points_agree(case, points, "T₃"))
    if case.as_written:
        note = "At x = 0 the estimate is -1 - α^{2s} by hand: ỹ = -α², α₁(ỹ + ỹ|ỹ|^s) = -1 - α^{2s}."
        return Measurement(evidence, sweep_ends(points), note)
    return Measurement((_hessian_premise(problem), *evidence), sweep_ends(points))


def _hessian_premise(problem: Holder) -> PremiseEvidence:
    """How ∂²g/∂x∂y(0, r) leaves its value at r = 0: at least like the root of r."""
    from f2csa_ref import objectives_of

    objectives = objectives_of(problem)
    zero = np.zeros(1)

    def quotient(r: float) -> float:
        return float((objectives.grad_x_g(zero, np.array([r])) - objectives.grad_x_g(zero, zero))[0] / r)

    radii = [2.0**-k for k in range(4, 16)]
    changes = [Point(at=r, measured=abs(quotient(r) - 1.0), uncertainty=4 * EPS) for r in radii]
    rate = fit_rate(changes, quantity="change of ∇²g", variable="distance")
    finding = f"∇²g changes like distance^{rate.exponent:.2f}; asked for is distance^0.5 at least"
    return PremiseEvidence(premise="hessian-lipschitz", holds=rate.interval[0] >= HALF, finding=finding)
