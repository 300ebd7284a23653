"""Means and variances over finitely many outcomes, in rationals."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.atlas import find
from verify.checks.measuring.finite_laws import (
    ExactOracle,
    LawOutcome,
    exactly,
    mean,
    mean_square,
    minus,
    plus,
    signs,
    square,
    units,
    variance,
)
from verify.truth.propositions.arithmetic import NoValueError

entries = st.fractions(min_value=-5, max_value=5, max_denominator=9)
vectors = st.tuples(entries, entries)


@st.composite
def laws(draw):
    values = draw(st.lists(vectors, min_size=1, max_size=5))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values)))
    return [LawOutcome(Fraction(w, sum(weights)), v) for w, v in zip(weights, values, strict=True)]


@given(laws(), vectors)
def test_squared_distance_is_variance_and_squared_distance_of_the_mean(law, point):
    assert mean_square(law, point) == variance(law) + square(minus(mean(law), point))


@given(laws(), vectors, entries)
def test_a_variance_knows_no_shift_and_the_square_of_a_scale(law, shift, factor):
    moved = [LawOutcome(o.weight, plus(shift, o.value, factor)) for o in law]
    assert variance(moved) == factor**2 * variance(law)
    assert mean(moved) == plus(shift, mean(law), factor)


@given(st.integers(1, 3), st.integers(1, 12))
def test_the_mean_of_signs_is_centred_and_its_variance_falls_like_one_over_their_number(size, count):
    law = signs(size, count)
    assert sum(o.weight for o in law) == 1
    assert mean(law) == (0,) * size
    assert variance(law) == Fraction(size, count)


def test_directions_come_with_their_opposites():
    assert list(units(2)) == [(1, 0), (-1, 0), (0, 1), (0, -1)]


def test_the_oracle_is_the_papers_on_exact_stages():
    oracle = ExactOracle.at(find("toy1"), Fraction(1, 10))
    # ∇F = 1 and the bias -α²q/(b(b² + α²q)) at a = b = q = 1.
    assert oracle.grad_F == (1,)
    assert oracle.error() == (-Fraction(1, 101),)
    assert oracle.estimate(y=oracle.minimiser) == oracle.estimate()
    assert oracle.estimate(lam=(Fraction(0),)) != oracle.estimate()
    assert oracle.multipliers_off((Fraction(-3),)) == (0,)


def test_where_nothing_is_feasible_there_is_no_oracle():
    with pytest.raises(NoValueError, match="infeasible"):
        ExactOracle.at(find("infeasible"), Fraction(1, 10))


def test_an_exact_comparison_holds_or_not():
    assert exactly("a count", 3, "<=", Fraction(7, 2)).holds
    assert not exactly("a count", 3).holds
    assert exactly("a count", 0).rung == "certified"
