"""Open or closed ball: what is found at a kink on the boundary, and how far a block's points reach."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.atlas import find
from tests.verify.checks.verdicts_of import REFUTED, SUPPORTED, verdict
from verify.checks.goldstein_convergence.which_ball import ball_difference, farthest_in_block
from verify.truth.geometry import quadratic_of


@pytest.mark.parametrize("instance", ["kink", "toy2"])
def test_verdicts(instance):
    assert verdict("goldstein-convergence/closed-ball", "as-written", instance) is REFUTED
    assert verdict("goldstein-convergence/closed-ball", "repaired", instance) is SUPPORTED


@given(st.integers(1, 12), st.data())
def test_no_block_reaches_further_than_the_straight_one(M, data):
    draw = st.fractions(-1, 1, max_denominator=20)
    steps, shares = [data.draw(draw) for _ in range(M)], [abs(data.draw(draw)) for _ in range(M)]
    x, points = Fraction(0), []
    for step, share in zip(steps, shares, strict=True):
        points.append(x + share * step)
        x += step
    mean = sum(points, Fraction(0)) / M
    assert max(abs(z - mean) for z in points) <= farthest_in_block(M) == Fraction(M + 1, 2) - Fraction(1, M)
    assert farthest_in_block(M) <= Fraction(9, 16) * M


def test_the_balls_differ_at_a_kink_on_the_boundary_alone():
    problem = quadratic_of(find("kink").problem)
    assert ball_difference(problem, Fraction(1, 2)) == 1
    assert ball_difference(problem, Fraction(2)) == 0
    assert ball_difference(problem, Fraction(1, 4)) == 0
