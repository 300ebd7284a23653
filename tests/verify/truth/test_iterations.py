"""Exact laws of the inner iterations, against algebra by hand and against plain simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.atlas import find
from verify.checks.measuring.premises import regular_truth
from verify.truth.iterations import LinearIteration, averaged_mean_square, best_radius, primal_dual, shrinking


def scalar(eta, *, curvature=1.0, sigma=1.0, start=-1.0):
    return LinearIteration(np.array([[curvature]]), np.zeros((0, 1)), eta, eta, sigma, np.array([start]))


@given(st.floats(0.01, 1.5), st.floats(0.5, 1.0))
def test_floor_of_one_coordinate(eta, curvature):
    floor = scalar(eta, curvature=curvature).floor()[0, 0]
    assert floor == pytest.approx(eta / (curvature * (2 - eta * curvature)))


@given(st.floats(0.05, 1.5), st.integers(0, 60))
def test_constant_steps_of_one_coordinate(eta, steps):
    mean, covariance = scalar(eta).constant(steps)
    assert mean[0] == pytest.approx(-((1 - eta) ** steps), abs=1e-12)
    assert covariance[0, 0] == pytest.approx(eta / (2 - eta) * (1 - (1 - eta) ** (2 * steps)), abs=1e-12)


@given(st.floats(0.1, 1.2), st.integers(2, 80))
def test_both_ways_to_average_agree(eta, steps):
    mean, covariance = scalar(eta, sigma=0.3, start=-2.0).averaged(steps, shrinking)
    square = averaged_mean_square(1.0, eta, 0.3, -2.0, steps)
    assert mean[0] ** 2 + covariance[0, 0] == pytest.approx(square, rel=1e-9)


@pytest.mark.parametrize("averaged", [True, False])
def test_law_of_a_constrained_iteration_is_that_of_its_simulation(averaged):
    instance = find("two-of-three")
    truth = regular_truth(instance)
    iteration = primal_dual(instance.problem, truth, eta_y=0.1, eta_lam=0.1, sigma=0.1)
    rng, runs, steps = np.random.default_rng(0), 4000, 120
    k = len(iteration.start)
    e, total, tail = np.tile(iteration.start, (runs, 1)), np.zeros((runs, k)), 0
    for t in range(steps):
        M, N = iteration.step(shrinking(t) if averaged else 1.0)
        e = e @ M.T + rng.standard_normal((runs, iteration.m)) @ N.T
        if 2 * (t + 1) > steps:
            total, tail = total + e, tail + 1
    simulated = total / tail if averaged else e
    mean, covariance = iteration.averaged(steps, shrinking) if averaged else iteration.constant(steps)
    spread = np.sqrt(np.diag(covariance))
    assert np.abs(simulated.mean(axis=0) - mean).max() < 6 * spread.max() / runs**0.5
    assert simulated.var(axis=0) == pytest.approx(np.diag(covariance), rel=0.15)


def test_averages_shrink_like_the_samples_and_constant_steps_do_not():
    squares = [averaged_mean_square(1.0, 1.0, 1.0, -1.0, steps) * steps for steps in (1024, 4096, 16384)]
    # The last half of the samples is used: twice the best possible 1 / t.
    assert squares[-1] == pytest.approx(2.0, abs=0.02)
    assert abs(squares[-1] - 2) < abs(squares[0] - 2)


@pytest.mark.parametrize(("s", "radius"), [(1.0, 0.0), (0.3, 7 / 13), (0.1, 9 / 11), (0.03, 97 / 103)])
def test_best_factor_with_rows_of_two_sizes_is_one_minus_two_s_over_one_plus_s(s, radius):
    found, eta_y, eta_lam = best_radius(np.eye(2), np.diag([1.0, s]))
    assert found == pytest.approx(radius, abs=2e-3)
    again = LinearIteration(np.eye(2), np.diag([1.0, s]), eta_y, eta_lam, 0.0, np.zeros(4)).radius
    assert again == pytest.approx(found)


def test_iterations_are_told_apart_by_every_number():
    one = scalar(0.5, sigma=0.3, start=-2.0)
    assert one == scalar(0.5, sigma=0.3, start=-2.0)
    others = [scalar(0.4, sigma=0.3, start=-2.0), scalar(0.5, sigma=0.2, start=-2.0), scalar(0.5, sigma=0.3, start=2.0)]
    assert one not in others
    assert (
        len({one.averaged(64, shrinking)[1].item(), *(each.averaged(64, shrinking)[1].item() for each in others[:2])})
        == 3
    )


def test_a_kept_law_is_not_the_callers_to_change():
    one = scalar(0.5, sigma=0.3, start=-2.0)
    before = one.averaged(64, shrinking)[1].copy()
    one.averaged(64, shrinking)[1][:] = 0.0
    np.testing.assert_array_equal(one.averaged(64, shrinking)[1], before)
