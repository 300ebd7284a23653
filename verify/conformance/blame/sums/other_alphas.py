"""Another alpha where alpha belongs: in one stage, or in a call that makes all of its stages with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.measuring import fitted
from verify.conformance.blame.sums.call_points import CallPoint, point_of
from verify.conformance.blame.sums.exchanges import POWERS, USUAL_ALPHAS, OtherAlpha
from verify.conformance.blame.sums.right_sums import RIGHT_PARTS, Space
from verify.conformance.blame.whole_calls import play
from verify.conformance.probes.probes import Probe

REACH = (1e-3, 1e3)
"""Numbers that are looked for."""
FOUND = 1e-6
"""Share of what is added up that is left where a number is found."""


def other_alphas(space: Space, points: Sequence[CallPoint], sums: Sequence[Vector]) -> Iterator[OtherAlpha]:
    """Each power of alpha with the number that gives the sums at these points, where there is one that is not usual."""
    lines = [_weighed(space, c) for c in points]
    for power in POWERS:

        def off(factor: float, power: float = power) -> float:
            left = 0.0
            for c, s, (weights, parts) in zip(points, sums, lines, strict=True):
                weighed = OtherAlpha(factor, power).of(c.alpha) ** weights * parts
                size = np.linalg.norm(np.abs(weighed).sum(axis=1))
                left = max(left, float(np.linalg.norm(weighed.sum(axis=1) - s) / size))
            return left

        factor = fitted(off, *REACH, without=1.0, enough=FOUND)
        alpha = OtherAlpha(factor or 1.0, power)
        if factor is not None and alpha not in (OtherAlpha(1, 1), *USUAL_ALPHAS) and off(factor) <= FOUND:
            yield alpha


def _weighed(space: Space, c: CallPoint) -> tuple[Vector, Vector]:
    """The right formula's summands without their weights, a column each, and the powers of alpha that these are."""
    plain = replace(c, alpha_1=1.0, alpha_2=1.0)
    columns = [(WEIGHTS[part.group], part.at(plain)) for part in RIGHT_PARTS[space]]
    if space == "x":
        columns += zip((WEIGHTS["f"], WEIGHTS["g"]), c.mean_noises, strict=True)
    powers, parts = zip(*columns, strict=True)
    return np.array(powers), np.stack(parts, axis=1)


WEIGHTS = {"f": 0.0, "g": -2.0, "dual": -2.0, "penalty": -4.0}
"""Of each group of the formula, as powers of alpha."""


@dataclass(frozen=True)
class CallWithAlpha:
    """An oracle call that makes every stage that it is not given, line 6 too, with another alpha."""

    alpha: OtherAlpha

    @property
    def sentence(self) -> str:
        """The other alpha."""
        return f"the whole call is made with {self.alpha} where α belongs"

    @property
    def edits(self) -> int:
        """One change."""
        return 1

    def answer(self, probe: Probe) -> Vector | None:
        """The right call's answer with the other alpha; what is asked of a stage alone is right."""
        return self.whole(probe) if probe.stage == "hypergradient" else probe.expected

    def whole(self, probe: Probe) -> Vector | None:
        """The answer of a call; ``None`` under given normals where it makes stages itself."""
        return _asked_with(self.alpha, probe)


@lru_cache(maxsize=1024)
def _asked_with(alpha: OtherAlpha, probe: Probe) -> Vector | None:
    c = point_of(probe)
    if c is None and probe.call.draws is not None:
        return None
    other = replace(probe, call=replace(probe.call, alpha=alpha.of(probe.call.alpha)))
    right, there = (play(question, {}) for question in (probe, other))
    if right is None or there is None:
        return None
    noise = 0.0 if c is None else alpha(c).noise_x - c.noise_x
    return np.asarray(probe.expected + (there - right) + noise)
