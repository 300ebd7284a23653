"""Planted laws of noise get their sentence; right noise, from whatever generator, and what means nothing get none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.verify.conformance.subjects import OwnGenerator
from verify.conformance import random_stages
from verify.conformance.blame.noise.estimate_laws import NoiseRule
from verify.conformance.blame.noise.noise_blame import explain_noise
from verify.conformance.blame.noise.noise_spots import HELD_OUT_F, OF_F
from verify.conformance.blame.noise.noise_structure import PatternRule
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.null_subjects import null_subjects
from verify.conformance.claims.claim_runs import ignored_choices
from verify.conformance.probes.probes import probes
from verify.subjects import Call, MissingCapabilityError, ReferenceSubject
from verify.subjects.protocol import StageCalls


def right(s: Any) -> Any:
    return s.sigma_f / s.N_g**0.5 * s.rng.standard_normal((s.R, s.n))


@dataclass
class PlantedNoise:
    """Right answers without noise, plus what ``noise`` makes of sizes and a generator, shape (R, n)."""

    noise: Callable[[Any], Any] = right
    own: bool = False
    name: str = "planted-noise"

    def __post_init__(self) -> None:
        self.reference: Any = ReferenceSubject()
        self.generator = np.random.Generator(np.random.MT19937(11)) if self.own else None

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        return self.hypergradient_samples(problem, x, call, rng, 1)[0]

    def hypergradient_samples(self, problem: Any, x: Any, call: Call, rng: Any, replications: int) -> Any:
        if problem.noise.model == "matrix":
            raise MissingCapabilityError("additive noise only")
        quiet = problem.model_copy(update={"noise": type(problem.noise)()})
        s = SimpleNamespace(sigma_f=float(problem.noise.sigma_f), sigma_g=float(problem.noise.sigma_g),
                            N_g=call.parameters.N_g, alpha=call.alpha, R=replications,
                            n=len(x), rng=self.generator or rng)  # fmt: skip
        answer = self.reference.hypergradient(quiet, x, call, None)
        s.answer = 0 * answer if problem.noise.model == "none" else answer
        return answer + self.noise(s)


def one_in_a_call(s: Any) -> Any:
    return np.repeat(right(SimpleNamespace(**vars(s) | {"R": 1})), s.R, axis=0)


def seeded(seed: Callable[[Any], int]) -> Callable[[Any], Any]:
    return lambda s: right(SimpleNamespace(**vars(s) | {"rng": np.random.default_rng(seed(s))}))


def opposite(s: Any) -> Any:
    rows = right(s)
    rows[1::2] = -rows[: len(rows) // 2 * 2 : 2][: len(rows[1::2])]
    return rows


def carried(s: Any) -> Any:
    rows = right(s)
    for k in range(1, len(rows)):
        rows[k] = 0.5 * rows[k - 1] + 0.75**0.5 * rows[k]
    return rows


def bootstrapped(s: Any) -> Any:
    draws = s.rng.standard_normal((s.R, s.N_g, s.n))
    chosen = s.rng.integers(s.N_g, size=(s.R, s.N_g, 1))
    return s.sigma_f * np.take_along_axis(draws, chosen, axis=1).mean(axis=1)


def paired(s: Any) -> Any:
    return s.sigma_f * (s.N_g % 2) / s.N_g * s.rng.standard_normal((s.R, s.n))


def overlapping(s: Any) -> Any:
    step = max(1, s.N_g // 2)
    draws = s.rng.standard_normal((step * s.R + s.N_g, s.n))
    return s.sigma_f * np.array([draws[step * k : step * k + s.N_g].mean(axis=0) for k in range(s.R)])


PLANTED: dict[str, tuple[PlantedNoise, str]] = {
    "absent": (PlantedNoise(lambda s: np.zeros((s.R, s.n))), "it answers without noise"),
    "thrice": (PlantedNoise(lambda s: 3 * right(s)), "it is 3"),
    "half": (PlantedNoise(lambda s: 0.5 * right(s)), "it is 0.5"),
    "not-averaged": (PlantedNoise(lambda s: s.N_g**0.5 * right(s)), "is √N_g times too large"),
    "summed": (PlantedNoise(lambda s: s.N_g * right(s)), "noise is summed, not averaged"),
    "averaged-twice": (PlantedNoise(lambda s: right(s) / s.N_g**0.5), "divided by √N_g once more"),
    "one-fewer": (PlantedNoise(lambda s: s.sigma_f / max(s.N_g - 1, 1) ** 0.5 * s.rng.standard_normal((s.R, s.n))),
                  "N_g − 1 samples are averaged"),
    "times-alpha": (PlantedNoise(lambda s: s.alpha * right(s)), "multiplied by α"),
    "over-alpha": (PlantedNoise(lambda s: s.alpha**-2 * right(s)), "multiplied by α⁻²"),
    "variance-for-deviation": (PlantedNoise(lambda s: s.sigma_f * right(s)), "it is σ² where it must be σ"),
    "root": (PlantedNoise(lambda s: right(s) / max(s.sigma_f, 1e-300) ** 0.5), "it is √σ"),
    "independent": (PlantedNoise(lambda s: right(s) + s.alpha**-2 * s.sigma_g * (2 / s.N_g) ** 0.5 *
                                 s.rng.standard_normal((s.R, s.n))), "g is sampled independently at ỹ and at ỹ*"),
    "one-sided": (PlantedNoise(lambda s: right(s) + s.alpha**-2 * s.sigma_g / s.N_g**0.5 *
                               s.rng.standard_normal((s.R, s.n))), "added at one of ỹ and ỹ* only"),
    "shared-batch": (PlantedNoise(lambda s: s.sigma_f * (0.5 + 0.5 / s.N_g) ** 0.5 * s.rng.standard_normal((s.R, s.n))),
                     "share half of"),
    "biased": (PlantedNoise(lambda s: right(s) + 0.3 * s.sigma_f), "every component is shifted by 0.3"),
    "summed-and-multiplied": (PlantedNoise(lambda s: s.N_g**2 * right(s)), "noise is summed and multiplied by N_g"),
    "answer-left-out": (PlantedNoise(lambda s: right(s) - s.answer), "the answer without noise that they belong"),
    "answer-twice": (PlantedNoise(lambda s: right(s) + s.answer), "scatter around 2 times the answer without noise"),
    "answer-and-a-bit": (PlantedNoise(lambda s: right(s) + 0.37 * s.answer), "scatter around (1.37"),
    "one-in-a-call": (PlantedNoise(one_in_a_call), "drawn once and shared"),
    "fixed-seed": (PlantedNoise(seeded(lambda s: 3)), "a fixed seed in each call"),
    "seeded-by-question": (PlantedNoise(seeded(lambda s: int(1e6 * s.alpha))), "seeded by the question"),
    "antithetic": (PlantedNoise(opposite), "antithetic pairs: each second one undoes the one before"),
    "carried": (PlantedNoise(carried), "noise is carried from one to the next (their correlation is 0."),
    "bootstrap": (PlantedNoise(bootstrapped), "with replacement, a bootstrap"),
    "pairs-in-a-batch": (PlantedNoise(paired), "antithetic pairs that cancel"),
    "overlapping": (PlantedNoise(overlapping), "batches overlap"),
    "one-component": (PlantedNoise(lambda s: right(s) * np.r_[2.0, np.full(s.n - 1, 0.5)][: s.n]), "different sizes"),
    "half-a-call-shared": (PlantedNoise(lambda s: 0.5**0.5 * (right(s) + one_in_a_call(s))), "share a part of"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_law_gets_its_sentence(name: str) -> None:
    subject, words = PLANTED[name]
    (blame,) = explain_noise(StageCalls(subject))
    sentences = [explanation.sentence for explanation in blame.explanations]
    assert len(sentences) == 1, sentences
    assert words in sentences[0]
    assert blame.stage == "samples"
    assert blame.held_out > 0
    assert blame.effect is not None
    assert blame.effect > 0


@pytest.mark.parametrize(
    "subject", [ReferenceSubject(), PlantedNoise(), PlantedNoise(own=True), OwnGenerator()],
    ids=["reference", "plain", "kept-generator", "single-calls"],
)  # fmt: skip
def test_right_noise_is_blamed_for_nothing(subject: Any) -> None:
    assert explain_noise(StageCalls(subject)) == ()


@pytest.mark.parametrize("name", ["zero", "constant", "random", "noise", "echo", "nan", "missing"])
def test_what_knows_nothing_gets_no_law(name: str) -> None:
    assert all(not blame.explanations for blame in explain_noise(StageCalls(null_subjects()[name])))


def test_right_answers_with_noise_of_their_own_get_no_law() -> None:
    noisy = PlantedNoise(lambda s: right(s) + np.random.default_rng().standard_normal((s.R, s.n)))
    assert explain_noise(StageCalls(noisy)) == ()


def test_two_faults_are_two_sentences() -> None:
    both = PlantedNoise(
        lambda s: 3 * right(s) + s.alpha**-2 * s.sigma_g / s.N_g**0.5 * s.rng.standard_normal((s.R, s.n))
    )
    found = explain_noise(StageCalls(both))
    assert ["noise of g" in found[0].explanations[0].sentence, "noise of f" in found[1].explanations[0].sentence] == [
        True, True,
    ]  # fmt: skip


def test_what_is_off_and_has_no_name_is_said_to_be_off() -> None:
    odd = by_id("loses-one-of-two")
    found = explain_noise(StageCalls(odd), random_stages.sample(StageCalls(odd)))
    assert [(blame.stage, [*blame.explanations]) for blame in found] == [("samples", [])]


def test_small_shifts_are_found_where_many_are_drawn_at_once() -> None:
    biased = by_id("biased-draw")
    (blame,) = explain_noise(StageCalls(biased), random_stages.sample(StageCalls(biased)))
    assert "every component is shifted by 0.0" in blame.explanations[0].sentence


def test_laws_are_executable() -> None:
    subject = PLANTED["not-averaged"][0]
    (rule,) = explain_noise(StageCalls(subject))[0].explanations
    assert isinstance(rule, NoiseRule)
    assert rule.predicts([spot.draw(StageCalls(subject), stream=9) for spot in HELD_OUT_F])
    assert not rule.predicts([spot.draw(StageCalls(PlantedNoise()), stream=9) for spot in HELD_OUT_F])
    assert not rule.predicts([spot.draw(StageCalls(PLANTED["absent"][0])) for spot in OF_F])
    assert rule.answer(probes()[0]) is None


def test_patterns_are_seen_in_calls_that_were_made() -> None:
    (rule,) = explain_noise(StageCalls(PLANTED["antithetic"][0]))[0].explanations
    assert isinstance(rule, PatternRule)
    assert rule.predicts([OF_F[0].draw(StageCalls(PLANTED["antithetic"][0]), stream=9)])
    assert not rule.predicts([OF_F[0].draw(StageCalls(PlantedNoise()), stream=9)])
    assert not rule.predicts([])


def test_an_answer_without_noise_is_no_choice_of_reading() -> None:
    assert ignored_choices(StageCalls(PLANTED["absent"][0])) == ()
    assert ignored_choices(StageCalls(by_id("common-draws"))) == ("noise_pairing",)
