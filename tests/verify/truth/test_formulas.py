from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import InvalidInputError
from tests.verify.truth.problems import TOY1, TOY2, problems, random_rows, small_fractions
from verify.truth import formulas as penalty
from verify.truth import lower_level

A_TENTH = Fraction(1, 10)


def toy(problem, x, rho, dual_term="cancelled", alpha=A_TENTH):
    found = lower_level.solve(problem, x)
    y = penalty.minimiser(problem, x, alpha, found.y_star, found.lam, rho)
    return penalty.estimator(problem, x, alpha, y, found.y_star, found.lam, rho, dual_term)[0]


def test_toy1_at_alpha_one_tenth_has_its_two_values():
    assert toy(TOY1, [1], [1]) == Fraction(100, 101)
    assert toy(TOY1, [1], [1], "frozen") == Fraction(100, 101) + 100


@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**6)])
def test_toy2_where_the_multiplier_is_inside_its_ramp_is_wrong_by_one_half_for_every_alpha(alpha):
    lam_width = Fraction(1, 10)
    x = alpha**2 * lam_width
    assert lower_level.hypergradient(TOY2, [x]) == (0,)
    assert toy(TOY2, [x], [x / lam_width], alpha=alpha) == Fraction(1, 2)


@settings(max_examples=25)
@given(problems(), st.data())
def test_the_minimiser_is_where_the_gradient_written_out_in_doubles_vanishes(problem, data):
    n, m, p, a = problem.n, problem.m, problem.p, problem.arrays

    def vector(size):
        return [data.draw(small_fractions) for _ in range(size)]

    x, y_star, lam = vector(n), vector(m), vector(p)
    rho = [abs(value) for value in vector(p)]
    alpha = Fraction(1, 8)
    x_, star_, lam_, rho_ = (np.array([float(v) for v in part]) for part in (x, y_star, lam, rho))
    y = penalty.as_float(penalty.minimiser(problem, x, alpha, y_star, lam, rho))
    h = a.A @ x_ - a.B @ y - a.b
    gradient = a.f_y + a.f_xy.T @ x_ + a.f_yy @ y
    gradient += 64 * (a.g_y + a.g_xy.T @ x_ + a.g_yy @ y - a.B.T @ lam_) - 4096 * a.B.T @ (rho_ * h)
    scale = np.linalg.norm(penalty.hessian_in_y(problem, alpha, rho).array, 2) * (1 + np.linalg.norm(y))
    assert np.linalg.norm(gradient) <= 1e-12 * scale * problem.m
    for dual_term, kept in (("cancelled", 0), ("frozen", 64)):
        made = a.f_x + a.f_xx @ x_ + a.f_xy @ y + 64 * a.g_xy @ (y - star_) + 4096 * a.A.T @ (rho_ * h)
        made += kept * a.A.T @ lam_
        exact = penalty.estimator(problem, x, alpha, [Fraction(v) for v in y], y_star, lam, rho, dual_term)
        np.testing.assert_allclose(penalty.as_float(exact), made, rtol=1e-9, atol=1e-7)


@settings(max_examples=15)
@given(problems(), st.data())
def test_the_jacobian_is_the_exact_difference_quotient(problem, data):
    rho = [data.draw(st.integers(0, 2)) for _ in range(problem.p)]
    x, y, step = [0] * problem.n, [Fraction(0)] * problem.m, [data.draw(small_fractions) for _ in range(problem.m)]
    given_pair = (y, [0] * problem.p, rho)
    here = penalty.estimator(problem, x, A_TENTH, y, *given_pair)
    there = penalty.estimator(problem, x, A_TENTH, step, *given_pair)
    jacobian = penalty.derivative_in_y(problem, A_TENTH, rho)
    moved = tuple(sum(a * b for a, b in zip(row, step, strict=True)) for row in jacobian.rows)
    assert tuple(a - b for a, b in zip(there, here, strict=True)) == moved
    assert jacobian.array.shape == (problem.n, problem.m)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0}, "alpha: must be > 0"),
        ({"rho": [-1]}, "rho[0]: must be >= 0"),
        ({"lam": [1, 2]}, "lam: must have length 1"),
        ({"y_star": ["a"]}, "y_star[0]: must be a finite number"),
    ],
)
def test_arguments_are_checked(change, message):
    arguments = {"x": [1], "alpha": A_TENTH, "y_star": [1], "lam": [1], "rho": [1]} | change
    with pytest.raises(InvalidInputError) as caught:
        penalty.minimiser(TOY1, **arguments)
    assert str(caught.value).startswith(message)


def test_a_concave_lagrangian_has_no_minimiser():
    problem = random_rows(2, 2, 2, 3)
    with pytest.raises(InvalidInputError, match="strictly convex"):
        penalty.minimiser(problem, [0, 0], 100, [0, 0], [0, 0], [0, 0])
