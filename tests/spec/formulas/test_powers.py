"""Powers in print."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec.formulas.powers import raised, superscript


@pytest.mark.parametrize(
    ("exponent", "shown"),
    [(0, "1"), (1, "α"), (2, "α²"), (-1.0, "α⁻¹"), (0.5, "α⁰·⁵"), (Fraction(-3, 2), "α⁻³ᐟ²"), (Fraction(1), "α")],
)
def test_a_power_in_print(exponent: float | Fraction, shown: str) -> None:
    assert raised("α", exponent) == shown


def test_a_true_minus_sign_is_raised_too() -> None:
    assert superscript("−12") == superscript(-12) == "⁻¹²"
