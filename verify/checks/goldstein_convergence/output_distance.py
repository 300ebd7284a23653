"""How far the output of a run on |x| is from stationarity, as ε falls, in rationals."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, lcm

from verify.checks.measuring.case import Case, Measurement, check, values_at
from verify.evidence.model import Point
from verify.evidence.rates.rates import fit_rate

RADIUS = Fraction(1, 4)
TARGETS = tuple(Fraction(1, 2**k) for k in range(2, 5))
START = Fraction(1, 2)
"""Where the runs begin, in radii from the kink of |x|."""


@check("goldstein-convergence/theta-epsilon", instances=("kink",))
def distance_of_the_output(case: Case) -> Measurement:  # noqa: ARG001  # every check is given its case
    """Mean distance over the blocks of a run on |x| from within the radius: exact gradients, s_t = 1/2."""
    points = []
    for epsilon in TARGETS:
        M, K = ceil(Fraction(9) / epsilon**2), 3
        points.append(Point(at=float(epsilon), measured=float(mean_distance(START * RADIUS, RADIUS / M, M, K))))
    rate = fit_rate(points, quantity="expected distance at the output", variable="epsilon")
    note = "Every block mean keeps within the radius of the kink, where the Goldstein subdifferential holds 0."
    return Measurement((rate,), values_at("distance at ε", points), note)


def mean_distance(start: Fraction, D: Fraction, M: int, K: int) -> Fraction:
    """Share of the K block means further than the radius from 0: there the distance is 1, elsewhere 0."""
    # In whole multiples of a unit that half a step is one of, too.
    unit = Fraction(1, 2 * lcm(start.denominator, D.denominator))
    x, whole, step, outside = int(start / unit), int(D / unit), 0, 0
    for _ in range(K):
        total = 0
        for _ in range(M):
            z = x + step // 2
            x += step
            total += z
            step = max(-whole, min(whole, step - whole * (1 if z >= 0 else -1)))
        outside += abs(total * unit / M) > RADIUS
    return Fraction(outside, K)
