from __future__ import annotations

import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.truth.algebra.rationals import select
from verify.truth.lower_level import complementarity
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError


@st.composite
def semidefinite(draw) -> tuple[fmpq_mat, fmpq_mat]:
    """S = B Bᵀ with more rows than columns now and then, so that it is often singular."""
    p, m = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    entry = st.integers(-2, 2)
    B = fmpq_mat(p, m, [draw(entry) for _ in range(p * m)])
    return B * B.transpose(), fmpq_mat(p, 1, [draw(entry) for _ in range(p)])


@settings(max_examples=150)
@given(semidefinite(), st.data())
def test_the_solution_is_complementary_from_any_start_and_infeasibility_is_proven(case, data):
    S, h_0 = case
    guess = tuple(data.draw(st.permutations(range(h_0.nrows()))))[: data.draw(st.integers(0, h_0.nrows()))]
    try:
        lam, working = complementarity.solve(S, h_0, guess)
    except InfeasibleLowerLevelError as error:
        weights = fmpq_mat(len(error.weights), 1, [fmpq(w.numerator, w.denominator) for w in error.weights])
        assert all(value >= 0 for value in weights.entries())
        assert all(value == 0 for value in (S * weights).entries())
        assert (weights.transpose() * h_0)[0, 0] > 0
        return
    multipliers = fmpq_mat(h_0.nrows(), 1, lam)
    h = h_0 - S * multipliers
    assert all(value >= 0 for value in lam)
    assert all(value <= 0 for value in h.entries())
    assert (multipliers.transpose() * h)[0, 0] == 0
    assert all(value == 0 for i, value in enumerate(lam) if i not in working)
    if working:
        assert select(S, working, working).rank() == len(working)


def test_a_row_that_blocks_is_dropped_on_the_way():
    # The steeper duplicate of a row enters first, the right one replaces it.
    S = fmpq_mat([[1, 2], [2, 4]])
    lam, working = complementarity.solve(S, fmpq_mat([[2], [3]]))
    assert lam == [2, 0]
    assert working == (0,)


def test_contradictory_rows_are_named():
    with pytest.raises(InfeasibleLowerLevelError, match=r"1·h_0 \+ 1·h_1 is positive"):
        complementarity.solve(fmpq_mat([[1, -1], [-1, 1]]), fmpq_mat([[1], [0]]))
