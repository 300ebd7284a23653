"""Equal estimates: what chance makes of them, over laws with atoms, ties and rare outliers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import hypergeom

from verify.evidence.bets.betting import MeanBound, VarianceBound
from verify.evidence.budget import Share
from verify.evidence.decisions import VarianceDecision
from verify.evidence.repeats import KURTOSIS, Lots, answers_needed, different_answers, repeats
from verify.evidence.samples.calls import Calls
from verify.evidence.samples.laws import binomial_interval
from verify.evidence.samples.moments import Moments
from verify.evidence.streams import Sampler, Streams

SHARE = Share(1.4e-9)


def atom(p):
    """One value with probability p, any other with the rest."""
    return lambda rng, k: np.where(rng.random((k, 1)) < p, 0.0, rng.standard_normal((k, 1)))


def values(count):
    return lambda rng, k: rng.integers(count, size=(k, 2)).astype(np.float64)


LAWS = {
    "Gauss": lambda rng, k: rng.standard_normal((k, 2)), "coin": values(2), "64 values": values(8),
    "ties": lambda rng, k: np.round(rng.standard_normal((k, 2)), 1), "atom .016": atom(0.016), "atom .5": atom(0.5),
    "atom .99": atom(0.99), "rare outliers": lambda rng, k: 1e3 * (rng.random((k, 1)) < 1e-3),
}  # fmt: skip


@pytest.mark.parametrize("error", [1e-2, 1.4e-9])
@pytest.mark.parametrize("p", np.geomspace(1e-6, 0.5, 25).tolist())
def test_one_answer_alone_is_as_rare_as_promised_for_every_two_point_law_of_that_kurtosis(p, error):
    away = (1 - p) ** 2 / p + p**2 / (1 - p)  # E d⁴ over the squared variance
    if away <= KURTOSIS:
        needed = answers_needed(error)
        assert p**needed + (1 - p) ** needed <= error


@pytest.mark.parametrize("law", LAWS)
def test_repeats_of_independent_estimates_are_refuted_no_more_often_than_promised(law):
    refuted = 0
    for seed in range(200):
        rng = np.random.default_rng([seed, 1])
        found = repeats(LAWS[law](rng, 64), LAWS[law](rng, 128), Share(0.1), "repeats")
        refuted += not found.holds
        assert found.error_rate == 0.1
    assert binomial_interval(refuted, 200, 0.999)[0] <= 0.1


def test_the_bound_of_lots_is_above_their_exact_quantile():
    things = np.array([0, 0, 0, 1, 1, 2, 2, 3, 4, 5])
    lots = Lots.of(np.bincount(things), 5)
    counts = [np.bincount(things[list(chosen)]) for chosen in combinations(range(10), 5)]
    found = np.array([int(np.maximum(each - 1, 0).sum()) for each in counts])
    assert lots.expected == pytest.approx(found.mean())
    for error in (0.5, 0.1, 0.02):
        assert (found > lots.at_most(error)).mean() <= error
        assert (found < lots.at_least(error)).mean() <= error
    # Of one value alone nothing is lost but what any exponential bound loses.
    one = Lots.of(np.array([40, *(1,) * 60]), 50)
    exact = int(hypergeom(100, 40, 50).isf(1e-6)) - 1
    assert exact <= one.at_most(1e-6) < 1.25 * exact


@pytest.mark.parametrize("law", LAWS)
def test_a_call_that_repeats_itself_is_refuted_where_its_values_are_many(law):
    rng = np.random.default_rng(3)
    here = LAWS[law](rng, 1024)
    here[512:] = here[:512]
    found = repeats(here, LAWS[law](rng, 2048), SHARE, "repeats")
    assert found.holds == (law in ("coin", "64 values", "rare outliers", "atom .99"))


def test_so_many_more_repeats_as_are_stated_are_seen():
    rng = np.random.default_rng(4)
    here, there = LAWS["atom .016"](rng, 1024), LAWS["atom .016"](rng, 2048)
    more = int(repeats(here, there, SHARE, "repeats").detectable)
    twice = 9.0 + np.repeat(np.arange(more), 2)[:, None]
    assert not repeats(np.vstack([here, twice]), there, SHARE, "repeats").holds


def test_one_answer_is_no_noise_and_two_are():
    rows = np.zeros((answers_needed(SHARE.error), 2))
    assert not different_answers(rows, SHARE, "answers").holds
    rows[-1] = 1.0
    assert different_answers(rows, SHARE, "answers").holds


@pytest.mark.parametrize("size", [0.0, 1e-170, 1e-320])
def test_a_sample_without_scatter_is_no_crash(size):
    calls = Calls(2)
    for sign in (1, -1, 1):
        calls.add(8, sign * np.full(2, size), 0.0)
    ratio, allowed = calls.scatter(1e-24)
    assert ratio <= allowed

    def draw(rng, count):
        return size * rng.standard_normal((count, 2))

    for decision in (
        MeanBound("m", SHARE, width=2, second_moment=1.0, limit=4096, block=256),
        VarianceBound("v", SHARE, level=1.0, width=2, relation="<=", limit=4096, block=256),
        VarianceDecision("v", SHARE, level=1.0, width=2, relation="<=", limit=4096, block=256),
    ):
        assert decision.run(Sampler(draw, Streams((1, 2)), Moments(np.zeros(2)), block=256)).holds
