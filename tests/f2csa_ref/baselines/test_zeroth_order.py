from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref import objectives_of
from f2csa_ref.baselines import ZerothOrderParameters, two_point_estimate
from f2csa_ref.baselines.iterates import Surroundings
from f2csa_ref.baselines.zeroth_order import ZerothOrderAnswers, on_unit_sphere
from spec import InvalidInputError, OuterParameters

OUTER = OuterParameters(goldstein_radius=0.2, epsilon=1.0, D=0.02, eta=0.4, M=10, K=3)


def test_the_two_point_estimate_by_hand():
    # F = x_1 along w = (0.6, 0.8), n = 2: 2/(2ρ) * 2ρ * 0.6 * w.
    found = two_point_estimate(lambda x: x[0], np.zeros(2), 0.3, np.array([0.6, 0.8]))
    np.testing.assert_allclose(found, [0.72, 0.96], rtol=1e-12)


def test_its_mean_over_directions_is_the_gradient():
    # Of a quadratic the symmetric difference is exact: E[n (c'w) w] = c.
    rng, c = np.random.default_rng(0), np.array([1.0, -2.0, 0.5])
    F = lambda x: float(c @ x + x @ x)  # noqa: E731  # a function of one line
    answers = np.array([two_point_estimate(F, np.zeros(3), 0.1, on_unit_sphere(rng, 3)) for _ in range(3000)])
    spread = answers.std(axis=0) / np.sqrt(3000)
    assert (np.abs(answers.mean(axis=0) - c) < 5 * spread).all()


def test_it_asks_two_values_of_f_and_no_gradient(toy1):
    around = Surroundings(objectives_of(toy1), OUTER)
    answers = ZerothOrderAnswers(ZerothOrderParameters(smoothing=0.1), around)
    assert answers(np.array([2.0]), np.random.default_rng(0))[0] == pytest.approx(1.0)
    assert around.counts == {"lower_level_solves": 2, "quadratic_programs": 2, "f_values": 2}


def test_smoothing_takes_its_part_of_the_radius():
    left = ZerothOrderParameters(smoothing=0.05).remaining(OUTER)
    assert (left.goldstein_radius, left.D, left.eta) == pytest.approx((0.15, 0.015, 0.3))
    assert left.goldstein_radius + 1e-15 >= left.M * left.D
    with pytest.raises(InvalidInputError, match=r"smoothing: must be below the radius 0\.2"):
        ZerothOrderParameters(smoothing=0.2).remaining(OUTER)
