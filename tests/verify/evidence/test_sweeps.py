from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.evidence.model import Point
from verify.evidence.sweeps import fit_rate


def sweep(law, alphas=tuple(0.2 / 2**j for j in range(8)), uncertainty=0.0):
    return [Point(at=a, measured=law(a), uncertainty=uncertainty) for a in alphas]


@given(st.floats(-6, 6), st.floats(0.01, 100), st.floats(-0.5, 0.5))
def test_interval_covers_the_exponent_of_a_power_law_with_a_first_order_correction(k, c, d):
    rate = fit_rate(sweep(lambda a: c * a**k * (1 + d * a)), quantity="q", variable="alpha")
    assert rate.interval[0] - 1e-9 <= k <= rate.interval[1] + 1e-9
    assert rate.interval[1] - rate.interval[0] < 0.1


def test_points_below_the_floor_are_excluded_and_the_floor_is_said():
    points = [Point(at=a, measured=a**2 + 1e-6, uncertainty=1e-6) for a in (0.2, 0.1, 0.05, 0.025, 0.0125, 1e-3, 1e-4)]
    rate = fit_rate(points, quantity="q", variable="alpha")
    assert rate.floor == 1e-3
    assert [p.usable for p in rate.points] == [True] * 5 + [False] * 2
    assert rate.interval[0] < 2 < rate.interval[1]


def test_noise_beyond_the_floor_is_never_fitted_even_where_a_point_looks_fine():
    beyond = (Point(at=1e-3, measured=1.0, uncertainty=1.0), Point(at=1e-4, measured=1e9))
    points = [*sweep(lambda a: a**2)[:4], *beyond]
    assert fit_rate(points, quantity="q", variable="alpha").exponent == pytest.approx(2)


def test_exactly_zero_has_an_infinite_exponent():
    assert fit_rate(sweep(lambda a: 0.0, uncertainty=1e-12), quantity="q", variable="alpha").exponent == math.inf


def test_within_rounding_of_a_predicted_zero_counts_as_zero():
    points = [Point(at=a, measured=1e-17, uncertainty=1e-16, predicted=0.0) for a in (0.1, 0.05, 0.025)]
    assert fit_rate(points, quantity="q", variable="alpha").exponent == math.inf


def test_small_but_unpredicted_values_decide_nothing():
    points = [Point(at=a, measured=1e-17, uncertainty=1e-16) for a in (0.1, 0.05, 0.025)]
    rate = fit_rate(points, quantity="q", variable="alpha")
    assert rate.interval == (-math.inf, math.inf)
    assert not rate.settled


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_points_decide_nothing(count):
    assert fit_rate(sweep(lambda a: a + 1)[:count] or [Point(at=1, measured=1, uncertainty=1)], quantity="q",
                    variable="alpha").interval == (-math.inf, math.inf)  # fmt: skip


def test_a_sweep_that_crosses_over_is_not_settled_and_its_interval_is_wide():
    rate = fit_rate(sweep(lambda a: a**3 + 1e-4 * a), quantity="q", variable="alpha")
    assert rate.interval[0] <= 1 <= rate.interval[1]
    crossing = fit_rate(sweep(lambda a: a**3 + 1e-4 * a)[:5], quantity="q", variable="alpha")
    assert not crossing.settled
    assert crossing.interval[0] <= 1 <= crossing.interval[1]
