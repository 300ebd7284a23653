"""Signs of real algebraic numbers are decided exactly, zero included."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.truth.algebra.rationals import rational
from verify.truth.algebra.reals import ExactReal, extreme_eigenvalue, frobenius_norm, largest, spectral_norm

small = st.fractions(min_value=-5, max_value=5, max_denominator=12)
positive = st.fractions(min_value=Fraction(1, 20), max_value=9, max_denominator=20)


def matrix(rows: list[list[Fraction]]) -> fmpq_mat:
    return fmpq_mat([[rational(value) for value in row] for row in rows])


@given(positive, positive)
def test_a_sum_of_roots_is_the_root_of_what_it_squares_to(a: Fraction, b: Fraction) -> None:
    left = ExactReal.of(a).sqrt() + ExactReal.of(b).sqrt()
    inside = ExactReal.of(a + b) + ExactReal.of(2) * ExactReal.of(a * b).sqrt()
    assert (left - inside.sqrt()).sign == 0
    assert (left - (inside + ExactReal.of(Fraction(1, 10**60))).sqrt()).sign == -1


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(small, min_size=3, max_size=3), min_size=3, max_size=3))
def test_extreme_eigenvalues_are_those_of_doubles_and_roots_of_the_determinant(rows: list[list[Fraction]]) -> None:
    whole = matrix(rows)
    symmetric = whole + whole.transpose()
    low, high = extreme_eigenvalue(symmetric, smallest=True), extreme_eigenvalue(symmetric)
    doubles = np.linalg.eigvalsh(np.array([[float(v.p) / float(v.q) for v in row] for row in symmetric.tolist()]))
    scale = 1 + float(np.abs(doubles).max())
    assert float(low) == pytest.approx(doubles[0], abs=1e-12 * scale)
    assert float(high) == pytest.approx(doubles[-1], abs=1e-12 * scale)
    # The trace of a 3 x 3 matrix less the two of them is the third: their product is the determinant.
    trace = ExactReal.of(symmetric[0, 0] + symmetric[1, 1] + symmetric[2, 2])
    assert (low * high * (trace - low - high) - ExactReal.of(symmetric.det())).sign == 0


@given(st.lists(small, min_size=1, max_size=4), st.lists(small, min_size=1, max_size=4))
def test_norms_of_a_column_times_a_row_are_products_of_norms(u: list[Fraction], v: list[Fraction]) -> None:
    column, row = matrix([[a] for a in u]), matrix([v])
    assert (spectral_norm(column * row) - frobenius_norm(column) * frobenius_norm(row)).sign == 0


def test_a_difference_below_every_double_has_a_sign() -> None:
    tiny = Fraction(1, 10**400)
    root = (ExactReal.of(2) + ExactReal.of(tiny)).sqrt() - ExactReal.of(2).sqrt()
    assert root.sign == 1
    assert (root * (ExactReal.of(2 + tiny).sqrt() + ExactReal.of(2).sqrt()) - ExactReal.of(tiny)).sign == 0


def test_a_square_of_a_root_is_what_it_is_the_root_of() -> None:
    root = ExactReal.of(Fraction(7, 3)).sqrt()
    assert (root * root).rational == Fraction(7, 3)
    assert (root**4).rational == Fraction(49, 9)
    assert (root**-2).rational == Fraction(3, 7)


def test_the_largest_is_found_among_equals() -> None:
    two = ExactReal.of(4).sqrt()
    assert largest([ExactReal.of(1), two, ExactReal.of(2)]) is two


def test_what_has_no_value_is_refused() -> None:
    with pytest.raises(ZeroDivisionError):
        ExactReal.of(1) / (ExactReal.of(2).sqrt() - ExactReal.of(2).sqrt())
    with pytest.raises(ValueError, match="negative"):
        ExactReal.of(-1).sqrt()
