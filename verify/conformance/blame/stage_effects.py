"""How much one wrong stage spoils an estimate, in a chain whose other stages are right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Explanation
from verify.conformance.blame.whole_calls import play
from verify.conformance.places.places import place_of
from verify.conformance.places.posed_places import square
from verify.conformance.probes.probes import FROM_SCRATCH, PLACES, Probe, chain_probe
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls

EFFECT_ALPHAS = (0.1, 0.05, 0.02)
"""Where effects are measured."""
NEAR_KINKS = (("toy2", 1e-3), ("swapping-rows", 2.5e-4), ("absolute-moving", 2.5e-4))
"""Places and points where a multiplier is small, so that weights decide."""


@dataclass(frozen=True)
class AsAnswered:
    """A stage as the subject answers it, in the form of an explanation."""

    stages: StageCalls

    @property
    def sentence(self) -> str:
        """Nothing is explained."""
        return "as it answers"

    @property
    def edits(self) -> int:
        """One stage."""
        return 1

    def answer(self, probe: Probe) -> Vector | None:
        """What the subject answers, ``None`` where it does not."""
        try:
            return probe.ask(self.stages)
        except (SubjectFaultError, MissingCapabilityError):
            return None


@lru_cache(maxsize=1)
def effect_probes() -> tuple[Probe, ...]:
    """Whole oracle calls at every place, with nothing given."""
    return tuple(_all_effect_probes())


def _all_effect_probes() -> Iterator[Probe]:
    kinks = (place_of(name).at(f"{name}@{x:g}", (Fraction(x),) * place_of(name).problem.n) for name, x in NEAR_KINKS)
    for place in (*(place_of(name) for name in PLACES), square(), *kinks):
        for alpha in EFFECT_ALPHAS:
            yield chain_probe(place, alpha, FROM_SCRATCH, "effect")


@np.errstate(all="ignore")
def effect_of(stage: str, explanation: Explanation, probes: Iterable[Probe] | None = None) -> float | None:
    """The largest error of an estimate, its length, that a stage so computed makes; ``None`` if it makes none.

    ``probes`` are oracle calls, by default those of :func:`effect_probes`. Raises nothing: where such a stage has no
    answer nothing is counted.
    """
    worst = []
    for probe in effect_probes() if probes is None else probes:
        answer = play(probe, {stage: explanation})
        if answer is not None and np.isfinite(answer).all():
            worst.append(float(np.linalg.norm(answer - probe.expected)))
    return max(worst) if worst else None
