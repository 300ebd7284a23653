"""Correlations at every distance and variances along every direction."""

from __future__ import annotations

import numpy as np
import pytest

from spec import InvalidInputError
from verify.evidence.anytime import VarianceBets
from verify.evidence.bets.correlations import CorrelationDecision, DirectionBets, DirectionBound, DirectionDecision
from verify.evidence.budget import Share
from verify.evidence.decisions import VarianceDecision
from verify.evidence.samples.moments import Moments, Scatter
from verify.evidence.streams import Ledger, Sampler, Streams

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


def spread(mix=None, *, seed=0, width=3, relation="==", level=0, law=np.random.Generator.standard_normal):
    """The decision by bets on rows times a matrix, and its sampler."""
    mix = np.eye(width) if mix is None else np.array(mix)
    whole = VarianceDecision(
        "variance", Share(1e-9, level=level), level=float(width), width=width, relation=relation, wanted=0.2, block=256
    )

    def draw(rng, k):
        return law(rng, (k, width)) @ mix

    return DirectionBound.of(whole), Sampler(draw, Streams((seed, 9)), Scatter(np.zeros(width)), 256)


def test_bets_along_the_directions_of_one_component_are_those_on_its_variance():
    rows, one = np.random.default_rng(0).standard_normal((4096, 1)), VarianceBets.against(1.0, 1, 0.2)
    along = DirectionBets(VarianceBets.against(1.0, 1, 0.2))
    one.add(rows)
    along.add(rows)
    assert along.mean == pytest.approx([one.mean])
    for error in (1e-9, 1e-3):
        assert along.least(error) == pytest.approx([one.least(error)], rel=1e-6)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_equal_directions_are_supported_by_few_samples_whatever_the_relation(width):
    for relation in ("==", "<=", ">="):
        for seed in range(3):
            decided, sampler = spread(seed=seed, width=width, relation=relation)
            found = decided.run(sampler)
            assert found.holds
            assert found.powered
            assert found.samples <= 6144
            assert found.error_rate == pytest.approx(1e-9)


@pytest.mark.parametrize("mix", [np.diag([1.25, 1, 1]), np.diag([1, 1, 0.75]), [[1, 0, 0], [0.4, 0.9, 0], [0, 0, 1]]])
def test_a_direction_that_varies_more_or_less_is_refuted_and_no_further_look_takes_it_back(mix):
    for seed in range(3):
        decided, sampler = spread(mix, seed=seed)
        found = decided.run(sampler)
        assert not found.holds
        assert found.law == "variances along directions (bets)"


def test_outliers_not_met_yet_are_no_direction_that_varies_too_little():
    def outliers(rng, shape):
        return rng.standard_normal(shape) * np.where(rng.random((shape[0], 1)) < 3e-3, 30.0, 1.0) / 3.7**0.5

    for seed in range(20):
        decided, sampler = spread(seed=seed, law=outliers, relation="<=")
        assert decided.run(sampler).holds


def test_more_effort_along_directions_goes_on_bit_for_bit():
    (first, sampler), (second, _) = spread(level=0), spread(level=1)
    first.run(sampler)
    _, other = spread(level=1)
    going_on = Ledger([sampler.state()]).keep(spread(seed=4)[1])
    assert second.run(going_on) == second.run(other)


def test_dependent_rows_are_decided_by_planned_looks_along_directions():
    def echoing(rng, shape):
        rows = rng.standard_normal((shape[0] + 1, shape[1]))
        return 0.8**0.5 * rows[1:] + 0.2**0.5 * rows[:-1]

    decided, sampler = spread(law=echoing)
    found = decided.run(sampler)
    assert found.law == "variances along directions (scatter of squares)"
    assert found.holds
    assert found.error_rate == pytest.approx(1e-9)
