"""From a sweep to an exponent with an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, takewhile

from verify.evidence.model import Point, RateEvidence, Role, Rung

USABLE_RELATIVE_UNCERTAINTY = 0.02
"""A point enters a fit only where its uncertainty is at most this share of it: local exponents over a factor of
two in the variable are then known to about 0.06, finer than the tenth of an order the verdict resolves."""
SETTLED_DRIFT = 0.1
"""Largest change between the last two local exponents of a sweep that counts as settled."""
SETTLED_FACTOR, UNSETTLED_FACTOR = 1.5, 8.0
"""How many last drifts an interval reaches: a tail that halves still moves by about one; a sweep that has not
settled may be crossing over from one power to another, so it must be far from a claim to decide about it."""


def fit_rate(
    points: Sequence[Point], *, quantity: str, variable: str, rung: Rung = "numeric", role: Role = "conclusion"
) -> RateEvidence:
    r"""Read the local exponents of a deterministic sweep and enclose the limiting one.

    With :math:`e(\alpha) = c\,\alpha^k(1 + O(\alpha))` and a sweep halving the variable, the local exponents
    approach k with a drift that about halves at each step, so the last one is off by about its last drift; half
    as much again and the points' uncertainties are added. A sweep that has not settled gets eight times its last
    drift.

    The points come in the order towards the limit. A quantity that is zero throughout (measured zero, or predicted
    zero and measured within its uncertainty) has exponent ``inf``. Fewer than three usable points give the interval
    (-inf, inf), which decides nothing.
    """
    marked = [point.model_copy(update={"usable": _is_usable(point)}) for point in points]
    floor = next((point.at for point in marked if not point.usable), None)
    if all(_is_zero(point) for point in marked):
        return RateEvidence(
            quantity=quantity, variable=variable, points=tuple(marked), exponent=math.inf,
            interval=(math.inf, math.inf), rung=rung, role=role,
        )  # fmt: skip
    # Those before the first unusable one: beyond the floor a chance agreement proves nothing.
    usable = list(takewhile(lambda point: point.usable, marked))
    local, errors = [], []
    for a, b in pairwise(usable):
        span = math.log(a.at / b.at)
        local.append(math.log(a.measured / b.measured) / span)
        errors.append((a.uncertainty / a.measured + b.uncertainty / b.measured) / abs(span))
    if len(local) < 2:
        exponent, interval, settled = (local[-1] if local else math.nan), (-math.inf, math.inf), False
    else:
        drift = abs(local[-1] - local[-2])
        settled = drift <= SETTLED_DRIFT
        half = (SETTLED_FACTOR if settled else UNSETTLED_FACTOR) * drift + errors[-1] + errors[-2]
        exponent, interval = local[-1], (local[-1] - half, local[-1] + half)
    return RateEvidence(
        quantity=quantity, variable=variable, points=tuple(marked), exponent=exponent, interval=interval,
        local_exponents=tuple(local), settled=settled, floor=floor, rung=rung, role=role,
    )  # fmt: skip


def _is_usable(point: Point) -> bool:
    if not (math.isfinite(point.measured) and point.measured > 0):
        return False
    return point.uncertainty <= USABLE_RELATIVE_UNCERTAINTY * point.measured


def _is_zero(point: Point) -> bool:
    if point.measured == 0:
        return True
    return point.predicted == 0 and point.measured <= point.uncertainty
