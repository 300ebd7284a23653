"""Waves that shrink towards an axis: Lipschitz, and Clarke's subdifferential holds slopes that the function has not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from verify.truth.functions import ShrinkingWaves

WAVES = ShrinkingWaves()
inside = st.fractions(-1, 1, max_denominator=10**6).filter(lambda x: 0 < abs(x) < 1)
anywhere = st.fractions(-20, 20, max_denominator=10**6)


@given(x=inside, y=anywhere, u=inside, v=anywhere)
def test_its_slopes_are_at_most_three_and_one(x: Fraction, y: Fraction, u: Fraction, v: Fraction) -> None:
    assert abs(WAVES.value(x, y) - WAVES.value(u, v)) <= 3 * abs(x - u) + abs(y - v)


@given(x=inside, y=anywhere)
def test_it_is_flat_on_the_axis_and_small_beside_it(x: Fraction, y: Fraction) -> None:
    assert WAVES.value(Fraction(0), y) == 0
    assert abs(WAVES.value(x, y)) <= 2 * abs(x)


@given(x=inside, y=anywhere)
def test_its_gradient_is_that_of_differences(x: Fraction, y: Fraction) -> None:
    step = Fraction(1, 10**12)
    across = [WAVES.value(x + s * step, y) for s in (-1, 1)]
    along = [WAVES.value(x, y + s * step) for s in (-1, 1)]
    values = [WAVES.value(x, y) - across[0], across[1] - WAVES.value(x, y), WAVES.value(x, y) - along[0],
              along[1] - WAVES.value(x, y)]  # fmt: skip
    assume(values[0] == values[1] and values[2] == values[3])  # no kink is that near
    assert WAVES.gradient(x, y) == (values[1] / step, values[3] / step)


@given(y=anywhere)
def test_beside_every_point_of_the_axis_its_slope_is_one_however_near(y: Fraction) -> None:
    assert WAVES.clarke_on_axis(y) == (0, 1)
    for k in (8, 39):
        x_near, y_near = WAVES.beside_axis(y, k)
        assert max(abs(x_near), abs(y_near - y)) <= Fraction(4, 2**k)


def test_gradients_that_show_no_limit_are_refused() -> None:
    class Turning(ShrinkingWaves):
        def beside_axis(self, y: Fraction, k: int) -> tuple[Fraction, Fraction]:
            x, near = super().beside_axis(y, k)
            return x, near + Fraction(2 * (k % 2), 2**k)

    with pytest.raises(ArithmeticError, match="differ"):
        Turning().clarke_on_axis(Fraction(1, 3))
