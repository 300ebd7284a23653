from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq, fmpq_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import InvalidInputError
from tests.verify.truth.problems import small_fractions
from verify.truth.algebra.rational_functions import RationalVector, interpolate, monomial
from verify.truth.algebra.rationals import rational

coefficients = st.lists(small_fractions, min_size=1, max_size=4)


@st.composite
def vectors(draw, size: int = 2) -> RationalVector:
    parts = [fmpq_poly([rational(v) for v in draw(coefficients)]) for _ in range(size)]
    below = fmpq_poly([rational(v) for v in draw(coefficients)])
    return RationalVector(tuple(parts), below if not below.is_zero() else fmpq_poly([1]))


def value(vector: RationalVector, at: Fraction):
    try:
        return vector(at)
    except InvalidInputError:
        return None


@settings(max_examples=50)
@given(vectors(), vectors(), small_fractions, small_fractions)
def test_arithmetic_is_that_of_the_values(first, second, at, factor):
    a, b = value(first, at), value(second, at)
    if a is None or b is None:
        return
    assert (first + second)(at) == tuple(x + y for x, y in zip(a, b, strict=True))
    assert (first - second)(at) == tuple(x - y for x, y in zip(a, b, strict=True))
    assert first.times(factor, 2)(at) == tuple(factor * at**2 * x for x in a)
    assert first.reduced()(at) == a
    assert first.norm_squared()(at) == (sum(x * x for x in a),)
    if at:
        assert first.times(factor, -3)(at) == tuple(factor * x / at**3 for x in a)


@settings(max_examples=30)
@given(vectors())
def test_lowest_terms_are_canonical(vector):
    blown_up = RationalVector(
        tuple(part * fmpq_poly([2, 3]) for part in vector.numerators), vector.denominator * fmpq_poly([2, 3])
    )
    assert blown_up == vector
    assert hash(blown_up) == hash(vector)
    made = vector.reduced()
    assert made.numerators == blown_up.reduced().numerators
    assert all(part.denom() == 1 for part in (*made.numerators, made.denominator))


@settings(max_examples=30)
@given(vectors())
def test_the_leading_term_is_what_is_left_close_to_zero(vector):
    leading = vector.leading()
    if leading.exponent is None:
        assert vector.is_zero
        return
    tiny = Fraction(1, 10**40)
    scaled = [v / tiny**leading.exponent for v in vector(tiny)]
    assert all(abs(a - b) < Fraction(1, 10**30) for a, b in zip(scaled, leading.coefficient, strict=True))
    assert leading.norm_squared == sum(v * v for v in leading.coefficient) > 0


def test_a_pole_is_refused():
    with pytest.raises(InvalidInputError, match="alpha: must not be a pole; got 0"):
        RationalVector((fmpq_poly([1]),), monomial(1))(0)


def test_interpolation_returns_the_polynomial():
    polynomial = fmpq_poly([1, -2, 0, 5])
    points = [0, 1, -1, 2]
    assert interpolate(points, [[polynomial(fmpq(at))] for at in points]) == [polynomial]
    assert interpolate([0], [[]]) == []
