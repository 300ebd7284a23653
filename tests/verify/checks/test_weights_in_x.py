"""Derivatives of weights and multipliers along x: what is found, and that a part left out or misread shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spec.atlas import find
from tests.verify.checks.verdicts_of import REFUTED, SUPPORTED, number, verdict
from verify.checks.lagrangian_gradient.weights_in_x import MOVING, Maps
from verify.truth.geometry import quadratic_of
from verify.truth.point_values import derivative

CLAIMS = ("dual-extraction/weights-gradient", "dual-extraction/multiplier-derivative")


@pytest.mark.parametrize("instance", MOVING)
@pytest.mark.parametrize("claim", CLAIMS)
def test_verdicts(claim, instance):
    assert verdict(claim, "as-written", instance) is REFUTED
    assert verdict(claim, "repaired", instance) is SUPPORTED


def test_along_the_solution_the_ramp_of_h_does_not_move():
    instance = find("toy1")
    maps = Maps(quadratic_of(instance.problem), instance.x, "tau-delta")
    (slope,) = maps.through(0, maps=True)
    # y* = x: h stays, λ* = x moves with slope 1, and σ_h = 1/2.
    assert slope == 1 / (2 * maps.ramps.lam_width)
    assert maps.through(0, maps=False) == (maps.ramps.of_lam(maps.lower.lam[0]) / maps.ramps.h_width,)


@pytest.mark.parametrize("choice", ["tau-delta", "delta"])
def test_both_widths_leave_both_ramps_off_their_corners(choice):
    instance = find("two-of-three")
    maps = Maps(quadratic_of(instance.problem), instance.x, choice)
    for i in maps.lower.strictly_active:
        assert 0 < maps.weights(maps.x)[i] < 1
        true = derivative(lambda x, i=i: maps.weights(x)[i], maps.x, maps.step)
        assert true == maps.through(i, maps=True)


def test_a_multiplier_twice_as_large_has_twice_the_slope():
    instance = find("toy1")
    maps = Maps(quadratic_of(instance.problem), instance.x, "delta")
    wide = replace(maps, choice="delta")
    wide.__dict__["ramps"] = replace(maps.ramps, lam_width=maps.ramps.lam_width / 2)
    assert wide.through(0, maps=True)[0] == 2 * maps.through(0, maps=True)[0]


def test_the_missing_part_is_of_the_size_shown():
    shown = number("dual-extraction/multiplier-derivative", "as-written", "toy1", "its parts")
    assert shown == pytest.approx(100 * 0.001)  # α₁δ‖Dλᵀh‖ at α = 1/10, h = 1
