from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import InvalidInputError
from tests.verify.truth.problems import KINK, problems_at_points, quadratic
from verify.truth import lower_level
from verify.truth.complementarity import InfeasibleLowerLevelError
from verify.truth.lower_level import directional_derivative, sensitivity


def test_both_sides_of_a_kink_have_their_own_derivative():
    assert directional_derivative(KINK, [0], [1]) == (1,)
    assert directional_derivative(KINK, [0], [-1]) == (0,)


@settings(max_examples=25)
@given(problems_at_points(), st.data())
def test_it_is_the_jacobian_where_that_exists_and_one_sidedly_exact_elsewhere(case, data):
    problem, x = case
    try:
        found = lower_level.solve(problem, x)
    except InfeasibleLowerLevelError:
        return
    if not found.licq:
        return
    direction = [data.draw(st.integers(-2, 2)) for _ in range(problem.n)]
    along = directional_derivative(problem, x, direction)
    if found.strict_complementarity:
        J = sensitivity(problem, x).J
        assert along == tuple(sum(a * d for a, d in zip(row, direction, strict=True)) for row in J)
    # y* is piecewise affine: for a short step the one-sided difference is exact.
    step = Fraction(1, 10**9)
    there = lower_level.solve(problem, [v + step * d for v, d in zip(x, direction, strict=True)])
    assert along == tuple((a - b) / step for a, b in zip(there.y_star, found.y_star, strict=True))


def test_dependent_rows_are_refused():
    twice = quadratic({"y": [1]}, {"yy": [[1]]}, [[1], [1]], [[1], [1]], [0, 0])
    with pytest.raises(InvalidInputError, match="linearly independent"):
        directional_derivative(twice, [1], [1])
