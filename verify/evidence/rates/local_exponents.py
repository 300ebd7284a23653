r"""Where the local exponents of a sweep lead: the limiting one with an interval, or that they lead nowhere yet.

With :math:`q = C v^k (1 + c v^r + \dots)` the local exponents approach k, each drift :math:`e^{-rL}` times the one
before, L the distance of neighbours in log v. The ratio of drifts is measured, so r is: what is left of a drift d is
:math:`d\,q/(1-q)` at the ratio q, and half as much again is allowed. A logarithm's ratio creeps up to one: what is left
of its drift is twice that, which slow drifts are allowed.

Drifts that grow, or stay, are those of a sum such as a + Ca², of a floor a + c or of a saturating a/(a + s) before its
middle: what takes over lies ahead. The logarithm of a sum of powers is convex in log v and that of a harmonic sum
concave, so local exponents go on in the direction they have: the limit is at the last one or beyond, and a half-line is
all that is known. It decides what is the same for every exponent on it, such as that a quantity whose exponent is
already too small and still falls is too large. Where the direction changes nothing is known of either side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

LEAST_POWER = 0.5
"""Least r of a correction v^r that counts as settling; claims differ by half orders."""
MOST_POWER = 2.0
"""A drift that shrinks faster than v² does so by chance, such as where it changes its sign."""
MARGIN = 1.5
"""Half as much again as a first-order correction leaves on a halving sweep."""
UNSETTLED = 8.0
"""How many last drifts an interval reaches at least that has not settled."""
SETTLED_DRIFT = 0.1
"""Largest drift of a sweep that counts as settled."""
SAME = 0.05
"""Drifts that differ by this share stay as they are."""
DROPPED = 3
"""Shorter sweeps that are read as well: rounding blurs the last points most."""
BLURRED = 0.25
"""Share of the last drift that its error may be without a shorter sweep being read."""
NEGLIGIBLE = 1e-7
"""Drifts below this are arithmetic's: what takes over after them does so beyond every double."""


@dataclass(frozen=True)
class ExponentReading:
    """What a sweep's local exponents say; unbounded where they decide nothing."""

    exponent: float
    interval: tuple[float, float]
    local: tuple[float, ...]
    settled: bool


@dataclass(frozen=True)
class _Drift:
    """A change between neighbouring local exponents, known to ``error``, at a distance ``length`` in log v."""

    change: float
    error: float
    length: float

    @property
    def seen(self) -> bool:
        return abs(self.change) > self.error

    @property
    def most(self) -> float:
        return abs(self.change) + self.error


def read_sweep(at: Sequence[float], values: Sequence[float], uncertainties: Sequence[float]) -> ExponentReading:
    """The limiting exponent of values > 0 with their uncertainties, in the order towards the limit."""
    logs = [(math.log(v), math.log(q), u / q) for v, q, u in zip(at, values, uncertainties, strict=True)]
    local, errors, middles = [], [], []
    for (v, q, u), (w, p, t) in pairwise(logs):
        local.append((q - p) / (v - w))
        errors.append((u + t) / abs(v - w))
        middles.append((v + w) / 2)
    if len(local) < 2:
        return ExponentReading(local[-1] if local else math.nan, (-math.inf, math.inf), tuple(local), settled=False)
    readings = [
        _read(local[:n], errors[:n], middles[:n]) for n in range(len(local), max(2, len(local) - DROPPED) - 1, -1)
    ]
    interval, settled = readings[0].interval, readings[0].settled
    if readings[0].blurred and not readings[0].grows:
        # Uncertainty is no chance but a bound, so what a sharper, shorter sweep encloses is enclosed.
        for shorter in readings[1:]:
            low, high = max(interval[0], shorter.interval[0]), min(interval[1], shorter.interval[1])
            if shorter.settled and low <= local[-1] <= high:
                interval, settled = (low, high), True
    return ExponentReading(local[-1], interval, tuple(local), settled)


@dataclass(frozen=True)
class _Ends:
    interval: tuple[float, float]
    settled: bool
    grows: bool
    blurred: bool


