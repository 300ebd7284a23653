"""Subjects whose noise has another law: those the paper allows are not refuted, those it forbids still are."""

from __future__ import annotations

import pytest

from spec import Noise
from tests.verify.own_results import own_results
from verify.campaign.calibration.noise_laws import NOISE_LAWS
from verify.subjects import ReferenceSubject


class Noisy(ReferenceSubject):
    """The reference's answer without noise, and under common draws additive noise of a law on it."""

    def __init__(self, law):
        self.law = law

    def hypergradient_samples(self, problem, x, call, rng, count):
        quiet = problem.model_copy(update={"noise": Noise()})
        mean = super().hypergradient_samples(quiet, x, call, rng, 1)
        N_g = call.parameters.N_g
        rows = self.law(rng, count * N_g, len(x)).reshape(count, N_g, len(x)).mean(axis=1)
        return mean + problem.noise.scale("f.x") * rows


def at_most(rng, k, n):
    """Never more than the variance stated, and less on the whole."""
    return rng.standard_normal((k, n)) * rng.uniform(0.5, 0.9, (k, 1))


def correlated_components(rng, k, n):
    return 0.6**0.5 * rng.standard_normal((k, n)) + 0.4**0.5 * rng.standard_normal((k, 1))


def copies(rng, k, n):
    rows = NOISE_LAWS["Rademacher"](rng, k, n)
    rows[k // 2 : 2 * (k // 2)] = rows[: k // 2]
    return rows


def opposites(rng, k, n):
    rows = NOISE_LAWS["Laplace"](rng, k, n)
    rows[k // 2 : 2 * (k // 2)] = -rows[: k // 2]
    return rows


def judged(claim, law, instance="toy1"):
    (result,) = own_results(claim, Noisy(law), instances=[instance])
    assert result.fault is None, result.fault
    return result


@pytest.mark.parametrize(
    ("claim", "law"),
    [("variance-bound", "Rademacher"), ("variance-bound/independence", "Rademacher"),
     ("variance-bound/independence", "finite sum"), ("variance-bound/f-noise-only", "t5")],
)  # fmt: skip
def test_noise_that_the_paper_allows_breaks_no_bound(claim, law):
    assert str(judged(claim, NOISE_LAWS[law]).verdict) == "SUPPORTED"


@pytest.mark.parametrize("claim", ["variance-bound", "variance-bound/independence"])
def test_components_that_vary_together_are_no_dependent_estimates(claim):
    assert str(judged(claim, correlated_components, "two-of-three").verdict) == "SUPPORTED"


def test_less_noise_than_stated_is_another_law_and_said_to_be():
    within = judged("variance-bound", at_most)
    assert str(within.verdict) == "SUPPORTED"
    said = [item.checked or "" for item in within.evidence if item.kind == "comparison"]
    assert any("another law than the problem states" in line for line in said)
    stated = judged("stochastic-oracles/noise-reaches-gradient", at_most)
    assert str(stated.verdict) == "REFUTED"
    assert "another law than the problem states" in stated.sentence


def test_less_noise_than_stated_breaks_no_decomposition_and_none_at_all_does():
    within = judged("hypergradient-accuracy/decomposition", at_most)
    assert str(within.verdict) == "SUPPORTED"
    (seen,) = (item for item in within.evidence if item.kind == "comparison")
    assert "another law than the problem states: a variance of" in str(seen.checked)
    assert seen.context["variance"] < 0.012
    for law in (lambda rng, k, n: 0 * rng.standard_normal((k, n)), lambda rng, k, n: 1.3 * rng.standard_normal((k, n)),
                lambda rng, k, n: 0.3 + 0.5 * rng.standard_normal((k, n))):  # fmt: skip
        assert str(judged("hypergradient-accuracy/decomposition", law).verdict) == "REFUTED"


@pytest.mark.parametrize("law", [copies, opposites])
def test_dependent_estimates_of_any_law_are_refuted(law):
    assert str(judged("variance-bound/independence", law).verdict) == "REFUTED"


@pytest.mark.parametrize("factor", [0.0, 1.3])
def test_no_noise_and_too_much_of_it_break_the_bound(factor):
    found = judged("variance-bound", lambda rng, k, n: factor * rng.standard_normal((k, n)))
    assert str(found.verdict) == "REFUTED"
