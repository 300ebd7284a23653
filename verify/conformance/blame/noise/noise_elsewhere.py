"""Noise that a problem's ``on`` leaves out and that a subject adds all the same."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spec import Noise
from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Blame, Explanation
from verify.conformance.places.places import place_of
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import ELSEWHERE, Probe, drawing_itself, noisy_probe
from verify.subjects.protocol import StageCalls

LATER = (("interior", 0.1), ("two-of-three", 0.05), ("every-term-square", 0.1))
"""Places and alphas of the calls that are held out."""
TIMES = 100
"""How often each is asked, each time with another generator."""
SURE = 5.0
"""Standard errors within which the law of what is added must be that noise's."""


@dataclass(frozen=True)
class NoiseElsewhere:
    """A right call but for additive noise of ∇_x f where ``on`` has none."""

    own_draws: bool = False
    edits: int = 1

    @property
    def sentence(self) -> str:
        """What is added, and where."""
        told = "σ_f·Σz_f/N_g is added to line 6 where the problem's noise leaves ∇_x f out (its `on` has no f.x)"
        return f"{told} and no normals are given" if self.own_draws else told

    def answer(self, probe: Probe) -> Vector | None:
        """The right answer; none where it has that noise, of which no normals are given."""
        return None if leaves_out(probe) else probe.expected


def explain_elsewhere(stages: StageCalls, answers: Sequence[StageAnswer]) -> Iterator[Blame]:
    """That it is so, where answers differ and have that noise's mean and spread; asked at other places, too."""
    off = [answer.probe for answer in answers if leaves_out(answer.probe) and not answer.excess <= 1]
    itself = [probe for probe in off if probe.own_draws]
    # With line 6 wrong besides, those that are given normals are off, too.
    for judged, own in ((off, len(itself) == len(off)), (itself, True)):
        if not judged:
            continue
        held = [noisy_probe(place_of(name), alpha, ELSEWHERE, 2) for name, alpha in LATER]
        held = [drawing_itself(probe) for probe in held] if own else held
        added = [_added(stages, probe, k) for k, probe in enumerate((*judged, *held))]
        apart = max(_surprise(added), _surprise([pair for one in added for pair in _products(one)], spread=False))
        if apart <= 1:
            count = TIMES * (len(judged) + len(held))
            effect = max(_size(probe) for probe in judged)
            yield Blame("samples", [NoiseElsewhere(own)], count, TIMES * len(held), apart, effect)
            return


def _surprise(values: Sequence[Vector], *, spread: bool = True) -> float:
    """How far the mean of values is from 0 and, where asked for, their spread from 1, in what chance allows."""
    every = np.concatenate([one.ravel() for one in values]) if values else np.zeros(0)
    if not len(every):
        return 0.0
    allowed = SURE / math.sqrt(len(every))
    mean, width = abs(float(every.mean())) / allowed, abs(float(every.std()) - 1) / (allowed / math.sqrt(2))
    return max(mean, width) if spread else mean


def _products(added: Vector) -> list[Vector]:
    """What entries of one answer have in common: their products, of mean 0 where each has normals of its own."""
    return [added[:, i] * added[:, j] for i in range(added.shape[1]) for j in range(i)]


def is_at_random(noise: Explanation, probe: Probe) -> bool:
    """Whether a probe's answer is off by noise that is known only by its law."""
    return isinstance(noise, NoiseElsewhere) and leaves_out(probe)


def leaves_out(probe: Probe) -> bool:
    """Whether a call's noise, additive, leaves ∇_x f out."""
    noise = getattr(probe.problem, "noise", None)
    return noise is not None and noise.model == "additive" and "f.x" not in noise.on


def _size(probe: Probe) -> float:
    """Standard deviation of that noise."""
    return float(probe.problem.noise.sigma_f) / math.sqrt(probe.call.parameters.N_g)


def _added(stages: StageCalls, probe: Probe, number: int) -> Vector:
    """What is added to its answer without noise in units of that noise's standard deviation, shape (times, n)."""
    rngs = [np.random.default_rng([number, k]) for k in range(TIMES)]
    got = [stages.hypergradient(probe.problem, probe.x, probe.call, rng) for rng in rngs]
    # Line 6 may be wrong besides.
    quiet = probe.problem.model_copy(update={"noise": Noise()})
    own = stages.hypergradient(quiet, probe.x, probe.call, np.random.default_rng(0))
    return np.asarray((np.array(got) - own) / _size(probe))


def with_all(noises: Sequence[Explanation], probe: Probe) -> Vector | None:
    """The right answer with what each explanation of noise changes of it; ``None`` where none says anything."""
    answers = [answer for noise in noises if (answer := noise.answer(probe)) is not None]
    return np.asarray(probe.expected + sum(one - probe.expected for one in answers)) if answers else None
