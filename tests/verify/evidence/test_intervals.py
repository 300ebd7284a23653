"""Intervals of mean squares and quantiles hold as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import InvalidInputError
from verify.evidence.intervals import EmpiricalBernstein, Looks, mean_square_interval, quantile_interval
from verify.evidence.samples.moments import Moments


@pytest.mark.parametrize("isotropic", [True, False])
def test_mean_square_interval_covers(isotropic):
    rng = np.random.default_rng(0)
    away, missed = np.array([0.3, -0.2]), 0
    for _ in range(500):
        moments = Moments(np.zeros(2))
        moments.add(away + rng.standard_normal((60, 2)))
        low, high = mean_square_interval(moments, 0.1, isotropic=isotropic)
        missed += not low <= 2.13 <= high
    assert missed <= 50


def test_quantile_interval_covers_for_a_skewed_law():
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(500):
        _, low, high = quantile_interval(rng.exponential(size=200), 0.9, 0.1)
        missed += not low <= np.log(10) <= high
    assert missed <= 50


def test_the_quantile_lies_in_its_interval():
    middle, low, high = quantile_interval(np.arange(1001.0), 0.5, 1e-6)
    assert low < middle == 500 < high


def test_a_sample_too_small_for_any_interval_is_refused():
    with pytest.raises(InvalidInputError, match="must be more than 20"):
        quantile_interval(np.arange(20.0), 0.9, 1e-9)


def test_looks_never_spend_more_than_their_error_however_long_they_go_on():
    looks = Looks(100, 1e-3)
    assert sum(looks.spends(k) for k in range(1, 10_000)) < 1e-3
    assert [looks.size(k) for k in (1, 2, 3)] == [100, 400, 1600]


@given(st.integers(1, 10**6), st.integers(1, 5))
def test_planned_looks_end_where_they_are_to(size, looks):
    planned = Looks.ending_at(size, looks, 0.1)
    assert planned.size(looks) >= size
    assert planned.size(looks) <= size + 2 * 4 ** (looks - 1)


def test_a_first_look_needs_two_samples():
    with pytest.raises(InvalidInputError, match="first: must be >= 2"):
        Looks(1, 0.1)


@pytest.mark.parametrize("p", [0.5, 0.05, 0.001])
def test_the_interval_narrows_and_covers(p):
    rng = np.random.default_rng(5)
    sequence = EmpiricalBernstein(1e-6, 200_000)
    widths = []
    for _ in range(20):
        sequence.add((rng.random(10_000) < p).astype(float))
        low, high = sequence.interval()
        assert low <= p <= high
        widths.append(high - low)
    assert widths[-1] < widths[0]
    # Bernstein's own width is not beaten, nor missed by much.
    assert widths[-1] <= 2.5 * (2 * 14.5 * p / 200_000) ** 0.5 + 40 / 200_000


def test_the_sequence_misses_at_no_look_more_often_than_promised():
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(400):
        sequence = EmpiricalBernstein(0.05, 400)
        inside = True
        for _ in range(20):
            sequence.add((rng.random(20) < 0.2).astype(float))
            low, high = sequence.interval()
            inside &= low <= 0.2 <= high
        missed += not inside
    assert missed <= 0.05 * 400 + 3 * (0.05 * 400) ** 0.5


@given(st.integers(0, 2**32), st.integers(1, 99))
def test_cutting_the_stream_changes_no_more_than_rounding(seed, cut):
    values = np.random.default_rng(seed).random(100)
    whole, parts = EmpiricalBernstein(1e-3, 100), EmpiricalBernstein(1e-3, 100)
    whole.add(values)
    parts.add(values[:cut])
    parts = EmpiricalBernstein(**parts.state())
    parts.add(values[cut:])
    assert parts.interval() == pytest.approx(whole.interval())


def test_before_anything_is_seen_anything_is_possible():
    sequence = EmpiricalBernstein(0.1, 10)
    assert sequence.interval() == (0.0, 1.0)
    sequence.add(np.zeros(0))
    assert sequence.count == 0


def test_values_outside_the_unit_interval_are_refused():
    with pytest.raises(InvalidInputError, match="must lie in"):
        EmpiricalBernstein(0.1, 10).add(np.array([0.5, 1.5]))
