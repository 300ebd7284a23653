"""Other coordinates change every number and nothing that matters."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from spec.atlas import find
from verify.truth.coordinates import Axes, in_other_coordinates
from verify.truth.formulas import as_float
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level


@pytest.mark.parametrize("name", ["toy1", "two-of-three", "absolute-moving", "random-3x5x4", "box-rational"])
@pytest.mark.parametrize("seed", [0, 1])
def test_values_gradients_and_the_lower_level_are_the_same_in_new_units(name, seed):
    instance = find(name)
    problem = quadratic_of(instance.problem)
    image, point = in_other_coordinates(problem, instance.x, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    upper, lower = Axes.drawn(problem.n, rng), Axes.drawn(problem.m, rng)
    rows = Axes.drawn(problem.p, rng, signed=False, moved=False)
    assert upper.new(instance.x) == point

    old, new = lower_level.solve(problem, instance.x), lower_level.solve(image, point)
    assert lower.new(old.y_star) == tuple(new.y_star)
    # A multiplier is a price of its row: the larger the unit, the smaller.
    expected = [Fraction(0)] * problem.p
    for i, k in enumerate(rows.order):
        expected[k] = old.lam[i] / rows.unit[i]
    assert tuple(expected) == tuple(new.lam)

    # Differences of f, g and h between two points do not depend on the coordinates.
    x, y = as_float(instance.x), as_float(old.y_star)
    u, v = as_float(point), as_float(new.y_star)
    other_x = tuple(value + Fraction(1, 3) for value in instance.x)
    z, w = as_float(other_x), as_float(upper.new(other_x))
    for form in ("f", "g"):
        before = _value(problem, form, z, y) - _value(problem, form, x, y)
        assert _value(image, form, w, v) - _value(image, form, u, v) == pytest.approx(before, rel=1e-12, abs=1e-12)


def _value(problem, form, x, y):
    a = problem.arrays
    xx, xy, yy, bx, by = (getattr(a, f"{form}_{part}") for part in ("xx", "xy", "yy", "x", "y"))
    return x @ xx @ x / 2 + x @ xy @ y + y @ yy @ y / 2 + bx @ x + by @ y


def test_no_entry_stays_where_it_was():
    instance = find("two-of-three")
    image, point = in_other_coordinates(quadratic_of(instance.problem), instance.x, np.random.default_rng(5))
    assert point != instance.x
    assert image.arrays.g_yy.tolist() != quadratic_of(instance.problem).arrays.g_yy.tolist()
    again = in_other_coordinates(quadratic_of(instance.problem), instance.x, np.random.default_rng(5))
    assert (image.to_dict(), point) == (again[0].to_dict(), again[1])
