"""Decisions by bets: few samples where a claim holds, refuted from above whatever the law, and premises named."""

from __future__ import annotations

import numpy as np
import pytest

from spec import InvalidInputError
from spec.claims import find
from verify.campaign.calibration.noise_laws import NOISE_LAWS
from verify.evidence.bets.betting import NOTHING, SEEN_CALLS, STATED, MeanBound, VarianceBound
from verify.evidence.budget import Share
from verify.evidence.samples.moments import Moments
from verify.evidence.streams import Sampler, Streams
from verify.verdict import Verdict, decide

SHARE = Share(1.4e-9)
WIDTH = 2


def rare(p):
    """Two values, one with probability p, of mean 0 and variance 1 a component."""
    low, high = -((p / (1 - p)) ** 0.5), ((1 - p) / p) ** 0.5
    return lambda rng, k, n: np.where(rng.random((k, n)) < p, high, low)


def outliers(p, size):
    scale = (1 + p * (size**2 - 1)) ** 0.5
    return lambda rng, k, n: rng.standard_normal((k, n)) * np.where(rng.random((k, 1)) < p, size, 1.0) / scale


LAWS = {
    **NOISE_LAWS, "two-point .001": rare(1e-3), "two-point .016": rare(0.016), "1e-4 x 100": outliers(1e-4, 100.0),
    "1e-3 x 60": outliers(1e-3, 60.0), "3e-3 x 30": outliers(3e-3, 30.0),
}  # fmt: skip


def stream(law, seed=0, *, factor=1.0, shift=0.0, block=512):
    return Sampler(
        lambda rng, k: LAWS[law](rng, k, WIDTH) * factor**0.5 + shift,
        Streams((seed, 3)),
        Moments(np.zeros(WIDTH)),
        block,
    )


def variance(law, seed=0, *, factor=1.0, share=SHARE, wanted=0.2, **stated):
    decision = VarianceBound("v", share, level=float(WIDTH), width=WIDTH, wanted=wanted, block=512, **stated)
    return decision.run(stream(law, seed, factor=factor))


def mean(law, seed=0, *, shift=0.0, share=SHARE, block=512):
    decision = MeanBound("m", share, width=WIDTH, second_moment=float(WIDTH), wanted=0.1, block=block)
    return decision.run(stream(law, seed, shift=shift, block=block))


def verdict(item):
    return decide(find("stochastic-oracles").repaired.bound, [item]).verdict


@pytest.mark.parametrize("law", LAWS)
def test_a_bound_of_a_variance_that_holds_is_never_refuted(law):
    if law != "shared by a call":
        assert all(variance(law, seed, relation="<=", share=Share(1e-4)).holds for seed in range(6))


@pytest.mark.parametrize("law", ["Gauss", "Rademacher", "Laplace", "t5", "finite sum", "heteroscedastic"])
def test_a_variance_beyond_its_bound_is_refuted_under_nothing_but_the_bound(law):
    found = variance(law, factor=1.6, relation="<=")
    assert verdict(found) is Verdict.REFUTED
    assert found.refuted_under == NOTHING


@pytest.mark.parametrize(("law", "within"), [("Gauss", "Gaussian"), ("Laplace", "kurtosis at most 10")])
def test_a_support_names_its_class(law, within):
    found = variance(law, relation="<=")
    assert verdict(found) is Verdict.SUPPORTED
    assert found.supported_under == within
    assert found.samples >= SEEN_CALLS * 512


@pytest.mark.parametrize("law", ["1 % contaminated", "3e-3 x 30"])
def test_what_no_class_at_hand_holds_is_left_open_by_name(law):
    found = variance(law, relation="<=")
    assert verdict(found) is Verdict.INCONCLUSIVE
    assert "kurtosis is" in str(found.broken) or "fourth moment" in str(found.broken)