def _read(local: Sequence[float], errors: Sequence[float], middles: Sequence[float]) -> _Ends:
    """Where these local exponents lead."""
    drifts = [
        _Drift(b - a, e + f + NEGLIGIBLE, abs(w - v))
        for (a, b), (e, f), (v, w) in zip(pairwise(local), pairwise(errors), pairwise(middles), strict=True)
    ]
    low, high = local[-1] - errors[-1], local[-1] + errors[-1]
    seen = [j for j, drift in enumerate(drifts) if drift.seen]
    if not seen:
        # No bend shows; one that shrinks is at no place larger than where it is known best.
        left = min(drift.most for drift in drifts) * _left(math.exp(-LEAST_POWER * drifts[-1].length))
        return _Ends((low - left, high + left), settled=True, grows=False, blurred=True)
    # Later ones do not show: each bounds what is left of a drift that shrinks.
    last = min(range(seen[-1], len(drifts)), key=lambda j: (drifts[j].most, -j))
    earlier = drifts[max(0, min(last, seen[-1] + 1) - 2) : last]
    size = max([drifts[last].most, *_remembered(drifts, last, earlier)])
    powers = _powers(drifts, last, earlier)
    grows = not any(power > 0 for power in powers)
    if grows and (last < len(drifts) - 1 or (earlier and not _grown(drifts[last], earlier))):
        # Neither growth nor shrinking shows.
        grows, powers = False, [LEAST_POWER]
    ratio = math.exp(-max(powers, default=0.0) * drifts[last].length)
    settled = max(powers, default=0.0) >= LEAST_POWER and size <= SETTLED_DRIFT
    slowing = len(powers) < 2 or powers[0] < powers[1]
    left = math.inf if grows else _left(ratio) * (1 + ratio if slowing else 1)
    if not grows and max(powers, default=0.0) < LEAST_POWER:
        left = 2 / (1 - ratio)
    ahead = max(MARGIN if settled else UNSETTLED, left) * size
    sign = drifts[last].change if drifts[last].seen else drifts[seen[-1]].change
    turns = any(drift.change * sign < 0 and abs(drift.change) > drift.error + size / 4 for drift in earlier)
    behind = ahead if turns else MARGIN * size
    below, above = (ahead, behind) if sign < 0 else (behind, ahead)
    blurred = drifts[-1].error > BLURRED * abs(drifts[-1].change)
    return _Ends((low - below, high + above), settled, grows, blurred)


def _left(ratio: float) -> float:
    """What is left of a drift that shrinks by this ratio, in drifts."""
    return ratio / (1 - ratio)


def _ways(drifts: Sequence[_Drift], last: int, earlier: Sequence[_Drift]) -> list[tuple[_Drift, float]]:
    """The drifts before, latest first, each with its distance to the last in log v."""
    start = last - len(earlier)
    return [(drifts[j], sum(d.length for d in drifts[j + 1 : last + 1])) for j in range(last - 1, start - 1, -1)]


def _remembered(drifts: Sequence[_Drift], last: int, earlier: Sequence[_Drift]) -> list[float]:
    """How large the drifts before would be by now at the least, had they shrunk as fast as is believed."""
    return [
        (abs(before.change) - before.error) * math.exp(-MOST_POWER * way)
        for before, way in _ways(drifts, last, earlier)
    ]  # fmt: skip


def _powers(drifts: Sequence[_Drift], last: int, earlier: Sequence[_Drift]) -> list[float]:
    """The powers r with which the drifts before have shrunk at least, latest first; -inf where they may have grown."""
    return [
        math.log((abs(before.change) - before.error) / drifts[last].most) / way if before.seen else -math.inf
        for before, way in _ways(drifts, last, earlier)
    ]  # fmt: skip


def _grown(last: _Drift, earlier: Sequence[_Drift]) -> bool:
    """Whether the last drift is for sure as large as those before."""
    return all(abs(last.change) - last.error >= before.most * (1 - SAME) for before in earlier)
