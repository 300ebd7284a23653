"""How numbers are held against one another, and how powers are printed."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from verify.evidence.model import agrees, raised, superscript


@pytest.mark.parametrize(
    ("exponent", "shown"),
    [(0, "1"), (1, "α"), (2, "α²"), (-1.0, "α⁻¹"), (0.5, "α⁰·⁵"), (Fraction(-3, 2), "α⁻³ᐟ²"), (Fraction(1), "α")],
)
def test_a_power_in_print(exponent: float | Fraction, shown: str) -> None:
    assert raised("α", exponent) == shown


def test_a_true_minus_sign_is_raised_too() -> None:
    assert superscript("−12") == superscript(-12) == "⁻¹²"


@pytest.mark.parametrize(("relation", "outcomes"), [("<=", (1, 1, 0)), (">=", (0, 1, 1)), ("==", (0, 1, 0))])
def test_a_relation_holds_within_its_tolerance(relation: str, outcomes: tuple[int, ...]) -> None:
    assert tuple(agrees(value, relation, 1.0, 0.1) for value in (0.5, 1.05, 1.5)) == outcomes
    assert not agrees(math.nan, relation, 1.0, 0.1)
