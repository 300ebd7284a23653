"""Bets that draws have another law than the one that is stated: fair under it, and won under others."""

from __future__ import annotations

import numpy as np
import pytest

from spec import InvalidInputError
from verify.campaign.calibration.noise_laws import NOISE_LAWS
from verify.evidence.anytime import DrawsBets
from verify.evidence.bets.betting import DrawsDecision
from verify.evidence.budget import Share
from verify.evidence.samples.moments import Moments
from verify.evidence.streams import Ledger, Sampler, Streams

SHARE = Share(1e-9)


def sampler(law, seed=0, width=2, scale=1.0, block=512):
    def draw(rng, k):
        return scale * law(rng, k, width)

    return Sampler(draw, Streams((seed, 7)), Moments(np.zeros(width)), block)


def decided(law, *, level=0, seed=0, width=2):
    decision = DrawsDecision("draws", Share(1e-9, level=level), width=width, scale=3.0, block=512)
    return decision.run(sampler(law, seed, width, scale=3.0))


def test_every_bet_is_fair_under_the_stated_law():
    bets = DrawsBets(1, 1.0, 0.2)
    z = np.sinh(np.linspace(-7.0, 7.0, 6001))  # fine near 0, and out to 548 for outliers a hundred times as long
    widths = np.gradient(z)
    logs = np.array([bets._gains(np.array([[value]])) for value in z]) - z[:, None] ** 2 / 2
    wealth = (np.exp(logs) * widths[:, None]).sum(axis=0) / np.sqrt(2 * np.pi)
    assert wealth == pytest.approx(1.0, abs=1e-3)
    assert np.exp(bets._log_weights).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("width", [1, 3])
def test_the_stated_law_is_not_refuted_and_a_larger_variance_would_have_been(width):
    for seed in range(20):
        found = decided(NOISE_LAWS["Gauss"], seed=seed, width=width)
        assert found.holds
        assert found.powered
        assert found.samples <= 20_000 / width


@pytest.mark.parametrize(
    ("name", "most"),
    [("Rademacher", 512), ("two-point .01", 512), ("lognormal", 512), ("Laplace", 1024), ("t5", 2048),
     ("outliers .01 % × 100", 30_000), ("finite sum", 4096), ("mixture", 2048)],
)  # fmt: skip
def test_other_laws_of_the_same_variance_are_refuted(name, most):
    found = decided(NOISE_LAWS[name], seed=1, level=2)
    assert not found.holds
    assert found.samples <= most
    assert found.refuted_under == "no premise but the law that is refuted"


def test_a_variance_a_fifth_off_is_told_in_either_direction():
    for factor in (1.2, 1 / 1.2):
        assert not decided(lambda rng, k, n, f=factor: f**0.5 * rng.standard_normal((k, n))).holds


def test_more_effort_goes_on_with_the_same_wealth():
    law = NOISE_LAWS["Gauss"]
    decision = [DrawsDecision("draws", Share(1e-9, level=k), width=2, scale=1.0, block=512) for k in (0, 1)]
    first = sampler(law)
    decision[0].run(first)
    going_on = Ledger([first.state()]).keep(sampler(law, seed=5))
    assert decision[1].run(going_on) == decision[1].run(sampler(law))


def test_nothing_overflows():
    bets = DrawsBets(2, 1.0, 0.2)
    bets.add(np.array([[1e300, -1e300], [0.0, 1.0]]))
    assert bets.log_wealth > 1e3
    with pytest.raises(InvalidInputError):
        DrawsDecision("draws", SHARE, width=2, scale=0.0)
