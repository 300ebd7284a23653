"""The exact evaluation against closed forms, against verify.truth, and against plain arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import erf, sqrt

import pytest
from flint import arb

from spec import REPAIRED, InvalidInputError, Noise
from tests.verify.truth.problems import ExactLagrangian
from verify.conformance.places.places import JudgedPlace, atlas_places, further_places, place_of, with_noise
from verify.conformance.vectors.writing import decimals, expected, number, round_down, round_up
from verify.truth.algebra.numbers import UncertifiedError, ball, double, normal_cdf, root, times
from verify.truth.functions_of_alpha.noise import draw_shapes, mean_noise
from verify.truth.stages import evaluate, weights

F = Fraction
PLACES = (*atlas_places(), *further_places())


@pytest.mark.parametrize("found", PLACES, ids=lambda found: found.name)
def test_minimiser_and_estimate_agree_with_the_ground_truth(found: JudgedPlace) -> None:
    for dual_term in ("cancelled", "frozen"):
        setting = found.setting(alpha=F(1, 10))
        setting = found.setting(alpha=F(1, 10), reading=setting.reading.choose(dual_term=dual_term))
        made = evaluate(setting)
        exact = ExactLagrangian(found.problem, found.x, F(1, 10), made.y_star, made.lam, made.rho)
        assert made.y_penalty == exact.minimiser()
        assert made.hypergradient == exact.estimate(made.y_penalty, dual_term)


def test_the_smallest_example_by_hand() -> None:
    made = evaluate(place_of("toy1").setting(alpha=F(1, 10)))
    assert (made.y_star, made.lam, made.h, made.rho) == ((1,), (1,), (0,), (1,))
    assert made.y_penalty == (1 - F(1, 10100),)
    assert made.terms == {"f": (0,), "g_difference": (0,), "dual": (0,), "penalty": (F(10000, 10100),)}


def test_given_stages_are_used_as_they_are() -> None:
    given = {"y_star": (F(1, 2),), "lam": (F(1),), "rho": (F(1, 4),), "y_penalty": (F(3, 4),)}
    made = evaluate(place_of("toy1").setting(alpha=F(1, 10), given=given))
    assert (made.y_star, made.rho, made.y_penalty) == (given["y_star"], given["rho"], given["y_penalty"])
    assert made.hypergradient == (10000 * F(1, 4) * F(1, 4),)


def test_widths_follow_the_reading() -> None:
    setting = place_of("large-and-small").setting(alpha=F(1, 10))
    assert setting.h_width() == 2 * 16 * 1e-3
    assert replace(setting, reading=REPAIRED.choose(ramp_width="tau-delta")).h_width() == 1e-6
    assert place_of("unconstrained").setting(alpha=F(1, 10)).h_width() == 2e-3


@pytest.mark.parametrize(
    ("kind", "rho"),
    [
        ("ramp", (F(3, 8), F(1))),
        ("hard", (1, 1)),
    ],
)
def test_weights(kind: str, rho: tuple[Fraction, ...]) -> None:
    assert weights((F(-1, 4), F(0)), (F(1, 20), F(3)), F(1), F(1, 10), kind) == rho  # type: ignore[arg-type]  # parametrised


def test_where_the_lagrangian_is_concave_there_is_no_minimiser() -> None:
    with pytest.raises(InvalidInputError, match="strictly convex"):
        evaluate(place_of("concave-upper").setting(alpha=F(2)))


def points() -> tuple[tuple[Fraction, ...], tuple[Fraction, ...], tuple[Fraction, ...]]:
    return (F(1), F(1, 2)), (F(3), F(0), F(4)), (F(3), F(0), F(1))


def noisy(model: str, sigma_f: str = "1/2", sigma_g: str = "1/4", **more: object) -> JudgedPlace:
    noise = Noise.model_validate({"model": model, "sigma_f": sigma_f, "sigma_g": sigma_g, **more})
    where = place_of("two-of-three")
    return JudgedPlace(where.name, with_noise(where.problem, noise), where.x, where.purpose)


DRAWS = {
    "f_x": [(F(1), F(2)), (F(3), F(-2))],
    "g_x": [(F(2), F(0)), (F(0), F(2))],
    "g_x_star": [(F(4), F(0)), (F(0), F(0))],
}


def test_additive_noise() -> None:
    problem = noisy("additive").problem
    assert mean_noise(problem, points(), DRAWS, "common") == ((1, 0), (0, 0))
    assert mean_noise(problem, points(), DRAWS, "independent") == ((1, 0), (F(-1, 4), F(1, 4)))
    assert mean_noise(problem, points(), DRAWS, "independent", "first")[0] == (F(1, 2), 1)
    assert mean_noise(problem, points(), DRAWS, "independent", "sum")[0] == (2, 0)
    assert mean_noise(problem, points(), DRAWS, "independent", "none") == ((0, 0), (0, 0))


def test_matrix_noise_is_scaled_by_lengths() -> None:
    problem = noisy("matrix").problem
    f, g = mean_noise(problem, points(), DRAWS, "common")
    assert g == (F(3, 4), F(3, 4))
    assert double(f[0]) == pytest.approx(0.5 * sqrt(1 + 0.25 + 25) * 2, rel=1e-15)
    _, g = mean_noise(problem, points(), DRAWS, "independent")
    lengths = sqrt(26.25), sqrt(11.25)
    assert double(g[0]) == pytest.approx(0.25 * (lengths[0] * 1 - lengths[1] * 2), rel=1e-14)


def test_jump_noise_sits_on_the_first_component() -> None:
    problem = noisy("jump").problem
    x, _, _ = points()
    at = (x, (F(1, 2), F(0), F(0)), (F(-1, 2), F(0), F(0)))
    draws = {"f_x": DRAWS["f_x"], "g_x": [(F(0),), (F(1),)], "g_x_star": [(F(-1),), (F(-1),)]}
    phi = [(1 + erf(v / sqrt(2))) / 2 for v in (0.5, -0.5)]
    f, g = mean_noise(problem, at, draws, "common")
    assert f == (1, 0)
    assert [double(v) for v in g] == pytest.approx([0.25 * (0.5 - phi[0] - (0 - phi[1])), 0])
    _, g = mean_noise(problem, at, draws, "independent")
    assert double(g[0]) == pytest.approx(0.25 * (0.5 - phi[0] - (1 - phi[1])))


def test_blocks_without_effect_are_not_asked_for() -> None:
    assert draw_shapes(noisy("additive").problem, 3, "common") == {"f_x": (3, 2)}
    assert draw_shapes(noisy("jump").problem, 3, "independent") == {"f_x": (3, 2), "g_x": (3, 1), "g_x_star": (3, 1)}
    assert draw_shapes(noisy("matrix", on=["g.x"]).problem, 3, "common") == {"g_x": (3, 2)}
    assert draw_shapes(place_of("toy1").problem, 3, "common") == {}


def test_irrational_numbers_are_certified_to_their_last_digit_but_one() -> None:
    two = root(F(2))
    assert isinstance(two, arb)
    assert decimals(two) == "1.41421356237309504880168872421"
    assert double(two) == sqrt(2)
    assert root(F(9, 4)) == F(3, 2)
    assert double(normal_cdf(F(1))) == pytest.approx((1 + erf(1 / sqrt(2))) / 2, rel=1e-15)
    assert normal_cdf(F(0)) == F(1, 2)
    assert times(F(0), two) == 0


def test_a_ball_too_wide_is_not_certified() -> None:
    wide = arb(1, 1e-10)
    with pytest.raises(UncertifiedError):
        decimals(wide)
    with pytest.raises(UncertifiedError):
        double(wide)
    assert ball(F(1, 3)).overlaps(arb(1) / 3)


def test_long_fractions_are_given_in_digits() -> None:
    short, long = F(1, 3), F(1, 3**400)
    assert expected([short], [1e-16]).exact == ("1/3",)
    block = expected([long], [1e-200])
    assert block.exact is None
    assert block.digits is not None
    assert float(Fraction(block.digits[0])) == block.value[0] == float(long)
    assert decimals(F(1, 4)) == "2.5e-1"
    assert decimals(F(0)) == "0"


def test_tolerances_are_rounded_up_and_separations_down() -> None:
    assert round_up(1.2301e-7) == 1.24e-7
    assert round_up(1.23e-7) >= 1.23e-7
    assert round_up(0.0) == 0.0
    assert round_down(1.29e9) == 1.2e9
    assert number(F(1, 3)).value == 1 / 3
