"""The activation's ramps: what is found of the printed ones, and that other ramps are told apart."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verify.checks.verdicts_of import REFUTED, SUPPORTED, number, verdict
from verify.checks.lagrangian_gradient.activation_ramps import Ramps, kinks, largest_jump, largest_quotient, one_sided
from verify.conformance.bugs.catalogue import find
from verify.method.exact_player import exact_array, play
from verify.method.lines import edited
from verify.truth.stages import weights

RAMPS = Ramps(Fraction(1, 1000), Fraction(1, 10))


def of(id_):
    """Weights of a row by a bug of the catalogue."""
    widths = {"h_width": RAMPS.h_width, "lam_width": RAMPS.lam_width}
    lines = edited(find(id_).formulas)
    return lambda h, lam: play(lines, "activation", widths | {"h": exact_array([h]), "lam": exact_array([lam])})["rho"][
        0
    ]


@pytest.mark.parametrize(
    ("claim", "as_written"),
    [("weights-range", SUPPORTED), ("weights-continuous", SUPPORTED), ("weights-differentiable", REFUTED),
     ("row-bounds", SUPPORTED)],
)  # fmt: skip
def test_verdicts(claim, as_written):
    assert verdict(f"dual-extraction/{claim}", "as-written", "toy1") is as_written
    assert verdict(f"dual-extraction/{claim}", "repaired", "toy1") is SUPPORTED


def test_all_four_corners_have_two_slopes():
    assert number("dual-extraction/weights-differentiable", "as-written", "toy1", "corners") == 4
    assert kinks(RAMPS) == ["h = -τδ", "h = 0", "λ = 0", "λ = ε_λ"]
    assert one_sided(*RAMPS.lines()["h = 0"], "left") == (1, 1 / RAMPS.h_width)
    assert one_sided(*RAMPS.lines()["h = 0"], "right") == (1, 0)


@given(st.fractions(-3, 3), st.fractions(-3, 3))
def test_the_printed_cases_are_the_activation(u, v):
    h, lam = u * RAMPS.h_width, v * RAMPS.lam_width
    assert RAMPS.weight(h, lam) == weights((h,), (lam,), RAMPS.h_width, RAMPS.lam_width)[0]
    assert 0 <= RAMPS.weight(h, lam) <= 1


def test_a_hard_switch_jumps():
    jump, _ = largest_jump(RAMPS, of("hard-activation"))
    assert jump == 1
    assert largest_quotient(RAMPS, of("hard-activation")) > 1


def test_a_constant_has_no_corner():
    assert kinks(RAMPS, of("always-active")) == []
    assert largest_jump(RAMPS, of("always-active"))[0] == 0


def test_a_cubic_ramp_is_steeper_than_the_slopes_allow():
    assert largest_quotient(RAMPS, RAMPS.weight) == 1
    assert largest_quotient(RAMPS, of("smoother-ramp")) > 1
