"""An explanation: another way to compute a stage that gives a subject's answers, in words and as code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from spec.exact import Vector
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import Probe
from verify.method.lines import Stage


class Explanation(Protocol):
    """A stage as a subject seems to compute it; it answers any probe, so that it can be wrong.

    ``sentence`` says what differs from the right stage, as a formula or a rule; ``edits`` counts the single changes
    that it takes.
    """

    @property
    def sentence(self) -> str:
        """What differs, in one sentence without a full stop: ``line 6 = the right one + 2·α₂Aᵀ(ρ∘b)``."""

    @property
    def edits(self) -> int:
        """Single changes of the right stage, >= 1."""

    def answer(self, probe: Probe) -> Vector | None:
        """What such a stage answers, in the form of ``probe.expected``; ``None`` where it has no answer."""


@dataclass(frozen=True)
class Blame:
    """What is wrong with one stage.

    ``explanations`` all give every answer seen, simplest first; more than one where no probe tells them apart, none
    where nothing does. ``agrees`` counts the answers that the first one gives, ``held_out`` those of them on probes
    that were asked only after it had been found, ``apart`` its largest difference in tolerances. ``effect`` is the
    largest error of an estimate of ∇F, or of a point of Algorithm 2, that this stage alone makes. ``described``, where
    nothing explains it, is a sentence about what was measured, which foresees nothing elsewhere. ``left`` are answers
    beside the judged ones that the first explanation does not give.
    """

    stage: Stage
    explanations: Sequence[Explanation] = ()
    agrees: int = 0
    held_out: int = 0
    apart: float = 0.0
    effect: float | None = None
    described: str = ""
    left: Sequence[StageAnswer] = ()
