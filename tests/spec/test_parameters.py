from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from spec import AS_WRITTEN, REPAIRED, InvalidInputError, OracleParameters, OuterParameters, PenaltyParameters
from spec.parameters import MAX_ALPHA, MIN_ALPHA

SCHEDULE: dict[str, float] = {"goldstein_radius": 0.5, "epsilon": 0.1, "lipschitz_F": 2.0, "gap": 3.0}
REPAIRED_SCHEDULE = SCHEDULE | {"bias": 0.05, "variance": 4.0}


def scales(low: float = 1e-3, high: float = 1e3) -> st.SearchStrategy[float]:
    return st.floats(low, high)


@given(st.floats(MIN_ALPHA, MAX_ALPHA))
def test_everything_follows_from_alpha(alpha: float) -> None:
    made = PenaltyParameters(alpha=alpha)
    assert made.alpha_1 == pytest.approx(alpha**-2)
    assert made.alpha_2 == pytest.approx(made.alpha_1**2)
    assert made.inner_tol == pytest.approx(alpha**3)
    for value in (made.alpha_1, made.alpha_2, made.inner_tol):
        assert math.isfinite(value)
        assert value > 0


@pytest.mark.parametrize("alpha", [0, -1, -0.0, 1e-31, 1001, math.nan, math.inf, -math.inf, "x", None, [1]])
def test_alpha_outside_its_range_is_refused(alpha: Any) -> None:
    with pytest.raises(ValidationError):
        PenaltyParameters(alpha=alpha)


@pytest.mark.parametrize("name", ["alpha_1", "alpha_2", "inner_tol", "delta"])
def test_what_is_derived_cannot_be_set(name: str) -> None:
    wrong: Any = {"alpha": 0.1, name: 1.0}
    with pytest.raises(ValidationError, match="Extra inputs"):
        PenaltyParameters(**wrong)
    with pytest.raises((ValidationError, AttributeError)):
        setattr(PenaltyParameters(alpha=0.1), name, 1.0)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("N_g", 0), ("N_g", 10**9 + 1), ("N_g", 1.5), ("lam_width", 0), ("lam_width", math.inf),
        ("lam_width", math.nan),
        ("ramp_constant", 0), ("ramp_constant", -1), ("lower_level", "guess"), ("lower_level_steps", 0),
        ("lower_level_steps", 10**8 + 1), ("eta_y", 0), ("eta_y", math.inf), ("eta_lam", -1), ("shared_samples", 0),
        ("penalty_steps", 0), ("preconditioner", "all"), ("unknown", 1),
    ],
)  # fmt: skip
def test_oracle_parameters_have_ranges(field: str, wrong: Any) -> None:
    given_field: Any = {field: wrong}
    with pytest.raises(ValidationError):
        OracleParameters(**given_field)


@given(scales(), scales(1e-9, 1), scales())
def test_the_ramp_is_as_wide_as_the_reading_says(constant: float, inner_tol: float, jac_bound: float) -> None:
    parameters = OracleParameters(ramp_constant=constant)
    assert parameters.h_width(AS_WRITTEN, inner_tol, jac_bound) == constant * inner_tol**2
    width = parameters.h_width(REPAIRED, inner_tol, jac_bound)
    # It holds a row that is off by the rows' Lipschitz constant times the allowed error, with room to spare.
    assert width >= 2 * constant * inner_tol * jac_bound * (1 - 1e-15)
    assert width >= 2 * constant * inner_tol


@given(scales(), scales(), scales(), st.floats(0, 1e3))
def test_the_papers_schedule(goldstein_radius: float, share: float, lipschitz_F: float, gap: float) -> None:
    epsilon = lipschitz_F * min(share, 1.0)
    made = OuterParameters.paper(goldstein_radius=goldstein_radius, epsilon=epsilon, lipschitz_F=lipschitz_F, gap=gap)
    length, steps = made.D, made.M
    assert length == pytest.approx(goldstein_radius * (epsilon / lipschitz_F) ** 2)
    assert made.eta == pytest.approx(goldstein_radius * epsilon**3 / lipschitz_F**4)
    assert steps == math.floor((Fraction(repr(lipschitz_F)) / Fraction(repr(epsilon))) ** 2)
    assert steps * length <= goldstein_radius * (1 + 1e-12)
    assert made.T == made.K * made.M
    assert made.K >= 1
    wanted = gap * lipschitz_F**2 / (goldstein_radius * epsilon**3)
    assert steps * made.K > wanted - steps


