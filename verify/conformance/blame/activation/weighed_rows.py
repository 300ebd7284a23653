"""Rows with known weights: many at once, for rules to be tried on; and probes drawn so that rules show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.activation.ramp_shapes import AFTERWARDS, MIXING
from verify.conformance.blame.activation.ramps import OF_OTHER_ROWS, Bracket, WeightRule
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import Probe, activation_probe

MEASURING, IN_RESERVE = 10, 40
"""Probes that rules are found on, and probes that they are tried on afterwards."""
REACH = 3.5
"""How far rows go beyond the lower end of the ramp of h, in widths: some rows are clearly violated."""
KEPT = 20_000
"""Most brackets whose values are kept."""
_SEED = 20_16
_WIDTHS = (1e-3, 1.0)


@dataclass(frozen=True, eq=False)
class WeighedRows:
    """Rows of several probes one after another, widths row by row, with the weights that a subject gave them."""

    h: Vector
    lam: Vector
    h_width: Vector
    lam_width: Vector
    rho: Vector
    ends: tuple[int, ...]
    factors: dict[Bracket, Vector] = field(default_factory=dict)

    @classmethod
    def of(cls, answers: Sequence[StageAnswer]) -> WeighedRows:
        """The rows of answered probes."""
        probes = [answer.probe for answer in answers]
        sizes = [len(probe.h) for probe in probes]
        lams = [np.asarray(probe.call.lam) for probe in probes]
        return cls(
            np.concatenate([probe.h for probe in probes]), np.concatenate(lams),
            np.repeat([probe.h_width for probe in probes], sizes),
            np.repeat([probe.call.parameters.lam_width for probe in probes], sizes),
            np.concatenate([answer.got for answer in answers]), tuple(np.cumsum(sizes)[:-1].tolist()),
        )  # fmt: skip

    def weights(self, rule: WeightRule) -> Vector:
        """What a rule gives them."""
        joined = rule.put_together(self._factor(rule.h), self._factor(rule.lam))
        if rule.afterwards == "nothing":
            return joined
        finish = AFTERWARDS[rule.afterwards]
        with np.errstate(all="ignore"):
            if rule.afterwards not in MIXING:
                return np.asarray(finish.of(joined, rule.threshold))
            return np.concatenate([finish.of(joined[start:end], rule.threshold) for start, end in self._bounds()])

    def _factor(self, bracket: Bracket) -> Vector:
        """A bracket's values, kept: most rules share theirs with others."""
        factor = self.factors.get(bracket)
        if factor is None:
            if len(self.factors) >= KEPT:
                self.factors.clear()
            given = (self.h, self.lam, self.h_width, self.lam_width)
            given = given if bracket.side == "h" else (self.lam, self.h, self.lam_width, self.h_width)
            if bracket.enters in OF_OTHER_ROWS:
                parts = self._bounds()
                factor = np.concatenate([bracket.of(*(values[a:b] for values in given)) for a, b in parts])
            else:
                factor = bracket.of(*given)
            self.factors[bracket] = factor
        return factor

    def _bounds(self) -> list[tuple[int, int]]:
        """Where each probe's rows begin and end."""
        return [*zip((0, *self.ends), (*self.ends, len(self.h)), strict=True)]

    def off(self, rule: WeightRule) -> Vector:
        """How far a rule is off, row by row; infinite where it gives no number."""
        off = np.abs(self.weights(rule) - self.rho)
        return np.where(np.isfinite(off), off, np.inf)


@lru_cache(maxsize=1)
def drawn_rows() -> tuple[Probe, ...]:
    """Probes with rows on, inside and beyond both ramps, of several widths, the same at each call."""
    rng = np.random.default_rng(_SEED)
    return tuple(_drawn(k, rng) for k in range(MEASURING + IN_RESERVE))


def _drawn(k: int, rng: np.random.Generator) -> Probe:
    p = int(rng.integers(9, 14)) if k < MEASURING else int(rng.integers(2, 9))
    low, high = np.log10(_WIDTHS)
    # Widths with few bits: their ratios to h and lam are exact where h and lam are made of them.
    h_width, lam_width = (float(np.float32(10 ** rng.uniform(low, high))) for _ in range(2))
    ends = np.array([0.0, 0.5, 1.0, 0.25])
    t, s = rng.uniform(-0.5, REACH, p), rng.uniform(-0.5, 1.5, p)
    inside = rng.uniform(0.05, 0.95, (2, p))
    # Near an end of the ramp, by orders of magnitude: a width that is far too small shows there alone.
    near = 10 ** rng.uniform(-7, 0, (2, p)) * rng.choice([-1.0, -1.0, -1.0, 1.0], (2, p))
    kind = rng.integers(0, 5, (2, p))
    end, from_end = rng.choice(ends, (2, p)), np.array([1.0, 0.0])[:, None]
    places = np.stack([t, s])
    # Counted from 0 of what enters, where 1 + h/w is 1 and λ/w_λ is 0: numbers near it keep their digits.
    values = np.select([kind == 0, kind == 1, kind < 4], [end - from_end, near * from_end - near * (1 - from_end),
                       inside - from_end], places - from_end)  # fmt: skip
    if k % 3 == 0:
        # One ramp full: the other one shows alone.
        values[k % 2, : p // 2] = 1.0 + k % 2
    return activation_probe(f"drawn-{k}", values[0] * h_width, values[1] * lam_width, h_width, lam_width)
