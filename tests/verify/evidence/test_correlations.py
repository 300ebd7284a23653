"""Correlations at every distance and variances along every direction."""

from __future__ import annotations

import numpy as np
import pytest

from spec import InvalidInputError
from verify.evidence.budget import Share
from verify.evidence.correlations import CorrelationDecision, DirectionDecision
from verify.evidence.decisions import VarianceDecision
from verify.evidence.moments import Moments, Scatter
from verify.evidence.streams import Sampler, Streams

SHARE = Share(1e-6)
R = 1 << 12


def decision():
    return CorrelationDecision("correlation", SHARE)


def rows(seed, n=2):
    return np.random.default_rng(seed).standard_normal((R, n))


@pytest.mark.parametrize("seed", range(5))
def test_independent_rows_are_not_refuted(seed):
    found = decision().within(rows(seed))
    assert found.holds
    assert found.detectable < 0.3
    assert decision().between(rows(seed), rows(seed + 100)).holds


@pytest.mark.parametrize("lag", [1, 7, 1000, R // 2])
def test_an_echo_is_seen_at_any_distance(lag):
    own = rows(0)
    echo = 0.4 * np.roll(own, lag, axis=0) + 0.84**0.5 * rows(1)
    assert not decision().between(own, echo).holds
    # Within one stream: each row takes after the one so many places before.
    made = own.copy()
    for first in range(lag, R, lag):
        here = slice(first, min(first + lag, R))
        made[here] = 0.4 * made[first - lag : first][: len(made[here])] + 0.84**0.5 * own[here]
    assert not decision().within(made).holds


def test_mirror_images_and_other_components_are_seen():
    own = rows(0)
    half = own[: R // 2]
    assert not decision().within(np.concatenate([half, -half[::-1]])).holds
    assert not decision().between(own, own[::-1]).holds
    swapped = own.copy()
    swapped[1:, 1] = own[:-1, 0]
    assert not decision().within(swapped).holds


def test_the_sums_are_what_they_are_called():
    own = rows(0, 1)[:8]
    R_small = 8
    lags = [abs(sum(own[i, 0] * own[(i + k) % R_small, 0] for i in range(R_small))) for k in range(1, 4)]
    pairs = [
        abs(sum(own[i, 0] * own[(s - i) % R_small, 0] for i in range(R_small) if i != (s - i) % R_small))
        for s in range(R_small)
    ]
    opposite = abs(sum(own[i, 0] * own[i + 4, 0] for i in range(4)))
    found = decision().within(own)
    candidates = [value / R_small for value in lags] + [value / 2 / 4 for value in pairs] + [opposite / 4]
    assert min(abs(found.measured - value) for value in candidates) < 1e-12


def test_rows_must_be_a_power_of_two():
    with pytest.raises(InvalidInputError, match="rows: must be a power of two"):
        decision().within(rows(0)[:100])


def test_scatter_is_the_covariance_however_blocks_are_cut():
    values = rows(3, 3) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.2], [0.0, 0.0, 2.0]]) + 1e6
    scatter = Scatter(np.full(3, 1e6))
    for block in np.array_split(values, 7):
        scatter.add(block)
    assert scatter.products / (scatter.count - 1) == pytest.approx(np.cov(values.T), rel=1e-9)
    again = Scatter.resume(scatter.state())
    assert (again.products == scatter.products).all()
    assert np.diag(scatter.products) == pytest.approx(scatter.squares, rel=1e-12)


def directions(mix, relation="=="):
    def draw(rng, count):
        return rng.standard_normal((count, 2)) @ np.array(mix).T

    sampler = Sampler(draw, Streams.of(np.random.default_rng(4)), Scatter(np.zeros(2)), block=512)
    whole = VarianceDecision("variance", SHARE, level=2.0, width=2, relation=relation, wanted=0.2, block=512)
    return DirectionDecision.of(whole).run(sampler)


def test_a_covariance_that_is_no_multiple_of_the_identity_is_refuted():
    found = directions([[1.0, 0.0], [0.0, 1.0]])
    assert found.holds
    assert found.error_rate == pytest.approx(SHARE.error)
    assert found.detectable <= 0.2 * found.predicted * (1 + 1e-9)
    assert not directions([[2**0.5, 0.0], [0.0, 0.0]]).holds
    # Both variances right, half of the noise shared.
    assert not directions([[1.0, 0.0], [0.5, 0.75**0.5]]).holds
    assert not directions([[2**0.5, 0.0], [0.0, 0.0]], ">=").holds
    assert directions([[1.5, 0.0], [0.0, 1.5]], ">=").holds


def test_directions_need_moments_that_keep_them():
    with pytest.raises(InvalidInputError, match="moments: must keep"):
        DirectionDecision.of(VarianceDecision("v", SHARE, level=2.0, width=2)).seen(Moments(np.zeros(2)))


def test_values_that_are_mostly_one_support_nothing_and_coins_do():
    rng = np.random.default_rng(5)
    coins = np.where(rng.random((512, 2)) < 0.5, -1.0, 1.0)
    decision = CorrelationDecision("c", Share(1e-4), wanted=0.9)
    assert decision.within(coins).powered
    rare = np.where(rng.random((512, 2)) < 0.01, 10.0, -0.1)
    found = decision.within(rare)
    assert found.holds
    assert not found.powered
    assert not decision.between(rare, coins).powered
