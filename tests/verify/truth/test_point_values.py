"""Exact values at points agree with the exact solver's own derivatives, and differences with derivatives."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2csa_ref import objectives_of
from spec import InvalidInputError
from spec.atlas import find
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.point_values import PointValues, derivative, multiplier_slope, quiet_step

SOLVED = ("toy1", "two-of-three", "random-2x3x4", "box-rational")
RATIONALS = st.fractions(min_value=-4, max_value=4, max_denominator=9)


def at(name):
    return quadratic_of(find(name).problem), find(name).x


@pytest.mark.parametrize("name", SOLVED)
def test_differences_of_F_and_of_multipliers_are_their_derivatives(name):
    problem, x = at(name)
    values, step = PointValues(problem), quiet_step(problem, x)

    def F(z):
        return values.value("f", z, lower_level.solve(problem, z).y_star)

    assert derivative(F, x, step) == lower_level.hypergradient(problem, x)
    slopes = multiplier_slope(problem, x)
    for i in range(problem.p):
        assert derivative(lambda z, i=i: lower_level.solve(problem, z).lam[i], x, step) == slopes[i]


@given(st.sampled_from(SOLVED), st.data())
def test_gradients_are_those_of_the_reference_and_of_the_values(name, data):
    problem, _ = at(name)
    values, objectives = PointValues(problem), objectives_of(find(name).problem)
    x = tuple(data.draw(RATIONALS) for _ in range(problem.n))
    y = tuple(data.draw(RATIONALS) for _ in range(problem.m))
    u, v = (np.array([float(value) for value in z]) for z in (x, y))
    for name_of, reference in (("f", objectives.grad_x_f), ("g", objectives.grad_x_g)):
        assert np.allclose([float(e) for e in values.grad_x(name_of, x, y)], reference(u, v), atol=1e-12)
        assert derivative(lambda z, n=name_of: values.value(n, z, y), x, Fraction(1, 3)) == values.grad_x(name_of, x, y)
        assert derivative(lambda z, n=name_of: values.value(n, x, z), y, Fraction(1, 3)) == values.grad_y(name_of, x, y)
    a = problem.arrays
    assert np.allclose([float(h) for h in values.rows(x, y)], a.A @ u - a.B @ v - a.b, atol=1e-12)


@given(st.lists(RATIONALS, min_size=8, max_size=8), RATIONALS, st.integers(1, 9))
def test_the_stencil_is_exact_up_to_degree_six(coefficients, x, parts):
    def polynomial(z):
        return sum((c * z[0] ** k for k, c in enumerate(coefficients[:7])), Fraction(0))

    slope = sum((k * c * x ** (k - 1) for k, c in enumerate(coefficients[:7]) if k), Fraction(0))
    assert derivative(polynomial, (x,), Fraction(1, parts)) == (slope,)
    # Beyond that degree it is not: an odd power of seven leaves 36 h^6 behind.
    assert derivative(lambda z: z[0] ** 7, (Fraction(0),), Fraction(1, parts)) != (Fraction(0),)


def test_no_step_is_quiet_at_a_kink():
    problem, _ = at("toy2")
    with pytest.raises(InvalidInputError, match="same active rows"):
        quiet_step(problem, (Fraction(0),))
