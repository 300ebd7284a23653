"""The problems of the experiments are what they are said to be."""

from __future__ import annotations

import numpy as np

from f2csa_ref.lower_level import lower_level
from f2csa_ref.solver.schedules import value_at
from verify.experiments.benchmark_problems import COUPLING, Course


def test_the_coupled_box_moves_with_x() -> None:
    plain, coupled = Course("paper", 0.1, 4, 10.0, 2), Course("coupled", 0.1, 4, 10.0, 2)
    assert not plain.problem.arrays.A.any()
    C = coupled.problem.arrays.A[:4]
    assert (coupled.problem.arrays.A[4:] == -C).all()
    assert 0 < np.abs(C).max() < 4 * COUPLING
    x = np.full(4, 3.0)
    y = lower_level(coupled.problem, x).y_star
    assert np.abs(y - C @ x).max() <= 1 + 1e-9
    assert (coupled.problem.arrays.g_yy == plain.problem.arrays.g_yy).all()


def test_ridges_are_a_sum_of_absolute_values() -> None:
    at = Course("ridges", 0.1, 3, 5.0, 1)
    a, b = at.problem.arrays.A, at.problem.arrays.b
    c = at.problem.arrays.f_y / 2
    for x in np.random.default_rng(0).standard_normal((3, 3)):
        # f = Σ c (2 max(r, 0) - aᵀx), r = aᵀx - b: the constant Σ c b less than Σ c |r|.
        value = value_at(at.problem, x)
        assert value is not None
        assert abs(value - (c @ np.abs(a @ x - b) - c @ b)) < 1e-3
    assert c.max() / c.min() == 5.0


def test_courses_survive_the_way_to_a_worker() -> None:
    at = Course("kink", 0.05, start=(0.9,))
    assert Course.of(at.plain) == at
    assert Course.of(at.plain) is Course.of(at.plain)


def test_a_gradient_is_found_beside_a_kink() -> None:
    at = Course("absolute-fixed", 0.05, start=(0.0, 0.8))
    assert abs(at.first_gradient - 5**0.5) < 1e-9
