"""Where the bias bound needs more of g than its text says: a Hessian that is only Hölder."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import log2

import numpy as np

from f2csa_ref.objectives import objectives_of
from spec import Holder
from verify.checks.bias_bound.steps import penalty_bias
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.formula_evidence import brought
from verify.checks.measuring.own_values import points_agree
from verify.checks.measuring.premises import estimate, sweep_ends
from verify.evidence.model import Point
from verify.evidence.rates.rates import fit_rate
from verify.truth.enclosures.pair import holder_bias, holder_minimiser
from verify.truth.geometry import EPS

POWERS = range(1, 7)
"""α = 4⁻ᵏ at which T3 is a power of two."""


@check(
    "bias-bound/hessian-lipschitz",
    instances=("holder-1-4", "holder-1-2", "holder-3-4", "holder-1", "toy1", "two-of-three"),
    needs=("hypergradient",),
)
def hessian_regularity(case: Case) -> Measurement:
    """T3 where g is smooth but its Hessian is only Hölder continuous."""
    problem = case.instance.problem
    if not isinstance(problem, Holder):
        return penalty_bias(case)
    # No row is active there, and ∇_y g is 0 at y*: maps of x add nothing to what is held fixed.
    case, points = replace(case, reading=case.reading.choose(dual_term="cancelled")), []
    for alpha in case.profile.alphas:
        y = holder_minimiser(alpha)
        call = case.call(alpha, y_star=np.zeros(1), lam=np.zeros(1))
        error = float(abs(estimate(case, call, np.array([y]))[0] + 1.0))
        points.append(Point(at=alpha, measured=error, uncertainty=8 * EPS, predicted=holder_bias(problem, alpha)))
    rate = fit_rate(points, quantity="T₃", variable="alpha")
    # A subject that is right agrees with α^{2s} everywhere: a rate of wrong values says nothing.
    evidence = (rate, points_agree(case, points, "T₃"))
    note = "At x = 0 the estimate is -1 - α^{2s} by hand: ỹ = -α², α₁(ỹ + ỹ|ỹ|^s) = -1 - α^{2s}."
    return Measurement(evidence, sweep_ends(points), note)


@check("bias-bound/holder-order", instances=("holder-1-4", "holder-1-2", "holder-3-4", "holder-1"))
def order_by_exponent(case: Case) -> Measurement:
    """The exponent of T3 between α = 4⁻ᵏ and 4⁻⁽ᵏ⁺¹⁾ against 1, or against 2s; every value is a power of two, exact."""
    problem = case.instance.problem
    assert isinstance(problem, Holder)  # by the instances
    orders = orders_of_T3(problem)
    compared = brought(case, *((Fraction(order),) for order in orders), context={"s": float(problem.s)})
    return Measurement(
        compared, {f"exponent at alpha = 4^-{k}": order for k, order in zip(POWERS, orders, strict=False)}
    )


def orders_of_T3(problem: Holder) -> list[float]:  # noqa: N802  # the paper's letter
    """Exponents of T3 between neighbouring α = 4⁻ᵏ; 4s must be whole, so that doubles hold every value exactly."""
    sizes = [_exact_T3(problem, 4.0**-k) for k in POWERS]
    return [log2(a / b) / 2 for a, b in pairwise(sizes)]


def _exact_T3(problem: Holder, alpha: float) -> float:  # noqa: N802  # the paper's letter
    """|∇_xL - ∇F| at x = 0, y* = 0 and the exact penalty minimiser; ∇F = -g_xy/g_yy there."""
    objectives, zero = objectives_of(problem), np.zeros(1)
    y = np.array([holder_minimiser(alpha)])
    estimate = alpha**-2 * (objectives.grad_x_g(zero, y) - objectives.grad_x_g(zero, zero))
    return float(abs(estimate[0] + 1.0))
