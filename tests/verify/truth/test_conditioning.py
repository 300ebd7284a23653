from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verify.truth.problems import TOY1, hessian, problems, regular_instances
from verify.truth.convexity import penalty_conditioning


@settings(max_examples=30)
@given(problems(), st.data())
def test_extreme_eigenvalues_tend_to_their_leading_terms(problem, data):
    rho = [data.draw(st.sampled_from([0, Fraction(1, 2), 1])) for _ in range(problem.p)]
    found = penalty_conditioning(problem, rho)
    alpha = Fraction(1, 2000)
    eigenvalues = np.linalg.eigvalsh(hessian(problem, alpha, rho))
    for exponent, (low, high), measured in (
        (found.largest_exponent, found.largest, eigenvalues[-1]),
        (found.smallest_exponent, found.smallest, eigenvalues[0]),
    ):
        assert 0 < low <= high <= low * (1 + Fraction(1, 10**11))
        assert float(low) * float(alpha) ** exponent == pytest.approx(float(measured), rel=2e-2)
    assert found.exponent in (0, -2)


@pytest.mark.parametrize(("name", "family"), regular_instances())
def test_the_penalty_is_ill_conditioned_by_alpha_to_the_minus_two_where_rows_leave_a_free_direction(name, family):
    rank, m = family.lower.licq_rank, family.problem.m
    expected = -2 if 0 < rank < m else 0
    assert penalty_conditioning(family.problem, family.exact_stages.rho).exponent == expected


def test_a_rational_eigenvalue_is_enclosed_about_itself():
    low, high = penalty_conditioning(TOY1, [1]).coefficient
    assert low <= 1 <= high
