"""Noise that a problem's ``on`` leaves out and that a subject adds all the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.places.places import place_of
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import ELSEWHERE, Probe, noisy_probe
from verify.subjects.protocol import StageCalls

LATER = (("interior", 0.1), ("two-of-three", 0.05), ("every-term-square", 0.1))
"""Places and alphas of the calls that are held out."""


@dataclass(frozen=True)
class NoiseElsewhere:
    """A right call but for additive noise of ∇_x f where ``on`` has none."""

    sentence: str = "σ_f·Σz_f/N_g is added to line 6 where the problem's noise leaves ∇_x f out (its `on` has no f.x)"
    edits: int = 1

    def answer(self, probe: Probe) -> Vector | None:
        """The right answer, with that noise where it is so."""
        noise = getattr(probe.problem, "noise", None)
        if not _leaves_out(probe) or noise is None or probe.call.draws is None:
            return probe.expected
        return np.asarray(probe.expected + float(noise.sigma_f) * probe.call.draws["f_x"].mean(axis=0))


def explain_elsewhere(stages: StageCalls, answers: Sequence[StageAnswer]) -> Iterator[Blame]:
    """That it is so, where answers under given normals say it, and others asked for now."""
    explanation = NoiseElsewhere()
    judged = [answer for answer in answers if _leaves_out(answer.probe)]
    if not judged or all(answer.excess <= 1 for answer in judged):
        return
    probes = [noisy_probe(place_of(name), alpha, ELSEWHERE, 2) for name, alpha in LATER]
    held = [StageAnswer(probe, probe.ask(stages)) for probe in probes]
    every = [*judged, *held]
    apart = [float(np.max(np.abs(_told(explanation, a) - a.got) / a.probe.tolerance)) for a in every]
    if max(apart) <= 1:
        effect = max(float(np.linalg.norm(a.got - a.probe.expected)) for a in every)
        yield Blame("samples", [explanation], len(every), len(held), max(apart), effect)


def _leaves_out(probe: Probe) -> bool:
    noise = getattr(probe.problem, "noise", None)
    return probe.needs_draws and noise is not None and noise.model == "additive" and "f.x" not in noise.on


def _told(explanation: NoiseElsewhere, answer: StageAnswer) -> Vector:
    told = explanation.answer(answer.probe)
    assert told is not None  # it always answers
    return told
