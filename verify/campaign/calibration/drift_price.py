r"""What it costs to refute a claim half an order off where the sweep may bend, and what it must cost at the least.

Refuting a power law for every law of the class that its noise leaves open (:mod:`verify.evidence.rates.bends`) takes
more samples than refuting it for other powers alone. How many more any decision with these errors takes is bounded by
the class's nearest law that meets the claim: log estimates of variance 2/N each tell two laws of distance d apart, on
either error, only from :math:`N = 2 (z_e + z_m)^2 / d^2` on (Neyman and Pearson).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from spec.claims import Bound
from spec.exact import Vector
from verify.evidence.budget import Share
from verify.evidence.rates.bends import PASSED, PASSED_SLOWLY, POWERS, SLOW
from verify.evidence.rates.orders import bent
from verify.evidence.rates.rates import SweepEstimate, fit_power_law
from verify.evidence.samples.laws import normal_upper
from verify.verdict import Verdict, decide

START = 0.2
TRUE, CLAIMED = 0.5, 1.0
"""The exponent there is, and the one claimed: O(a) is half an order off."""
SEEN = 0.9
"""Share of sweeps that must refute."""
FIRST, LAST, STEP = 4.0, 18.0, 0.125
"""Samples a point that are tried, as powers of two."""
SIZES = np.geomspace(1e-3, 1.0, 100)


@dataclass(frozen=True)
class Price:
    """Samples a point, for a sweep of so many values: of powers alone, with bends, and the least with bends."""

    values: int
    straight: int
    bent: int
    least: int


def price(values: int, share: Share, runs: int) -> Price:
    """Counted on sweeps of :math:`a^{1/2}`, each number of samples on the same ones."""
    ats = [START / 2**k for k in range(values)]
    refutes = partial(_refutes, ats, share, runs)
    straight, bent = (_smallest(partial(refutes, bends)) for bends in (False, True))
    return Price(values, straight, bent, least(ats, share))


def least(ats: list[float], share: Share) -> int:
    """Samples a point below which no decision errs at most so often and refutes so many."""
    reach = normal_upper(share.error) + normal_upper(1 - SEEN)
    return int(2 * (reach / nearest(np.log(ats))) ** 2)


def nearest(variable: Vector) -> float:
    """Distance, in logarithms over the sweep, of the true power from the class's nearest law that meets the claim."""
    away, centred = variable - variable[-1], variable - variable.mean()
    distance = np.inf
    for power in POWERS:
        for size in SIZES * (PASSED_SLOWLY if power < SLOW else PASSED):
            # The saturating laws: their local exponents rise towards the limit.
            left = TRUE * variable + np.log1p(size * np.exp(power * away))
            left = left - left.mean()
            slope = max(CLAIMED, float(centred @ left / (centred @ centred)))
            distance = min(distance, float(np.linalg.norm(left - slope * centred)))
    return float(distance)


def _refutes(ats: list[float], share: Share, runs: int, bends: bool, samples: float) -> bool:
    bound = Bound.model_validate({"quantity": "q", "tag": "upper", "exponents": {"alpha": f"{CLAIMED:g}"}})
    refuted = 0
    for number in range(runs):
        rng = np.random.default_rng([number, len(ats)])
        estimates = [
            SweepEstimate(
                {"alpha": a}, a**TRUE * float(rng.chisquare(samples)) / samples, samples, samples=int(samples)
            )
            for a in ats
        ]
        rate = bent(fit_power_law(estimates, share, quantity="q", bends=bends)["alpha"])
        refuted += decide(bound, [rate]).verdict is Verdict.REFUTED
    return refuted >= SEEN * runs


def _smallest(enough: Callable[[float], bool]) -> int:
    low, high = FIRST, LAST
    while high - low > STEP:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(2**middle) else (middle, high)
    return int(2**high)
