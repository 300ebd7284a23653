"""A subject whose estimates never differ is told by how many are equal; one of two values is not taken for it."""

from __future__ import annotations

import numpy as np
import pytest

from spec import Noise
from verify.campaign.calibration.noise_laws import NOISE_LAWS
from verify.campaign.plan import Task, perform
from verify.checks.measuring.case import checks, enforce, full_run_decisions
from verify.checks.measuring.estimates.silence import ALIKE
from verify.evidence.budget import TOTAL_ERROR
from verify.evidence.repeats import answers_needed
from verify.subjects import ReferenceSubject

FAILED_BY_SILENCE = ("variance-bound", "variance-bound/independence", "stochastic-oracles/noise-reaches-gradient",
                     "hypergradient-accuracy/decomposition")  # fmt: skip


class Counting(ReferenceSubject):
    """The reference without noise, and coins beside it after so many estimates."""

    def __init__(self, silent_until=np.inf):
        self.asked, self.silent_until = 0, silent_until

    def hypergradient_samples(self, problem, x, call, rng, count):
        quiet = problem.model_copy(update={"noise": Noise()})
        rows = super().hypergradient_samples(quiet, x, call, rng, count)
        late = np.arange(self.asked, self.asked + count) >= self.silent_until
        self.asked += count
        scale = problem.noise.scale("f.x") / call.parameters.N_g**0.5
        return rows + scale * late[:, None] * NOISE_LAWS["Rademacher"](rng, count, len(x))


def judged(claim, subject):
    result = perform(Task(claim, "repaired", "toy1", "counting", "smoke", 1), subject)
    assert result.fault is None, result.fault
    return result


@pytest.mark.parametrize("claim", FAILED_BY_SILENCE)
def test_no_noise_is_told_by_equal_answers_with_an_error_of_their_own(claim):
    subject, share = Counting(), TOTAL_ERROR / full_run_decisions()
    found = judged(claim, subject)
    assert str(found.verdict) == "REFUTED"
    needed = answers_needed(share)
    assert found.sentence.startswith(f"number of different answers among {needed} estimates of variance 0.0")
    assert "another law than the problem states" in found.sentence
    assert found.measured == 1
    assert subject.asked == needed
    assert found.error_rates["wrong outcome"] == share
    enforce(checks()[claim], found.evidence, share)


def test_a_value_that_nearly_every_estimate_has_is_not_taken_for_no_noise():
    class Rare(Counting):
        """One estimate in a hundred differs: the first does so after those that are asked for first."""

        def hypergradient_samples(self, problem, x, call, rng, count):
            rows = super().hypergradient_samples(problem, x, call, rng, count)
            rows[np.arange(self.asked - count, self.asked) % 100 == 99] += 1.0
            return rows

    found = judged("variance-bound", Rare())
    assert "different answers" not in found.sentence


def test_noise_that_begins_late_is_not_taken_for_none():
    subject = Counting(silent_until=ALIKE + 1)
    found = judged("variance-bound/independence", subject)
    assert str(found.verdict) == "SUPPORTED"
    assert "different answers" not in found.sentence
    assert subject.asked > ALIKE


def test_an_upper_bound_is_met_without_noise():
    assert str(judged("variance-bound/f-noise-only", Counting()).verdict) == "SUPPORTED"