@pytest.mark.parametrize("factor", [0.6, 1.6])
def test_an_equality_is_refuted_on_either_side(factor):
    found = variance("Gauss", factor=factor, relation="==")
    assert verdict(found) is Verdict.REFUTED
    assert found.refuted_under == (NOTHING if factor > 1 else "Gaussian")


def test_half_of_the_samples_and_less_do_where_a_claim_holds():
    bound = VarianceBound("v", SHARE, level=2.0, width=WIDTH, relation="<=", block=512)
    taken = [bound.run(stream("Gauss", seed)).samples for seed in range(12)]
    assert np.mean(taken) < bound.needed / 3  # a plan ahead takes as many as are needed
    shift = MeanBound("m", SHARE, width=WIDTH, second_moment=2.0, wanted=0.05, block=512)
    taken = [shift.run(stream("Gauss", seed)).samples for seed in range(12)]
    assert np.mean(taken) < shift.needed / 1.2


@pytest.mark.parametrize("law", ["Gauss", "anisotropic", "lognormal", "two-point .016", "1e-3 x 60", "AR(.3)"])
def test_a_right_mean_is_not_refuted_and_a_shifted_one_is(law):
    right = [mean(law, seed, share=Share(1e-2)) for seed in range(10)]
    assert all(item.holds and item.powered for item in right)
    assert {item.supported_under for item in right} <= {STATED, None}
    assert not any(mean(law, seed, shift=0.15, share=Share(1e-2)).holds for seed in range(5))


@pytest.mark.parametrize(("share", "within"), [(0.003, True), (0.01, True), (0.5, True), (1.0, False)])
def test_noise_that_a_whole_call_shares_refutes_no_right_mean(share, within):
    def of_calls(seed, shift=0.0):
        def draw(rng, k):
            own = rng.laplace(size=(k, WIDTH)) / 2**0.5 if within else np.zeros((k, WIDTH))
            return (1 - share) ** 0.5 * own + share**0.5 * rng.standard_normal((1, WIDTH)) + shift

        sampler = Sampler(draw, Streams((seed, 5)), Moments(np.zeros(WIDTH)), 512)
        decision = MeanBound("m", Share(1e-2), width=WIDTH, second_moment=float(WIDTH), wanted=0.1, block=512)
        return decision.run(sampler)

    right = [of_calls(seed) for seed in range(8)]
    assert all(item.holds for item in right)
    if share > 0.1:
        assert verdict(right[0]) is Verdict.INCONCLUSIVE
        assert "means of calls scatter" in str(right[0].checked)
    assert not any(of_calls(seed, shift=0.6).holds for seed in range(4))


def test_noise_that_is_all_shared_by_calls_supports_no_bound_of_its_variance():
    draw = lambda rng, k: 3.0 * rng.standard_normal((1, WIDTH)) + np.zeros((k, WIDTH))  # noqa: E731  # as others are
    decision = VarianceBound("v", SHARE, level=float(WIDTH), width=WIDTH, relation="<=", block=512, wanted=0.2)
    for seed in range(6):
        sampler = Sampler(draw, Streams((seed, 3)), Moments(np.zeros(WIDTH)), 512)
        assert verdict(decision.run(sampler)) is not Verdict.SUPPORTED


def test_no_variance_at_all_is_held_exactly():
    decision = VarianceBound("v", SHARE, level=0.0, width=WIDTH, block=512)
    assert decision.run(stream("Gauss", factor=0.0)).holds
    assert not decision.run(stream("Gauss", factor=1e-18)).holds


def test_what_cannot_be_decided_is_refused():
    with pytest.raises(InvalidInputError, match="block: must be >= 8"):
        VarianceBound("v", SHARE, level=1.0, width=WIDTH).run(stream("Gauss", block=4))
    with pytest.raises(InvalidInputError, match="second_moment: must be > 0"):
        MeanBound("m", SHARE, width=WIDTH, second_moment=0.0)
    started = stream("Gauss")
    started.reach(512)
    with pytest.raises(ValueError, match="before anything is drawn"):
        VarianceBound("v", SHARE, level=1.0, width=WIDTH).run(started)
