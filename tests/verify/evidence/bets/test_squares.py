"""Mean squares by bets: errors by exact sums, what each side stands on, and going on."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy import stats

from spec.claims import find
from spec.errors import InvalidInputError
from verify.campaign.calibration.law_columns import WIDTH
from verify.campaign.calibration.noise_laws import NOISE_LAWS
from verify.evidence.anytime import NoiseClass
from verify.evidence.bets.squares import SquareBets, SquareBound
from verify.evidence.budget import Share
from verify.evidence.samples.laws import SquareLaw
from verify.evidence.samples.moments import Moments
from verify.evidence.streams import Sampler, Streams
from verify.verdict import Verdict, decide

SHARE = Share(1e-9)
LAW = SquareLaw((1.0, 1.0), (0.5, 0.0))
AWAY = np.array([0.5**0.5, 0.0])
BOUND = find("stochastic-oracles").repaired.bound


def sampler(noise="Gauss", *, seed=0, factor=1.0, block=128):
    def draw(rng, count):
        return factor * NOISE_LAWS[noise](rng, count, WIDTH) + AWAY

    return Sampler(draw, Streams.of(np.random.default_rng(seed)), Moments(np.zeros(WIDTH)), block)


def bound(**how):
    return SquareBound("s", how.pop("share", SHARE), law=how.pop("law", LAW), **how)


def verdict(found):
    return decide(BOUND, [found]).verdict


def test_the_stated_law_is_supported_by_fewer_samples_than_a_fixed_size_takes():
    found = bound(wanted=0.2).run(sampler())
    assert verdict(found) is Verdict.SUPPORTED
    assert found.law == "mean square (bets)"
    # A sample of a size fixed ahead that errs and misses as rarely, by the normal tail.
    reach = stats.norm.isf(SHARE.error / 2) + stats.norm.isf(SHARE.unseen)
    assert found.samples < LAW.variance / LAW.expectation**2 * (reach / 0.2) ** 2
    assert found.supported_under.startswith("Gaussian")


@pytest.mark.parametrize(("factor", "under"), [(1.5, "the bound alone"), (0.6, "Gaussian of the covariance")])
def test_each_side_is_refuted_under_premises_of_its_own(factor, under):
    found = bound().run(sampler(factor=factor))
    assert verdict(found) is Verdict.REFUTED
    assert found.refuted_under.startswith(under)


def test_other_noise_is_supported_within_a_class_of_its_own_or_left_open():
    tails = bound().run(sampler("Laplace"))
    assert verdict(tails) is Verdict.SUPPORTED
    assert tails.supported_under == "kurtosis at most 10"
    rare = bound(share=Share(1e-2)).run(sampler("two-point .001"))
    assert verdict(rare) is not Verdict.REFUTED
    stated = Share(1e-9, noise=NoiseClass.named("second-moment"))
    assert verdict(bound(share=stated).run(sampler())) is Verdict.INCONCLUSIVE
    top = Share(1e-9, noise=NoiseClass.named("bounded<=4"))
    assert verdict(bound(share=top).run(sampler("Rademacher"))) is Verdict.SUPPORTED


def test_correlated_lengths_decide_nothing_and_say_so():
    found = bound().run(sampler("AR(.5)"))
    assert verdict(found) is Verdict.INCONCLUSIVE
    assert "correlated" in found.broken


def test_a_larger_bound_takes_its_law_scaled_and_a_smaller_one_its_own_as_the_unit():
    twice = bound(relation="<=", predicted=2 * LAW.expectation, wanted=0.3)
    assert verdict(twice.run(sampler())) is Verdict.SUPPORTED
    assert verdict(twice.run(sampler(factor=1.7))) is Verdict.REFUTED
    assert twice.run(sampler()).wanted == pytest.approx(0.6 * LAW.expectation)
    nothing = bound(predicted=0.0).run(sampler())
    assert verdict(nothing) is Verdict.REFUTED
    assert nothing.wanted == pytest.approx(0.5 * LAW.expectation)
    with pytest.raises(InvalidInputError, match="expectation > 0"):
        bound(law=SquareLaw((0.0,), (0.0,)))


def test_no_two_point_law_is_refuted_from_above_more_often_than_its_share():
    """Squared lengths are 0 but for one in 1/p: the probability that wealth ever passes, by sums over paths."""
    error = 1e-3
    for p in (0.5, 0.01, 1e-4):
        laid = SquareBound("s", Share(error), law=SquareLaw((1.0,), (0.0,)), relation="<=", wanted=0.3).bets()
        # Wealth after N samples with k large ones; a path stops once it has passed.
        alive, passed = {0: 1.0}, 0.0
        for count in range(1, 400):
            after = {}
            for k, mass in alive.items():
                for large, chance in ((1, p), (0, 1 - p)):
                    after[k + large] = after.get(k + large, 0.0) + mass * chance
            alive = {}
            for k, mass in after.items():
                bets = SquareBets(laid.bets, laid.log_weights, count, k / p, k * np.log1p(laid.bets / p))
                if bets.log_wealth(1.0) >= log(1 / error):
                    passed += mass
                elif mass > 1e-15:
                    alive[k] = mass
        assert 0 <= passed <= error


def test_from_below_the_price_is_the_mean_of_what_is_paid_under_the_law_itself():
    decision = bound(wanted=0.3)
    bet, price = decision._bet(NoiseClass("Gaussian"))
    rows = np.random.default_rng(0).standard_normal((400_000, 2)) + AWAY
    paid = np.exp(-bet * (rows**2).sum(axis=1) / LAW.expectation)
    assert float(paid.mean()) == pytest.approx(np.exp(-price), rel=5e-3)


def test_what_goes_on_is_what_had_never_stopped():
    decision = bound(wanted=0.05)
    short, whole = sampler(), sampler()
    laid = short.follow(decision.bets())
    laid.add(np.zeros((0, 2)))
    short.reach(256)
    again = sampler(seed=1)
    again.restore(short.state())
    assert decision.run(again) == decision.run(whole)
