from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import InvalidInputError
from tests.verify.truth.problems import (
    TOY1,
    TOY2,
    ExactLagrangian,
    hessian,
    problems,
    random_rows,
    regular_families,
    small_fractions,
)
from verify.truth.algebra.products import Product, field
from verify.truth.algebra.rational_functions import ALPHA
from verify.truth.algebra.rationals import fractions
from verify.truth.algebra.rings import DOUBLES, FUNCTIONS, RATIONALS, SYMBOLS
from verify.truth.formulas import Lagrangian, as_float
from verify.truth.lower_level import lower_level

A_TENTH = Fraction(1, 10)


def toy(problem, x, rho, dual_term="cancelled", alpha=A_TENTH):
    found = lower_level.solve(problem, x)
    exact = ExactLagrangian(problem, x, alpha, found.y_star, found.lam, rho)
    return exact.estimate(exact.minimiser(), dual_term)[0]


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
    exact = ExactLagrangian(problem, x, alpha, y_star, lam, rho)
    y = as_float(exact.minimiser())
    h = a.A @ x_ - a.B @ y - a.b
    gradient = a.f_y + a.f_xy.T @ x_ + a.f_yy @ y
    gradient += 64 * (a.g_y + a.g_xy.T @ x_ + a.g_yy @ y - a.B.T @ lam_) - 4096 * a.B.T @ (rho_ * h)
    scale = np.linalg.norm(hessian(problem, alpha, rho), 2) * (1 + np.linalg.norm(y))
    assert np.linalg.norm(gradient) <= 1e-12 * scale * problem.m
    for dual_term, kept in (("cancelled", 0), ("frozen", 64)):
        made = a.f_x + a.f_xx @ x_ + a.f_xy @ y + 64 * a.g_xy @ (y - star_) + 4096 * a.A.T @ (rho_ * h)
        made += kept * a.A.T @ lam_
        estimate = exact.estimate([Fraction(v) for v in y], dual_term)
        np.testing.assert_allclose(as_float(estimate), made, rtol=1e-9, atol=1e-7)


@settings(max_examples=15)
@given(problems(), st.data())
def test_the_jacobian_is_the_exact_difference_quotient(problem, data):
    rho = [data.draw(st.integers(0, 2)) for _ in range(problem.p)]
    x, y, step = [0] * problem.n, [Fraction(0)] * problem.m, [data.draw(small_fractions) for _ in range(problem.m)]
    exact = ExactLagrangian(problem, x, A_TENTH, y, [0] * problem.p, rho)
    moved = fractions((exact.over_rationals.E @ RATIONALS.vector(step)).entries)
    assert tuple(a - b for a, b in zip(exact.estimate(step), exact.estimate(y), strict=True)) == moved


def test_a_concave_lagrangian_has_no_minimiser():
    problem = random_rows(2, 2, 2, 3)
    with pytest.raises(InvalidInputError, match="strictly convex"):
        ExactLagrangian(problem, [0, 0], 100, [0, 0], [0, 0], [0, 0]).minimiser()


def over(ring, family, alpha, rho):
    stages = family.lower.y_star, family.lower.lam, rho
    return Lagrangian.of(ring, family.problem, family.x, (alpha**-2, alpha**-4), stages)


@settings(max_examples=15)
@given(regular_families(), st.sampled_from(["cancelled", "frozen"]), st.data())
def test_one_text_gives_one_answer_over_every_ring(family, dual_term, data):
    alpha, problem = Fraction(1, 37), family.problem
    rho = [data.draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)])) for _ in range(problem.p)]
    exact = ExactLagrangian(problem, family.x, alpha, family.lower.y_star, family.lower.lam, rho)
    y = exact.minimiser()
    expected = exact.estimate(y, dual_term)

    functions = over(FUNCTIONS, family, ALPHA, rho)
    assert functions.minimiser()(alpha) == y
    assert functions.estimate(functions.minimiser(), dual_term)(alpha) == expected

    doubles = over(DOUBLES, family, 1 / 37, rho)
    made = doubles.estimate(doubles.minimiser(), dual_term)
    np.testing.assert_allclose(made, as_float(expected), rtol=1e-8, atol=1e-6)

    symbols = over(SYMBOLS, family, field().gens[0], rho)
    entries = symbols.estimate(symbols.minimiser(), dual_term).entries.to_list_flat()
    assert tuple(Product(entry)(alpha) for entry in entries) == expected
