"""Intervals of mean squares and quantiles hold as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from spec import InvalidInputError
from verify.evidence.intervals import mean_square_interval, quantile_interval
from verify.evidence.moments import Moments


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
