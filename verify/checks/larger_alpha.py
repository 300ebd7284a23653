"""How wide a multiplier's ramp the total cost of a larger α allows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import sqrt

from spec.atlas import Instance
from verify.checks.measuring.case import Case, Measurement, check, values_at
from verify.checks.measuring.finite_laws import ExactOracle, minus, square
from verify.evidence.model import Point
from verify.evidence.rates.rates import fit_rate
from verify.truth.stages import DEFAULT_LAM_WIDTH, evaluate
from verify.verdict import NoEvidenceError

BEYOND = Fraction(9, 8)
"""Distance from the kink in radii: no ball of that radius holds it."""


@check("sfo-complexity/larger-alpha-width", instances=("kink",))
def width_of_the_ramp(case: Case) -> Measurement:
    """Error over ε just further than δ_G from the kink of |x|, as δ_G shrinks: ε_λ fixed as written, δ_G repaired."""
    alpha, points = Fraction(1, 2**20), []
    for radius in (Fraction(1, 2**k) for k in range(9, 22)):
        width = DEFAULT_LAM_WIDTH if case.as_written else radius
        oracle = ExactOracle.at(_beside(case.instance, BEYOND * radius), alpha)
        pair = {"y_star": oracle.lower.y_star, "lam": oracle.lower.lam}
        setting = replace(oracle.setting, lam_width=width, given=pair)
        answer = tuple(Fraction(v) for v in evaluate(setting).hypergradient if isinstance(v, Fraction))
        apart = sqrt(square(minus(answer, oracle.grad_F)))
        points.append(Point(at=float(radius), measured=apart / float(alpha**2)))
    rate = fit_rate(points, quantity="distance of the mean from the gradient over ε", variable="goldstein_radius")
    note = "α = √ε. The two pieces weigh α²ε_λ to 9δ_G/8 there; within the ball of radius δ_G lies one of them alone."
    return Measurement((rate,), values_at("error over ε at δ_G", points[:3]), note)


def _beside(instance: Instance, distance: Fraction) -> Instance:
    """The point at a distance from the kink at 0, on the side where the row has a multiplier."""
    for x in (distance, -distance):
        if ExactOracle.at(instance.at(x), Fraction(1, 2)).lower.lam[0] > 0:
            return instance.at(x)
    raise NoEvidenceError(f"the row of {instance.name} has no multiplier on either side of its kink")
