"""Stages inside an oracle call that offers nothing else: the y it must have used, and what explains its later lines."""

# ruff: noqa: ARG005  # what stands in one table is called in one way

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Explanation
from verify.conformance.blame.sums.answer_changes import spelt_number
from verify.conformance.blame.sums.call_points import point_of
from verify.conformance.blame.sums.edited_stage import EditedStage, right_minimiser
from verify.conformance.blame.sums.exchanges import Exchange, exchanges
from verify.conformance.blame.sums.right_sums import right_sum
from verify.conformance.blame.whole_calls import WeighedLine, play
from verify.conformance.probes.probes import Probe
from verify.method.terms import EXCHANGES

WORDS = {
    "lower_level": "in its lower level ", "rows": "", "activation": "in its activation ",
    "penalty_minimiser": "in its penalty solve ", "moving": "", "reweighed": "", "hypergradient": "",
}  # fmt: skip
"""How stages inside an oracle call are named."""
FULL_RANK = 1e-6
"""Smallest singular value over the largest of a line 6 that its y can be told from."""
LEFT_OVER = 1e-7
"""Relative size of what no y explains; beyond it line 6 is not the one assumed."""


MULTIPLES = (2.0, 0.5, -1.0, 10.0, 0.1)
"""Factors on the multipliers that are tried where only estimates show them."""


@dataclass(frozen=True)
class ScaledMultipliers:
    """A right lower level whose multipliers are returned times a factor."""

    factor: float

    @property
    def sentence(self) -> str:
        """The factor."""
        return f"{spelt_number(self.factor)}·λ̃ is used where λ̃ belongs"

    @property
    def edits(self) -> int:
        """One change."""
        return 1

    def answer(self, probe: Probe) -> Vector | None:
        """The right pair with its multipliers times the factor."""
        pair = probe.expected.copy()
        if probe.stage == "lower_level":
            pair[-probe.problem.p :] *= self.factor
        return pair


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


WEIGHED_LINES: dict[WeighedLine, str] = {"solve": "its penalty solve alone", "line 6": "line 6 alone"}
"""Lines that weigh rows, in words."""


def twice_made() -> Iterator[TwiceMadeWeights]:
    """All weights that are taken for others in one of both lines."""
    of_rho = [e for e in exchanges() if e.name in EXCHANGES["rho"]]
    for exchange in of_rho:
        yield TwiceMadeWeights(exchange, "line 6")
        if not exchange.of_y:
            yield TwiceMadeWeights(exchange, "solve")


OWN_WEIGHTS: dict[str, Callable[[Vector, Vector, float], Vector]] = {
    "1 in every row": lambda h, lam, w: np.ones(len(h)),
    "0 in every row": lambda h, lam, w: np.zeros(len(h)),
    "1 where λ̃ > 0 and 0 elsewhere": lambda h, lam, w: (lam > 0).astype(float),
    "1 where h > 0 and 0 elsewhere": lambda h, lam, w: (h > 0).astype(float),
    "1 where h ≥ 0 and 0 elsewhere": lambda h, lam, w: (h >= 0).astype(float),
    "1 where h > −w and 0 elsewhere": lambda h, lam, w: (h > -w).astype(float),
    "1 where h > −w and λ̃ > 0, and 0 elsewhere": lambda h, lam, w: ((h > -w) & (lam > 0)).astype(float),
    "1 where h ≥ 0 and λ̃ > 0, and 0 elsewhere": lambda h, lam, w: ((h >= 0) & (lam > 0)).astype(float),
    "λ̃": lambda h, lam, w: lam,
    "max(λ̃,0)": lambda h, lam, w: np.maximum(lam, 0.0),
    "h": lambda h, lam, w: h,
}
"""What a call may take for the weights, from row values, multipliers and the width of h's ramp."""


@dataclass(frozen=True)
class WholeCall:
    """An oracle call whose stages are as explained, all others right."""

    stages: Mapping[str, Explanation] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """What differs, stage by stage, in the order of the method."""
        return "in the oracle call " + "; ".join(f"{WORDS[s]}{e.sentence}" for s, e in self.stages.items())

    @property
    def edits(self) -> int:
        """Single changes of all stages."""
        return sum(explanation.edits for explanation in self.stages.values())

    def answer(self, probe: Probe) -> Vector | None:
        """What the oracle call, or one of its stages, answers."""
        if probe.stage == "hypergradient":
            return play(probe, self.stages)
        explanation = self.stages.get(probe.stage)
        return probe.expected if explanation is None else explanation.answer(probe)


def calls_with_y(
    ask: Callable[[Probe], Vector | None], line_6: EditedStage | None = None
) -> Callable[[Probe], Vector | None]:
    """Turn an asker of oracle calls into one of penalty minimisers: the y at which line 6 has the answered value."""

    def asked(probe: Probe) -> Vector | None:
        point = point_of(probe)
        if point is None:
            return None
        n, m, _ = point.sizes
        if n < m:
            return None
        right = right_sum("x", point.at(right_minimiser(point)))
        got = ask(replace(probe, stage="hypergradient", expected=right, tolerance=np.ones(n)))
        if got is None:
            return None

        def value(y: Vector) -> Vector | None:
            at = point.at(y)
            return right_sum("x", at) if line_6 is None else line_6.total(at)

        return _solved(value, got, point.y_star)

    return asked


def _solved(value: Callable[[Vector], Vector | None], got: Vector, start: Vector) -> Vector | None:
    """The y at which an affine map has a value, ``None`` where that is not one y."""
    base = value(start)
    moved = [value(start + step) for step in np.eye(len(start))]
    if base is None or any(column is None for column in moved):
        return None
    slope = np.array([column - base for column in moved if column is not None]).T
    singular = np.linalg.svd(slope, compute_uv=False)
    if not np.isfinite(slope).all() or singular[-1] <= FULL_RANK * singular[0]:
        return None
    y = np.asarray(start + np.linalg.lstsq(slope, got - base, rcond=None)[0])
    again = value(y)
    size = float(np.abs(got).max() + np.abs(base).max())
    return y if again is not None and np.abs(again - got).max() <= LEFT_OVER * size else None
