"""Powers and crossings read off curves whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.experiments.curves import by, crossing, middle, power

AT = (100, 200, 400, 800)


@given(exponent=st.floats(-4, 4), factor=st.floats(1e-3, 1e3))
def test_a_power_law_has_its_power(exponent: float, factor: float) -> None:
    found = power(AT, [factor * d**exponent for d in AT])
    assert found.exponent == pytest.approx(exponent, abs=1e-9)
    assert found.low <= found.exponent <= found.high
    assert found.high - found.low < 1e-9


def test_a_bending_law_has_a_wide_interval() -> None:
    bent = power(AT, [d**2 + 400.0 * d for d in AT])
    assert bent.low < bent.exponent == bent.high < 2
    assert bent.high - bent.low > 0.3


@given(at=st.floats(120, 700))
def test_the_crossing_of_a_square_and_a_cube(at: float) -> None:
    square, cube = [d**2 * at for d in AT], [d**3 for d in AT]
    assert crossing(AT, square, cube) == pytest.approx(at, rel=1e-6)


def test_crossings_beyond_the_ends_are_followed_and_none_is_infinite() -> None:
    square = [float(d) ** 2 for d in AT]
    assert crossing(AT, square, [d**3 / 5000 for d in AT]) == pytest.approx(5000)
    assert crossing(AT, square, [d**3 / 20 for d in AT]) == pytest.approx(20)
    assert crossing(AT, square, [v / 2 for v in square]) == math.inf
    assert crossing(AT, square, [v * 2 for v in square]) == 0.0
    assert crossing(AT, square, [2 * float(d) for d in AT]) == math.inf


def test_a_curve_that_dips_below_and_comes_back_has_not_crossed() -> None:
    assert crossing(AT, [2, 1, 2, 3], [1.5] * 4) == math.inf


def test_rows_group_by_columns_in_order() -> None:
    rows = [{"m": "b", "d": 1, "v": 2}, {"m": "a", "d": 1, "v": 3}, {"m": "b", "d": 1, "v": 4}]
    assert {key: [r["v"] for r in group] for key, group in by(rows, "m", "d").items()} == {
        ("b", 1): [2, 4],
        ("a", 1): [3],
    }
    assert middle([3.0, 1.0, 9.0]) == (3.0, 1.0, 9.0)
    assert np.isclose(middle([1.0, 2.0])[0], 1.5)
