"""Where things stand in a drawing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.report.figures.canvas import Canvas, decade_label, mark, padded, px, ticks

BOX = (10.0, 110.0, 5.0, 55.0)
SIZES = st.floats(-6, 6)


def test_the_limit_may_lie_to_the_right_as_zero() -> None:
    canvas = Canvas(BOX, (0.0, -2.0), (-1.0, 3.0))
    assert canvas.spot(1.0, 0.1) == (10.0, 55.0)
    assert canvas.spot(0.01, 1000.0) == (110.0, 5.0)


@given(slope=SIZES, at=st.floats(0, 2), value=st.floats(0, 4))
def test_a_line_is_cut_where_it_leaves_the_box(slope: float, at: float, value: float) -> None:
    canvas = Canvas(BOX, (0.0, 2.0), (0.0, 4.0))
    for x, y in canvas.line((at, value), slope, canvas.x):
        assert 10 - 1e-9 <= x <= 110 + 1e-9
        assert 5 - 1e-9 <= y <= 55 + 1e-9
        decade, there = (x - 10) / 50, (55 - y) / 12.5
        assert math.isclose(there, value + slope * (decade - at), abs_tol=1e-6)


def test_an_interval_down_to_zero_ends_at_the_foot() -> None:
    canvas = Canvas(BOX, (0.0, 2.0), (0.0, 4.0))
    assert canvas.bar(10.0, -1.0, 100.0) == "M60 55V30"
    assert canvas.bar(10.0, 10.0, 1e9) == "M60 42.5V5"


@given(low=st.floats(-9, 9), width=st.floats(0.5, 12), most=st.integers(3, 6))
def test_ticks_lie_inside_and_are_few_and_told_apart(low: float, width: float, most: int) -> None:
    shown = ticks(low, low + width, most)
    assert all(low - 1e-6 <= at <= low + width + 1e-6 for at, _ in shown)
    assert 2 <= len(shown) <= max(most, 7)
    assert len({label for _, label in shown}) == len(shown)


@pytest.mark.parametrize("low", [-308.4, -323.0, 307.3, 308.1])
def test_ticks_at_the_edge_of_doubles_are_numbers(low: float) -> None:
    assert all(math.isfinite(at) and label not in ("0", "∞") for at, label in ticks(low, low + 0.2, 5))


@pytest.mark.parametrize(("power", "label"), [(-3, "0.001"), (0, "1"), (2, "100"), (3, "10³"), (-4, "10⁻⁴")])
def test_a_decade_is_a_number_where_that_is_short(power: int, label: str) -> None:
    assert decade_label(power) == label


def test_what_does_not_move_gets_a_range_of_its_own() -> None:
    assert padded([1.0], least=2.0, share=0.0) == (0.0, 2.0)
    low, high = padded([0.0, 10.0], least=1.0)
    assert (low, high) == pytest.approx((-0.8, 10.8))


def test_what_is_refuted_is_a_diamond() -> None:
    assert mark("bad", (1.0, 2.0), 3.0).startswith('<path class="p-bad"')
    assert mark("good", (1.0, 2.0), 4.0) == '<circle class="p-good" cx="1" cy="2" r="3"/>'
    assert (px(2.04), px(2.06)) == ("2", "2.1")
