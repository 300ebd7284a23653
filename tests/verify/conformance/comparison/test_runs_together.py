"""Runs of Algorithm 2 that are made together: each is held to the algorithm by itself, and what they share is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from verify.conformance.blame.all_stages import explain_all
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.letter.diagnosis import diagnose
from verify.conformance.repro.outer_repro import of_run
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls


class Together(ReferenceSubject):
    """Right single runs; runs made together are made here."""

    name = "together"

    def optimise_runs(self, oracle: Any, x0: Any, parameters: Any, rng: Any, keep_path: bool) -> Any:
        x, step, total = np.array(x0, dtype=float), np.zeros_like(x0), np.zeros_like(x0)
        path, means = [x.copy()], []
        for t in range(parameters.T):
            x = x + step
            path.append(x.copy())
            z = x - step * (1 - self.places(rng, len(x)))
            step = self.clipped(step - parameters.eta * oracle(z), parameters.D)
            total = total + z
            if (t + 1) % parameters.M == 0:
                means.append(self.mean(total / parameters.M))
                total = 0 * total
        return np.array(means), np.array(path) if keep_path else None

    def places(self, rng: Any, runs: int) -> Any:
        return rng.random((runs, 1))

    def clipped(self, v: Any, D: float) -> Any:
        return v * np.minimum(1.0, D / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-300))

    def mean(self, mean: Any) -> Any:
        return mean


class ClipsTogether(Together):
    def clipped(self, v: Any, D: float) -> Any:
        return v * min(1.0, D / max(np.linalg.norm(v), 1e-300))


class ClipsComponents(Together):
    def clipped(self, v: Any, D: float) -> Any:
        return v * np.minimum(1.0, D / np.maximum(np.linalg.norm(v, axis=0, keepdims=True), 1e-300))


class SharesPlaces(Together):
    def places(self, rng: Any, runs: int) -> Any:
        return rng.random()


class MeanOfRuns(Together):
    def mean(self, mean: Any) -> Any:
        return 0 * mean + mean.mean(axis=0)


class OneAfterAnother(Together):
    """Each run by itself, the oracle asked about one point."""

    def optimise_runs(self, oracle: Any, x0: Any, parameters: Any, rng: Any, keep_path: bool) -> Any:
        runs = [self.optimise(oracle, start, parameters, rng) for start in x0]
        return np.stack([run.x_bar for run in runs], axis=1), np.stack([run.path for run in runs], axis=1)


class InBatches(Together):
    def optimise_runs(self, oracle: Any, x0: Any, parameters: Any, rng: Any, keep_path: bool) -> Any:
        parts = [super(InBatches, self).optimise_runs(oracle, some, parameters, rng, True) for some in (x0[:2], x0[2:])]
        return tuple(np.concatenate(both, axis=1) for both in zip(*parts, strict=True))


class StepByStep(Together):
    """All runs at once, their points asked about one by one."""

    def optimise_runs(self, oracle: Any, x0: Any, parameters: Any, rng: Any, keep_path: bool) -> Any:
        def singly(z: Any) -> Any:
            return np.concatenate([oracle(row[None]) for row in z])

        return super().optimise_runs(singly, x0, parameters, rng, keep_path)


class MeansOneAfterAnother(OneAfterAnother):
    def optimise_runs(self, *asked: Any) -> Any:
        x_bar, path = super().optimise_runs(*asked)
        return x_bar[::-1], path


class Middles(Together):
    def places(self, rng: Any, runs: int) -> Any:
        return 0.5


class Refuses(Together):
    def optimise_runs(self, *asked: Any) -> Any:
        raise NotImplementedError("not yet")


class AsksMoreElsewhere(ClipsTogether):
    def optimise_runs(self, oracle: Any, x0: Any, parameters: Any, rng: Any, keep_path: bool) -> Any:
        if parameters.M not in (10,):
            oracle(np.array(x0))
        return super().optimise_runs(oracle, x0, parameters, rng, keep_path)


class AsksTwice(Together):
    def optimise_runs(self, oracle: Any, *others: Any) -> Any:
        oracle(np.zeros_like(others[0]))
        return super().optimise_runs(oracle, *others)


class PlacesByComponent(Together):
    def optimise_runs(self, oracle: Any, x0: Any, *others: Any) -> Any:
        self.shape = x0.shape
        return super().optimise_runs(oracle, x0, *others)

    def places(self, rng: Any, runs: int) -> Any:
        return rng.random(self.shape)


class OnlyTogether:
    """A program that makes no single runs."""

    name = "only together"

    def __init__(self, runs: Together) -> None:
        self.optimise_runs = runs.optimise_runs


def letter_of(subject: Any) -> tuple[str, str, str]:
    """Status and sentence of the comparison, and what the letter says."""
    stages = StageCalls(subject)
    seen = look(stages, only=["optimise"])
    (finding,) = seen.findings
    diagnoses = diagnose(seen, explain_all(stages, seen))
    return finding.status, finding.sentence, "\n".join(one.sentence for one in diagnoses)


@pytest.mark.parametrize(
    "subject",
    [Together(), ReferenceSubject(), OneAfterAnother(), InBatches(), StepByStep()],
    ids=lambda s: type(s).__name__,
)
def test_right_runs_agree_however_they_are_made(subject: Any) -> None:
    status, sentence, told = letter_of(subject)
    assert (status, told) == ("agrees", "")
    assert "together" not in sentence


@pytest.mark.parametrize(
    ("subject", "part", "words"),
    [
        (ClipsTogether(), "steps", "clipped by the length of all runs' steps together"),
        (SharesPlaces(), "queries", "runs made together have the same s_t"),
        (MeanOfRuns(), "means", "off in no way known here: mean of block 1 is"),
    ],
)
def test_what_runs_share_is_seen_and_named(subject: Any, part: str, words: str) -> None:
    status, sentence, told = letter_of(subject)
    assert status == "diverges"
    assert sentence.startswith(f"Its {part} are off on ")
    assert words in told


def test_runs_that_are_never_made_singly_are_held_to_the_algorithm() -> None:
    status, sentence, told = letter_of(OnlyTogether(Together()))
    assert (status, told) == ("agrees", "")
    assert sentence.endswith("s_t is uniform. It makes runs together alone, which have no output.")


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        (PlacesByComponent(), "one s_t must serve all components"),
        (ClipsTogether(), "clipped by the length of all runs' steps together"),
        (SharesPlaces(), "runs made together have the same s_t"),
        (ClipsComponents(), "clipped component by component, by its length over all runs made together"),
    ],
)
def test_of_runs_that_are_never_made_singly_it_is_told_what_is_off(runs: Together, words: str) -> None:
    subject = OnlyTogether(runs)
    status, _, told = letter_of(subject)
    assert status == "diverges"
    assert words in told
    case = of_run(look(StageCalls(subject), only=["optimise"]), "planted")
    assert case is not None
    space: dict[str, Any] = {"planted": subject}
    exec(case.code, space)
    assert not np.all((space["low"] <= space["got"]) & (space["got"] <= space["high"]))


def test_runs_that_are_never_made_singly_and_ask_too_often_are_told_without_a_script_that_cannot_run() -> None:
    status, sentence, told = letter_of(OnlyTogether(AsksTwice()))
    assert status == "diverges"
    assert sentence.startswith("3 runs at once ask the oracle 61 times")
    assert told.startswith("3 runs at once ask the oracle 61 times")
    assert of_run(look(StageCalls(OnlyTogether(AsksTwice())), only=["optimise"]), "planted") is None


def test_one_of_the_runs_that_asks_too_often_by_itself_is_told() -> None:
    status, _, told = letter_of(OnlyTogether(AsksMoreElsewhere()))
    assert status == "diverges"
    assert "Of one run at a time it asks the oracle" in told


def test_runs_that_are_refused_and_never_made_singly_are_not_applicable() -> None:
    status, sentence, _ = letter_of(OnlyTogether(Refuses()))
    assert status == "not offered"
    assert "not yet" in sentence


def test_one_s_t_for_all_steps_is_no_s_t_that_runs_share() -> None:
    status, sentence, told = letter_of(Middles())
    assert status == "diverges"
    assert "every s_t is 0.5" in sentence
    assert "have the same s_t" not in told


def test_what_is_refused_leaves_what_single_runs_showed() -> None:
    status, sentence, told = letter_of(Refuses())
    assert (status, told) == ("agrees", "")
    assert "1 more it says it does not support" in sentence


def test_a_cause_that_further_runs_cannot_confirm_is_not_named() -> None:
    _, _, told = letter_of(AsksMoreElsewhere())
    assert "off in no way known here" in told


def test_too_many_questions_are_told() -> None:
    status, sentence, told = letter_of(AsksTwice())
    assert told.startswith("Single runs are right. 3 runs at once ask the oracle 61 times")
    assert status == "diverges"
    assert sentence == (
        "3 runs at once ask the oracle 61 times for 183 gradients instead of T = KM = 60 times for 180."
    )


@pytest.mark.parametrize("subject", [ClipsTogether(), MeanOfRuns(), MeansOneAfterAnother()])
def test_a_script_shows_one_of_the_runs(subject: Any) -> None:
    seen = look(StageCalls(subject), only=["optimise"])
    case = of_run(seen, "planted")
    assert case is not None
    assert "made together" in case.sentence
    space: dict[str, Any] = {"planted": subject}
    exec(case.code, space)
    assert not np.all((space["low"] <= space["got"]) & (space["got"] <= space["high"]))
    np.testing.assert_allclose(space["must_be"], case.expected, rtol=1e-6)


def test_a_script_shows_the_law_that_all_of_them_break() -> None:
    seen = look(StageCalls(SharesPlaces()), only=["optimise"])
    case = of_run(seen, "planted")
    assert case is not None
    assert case.sentence.startswith("Over all runs made together: ")
    for subject, right in ((SharesPlaces(), False), (Together(), True)):
        space: dict[str, Any] = {"planted": subject}
        exec(case.code, space)
        assert bool(space["low"] <= space["got"] <= space["high"]) is right
