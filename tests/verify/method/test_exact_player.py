"""The lines over fractions are the formulas over rings and the lines over doubles; the catalogue's bugs by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from spec import InvalidInputError
from verify.conformance.bugs.catalogue import CATALOGUE, find
from verify.conformance.places.places import place_of
from verify.method.exact_player import exact_array, minimise, play, space_of
from verify.method.lines import FORMULAS, edited
from verify.method.plain_subject import PlainMethod
from verify.subjects import Call
from verify.truth.stages import ExactSetting, evaluate

F = Fraction
PLACES = ("two-of-three", "random-3x5x4", "every-term-square", "interior")


def stages_of(name: str) -> tuple[ExactSetting, dict[str, tuple[F, ...]]]:
    setting = place_of(name).setting(alpha=F(1, 10))
    made = evaluate(setting)
    return setting, {"y_star": made.y_star, "lam": made.lam, "rho": made.rho, "y_penalty": made.y_penalty}


@pytest.mark.parametrize("name", PLACES)
def test_the_right_lines_are_the_formulas_over_rings(name: str) -> None:
    setting, stages = stages_of(name)
    at = (setting.problem, setting.x, setting.alpha)
    pair = play(FORMULAS, "lower_level", space_of(*at, {}))
    assert (tuple(pair["y_star"]), tuple(pair["lam"])) == (stages["y_star"], stages["lam"])
    assert minimise(FORMULAS, space_of(*at, stages)) == stages["y_penalty"]
    estimate = play(FORMULAS, "line_6", space_of(*at, stages))["estimate"]
    assert tuple(estimate) == evaluate(setting).hypergradient


@pytest.mark.parametrize("bug", [b for b in CATALOGUE if "line_6" in b.formulas], ids=lambda bug: bug.id)
def test_both_players_play_a_bug_alike(bug) -> None:  # type: ignore[no-untyped-def]  # a parameter
    if "eigvalsh" in bug.formulas["line_6"].get("alpha_1", ""):
        pytest.skip("eigenvalues are no rationals")
    setting, stages = stages_of("every-term-square")
    lines = edited(bug.formulas)
    exactly = play(lines, "line_6", space_of(setting.problem, setting.x, setting.alpha, stages))["estimate"]
    told = {name: np.array([float(v) for v in values]) for name, values in stages.items()}
    x = np.array([float(v) for v in setting.x])
    doubles = PlainMethod(lines).line_6(setting.problem, x, Call(alpha=0.1, **told))["estimate"]  # type: ignore[arg-type]  # by name
    np.testing.assert_allclose(doubles, exactly.astype(float), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("id_", "rho"),
    [
        ("hard-activation", (1, 1)),
        ("sure-activation", (0, 1)),
        ("always-active", (1, 1)),
        ("ignores-multipliers", (F(3, 4), 1)),
        ("ignores-row-values", (F(1, 2), 1)),
        ("smaller-ramp", (F(1, 2), 1)),
        ("smoother-ramp", (F(3, 8) ** 2 * (3 - F(3, 4)), 1)),
        ("shifted-rows", (1, F(3, 8))),
        ("open-ramp", (F(3, 8), 30)),
        ("late-ramp", (0, 0)),
    ],
)
def test_wrong_weights(id_: str, rho: tuple[F, ...]) -> None:
    given = {"h": exact_array([F(-1, 4), 0]), "lam": exact_array([F(1, 20), 3]), "h_width": 1, "lam_width": F(1, 10)}
    assert tuple(play(edited(find(id_).formulas), "activation", given)["rho"]) == rho


def test_numbers_that_are_divided_stay_exact() -> None:
    assert play({"block": {"mean": "1 / 3 * total"}}, "block", {"total": F(1)})["mean"] == F(1, 3)


def test_where_a_gradient_is_no_convex_functions_there_is_no_minimiser() -> None:
    setting, stages = stages_of("two-of-three")
    wrong = edited({"lagrangian": {"gradient": "-upper - alpha_1 * lower"}})
    with pytest.raises(InvalidInputError, match="strictly convex"):
        minimise(wrong, space_of(setting.problem, setting.x, setting.alpha, stages))
