from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import InvalidInputError
from tests.verify.truth.problems import TOY1, hessian, problems, quadratic
from verify.truth import convexity
from verify.truth.algebra.rationals import fraction, rational

CONCAVE = quadratic({"yy": [[-1]]}, {"yy": [[1]]}, [[0]], [[1]], [10])


@settings(max_examples=40)
@given(problems(), st.data())
def test_up_to_the_largest_alpha_and_not_beyond_all_eigenvalues_are_positive(problem, data):
    rho = [data.draw(st.sampled_from([0, Fraction(1, 2), 1])) for _ in range(problem.p)]
    modulus = data.draw(st.sampled_from([0, Fraction(1, 4)]))
    limit = Fraction(2)
    end = convexity.largest_alpha(problem, rho, modulus, limit=limit)
    assert end > 0
    assert convexity.holds(problem, rho, end, modulus)

    def smallest(alpha: Fraction) -> float:
        curvature = hessian(problem, alpha, rho)
        return float(np.linalg.eigvalsh(float(alpha) ** 2 * curvature - float(modulus) * np.eye(problem.m))[0])

    assert all(smallest(end * k / 10) > -1e-9 for k in range(1, 11))
    if end < limit:
        assert not convexity.holds(problem, rho, min(limit, end * Fraction(1001, 1000)), modulus)
        assert abs(smallest(end)) < 1e-3 * float(np.abs(problem.arrays.g_yy).max())


def test_the_hypothesis_of_the_solution_error_lemma_selects_where_the_lagrangian_is_concave():
    # f = -y^2/2, g = y^2/2: C_f = mu_g = 1, alpha = 2 satisfies alpha >= 2 C_f / mu_g, and L_yy = -3/4 there.
    assert hessian(CONCAVE, 2, [0]) == [[-0.75]]
    assert not convexity.holds(CONCAVE, [0], Fraction(2))
    assert convexity.largest_alpha(CONCAVE, [0], limit=Fraction(3)) == pytest.approx(1, rel=1e-5)


def test_both_readings_of_the_hypothesis_are_computed_and_only_one_implies_convexity():
    found = convexity.alpha_hypotheses(CONCAVE)
    assert found.at_least[0] <= 2 <= found.at_least[1]
    assert found.at_most[0] ** 2 <= Fraction(1, 2) <= found.at_most[1] ** 2
    assert convexity.holds(CONCAVE, [0], found.at_most[1])
    assert not convexity.holds(CONCAVE, [0], found.at_least[0])
    assert convexity.alpha_hypotheses(TOY1).at_most is None


@settings(max_examples=30)
@given(problems())
def test_the_repaired_hypothesis_always_implies_convexity(problem):
    found, a = convexity.alpha_hypotheses(problem), problem.arrays
    hessian = np.block([[a.f_xx, a.f_xy], [a.f_xy.T, a.f_yy]])
    assert float(found.C_f[0]) == pytest.approx(float(np.linalg.norm(hessian, 2)))
    assert float(found.mu_g[0]) == pytest.approx(float(np.linalg.eigvalsh(a.g_yy)[0]))
    if found.at_most is not None:
        assert convexity.holds(problem, [0] * problem.p, found.at_most[0], found.mu_g[0] * Fraction(499, 1000))


def test_no_strong_convexity_beyond_that_of_g():
    assert convexity.holds(TOY1, [0], Fraction(1), Fraction(99, 100))
    assert convexity.largest_alpha(TOY1, [0], Fraction(101, 100)) == 0
    assert convexity.largest_alpha(TOY1, [0], 1) == 0


def test_the_determinant_is_the_determinant():
    at = Fraction(3, 7)
    value = fraction(convexity.determinant(CONCAVE, [Fraction(1, 2)])(rational(at)))
    assert value == -(at**2) + at + Fraction(1, 2)


def test_negative_weights_are_refused():
    with pytest.raises(InvalidInputError, match="rho: must be >= 0"):
        convexity.holds(TOY1, [-1], Fraction(1))


def test_the_root_is_approached_from_below():
    found = convexity.root_below(Fraction(2), Fraction(1, 10**9))
    assert found**2 < 2 < (found * (1 + Fraction(1, 10**9))) ** 2
    assert convexity.root_below(Fraction(1, 4), Fraction(1, 10)) <= Fraction(1, 2)
