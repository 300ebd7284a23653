from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.truth.algebra import roots
from verify.truth.algebra.rationals import fraction, rational
from verify.truth.certificates import integer_polynomials

integers = st.lists(st.integers(-5, 5), min_size=1, max_size=8).filter(any)


def with_roots(found: list[Fraction]) -> fmpq_poly:
    made = fmpq_poly([1])
    for root in found:
        made *= fmpq_poly([-rational(root), 1])
    return made


@settings(max_examples=60)
@given(
    st.lists(st.builds(Fraction, st.integers(-12, 12), st.integers(1, 6)), max_size=6),
    st.builds(Fraction, st.integers(1, 12), st.integers(1, 6)),
)
def test_roots_put_in_are_counted_once_each_and_the_ends_not(found, end):
    polynomial = with_roots(found) * fmpq_poly([1, 0, 1])
    inside = sorted({root for root in found if 0 < root < end})
    assert roots.count(polynomial, Fraction(0), end) == len(inside)
    assert integer_polynomials.has_no_root([fraction(v) for v in polynomial.coeffs()], end) == (not inside)
    isolated = roots.isolate(polynomial, Fraction(0), end)
    for root, interval in zip(inside, isolated, strict=True):
        low, high = roots.refine(polynomial, interval, Fraction(1, 10**6))
        assert low <= root <= high
        assert high - low <= Fraction(1, 10**6)
        low, high = roots.refine_relative(polynomial, interval, Fraction(1, 10**3))
        assert 0 < low <= root <= high <= low * Fraction(1001, 1000)


@settings(max_examples=100)
@given(integers, st.integers(1, 4))
def test_what_halving_accepts_has_no_root(coefficients, end):
    count = roots.count(fmpq_poly(coefficients), Fraction(0), Fraction(end))
    assert count == 0 or not integer_polynomials.has_no_root(coefficients, Fraction(end))


def test_halving_accepts_roots_at_the_ends_and_none_inside():
    for coefficients, free in (([2, -3, 1], False), ([1, -4, 4], False), ([1, 0, 1], True), ([3, -1], True),
                               ([0, 0, 4, -4, 1], True), ([0, 1, -1], False)):  # fmt: skip
        assert integer_polynomials.has_no_root(coefficients, Fraction(2)) == free


def test_an_irrational_root_is_enclosed():
    low, high = roots.refine(fmpq_poly([-2, 0, 1]), (Fraction(1), Fraction(2)), Fraction(1, 10**12))
    assert low**2 < 2 < high**2
    assert high - low <= Fraction(1, 10**12)


def test_a_constant_has_no_root():
    assert roots.isolate(fmpq_poly([3]), Fraction(0), Fraction(1)) == []
    assert integer_polynomials.has_no_root([3], Fraction(1))


@settings(max_examples=60)
@given(
    st.integers(1, 5).flatmap(
        lambda k: st.lists(st.lists(st.integers(-3, 3), min_size=k, max_size=k), min_size=k, max_size=k)
    )
)
def test_plain_elimination_agrees_with_the_library(rows):
    from flint import fmpq_mat

    matrix = [[Fraction(v, 1 + i) for v in row] for i, row in enumerate(rows)]
    library = fmpq_mat([[rational(v) for v in row] for row in matrix])
    assert integer_polynomials.determinant(matrix) == fraction(library.det())
    right = [Fraction(i - 1) for i in range(len(rows))]
    found = integer_polynomials.solve(matrix, right)
    assert (found is None) == (library.det() == 0)
    if found is not None:
        assert [sum(a * b for a, b in zip(row, found, strict=True)) for row in matrix] == right
    minors = integer_polynomials.leading_minors(matrix)
    for k, minor in enumerate(minors):
        assert minor == integer_polynomials.determinant([row[: k + 1] for row in matrix[: k + 1]])
    assert all(minors[:-1])


def test_primitive_parts_keep_their_ratio():
    assert integer_polynomials.primitive_together([[Fraction(1, 2), 0], [Fraction(3, 4)]]) == [[2], [3]]
    assert integer_polynomials.multiply([1, 1], [1, -1]) == [1, 0, -1]
    assert integer_polynomials.add([1, 2], [0, -2, 0]) == [1]
    assert integer_polynomials.evaluate([1, Fraction(1, 2)], Fraction(2)) == pytest.approx(2)
