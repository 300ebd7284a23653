"""The reference under noise of other laws: what the paper allows is never refuted, what it forbids is, by name."""

from __future__ import annotations

import numpy as np
import pytest

from verify.campaign.calibration import noisy_reference
from verify.campaign.calibration.noisy_reference import ALLOWED, FORBIDDEN, subject_under
from verify.campaign.plan import Task, perform
from verify.subjects import MissingCapabilityError, load_subject


def judged(claim, law):
    result = perform(Task(claim, "repaired", "toy1", law, "smoke", 1), subject_under(law)())
    assert result.fault is None, result.fault
    return result


@pytest.mark.parametrize("law", ALLOWED)
def test_laws_have_mean_zero_and_at_most_variance_one(law):
    rows = ALLOWED[law](np.random.default_rng(5), 200_000, 2)
    assert rows.shape == (200_000, 2)
    assert np.abs(rows.mean(axis=0)).max() < 0.02
    assert (rows**2).mean() < 1.02
    assert len(np.unique(rows[:, 0])) > 1


@pytest.mark.parametrize("claim", ["stochastic-oracles/bounded-variance", "variance-bound/f-noise-only"])
@pytest.mark.parametrize("law", ALLOWED)
def test_what_the_paper_allows_is_not_refuted(law, claim):
    found = judged(claim, law)
    assert str(found.verdict) in ("SUPPORTED", "INCONCLUSIVE")
    assert str(found.verdict) == "SUPPORTED" or "They are not Gaussian" in found.sentence


@pytest.mark.parametrize(
    ("law", "claim", "says"),
    [("TwiceTheVariance", "stochastic-oracles/bounded-variance", "variance of a draw of ∇_x f"),
     ("Biased", "stochastic-oracles/unbiasedness", "distance of the mean draw of ∇_x f from the gradient"),
     ("SlightlyBiased", "stochastic-oracles/unbiasedness", "distance of the mean draw of ∇_x f from the gradient"),
     ("Correlated", "variance-bound/independence", "variance of the sum of"),
     ("Endless", "stochastic-oracles/bounded-variance", "variance of a draw of ∇_x f"),
     ("OneDrawReused", "variance-bound/independence", "variance of the sum of")],
)  # fmt: skip
def test_what_the_paper_forbids_is_called_by_name(law, claim, says):
    found = judged(claim, law)
    assert str(found.verdict) == "REFUTED"
    assert found.sentence.startswith(says)


def test_a_bias_shows_without_independent_pairing_and_none_is_no_credit():
    def without(law):
        class Common(subject_under(law)):
            def hypergradient_samples(self, problem, x, call, rng, replications):
                if call.reading.noise_pairing == "independent":
                    raise MissingCapabilityError("independent draws at both points are refused")
                return super().hypergradient_samples(problem, x, call, rng, replications)

        return perform(Task("stochastic-oracles/unbiasedness", "repaired", "toy1", law, "smoke", 1), Common())

    assert str(without("Biased").verdict) == "REFUTED"
    assert str(without("Rademacher").verdict) == "NOT_APPLICABLE"


def test_each_law_is_a_subject_by_its_name():
    for law in (*ALLOWED, *FORBIDDEN):
        assert load_subject(f"{noisy_reference.__name__}:{law}").name == law
    with pytest.raises(AttributeError):
        noisy_reference.Cauchy  # noqa: B018  # asking is the test
