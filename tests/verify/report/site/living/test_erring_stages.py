"""Stages that err as far as they may: within what is allowed, and the suite's own where nothing errs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from verify.report.site.living.erring_stages import (
    EXACT_SIGNS,
    LEAST,
    MOST,
    ErringPlace,
    Signs,
    StageText,
    clipped,
)
from verify.report.site.living.states_of_alpha import NO_ERRORS, PLACES, TEXTS
from verify.truth.algebra.rational_functions import ALPHA
from verify.truth.algebra.rings import FUNCTIONS
from verify.truth.functions_of_alpha.penalty_functions import error, estimator, exact_counterpart
from verify.truth.functions_of_alpha.scenario import Scenario, exact_error


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest) -> ErringPlace:
    return ErringPlace.at(request.param)


def test_no_direction_is_longer_than_one(place: ErringPlace) -> None:
    for direction in (place.inside, place.on_binding_rows, place.amplified, place.amplified_gradient):
        length = sum(v * v for v in direction)
        assert Fraction(9, 10) < length <= 1


def test_without_errors_the_estimate_is_the_suites(place: ErringPlace) -> None:
    stages = place.stages(NO_ERRORS, EXACT_SIGNS)
    for dual_term in place.dual_terms:
        scenario = exact_counterpart(place.family, Scenario(dual_term=dual_term))
        if not place.pieces:
            assert stages.estimate(dual_term) == estimator(place.family, scenario)
            assert place.bias(stages, dual_term) == error(place.family, scenario)


@pytest.mark.parametrize("text", [StageText("delta", "distance", "fixed"), StageText("delta", "gradient", "fixed")])
def test_with_errors_it_is_the_suites_for_the_same_scenario(text: StageText) -> None:
    place, signs = ErringPlace.at("two-of-three"), Signs(-1, 1, -1)
    stages = place.stages(text, signs)
    (rho,) = {stages.rho(alpha) for alpha in (LEAST, MOST)}  # here the weights do not move with alpha
    line_5 = "y_error" if text.inner_stop == "distance" else "gradient_error"
    way = place.amplified if text.inner_stop == "distance" else place.amplified_gradient
    power = 3 if text.inner_stop == "distance" else 1
    scenario = Scenario(
        dual_term="map", rho=rho,
        y_star_error=(exact_error(3, [-v for v in place.inside]),), lam_error=(exact_error(3, place.on_binding_rows),),
        **{line_5: (exact_error(power, [-v for v in way]),)},
    )  # fmt: skip
    assert stages.estimate("map") == estimator(place.family, scenario)


def test_weights_stay_between_0_and_1_and_binding_rows_keep_half_on_the_wide_ramp(place: ErringPlace) -> None:
    for text in TEXTS:
        for signs in (Signs(1, 1, 1), Signs(-1, -1, -1)):
            for alpha in (LEAST, Fraction(1, 10), MOST):
                rho = place.stages(text, signs).rho(alpha)
                assert all(0 <= weight <= 1 for weight in rho)
                if text.ramp_width == "delta" and text.multiplier_width == "fixed" and not place.pieces:
                    assert all(rho[row] >= Fraction(1, 2) for row in place.family.lower.active)


def test_a_ramp_that_is_crossed_is_refused() -> None:
    half = FUNCTIONS.vector([Fraction(1, 2)])
    assert clipped(half) == half
    assert clipped(FUNCTIONS.vector([2])) == FUNCTIONS.vector([1])
    assert clipped(FUNCTIONS.vector([-1])) == FUNCTIONS.vector([0])
    for crossing in (ALPHA + FUNCTIONS.vector([Fraction(9, 10)]), ALPHA - FUNCTIONS.vector([Fraction(1, 10)])):
        with pytest.raises(ArithmeticError, match="an activation ramp is crossed"):
            clipped(crossing)


def test_at_a_kink_the_distance_is_from_the_interval_between_the_pieces() -> None:
    place = ErringPlace.at("weakly-active")
    assert place.pieces == ((Fraction(0),), (Fraction(1),))
    assert place.dual_terms == ("frozen", "cancelled")
    for value, far in ((Fraction(1, 2), 0), (Fraction(0), 0), (Fraction(3, 2), Fraction(1, 4)), (Fraction(-2), 4)):
        assert place.off(FUNCTIONS.vector([value]), Fraction(1, 10)) == far