def test_the_papers_schedule_ends_where_a_step_leaves_the_ball() -> None:
    at_the_edge = SCHEDULE | {"epsilon": 2.0}
    assert OuterParameters.paper(**at_the_edge).M == 1
    with pytest.raises(InvalidInputError, match=r"^epsilon: must be <= lipschitz_F, else M = floor\(radius / D\) is 0"):
        OuterParameters.paper(**SCHEDULE | {"epsilon": 2.001})


@given(scales(), scales(1e-2), scales(), st.floats(0, 1e3), st.floats(0, 10), st.floats(0, 100))
def test_the_repaired_schedule_takes_a_whole_number_of_steps_through_the_ball(
    goldstein_radius: float,
    epsilon: float,
    lipschitz_F: float,
    gap: float,
    bias: float,
    variance: float,
) -> None:
    made = OuterParameters.repaired(
        goldstein_radius=goldstein_radius, epsilon=epsilon, lipschitz_F=lipschitz_F, gap=gap, bias=bias,
        variance=variance,
    )  # fmt: skip
    second_moment = (lipschitz_F + bias) ** 2 + variance
    assert made.M >= 1
    steps = made.M
    assert steps * made.D == pytest.approx(goldstein_radius)
    # The regret of a block, 3 G / sqrt(M) a step, is at most half of epsilon.
    assert 3 * math.sqrt(second_moment / made.M) <= epsilon / 2 * (1 + 1e-12)
    assert made.eta == pytest.approx(2 * made.D / math.sqrt(second_moment * made.M))
    # So is the progress left after K blocks.
    assert gap / (made.K * goldstein_radius) <= epsilon / 2 * (1 + 1e-12)
    assert made.T == made.K * made.M


@pytest.mark.parametrize(
    ("lipschitz_F", "epsilon", "M"), [(2.0, 0.2, 100), (1.0, 0.1, 100), (0.3, 0.1, 9), (7.0, 0.7, 100)]
)
def test_rounding_does_not_lose_a_step_of_the_papers_schedule(lipschitz_F: float, epsilon: float, M: int) -> None:
    assert OuterParameters.paper(goldstein_radius=0.3, epsilon=epsilon, lipschitz_F=lipschitz_F, gap=1.0).M == M


@pytest.mark.parametrize("schedule", [OuterParameters.paper, OuterParameters.repaired])
@pytest.mark.parametrize("field", ["goldstein_radius", "epsilon", "lipschitz_F"])
@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf, 0.0])
def test_both_schedules_refuse_what_is_not_positive(schedule: Any, field: str, wrong: float) -> None:
    inputs = REPAIRED_SCHEDULE if schedule == OuterParameters.repaired else SCHEDULE
    with pytest.raises(InvalidInputError, match=f"^{field}: must be > 0 and finite; got {wrong}"):
        schedule(**inputs | {field: wrong})


@pytest.mark.parametrize("field", ["gap", "bias", "variance"])
@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf])
def test_what_may_vanish_may_not_be_negative(field: str, wrong: float) -> None:
    assert OuterParameters.repaired(**REPAIRED_SCHEDULE | {field: 0.0}).K >= 1
    with pytest.raises(InvalidInputError, match=f"^{field}: must be >= 0 and finite"):
        OuterParameters.repaired(**REPAIRED_SCHEDULE | {field: wrong})
    if field in SCHEDULE:
        assert OuterParameters.paper(**SCHEDULE | {field: 0.0}).K == 1
        with pytest.raises(InvalidInputError, match=f"^{field}: must be >= 0 and finite"):
            OuterParameters.paper(**SCHEDULE | {field: wrong})


@pytest.mark.parametrize("schedule", [OuterParameters.paper, OuterParameters.repaired])
@pytest.mark.parametrize("field", ["epsilon", "lipschitz_F", "goldstein_radius", "gap"])
@pytest.mark.parametrize("extreme", [1e-300, 1e-160, 1e160, 1e300])
def test_schedules_beyond_double_precision_are_refused_not_crashed(schedule: Any, field: str, extreme: float) -> None:
    inputs = REPAIRED_SCHEDULE if schedule == OuterParameters.repaired else SCHEDULE
    try:
        made = schedule(**inputs | {field: extreme})
    except InvalidInputError as error:
        assert "\n" not in str(error)
    else:
        assert made.D > 0
        assert made.eta > 0


@pytest.mark.parametrize("field", ["goldstein_radius", "epsilon", "D", "eta", "M", "K"])
def test_outer_parameters_are_positive(field: str) -> None:
    fields: dict[str, Any] = {"goldstein_radius": 1, "epsilon": 1, "D": 1, "eta": 1, "M": 1, "K": 1}
    for wrong in (0, -1, math.nan):
        with pytest.raises(ValidationError):
            OuterParameters(**fields | {field: wrong})
    assert OuterParameters(**fields | {"M": 3, "K": 5}).T == 15
