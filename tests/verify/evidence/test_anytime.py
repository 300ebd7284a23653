"""Bets err no more often than promised: exactly, for every two-point law, and factor by factor for others."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from verify.evidence.anytime import GAUSSIAN, HEAVIER, UNIT, MeanBets, NoiseClass, VarianceBets
from verify.evidence.samples.moments import Moments

SHARE = 1.4e-9
"""About what one decision of a full run may spend."""
RARITIES = (*np.geomspace(1e-6, 0.5, 22).tolist(), 0.01, 0.016)
"""Probabilities of the rarer value: an atom of .99 is one of .01 seen from the other side, to which no bet is blind."""


def two_point(p):
    """Values of mean 0 and variance 1; the second has probability p."""
    return np.array([-((p / (1 - p)) ** 0.5), ((1 - p) / p) ** 0.5])


def crossing(log_wealth, p, looks, share):
    """Exact probability that the wealth reaches 1/share at a look; log_wealth(t, k) for k of t samples the rare value.

    Binomial sums carry the law of k from look to look, without the paths that have been stopped.
    """
    law, lost, before = np.ones(1), 0.0, 0
    for look in looks:
        step = look - before
        most = int(min(step, step * p + 20 * (step * p) ** 0.5 + 60))  # beyond: less than 1e-60
        law = np.convolve(law, stats.binom.pmf(np.arange(most + 1), step, p))
        out = log_wealth(look, np.arange(len(law))) >= -log(share)
        lost, law, before = lost + float(law[out].sum()), np.where(out, 0.0, law), look
        law = law[: max(1, int(np.flatnonzero(law > 0)[-1]) + 1)] if (law > 0).any() else law[:1]
    return lost


def looks_for(p):
    """Looks of growing distance, far beyond the first of the rare values; every block at first."""
    blocks = [256 * i for i in range(1, 17)]
    return blocks + [int(t) for t in np.geomspace(4352, max(8192, 100 / p), 60 if p < 0.01 else 8)]


@pytest.mark.parametrize("p", RARITIES)
@pytest.mark.parametrize("wanted", [0.05, 1.0])
def test_a_right_variance_of_a_two_point_law_is_refuted_within_the_share(p, wanted):
    bets, (low, high) = VarianceBets.against(1.0, 1, wanted), two_point(p)
    # Units of two rows differ or do not: another two-point law, of the same mean.
    unequal, apart = 2 * p * (1 - p), (high - low) ** 2 / 2
    assert unequal * apart == pytest.approx(1.0)
    gain = np.log1p(bets.bets * apart)

    def wealth(t, k):
        return logsumexp(np.outer(k, gain) - t * np.log1p(bets.bets) + bets.log_weights, axis=1)

    rng = np.random.default_rng(0)
    pairs = low + (high - low) * (rng.random((64, 2)) < max(p, 0.1))
    bets.units(np.var(pairs, axis=1, ddof=1))
    differ = int((pairs[:, 0] != pairs[:, 1]).sum())
    assert bets.log_wealth(1.0) == pytest.approx(float(wealth(64, np.array([differ]))[0]))
    assert crossing(wealth, unequal, looks_for(unequal), SHARE) <= SHARE


@pytest.mark.parametrize("p", RARITIES)
@pytest.mark.parametrize("wanted", [0.01, 0.15])
def test_a_right_mean_of_a_two_point_law_is_refuted_within_the_share(p, wanted):
    low, high = two_point(p)

    def made(t, k):
        mean = (k * high + (t - k) * low) / t
        squares = k * (high - mean) ** 2 + (t - k) * (low - mean) ** 2
        moments = Moments(np.zeros(1), count=t, mean=np.array([mean]), squares=np.array([squares]))
        moments.cross = np.array([[squares]])
        return MeanBets.of(moments, 1.0, wanted).log_wealth

    def wealth(t, k):
        # All k at once, held against the bets themselves where it matters.
        rho, mean = 1.0 / wanted**2, (k * high + (t - k) * low) / t
        B = (k * (high - mean) ** 2 + (t - k) * (low - mean) ** 2) / 3 + 2 * t / 3 + rho
        q = mean**2 / B
        return t**2 * q / (2 * (1 + t * q / 3)) - (np.log(B / rho) + np.log1p(t * q / 3)) / 2

    for t, k in ((300, 2), (300, 150), (10_000, 9_000)):
        assert made(t, k) == pytest.approx(float(wealth(t, np.array([k]))[0]))
    assert crossing(wealth, p, looks_for(p), SHARE) <= SHARE


LAWS = {
    "Gauss": lambda rng, k: rng.standard_normal((k, 2)),
    "t5": lambda rng, k: rng.standard_t(5, (k, 2)) * 0.6**0.5,
    "rank one": lambda rng, k: rng.standard_normal((k, 1)) * np.ones((1, 2)),
    "sphere": lambda rng, k: 2**0.5 * (lambda z: z / np.linalg.norm(z, axis=1, keepdims=True))(rng.normal(size=(k, 2))),
    "1e-2 x 10": lambda rng, k: rng.standard_normal((k, 2)) * np.where(rng.random((k, 1)) < 0.01, 10, 1) / 1.99**0.5,
}


@pytest.mark.parametrize("law", LAWS)
def test_factors_of_a_right_claim_are_worth_one_at_most(law):
    rows = LAWS[law](np.random.default_rng(1), 1 << 19)
    units = rows.reshape(-1, UNIT, 2).var(axis=1, ddof=1).sum(axis=1)
    for level in (2.0, 2.6):
        bets = VarianceBets.against(level, 2, 0.1)
        for bet in bets.bets:
            assert np.mean((1 + bet * units) / (1 + bet * level)) <= 1.03
    # Every direction, at the whole second moment.
    for direction in np.array([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]]):
        for size in (0.01, 0.3, 2.0):
            y = size * rows @ direction
            assert np.mean(np.exp(y - y**2 / 6 - size**2 * 2 / 3)) <= 1.001


def test_the_variance_that_is_not_refuted_is_an_interval_and_holds_the_right_one():
    rows = np.random.default_rng(2).standard_normal((4096, 2))
    bets, moments = VarianceBets.against(2.0, 2, 0.1), Moments(np.zeros(2))
    bets.add(rows)
    moments.add(rows)
    least = bets.least(1e-3)
    assert bets.log_wealth(least * 0.999) > -log(1e-3) > bets.log_wealth(least * 1.001)
    squares = float(moments.squares.sum()), moments.count - 1.0
    assert least < 2.0 < GAUSSIAN.most(bets, squares, 2, GAUSSIAN.bet(2, 0.1), 1e-3) < 2.3
    assert HEAVIER.most(bets, squares, 2, HEAVIER.bet(2, 0.1), 1e-3) > GAUSSIAN.most(bets, squares, 2, 0.1, 1e-3)


def test_a_second_moment_alone_supports_no_bound_of_a_variance():
    bets = VarianceBets.against(1.0, 1, 0.1)
    bets.add(np.zeros((4096, 1)))
    nothing = NoiseClass("second moment", np.inf)
    assert nothing.most(bets, (0.0, 4095.0), 1, nothing.bet(1, 0.1), 1e-3) == np.inf


@pytest.mark.parametrize("kind", [GAUSSIAN, HEAVIER])
def test_a_variance_beyond_the_claim_is_supported_within_its_class_as_rarely_as_promised(kind):
    wrong = 0
    for seed in range(300):
        rng = np.random.default_rng([seed, 7])
        bets, moments = VarianceBets.against(1.0, 1, 0.5), Moments(np.zeros(1))
        for _ in range(8):
            rows = 1.5**0.5 * rng.standard_normal((64, 1))
            bets.add(rows)
            moments.add(rows)
            squares = float(moments.squares.sum()), moments.count - 1.0
            if kind.most(bets, squares, 1, kind.bet(1, 0.5), 0.05) < 1.5:
                wrong += 1
                break
    assert stats.binomtest(wrong, 300, 0.05, alternative="greater").pvalue > 1e-3


def test_looking_and_going_on_change_nothing_bit_for_bit():
    rows = np.random.default_rng(3).standard_normal((512, 2))
    whole, parts = VarianceBets.against(2.0, 2, 0.1), VarianceBets.against(2.0, 2, 0.1)
    for block in np.split(rows, 8):
        whole.add(block)
        parts.log_wealth(2.0)
        parts.add(block)
        later = VarianceBets.against(2.0, 2, 0.1)
        later.restore(parts.state())
        parts = later
    assert parts.state() == whole.state()


def test_a_mean_is_refuted_in_the_direction_where_it_is_off_and_no_further():
    rng, moments = np.random.default_rng(4), Moments(np.zeros(2))
    moments.add(rng.standard_normal((2000, 2)) + np.array([0.3, 0.0]))
    bets = MeanBets.of(moments, 2.0, 0.1)
    refuted, left = bets.limits((SHARE, 1e-3))
    distance = float(np.linalg.norm(moments.mean))
    assert (distance > refuted) == (bets.log_wealth >= -log(SHARE))
    assert left > distance
    moments.mean = moments.mean * (refuted / distance)
    assert MeanBets.of(moments, 2.0, 0.1).log_wealth == pytest.approx(-log(SHARE), rel=1e-3)
