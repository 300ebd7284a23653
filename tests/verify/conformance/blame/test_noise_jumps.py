"""Jump noise made of given thresholds by a wrong formula gets that formula, alone or beside wrong noise of f."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from verify.conformance.blame.noise.noise_blame import explain_noise
from verify.conformance.blame.noise.noise_elsewhere import with_all
from verify.conformance.blame.noise.noise_jumps import explain_jumps
from verify.conformance.probes.probes import vector_probes
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls


class NotCentred(ReferenceSubject):
    """1[ỹ₁ > z] without Φ(ỹ₁)."""

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        right = np.array(super().hypergradient(problem, x, call, rng))
        if problem.noise.model == "jump":
            apart = ndtr(call.y_penalty[0]) - ndtr(call.y_star[0])
            right[0] += call.alpha**-2 * float(problem.noise.sigma_g) * apart
        return right


class NarrowNormal(ReferenceSubject):
    """(1 + erf t)/2, whose variance is ½, for Φ(t)."""

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        right = np.array(super().hypergradient(problem, x, call, rng))
        if problem.noise.model == "jump":
            y, y_star = call.y_penalty[0], call.y_star[0]
            off = ndtr(y) - ndtr(np.sqrt(2) * y) - ndtr(y_star) + ndtr(np.sqrt(2) * y_star)
            right[0] += call.alpha**-2 * float(problem.noise.sigma_g) * off
        return right


class FirstSample(ReferenceSubject):
    """The first row of given normals in place of all."""

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        if call.draws is not None:
            call = replace(call, draws={name: np.repeat(z[:1], len(z), axis=0) for name, z in call.draws.items()})
        return super().hypergradient(problem, x, call, rng)


@pytest.mark.parametrize(
    ("subject", "words"),
    [(NotCentred(), "adds α₁·σ_g(1[ỹ₁ > z] − 1[ỹ*₁ > z]), without Φ, so that its mean is not 0, where"),
     (NarrowNormal(), "line 6 adds α₁·σ_g(1[ỹ₁ > z] − (1 + erf ỹ₁)/2 − 1[ỹ*₁ > z] + (1 + erf ỹ*₁)/2), with a"),
     (FirstSample(), "line 6 adds the noise of the first sample alone where α₁·σ_g(1[ỹ₁ > z] − Φ(ỹ₁)")],
)  # fmt: skip
def test_a_wrong_formula_of_jumps_is_told_alone(subject: Any, words: str) -> None:
    blame = explain_jumps(StageCalls(subject))
    assert blame is not None
    (formula,) = blame.explanations
    assert words in formula.sentence
    assert blame.held_out >= 6


def test_right_jumps_get_nothing() -> None:
    assert explain_jumps(StageCalls(ReferenceSubject())) is None


def test_formulas_of_f_and_of_jumps_give_published_answers_together() -> None:
    stages = StageCalls(FirstSample())
    noises = [blame.explanations[0] for blame in explain_noise(stages)]
    assert len(noises) == 2
    probes = [probe for probe in vector_probes() if probe.id == "hypergradient/box-rational/noise-jump-common-5"]
    for probe in probes:
        answer = with_all(noises, probe)
        assert answer is not None
        np.testing.assert_allclose(answer, probe.ask(stages), rtol=1e-9)
        assert np.abs(answer - probe.expected).max() > 1
    assert probes
