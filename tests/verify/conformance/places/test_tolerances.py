"""Tolerances against what really happens: rounding, and errors a stopping rule allows."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq_mat

from verify.conformance.places import tolerances
from verify.conformance.places.places import JudgedPlace, atlas_places, further_places, place_of
from verify.conformance.places.sizes import FACTOR, Sizing, U, sizes
from verify.conformance.places.tolerances import Errors, Penalty, RampTolerances
from verify.truth.algebra.rationals import column, fractions, rational
from verify.truth.stages import ExactSetting, evaluate

F = Fraction
PLACES = (*atlas_places(), *further_places())


def nothing(setting: ExactSetting) -> Errors:
    q = setting.problem
    return Errors(np.zeros(q.m), np.zeros(q.p), np.zeros(q.p))


@pytest.mark.parametrize("found", PLACES[::3], ids=lambda found: found.name)
def test_the_stopping_rule_can_spend_its_allowance_and_no_more(found: JudgedPlace) -> None:
    """The worst gradient of the allowed length moves each entry of the estimate by just what the bound says."""
    setting = found.setting(alpha=F(1, 64))
    values = evaluate(setting)
    penalty = Penalty(Sizing(setting), values)
    alpha = 1 / 64
    limits = penalty.chain(nothing(setting), gradient_norm=alpha, distance=0.0)["hypergradient"]
    rounding = penalty.chain(nothing(setting), gradient_norm=0.0, distance=0.0)["hypergradient"]
    r = setting.rows
    D = r.f_xy + rational(F(64) ** 2) * r.g_xy - r.A.transpose() * penalty.weighted_rows * r.B
    DH = np.array([[float(Fraction(int(v.p), int(v.q))) for v in row] for row in (D * penalty.inverse).tolist()])
    for i, row in enumerate(DH):
        length = np.linalg.norm(row)
        if length == 0:
            assert limits[i] == rounding[i]
            continue
        gradient = tuple(F(float(v)) for v in row / length * alpha)
        moved = fractions(column(values.y_penalty) + penalty.inverse * column(gradient))
        given = {"y_star": values.y_star, "lam": values.lam, "rho": values.rho, "y_penalty": moved}
        shifted = evaluate(replace(setting, given=given))
        gap = float(abs(shifted.hypergradient[i] - values.hypergradient[i]))
        assert gap == pytest.approx(limits[i] - rounding[i], rel=1e-6)


@pytest.mark.parametrize("found", PLACES[1::4], ids=lambda found: found.name)
def test_rounded_inputs_move_the_pair_less_than_its_tolerance(found: JudgedPlace) -> None:
    """Perturbing right-hand sides by a few roundings, exactly solved, stays inside."""
    setting = found.setting()
    lower = setting.lower
    if lower.weakly_active or not lower.licq:
        return
    limits = tolerances.lower_level(Sizing(setting), lower)
    held, r = lower.strictly_active, setting.rows
    W = fmpq_mat(len(held), setting.problem.m, [r.B[i, j] for i in held for j in range(setting.problem.m)])
    top = [
        list(a) + list(b)
        for a, b in zip(r.g_yy.tolist(), W.transpose().tolist() or [[]] * setting.problem.m, strict=True)
    ]
    bottom = [[*row, *([rational(F(0))] * len(held))] for row in W.tolist()] if held else []
    K = fmpq_mat(top + bottom)
    rng = np.random.default_rng(5)
    sizing = Sizing(setting)
    y_star = sizes(lower.y_star)
    top_size = max(sizing.stationarity(y_star, sizes(lower.lam)))
    row_sizes = sizing.rows(y_star)
    added = [top_size] * setting.problem.m + [row_sizes[i] for i in held]
    for _ in range(5):
        change = [
            F(float(size * U * sign)) for size, sign in zip(added, rng.choice([-1.0, 1.0], len(added)), strict=True)
        ]
        moved = [abs(float(v)) for v in fractions(K.solve(column(change)))]
        assert all(a <= b for a, b in zip(moved, [*limits["y_star"], *(limits["lam"][i] for i in held)], strict=True))


def test_one_rounding_is_a_small_part_of_the_allowance() -> None:
    sizing = Sizing(place_of("toy1").setting())
    assert sizing.gamma == FACTOR * 7 * U


def test_weights_off_the_ramps_are_exact_and_on_them_not() -> None:
    h, lam = (F(-5), F(-1, 2), F(0)), (F(1), F(1), F(1, 2))
    none = (np.zeros(3), np.zeros(3))
    off, on, top = tolerances.activation(RampTolerances(h, lam, 1.0, 1.0), none)
    assert off == 0.0
    assert 0 < top < on < 20 * U
    wide = tolerances.activation(RampTolerances(h, lam, 1e-6, 1.0), (np.full(3, 1e-12), np.zeros(3)))
    assert wide[2] >= 0.5e-6


def test_the_gradient_asked_for_is_a_power_of_two_above_rounding() -> None:
    setting = place_of("two-of-three").setting(alpha=F(1, 10))
    values = evaluate(setting)
    penalty = Penalty(Sizing(setting), values)
    asked = penalty.gradient_floor()
    assert math.frexp(asked)[0] == 0.5
    assert 1 <= asked / (8 * U * max(penalty.naive_gradient)) * 2 <= 2.0000001 * 2
