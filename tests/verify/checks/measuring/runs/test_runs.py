from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.atlas import find
from verify.evidence.intervals import mean_interval, median_interval
from verify.truth.functions import SyntheticOracle, WeightedAbsolute
from verify.truth.goldstein.distance import distance


@given(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), st.floats(0.01, 3))
def test_the_closed_form_distance_is_the_certified_one(x, radius):
    function = WeightedAbsolute((1.0, 2.0))
    bounds = distance(find("absolute-fixed").problem, list(x), radius)
    assert bounds.lower - 1e-9 <= float(function.distance(np.array(x), radius)) <= bounds.upper + 1e-9


def test_in_one_dimension_too():
    function = WeightedAbsolute((1.0,))
    for x, radius in ((0.3, 0.2), (0.2, 0.2), (-0.1, 0.2)):
        assert float(function.distance(np.array([x]), radius)) == float(abs(x) > radius)
        assert distance(find("kink").problem, [x], radius).exact == float(abs(x) > radius)


def test_the_oracle_has_the_stated_bias_and_variance():
    function = WeightedAbsolute((0.6, 0.8))
    oracle = SyntheticOracle(function, 0.3, 2.0, np.random.default_rng(0))
    z = np.tile([1.0, -1.0], (200_000, 1))
    answers = oracle(z)
    assert np.linalg.norm(oracle.mean(z[0]) - function.gradient(z[0])) == pytest.approx(0.3)
    assert answers.var(axis=0).sum() == pytest.approx(2.0, rel=0.02)
    np.testing.assert_allclose(answers.mean(axis=0), oracle.mean(z[0]), atol=0.02)


def test_intervals_cover():
    rng = np.random.default_rng(1)
    misses = 0
    for _ in range(200):
        sample = rng.beta(2, 5, 200)
        low, high = mean_interval(sample, 1.0, 0.05)
        below, above = median_interval(sample, 0.05)
        misses += not (low <= 2 / 7 <= high) or not (below <= 0.26445 <= above)
    assert misses <= 20


def test_too_small_a_sample_leaves_the_median_open():
    assert median_interval(np.array([1.0, 2.0, 3.0]), 1e-6) == (0.0, float("inf"))
