"""Orders: each is the slope that exact values have, and they say of the readings what the suite says elsewhere."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from spec.reading import DualTerm
from verify.report.site.living.erring_stages import StageText
from verify.report.site.living.states_of_alpha import PLACES, TEXTS, Lead, living_place, living_places

REPAIRED = StageText("delta", "gradient", "fixed")
TINY = Fraction(1, 10**7)


@pytest.mark.parametrize("name", PLACES)
def test_every_order_is_the_slope_of_exact_values(name: str) -> None:
    living = living_place(name)
    place = living.place
    for (dual_term, _), state in living.states.items():
        bias = place.bias(state.stages, dual_term)
        here, smaller = place.off(bias, TINY), place.off(bias, TINY / 10)
        if state.lead.order is None:
            assert here == smaller == 0
            continue
        assert math.log10(here / smaller) / 2 == pytest.approx(state.lead.order, abs=1e-3)
        assert math.sqrt(here) == pytest.approx(state.lead.factor * float(TINY) ** state.lead.order, rel=1e-3)


@pytest.mark.parametrize("name", PLACES)
def test_repaired_every_claim_holds(name: str) -> None:
    living = living_place(name)
    order = living.states["cancelled", REPAIRED].lead.order
    assert order is None or order >= 1
    assert living.variance["common"].lead.order == 0
    reach = living.reach["fixed"].lead.order
    assert reach is not None
    assert reach >= -1


ALONE: list[tuple[DualTerm, StageText, int]] = [
    ("frozen", REPAIRED, -2), ("map", REPAIRED, 1), ("both-maps", REPAIRED, 1),
    ("cancelled", REPAIRED._replace(inner_stop="distance"), -1),
    ("cancelled", REPAIRED._replace(ramp_width="tau-delta"), 0),
    # The narrow ramp takes a binding row away; where both stages are maps their derivatives stand in for it.
    ("both-maps", REPAIRED._replace(ramp_width="tau-delta"), 1),
    ("map", REPAIRED._replace(ramp_width="tau-delta"), 0),
]  # fmt: skip


@pytest.mark.parametrize(("dual_term", "text", "order"), ALONE)
@pytest.mark.parametrize("name", ["toy1", "two-of-three"])
def test_each_cause_alone(name: str, dual_term: DualTerm, text: StageText, order: int) -> None:
    assert living_place(name).states[dual_term, text].lead.order == order


def test_a_ramp_of_the_multipliers_that_shrinks_with_the_error_is_a_cause_of_the_same_kind() -> None:
    weak = living_place("weakly-active")
    assert {width: found.lead.order for width, found in weak.reach.items()} == {"shrinking": -4, "fixed": -1}
    for name in ("toy1", "two-of-three", "toy2"):
        assert {found.lead.order for found in living_place(name).reach.values()} == {1}


def test_independent_draws_are_amplified_everywhere() -> None:
    assert [one.variance["independent"].lead.order for one in living_places()] == [-4] * len(PLACES)


def test_signs_that_hurt_another_dual_term_make_one_look_milder() -> None:
    living, text, alpha = living_place("toy1"), TEXTS[1], Fraction(1, 10)
    own, other = living.states["frozen", text], living.states["cancelled", text]
    assert own.signs != other.signs
    off = living.place.off
    worst, milder = (off(living.place.bias(one.stages, "frozen"), alpha) for one in (own, other))
    assert (math.isqrt(int(worst)), math.isqrt(int(milder))) == (109, 89)


def test_an_instance_is_derived_once() -> None:
    assert living_place("toy1") is living_place("toy1")
    assert living_place("toy1").states["both-maps", None].lead == Lead(None, 0.0)
