"""Laws against scipy's, and bounds that are never too narrow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from verify.evidence.laws import SquareLaw, chi2_lower, chi2_upper, f_upper, log_variance_interval, normal_upper

ERRORS = (1e-2, 1e-6, 1e-11)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("dof", [1.0, 17.0, 1e3, 1e6])
def test_quantiles_are_those_of_the_laws(dof, error):
    assert chi2_upper(dof, error) == pytest.approx(stats.chi2.isf(error, dof), rel=1e-9)
    assert chi2_lower(dof, error) == pytest.approx(stats.chi2.ppf(error, dof), rel=1e-9)
    assert f_upper(2.0, dof + 4, error) == pytest.approx(stats.f.isf(error, 2.0, dof + 4), rel=1e-6)
    assert normal_upper(error) == pytest.approx(stats.norm.isf(error))


@pytest.mark.parametrize("error", ERRORS)
def test_chernoff_bounds_of_a_mean_square_are_outside_the_exact_quantiles_but_near(error):
    law = SquareLaw((2.0,) * 3, (0.0,) * 3, 500)
    exact = 2.0 * stats.chi2.isf(error, 1500) / 500, 2.0 * stats.chi2.ppf(error, 1500) / 500
    assert exact[0] <= law.upper(error) <= law.expectation + 1.6 * (exact[0] - law.expectation)
    assert law.expectation - 1.6 * (law.expectation - exact[1]) <= law.lower(error) <= exact[1]


def test_a_noncentral_mean_square_has_its_mean_and_bounds():
    law = SquareLaw.of(np.array([3.0, 4.0]), np.diag([1.0, 0.0]), 100)
    assert law.expectation == pytest.approx(26.0)
    # Only the first component scatters: 100 X^2 is noncentral chi-square around 9.
    exact = stats.ncx2.isf(1e-6, 100, 900) / 100 + 16
    assert exact <= law.upper(1e-6) <= 26 + 1.5 * (exact - 26)


def test_without_scatter_there_is_nothing_to_bound():
    law = SquareLaw((0.0,), (4.0,), 10)
    assert law.upper(1e-9) == law.lower(1e-9) == law.expectation == 4.0


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
