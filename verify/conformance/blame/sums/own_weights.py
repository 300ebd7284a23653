"""Weights that an oracle call makes for itself, by another rule, not held still, or others in one of its lines."""

# ruff: noqa: ARG005  # what stands in one table is called in one way

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.sums.call_points import point_of
from verify.conformance.blame.sums.exchanges import Exchange, exchanges
from verify.conformance.blame.whole_calls import WeighedLine, play
from verify.conformance.probes.probes import Probe
from verify.method.terms import EXCHANGES, OVERWRITTEN, term_value

SLACK = 1e-7
"""A tolerance of programs that look for the rows that hold."""
OWN_WEIGHTS: dict[str, Callable[[Vector, Vector, float], Vector]] = {
    "1 in every row": lambda h, lam, w: np.ones(len(h)),
    "0 in every row": lambda h, lam, w: np.zeros(len(h)),
    "1 where λ̃ > 0 and 0 elsewhere": lambda h, lam, w: (lam > 0).astype(float),
    "1 where h > 0 and 0 elsewhere": lambda h, lam, w: (h > 0).astype(float),
    "1 where h ≥ 0 and 0 elsewhere": lambda h, lam, w: (h >= 0).astype(float),
    "1 where h ≥ 0, to a small tolerance, and 0 elsewhere": lambda h, lam, w: (h > -SLACK).astype(float),
    "1 where h > −w and 0 elsewhere": lambda h, lam, w: (h > -w).astype(float),
    "1 where h > −w and λ̃ > 0, and 0 elsewhere": lambda h, lam, w: ((h > -w) & (lam > 0)).astype(float),
    "1 where h ≥ 0 and λ̃ > 0, and 0 elsewhere": lambda h, lam, w: ((h >= 0) & (lam > 0)).astype(float),
    "λ̃": lambda h, lam, w: lam,
    "max(λ̃,0)": lambda h, lam, w: np.maximum(lam, 0.0),
    "h": lambda h, lam, w: h,
}
"""What a call may take for the weights, from row values, multipliers and the width of h's ramp."""


@dataclass(frozen=True)
class OwnWeights:
    """An oracle call that weighs rows itself, not by the activation."""

    words: str

    @property
    def sentence(self) -> str:
        """The rule."""
        return f"ρ is {self.words}"

    @property
    def edits(self) -> int:
        """One change."""
        return 1

    def answer(self, probe: Probe) -> Vector | None:
        """The weights of an activation's rows, other stages right."""
        if probe.stage == "hypergradient":
            return play(probe, {"activation": self})
        lam = probe.call.lam
        if probe.stage != "activation" or lam is None:
            return probe.expected
        return OWN_WEIGHTS[self.words](probe.h, np.asarray(lam), probe.h_width)


@dataclass(frozen=True)
class MovingWeights:
    """An oracle call that differentiates its own weights along x, which the paper holds still; all stages are right."""

    @property
    def sentence(self) -> str:
        """The summand."""
        return "ρ is not held still: line 6 = the right one + ½α₂·Aᵀ(ρ′∘h(x,ỹ)²), ρ′ being the slope of ρ in h(x,ỹ*)"

    @property
    def edits(self) -> int:
        """One change."""
        return 1

    def added(self, probe: Probe, h_width: float) -> Vector:
        """The derivative of ½α₂·Σρh² in what ρ makes of x, the pair held still, shape (n,)."""
        c = point_of(probe)
        if c is None:
            return np.zeros(len(probe.x))
        slope = ((c.h_star > -h_width) & (c.h_star < 0)) / h_width * np.clip(c.lam / c.lam_width, 0.0, 1.0)
        return np.asarray(0.5 * c.alpha_2 * c.q.A.T @ (slope * c.h**2))

    def answer(self, probe: Probe) -> Vector | None:
        """What such an oracle call answers."""
        return play(probe, {"moving": self}) if probe.stage == "hypergradient" else probe.expected


@dataclass(frozen=True)
class TwiceMadeWeights:
    """An oracle call that makes its weights, and uses others in one of its lines; where weights are given it does not.

    The weights of the other line are those of an exchange.
    """

    exchange: Exchange
    line: WeighedLine

    @property
    def sentence(self) -> str:
        """The line and the exchange."""
        return f"where it makes ρ itself, {WEIGHED_LINES[self.line]} has {self.exchange.name}"

    @property
    def edits(self) -> int:
        """One change."""
        return 1

    def reweighed(self, probe: Probe, line: WeighedLine) -> Vector | None:
        """The weights of a line, all stages of the probe before it being given; ``None`` where it has none."""
        c = point_of(probe)
        if c is None or line != self.line:
            return None if c is None else c.rho
        changed = self.exchange.change(c)
        return None if changed is None else changed.rho

    def answer(self, probe: Probe) -> Vector | None:
        """What such an oracle call answers."""
        return play(probe, {"reweighed": self}) if probe.stage == "hypergradient" else probe.expected


@dataclass(frozen=True)
class PairAnew:
    """An oracle call that solves its lower level wherever no weights are given, though a pair is."""

    solves_anew: bool = True
    sentence: str = "where no ρ is given, a given ỹ* and λ̃ are solved for anew"
    edits: int = 1

    def answer(self, probe: Probe) -> Vector | None:
        """What such an oracle call answers."""
        return play(probe, {"pair": self}) if probe.stage == "hypergradient" else probe.expected


@dataclass(frozen=True)
class OverwrittenRows:
    """An oracle call that makes its weights in the place of the row values, which its later lines then use."""

    words: str

    @property
    def sentence(self) -> str:
        """What the rows have become."""
        return f"where it makes ρ itself, lines 5 and 6 have {self.words} where h(x,ỹ*) belongs, as if changed in place"

    @property
    def edits(self) -> int:
        """One change."""
        return 1

    def overwritten(self, h: Vector, probe: Probe, h_width: float) -> Vector:
        """What stands where h(x,ỹ*) belongs, the weights of the probe being given."""
        call = probe.call
        names = {"h": h, "lam": call.lam, "rho": call.rho, "h_width": h_width, "lam_width": call.parameters.lam_width}
        return np.asarray(term_value(OVERWRITTEN[self.words], names))

    def answer(self, probe: Probe) -> Vector | None:
        """What such an oracle call answers."""
        return play(probe, {"overwritten": self}) if probe.stage == "hypergradient" else probe.expected


def overwritten_rows() -> Iterator[OverwrittenRows]:
    """All that row values may have become."""
    return map(OverwrittenRows, OVERWRITTEN)


WEIGHED_LINES: dict[WeighedLine, str] = {"solve": "its penalty solve alone", "line 6": "line 6 alone"}
"""Lines that weigh rows, in words."""


def twice_made() -> Iterator[TwiceMadeWeights]:
    """All weights that are taken for others in one of both lines."""
    of_rho = [e for e in exchanges() if e.name in EXCHANGES["rho"]]
    for exchange in of_rho:
        yield TwiceMadeWeights(exchange, "line 6")
        if not exchange.of_y:
            yield TwiceMadeWeights(exchange, "solve")
