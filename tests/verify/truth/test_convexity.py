from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import InvalidInputError
from tests.verify.truth.problems import TOY1, hessian, problems, quadratic
from verify.truth.algebra.rationals import fraction, rational
from verify.truth.functions_of_alpha.penalty_functions import convex_up_to, determinant

CONCAVE = quadratic({"yy": [[-1]]}, {"yy": [[1]]}, [[0]], [[1]], [10])


@settings(max_examples=40)
@given(problems(), st.data())
def test_convex_up_to_an_alpha_means_that_all_eigenvalues_are_positive_there_and_below(problem, data):
    rho = [data.draw(st.sampled_from([0, Fraction(1, 2), 1])) for _ in range(problem.p)]
    modulus = data.draw(st.sampled_from([0, Fraction(1, 4)]))
    end = Fraction(data.draw(st.integers(1, 32)), 16)

    def smallest(alpha: Fraction) -> float:
        curvature = hessian(problem, alpha, rho)
        return float(np.linalg.eigvalsh(float(alpha) ** 2 * curvature - float(modulus) * np.eye(problem.m))[0])

    eigenvalues = [smallest(end * k / 100) for k in range(1, 101)]
    if convex_up_to(problem, rho, end, modulus):
        assert min(eigenvalues) > -1e-9
    else:
        assert min(eigenvalues) < 1e-2  # where it ends may lie between two points


def test_the_hypothesis_of_the_solution_error_lemma_selects_where_the_lagrangian_is_concave():
    # f = -y^2/2, g = y^2/2: C_f = mu_g = 1, alpha = 2 satisfies alpha >= 2 C_f / mu_g, and L_yy = -3/4 there.
    assert hessian(CONCAVE, 2, [0]) == [[-0.75]]
    assert not convex_up_to(CONCAVE, [0], Fraction(2))
    assert convex_up_to(CONCAVE, [0], Fraction(999, 1000))
    assert not convex_up_to(CONCAVE, [0], Fraction(1))


@settings(max_examples=30)
@given(problems())
def test_the_repaired_hypothesis_always_implies_convexity(problem):
    a = problem.arrays
    C_f = float(np.linalg.norm(np.block([[a.f_xx, a.f_xy], [a.f_xy.T, a.f_yy]]), 2))
    mu_g = float(np.linalg.eigvalsh(a.g_yy)[0])
    if C_f:
        end = Fraction((mu_g / (2 * C_f)) ** 0.5 * (1 - 1e-9))
        assert convex_up_to(problem, [0] * problem.p, end, Fraction(mu_g) * Fraction(499, 1000))


def test_no_strong_convexity_beyond_that_of_g():
    assert convex_up_to(TOY1, [0], Fraction(1), Fraction(99, 100))
    assert not convex_up_to(TOY1, [0], Fraction(1, 1000), Fraction(101, 100))
    assert not convex_up_to(TOY1, [0], Fraction(1, 1000), 1)


def test_the_determinant_is_the_determinant():
    at = Fraction(3, 7)
    value = fraction(determinant(CONCAVE, [Fraction(1, 2)])(rational(at)))
    assert value == -(at**2) + at + Fraction(1, 2)


def test_negative_weights_are_refused():
    with pytest.raises(InvalidInputError, match="rho: must be >= 0"):
        convex_up_to(TOY1, [-1], Fraction(1))
