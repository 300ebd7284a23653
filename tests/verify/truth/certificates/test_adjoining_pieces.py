"""References that are no gradient of F are refused; those that are, or are limits of gradients, are found."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import InvalidInputError, Quadratic
from tests.verify.truth.problems import KINK, TOY1, quadratic, regular_instances
from verify.truth.algebra.rationals import blocks
from verify.truth.certificates.adjoining_pieces import limits_of_gradients
from verify.truth.certificates.certification import WantedBound, certify
from verify.truth.certificates.checker import RejectedCertificateError, check
from verify.truth.certificates.plain_formulas import PlainProblem, apply
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.functions_of_alpha.scenario import Scenario
from verify.truth.lower_level import lower_level

IDENTITY = [[1, 0], [0, 1]]
SWAPPING = quadratic({"y": [-1, 1]}, {"xx": [[2]], "xy": [[1, -1]], "yy": IDENTITY}, [[0], [0]], IDENTITY, [0, 0])
"""y* = (max(-x, 0), max(x, 0)): the rows swap at 0, where F = x is smooth all the same."""
DOUBLED = quadratic({"y": [1]}, {"yy": [[1]]}, [[1], [2]], [[1], [2]], [0, 0])
"""One row twice: TOY1 at x > 0."""
EDGE = quadratic({"y": [1]}, {"yy": [[1]]}, [[1], [1]], [[1], [0]], [0, 1])
"""F ends at x = 1, where a row without y is active."""


def limits(problem: Quadratic, *x: Fraction | int) -> set[tuple[Fraction, ...]]:
    at = [Fraction(value) for value in x]
    return limits_of_gradients(PlainProblem.of(problem, at), lower_level.solve(problem, at).y_star)


@pytest.mark.parametrize(
    ("problem", "x", "gradients"),
    [(DOUBLED, 1, {1}), (DOUBLED, 0, {0, 1}), (SWAPPING, 0, {1}), (KINK, 0, {-1, 1}), (TOY1, 1, {1}), (EDGE, 1, {1})],
)
def test_the_limits_of_gradients_worked_out_by_hand(problem, x, gradients):
    assert limits(problem, x) == {(Fraction(value),) for value in gradients}


@pytest.mark.parametrize(("problem", "x", "wrong"), [(DOUBLED, 1, 0), (SWAPPING, 0, 0), (SWAPPING, 0, 2)])
def test_a_reference_that_is_the_gradient_of_no_region_is_rejected(problem, x, wrong):
    family = PenaltyFamily.at(problem, [x], gradient=[wrong])
    found = certify(family, Scenario(), WantedBound(0), Fraction(1, 16))
    with pytest.raises(RejectedCertificateError, match="reference"):
        check(found)


def test_at_every_regular_instance_of_the_atlas_the_one_limit_is_the_gradient():
    for name, family in regular_instances():
        if name != "swapping-rows":
            found = limits_of_gradients(PlainProblem.of(family.problem, family.x), family.lower.y_star)
            assert found == {family.hypergradient}, name


@st.composite
def degenerate(draw) -> Quadratic:
    """All rows pass through the minimiser y = 0 at x = 0, some with multipliers, some multiples of others."""
    n, m, p = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 4))

    def matrix(rows: int, columns: int, least: int = -2) -> list[list[int]]:
        return [[draw(st.integers(least, 2)) for _ in range(columns)] for _ in range(rows)]

    yy = draw(st.sampled_from([[[2, 1], [1, 2]], IDENTITY])) if m == 2 else [[1]]
    A, B, (lam,) = matrix(p, n), matrix(p, m), matrix(1, p, 0)
    f = {"xy": matrix(n, m), "x": matrix(1, n)[0], "y": matrix(1, m)[0]}
    pull = [sum(weight * row[j] for weight, row in zip(lam, B, strict=True)) for j in range(m)]
    return quadratic(f, {"yy": yy, "xy": matrix(n, m), "y": pull}, A, B, [0] * p)


def slope(problem: Quadratic, direction: list[int]) -> Fraction | None:
    """The directional derivative of F at 0, exact from three values: F is quadratic on so short a step."""
    values = []
    for step in (0, 1, 2):
        x = [Fraction(step * d, 10**6) for d in direction]
        try:
            y = lower_level.solve(problem, x).y_star
        except InvalidInputError:
            return None  # no y is feasible on that side
        data = PlainProblem.of(problem, x)
        values.append(
            sum(a * b for a, b in zip(data.f_x, x, strict=True)) + sum(a * b for a, b in zip(data.f_y, y, strict=True))
        )
        values[-1] += sum(a * b for a, b in zip(x, apply(data.f_xy, y), strict=True))
    return (4 * values[1] - values[2] - 3 * values[0]) * 10**6 / 2


@settings(max_examples=80)
@given(degenerate(), st.integers(0, 2**32))
def test_the_limits_of_gradients_are_the_slopes_of_F_in_every_direction_and_no_others(problem, seed):
    found = limits(problem, *([0] * problem.n))
    if problem.n == 1:
        slopes = {d: slope(problem, [d]) for d in (1, -1)}
        assert found == {(d * value,) for d, value in slopes.items() if value is not None}
        return
    for direction in np.random.default_rng(seed).integers(-1000, 1000, (20, 2)).tolist():
        value = slope(problem, direction)
        if value is not None and found:  # F may be defined on a line only: then it has no gradients at all
            assert value in {sum(a * b for a, b in zip(direction, gradient, strict=True)) for gradient in found}
    rows, y_star = blocks(problem), (Fraction(0),) * problem.m
    for direction in np.random.default_rng(seed).integers(-1000, 1000, (20, 2)).tolist():
        try:
            near = lower_level.solve(problem, [Fraction(d, 10**6) for d in direction])
        except InvalidInputError:
            continue
        if near.licq and near.strict_complementarity:
            assert lower_level.piece_gradient(rows, [Fraction(0)] * 2, y_star, near.strictly_active) in found
