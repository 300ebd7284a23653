"""Laws against scipy's, and bounds that are never too narrow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp

from verify.evidence.samples.laws import (
    SquareLaw,
    chi2_lower,
    chi2_upper,
    f_upper,
    log_sum,
    log_variance_interval,
    normal_upper,
)  # fmt: skip

ERRORS = (1e-2, 1e-6, 1e-11)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("dof", [1.0, 17.0, 1e3, 1e6])
def test_quantiles_are_those_of_the_laws(dof, error):
    assert chi2_upper(dof, error) == pytest.approx(stats.chi2.isf(error, dof), rel=1e-9)
    assert chi2_lower(dof, error) == pytest.approx(stats.chi2.ppf(error, dof), rel=1e-9)
    assert f_upper(2.0, dof + 4, error) == pytest.approx(stats.f.isf(error, 2.0, dof + 4), rel=1e-6)
    assert normal_upper(error) == pytest.approx(stats.norm.isf(error))


def test_a_squared_length_has_its_mean_variance_and_generating_function():
    law = SquareLaw.of(np.array([3.0, 4.0]), np.diag([1.0, 0.0]))
    assert law.expectation == pytest.approx(26.0)
    # Only the first component scatters: noncentral chi-square around 9, beside a constant 16.
    t = np.array([-0.7, -0.1, -0.01])
    x = stats.ncx2(1, 9)
    assert law.variance == pytest.approx(x.var())
    by_hand = [np.log(x.expect(lambda v, s=s: np.exp(s * v), limit=200)) + 16 * s for s in t]
    assert law.log_mgf(t) == pytest.approx(by_hand, rel=1e-5)


@given(st.lists(st.floats(-2, 2).filter(lambda w: abs(w) > 1e-3), min_size=2, max_size=5), st.integers(20, 4000))
def test_bounds_of_log_variances_cover_the_normal_limit(weights, dof):
    row = np.array(weights)
    low, high = log_variance_interval(row, np.full(len(row), float(dof)), 1e-4)
    spread = float(np.sqrt((row**2).sum() * 2 / dof))
    assert low < 0 < high
    assert high <= 2.5 * stats.norm.isf(5e-5) * spread + 0.5
    assert high >= 0.8 * stats.norm.isf(5e-5) * spread * (1 - 40 / dof)


def test_log_variance_bounds_hold_as_often_as_they_say():
    rng = np.random.default_rng(0)
    row, dofs = np.array([-0.5, -0.2, 0.3, 0.4]), np.array([30.0, 50.0, 40.0, 60.0])
    drawn = np.log(rng.chisquare(dofs, size=(100_000, 4)) / dofs) @ row
    low, high = log_variance_interval(row, dofs, 0.05)
    outside = np.mean((drawn < low) | (drawn > high))
    assert 0.005 < outside <= 0.05


@pytest.mark.parametrize("size", [1, 2, 9, 17, 200])
@pytest.mark.parametrize("spread", [0.0, 1e-9, 1.0, 30.0, 1e3])
def test_a_sum_is_scipy_s_to_the_last_digit(size: int, spread: float) -> None:
    for seed in range(40):
        logs = spread * np.random.default_rng([seed, size]).standard_normal(size) - 7.0
        logs[:: 3 + seed] = logs[0]
        assert log_sum(logs) == float(logsumexp(logs))


def test_what_is_infinite_stays_so() -> None:
    assert log_sum(np.array([1.0, np.inf])) == np.inf
    assert log_sum(np.array([-np.inf, -np.inf])) == -np.inf
    assert log_sum(np.array([2.0, -np.inf])) == 2.0
    assert np.isnan(log_sum(np.array([1.0, np.nan])))
