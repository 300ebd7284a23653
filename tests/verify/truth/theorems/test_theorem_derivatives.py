"""The gradient of F, D y* and D lambda* of the theorems are derivatives: difference quotients, exact in rationals."""

from __future__ import annotations

import pytest

from spec.atlas import find
from verify.truth.algebra.rationals import rational
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.point_values import PointValues, derivative, quiet_step
from verify.truth.theorems.data_ties import ties
from verify.truth.theorems.place_kinds import of_atlas, tamed
from verify.truth.theorems.posed_problems import from_draft


def scenes():
    for name in ("toy1", "toy2", "interior", "box-rational", "moving-box"):
        instance = find(name)
        yield name, of_atlas({"atlas": name, "alpha": rational(1) / 10}, ()), quadratic_of(instance.problem)
    for place in ties()["bias.master_identity"].places[:2]:
        scene = from_draft(tamed(place.draft))
        yield "drafted", scene, scene.problem


@pytest.mark.parametrize(("name", "scene", "problem"), list(scenes()))
def test_gradient_and_maps_are_difference_quotients(name: str, scene, problem) -> None:
    step, values = quiet_step(problem, scene.x), PointValues(problem)
    of_F = derivative(lambda x: values.value("f", x, lower_level.solve(problem, x).y_star), scene.x, step)
    assert tuple(map(rational, of_F)) == scene.gradient
    Y, Lam = scene.maps
    for i, row in enumerate(Y):
        found = derivative(lambda x, i=i: lower_level.solve(problem, x).y_star[i], scene.x, step)
        assert tuple(map(rational, found)) == row
    for i, row in zip(scene.active, Lam, strict=True):
        found = derivative(lambda x, i=i: lower_level.solve(problem, x).lam[i], scene.x, step)
        assert tuple(map(rational, found)) == row
