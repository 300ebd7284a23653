"""Which law samples are given: the exact one as before, one that assumes less, or none, with the reason in words."""

from __future__ import annotations

import numpy as np
import pytest

from spec.claims import find
from verify.campaign.calibration.noise_laws import NOISE_LAWS
from verify.evidence.bets.correlations import CorrelationDecision, DirectionDecision
from verify.evidence.budget import Share
from verify.evidence.decisions import VarianceDecision
from verify.evidence.model import ComparisonEvidence
from verify.evidence.samples.moments import Moments, Scatter
from verify.evidence.streams import Sampler, Streams
from verify.verdict import Verdict, decide

SHARE = Share(1e-2)
WIDTH = 2


def sampler(law, seed=0, *, change=lambda rows: rows, kind=Moments):
    return Sampler(
        lambda rng, k: change(NOISE_LAWS[law](rng, k, WIDTH)), Streams((seed, 1)), kind(np.zeros(WIDTH)), 512
    )


def of_variance(law, seed=0, factor=1.0, **stated) -> ComparisonEvidence:
    decision = VarianceDecision("v", SHARE, level=2.0, width=WIDTH, wanted=0.2, block=512, **stated)
    return decision.run(sampler(law, seed, change=lambda rows: rows * factor**0.5))


@pytest.mark.parametrize("law", ["Gauss", "Rademacher", "mixture"])
def test_where_nothing_is_found_the_exact_law_decides_on_as_many_samples_as_ever(law):
    found = of_variance(law)
    assert found.law == "variance (chi-square)"
    assert found.samples <= 2 * found.samples_needed
    assert "kurtosis" in found.checked


@pytest.mark.parametrize(
    "law", ["Laplace", "t5", "lognormal", "heteroscedastic", "AR(.3)", "anisotropic", "finite sum"]
)
def test_a_right_variance_is_not_refuted_and_a_wrong_one_is(law):
    right = [of_variance(law, seed) for seed in range(8)]
    assert all(item.holds for item in right)
    assert sum(item.powered for item in right) >= 6
    assert {item.law for item in right} == {"variance (scatter of squares)"}
    assert not any(of_variance(law, seed, factor=1.5).holds for seed in range(3))
    assert not any(of_variance(law, seed, factor=0.6).holds for seed in range(3))


def test_a_variance_with_no_fourth_moment_stays_open_and_says_why():
    found = of_variance("t3")
    decision = decide(find("stochastic-oracles").repaired.bound, [found])
    assert decision.verdict is Verdict.INCONCLUSIVE
    assert "not Gaussian (kurtosis" in decision.sentence


def test_too_little_variance_is_not_refuted_by_what_one_outlier_may_still_add():
    def spiked(rows):
        made = rows * 0.3
        made[7] *= 60
        return made

    decision = VarianceDecision("v", SHARE, level=8.0, width=WIDTH, wanted=0.2, block=512, limit=512)
    found = decision.evidence(sampler("Gauss", change=spiked).reach(512), 1e-2)
    assert found.broken is None or "fourth moment" in found.broken
    assert decide(find("stochastic-oracles").repaired.bound, [found]).verdict is not Verdict.SUPPORTED


def test_squares_that_never_vary_are_worth_as_much_as_gaussian_ones():
    moments = Moments(np.zeros(1))
    moments.add(np.resize([1.0, 1.0, -1.0, -1.0], (512, 1)))
    found = VarianceDecision("v", SHARE, level=1.0, width=1, block=512).evidence(moments, 1e-2)
    assert found.law == "variance (scatter of squares)"
    assert found.holds


def test_noise_that_is_absent_is_refuted_as_ever():
    assert not of_variance("Gauss", factor=0.0).holds


def test_directions_of_heavy_tailed_noise_take_the_scatter_of_squares():
    whole = VarianceDecision("v", SHARE, level=2.0, width=WIDTH, wanted=0.4, block=512)
    found = DirectionDecision.of(whole).run(sampler("Laplace", kind=Scatter))
    assert found.holds
    assert found.law == "variances along directions (scatter of squares)"
    lengthwise = sampler("Laplace", change=lambda rows: rows * np.array([1.3, 0.4]), kind=Scatter)
    assert not DirectionDecision.of(whole).run(lengthwise).holds


@pytest.mark.parametrize("law", ["Laplace", "t3", "1 % contaminated", "finite sum", "anisotropic"])
def test_independent_rows_of_any_law_are_uncorrelated_and_copies_are_not(law):
    rng, decision = np.random.default_rng(0), CorrelationDecision("c", SHARE)
    rows = NOISE_LAWS[law](rng, 512, WIDTH)
    assert decision.within(rows).holds
    rows[256:] = rows[:256]
    found = decision.within(rows)
    assert not found.holds
    assert found.law == "correlations (normal scores)"


def test_correlated_components_are_no_correlation_of_two_estimates():
    rng, decision = np.random.default_rng(0), CorrelationDecision("c", SHARE)
    rows = 0.6**0.5 * rng.standard_normal((512, 2)) + 0.4**0.5 * rng.standard_normal((512, 1))
    assert decision.within(rows).holds
