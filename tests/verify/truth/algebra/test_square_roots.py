from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from verify.truth.algebra.roots import double_above, double_below, root_above, root_below

POSITIVE = st.fractions(min_value=0, max_value=10**40, max_denominator=10**30)


@given(POSITIVE)
def test_roots_bracket_tightly(value):
    low, high = root_below(value), root_above(value)
    assert low * low <= value <= high * high
    assert high - low <= Fraction(1, 2**79) * max(1, high)


@given(st.fractions(min_value=0, max_value=10**9))
def test_roots_of_squares_are_exact(root):
    assert root_below(root * root) == root_above(root * root) == root


@given(POSITIVE)
def test_doubles_are_rounded_outwards(value):
    assert Fraction(double_below(value)) <= value <= Fraction(double_above(value))


def test_tiny_values_keep_their_digits():
    value = Fraction(2, 10**200)
    assert root_below(value) > 0
    assert root_above(value) / root_below(value) < 1 + Fraction(1, 2**70)
