"""A statement under every literal reading: counts, what its failures share, and the smallest repairs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.claims import find
from verify.report.model import Result
from verify.report.reading_sets import reading_set
from verify.verdict import Verdict

CHOICES = {"bias-bound": 6, "bias-bound/T3": 3, "variance-bound/per-sample": 2, "dual-extraction": 12}


def made(claim, holding, repaired="SUPPORTED", repairs=()):
    """The set where some literal readings and some partial repairs, by their choices, are supported."""
    statement = find(claim)
    statuses = {name: "SUPPORTED" if name in holding else "REFUTED" for name in statement.literal_readings}
    for chosen, name in statement.repairs.items():
        statuses.setdefault(name, "SUPPORTED" if chosen in repairs else "REFUTED")
    return reading_set(claim, statement, statuses | {"repaired": repaired}, {})


@pytest.mark.parametrize(("claim", "count"), CHOICES.items())
def test_every_combination_of_literal_values_is_one_reading(claim, count):
    found = made(claim, find(claim).literal_readings)
    assert len(found.literal) == count
    assert found.said == f"holds under all {count} literal readings"
    assert found.repaired_by == ""


def test_what_fails_is_named_by_what_it_shares():
    statement = find("dual-extraction")
    fixed = [n for n in statement.literal_readings if statement.interpreted(n).sense.multiplier_width == "fixed"]
    found = made("dual-extraction", fixed, repairs=[("multiplier_width",)])
    assert found.said.startswith("holds under 6 of 12 literal readings; fails with ε_λ shrinking with δ: ")
    assert found.repaired_by == "ε_λ fixed"


def test_where_no_value_describes_the_failures_they_are_listed():
    found = made("dual-extraction/T2", find("dual-extraction/T2").literal_readings[-1:])
    assert found.holding == 1
    assert found.said.count("ε_λ shrinking") == 2


def test_where_all_fail_the_first_and_last_are_told():
    found = made("bias-bound/T3", ())
    assert found.said.startswith("fails under all 3 literal readings")


def test_the_smallest_repairs_are_those_with_fewest_choices():
    alone = [("dual_term", "ramp_width"), ("inner_stop",)]
    assert made("bias-bound", (), repairs=alone).repaired_by == "ỹ stopped by its gradient"
    both = [("dual_term",), ("inner_stop",)]
    assert made("bias-bound", (), repairs=both).repaired_by == "the dual term cancelled, or ỹ stopped by its gradient"


def test_where_no_choice_suffices_what_else_the_repaired_text_has_is_said():
    weaker = made("bias-bound/T1", ())
    assert weaker.repaired_by == "no choice of these alone; repaired, another bound"
    assert made("bias-bound/T1", (), repaired="REFUTED").repaired_by == ""


def test_a_set_that_was_not_run_whole_says_nothing():
    assert reading_set("bias-bound/T3", find("bias-bound/T3"), {"as-written": "REFUTED"}, {}) is None
    assert reading_set("bias-bound/uniformity", find("bias-bound/uniformity"), {"as-written": "REFUTED"}, {}) is None


@given(st.data())
def test_the_count_is_that_of_the_supported(data):
    claim = data.draw(st.sampled_from(sorted(CHOICES)))
    names = find(claim).literal_readings
    holding = data.draw(st.sets(st.sampled_from(names)))
    found = made(claim, holding)
    assert found.holding == len(holding)
    assert all(one.words for one in found.literal)
    assert len({one.words for one in found.literal}) == len(names)


def judged_on(claim, holding, refuting):
    """Results of the literal readings of a claim, by the instances on which each is decided."""
    made = {}
    for name in find(claim).literal_readings:
        outcomes = [(i, Verdict.REFUTED) for i in refuting] if name == "as-written" else []
        outcomes += [(i, Verdict.SUPPORTED) for i in holding]
        made[name] = [
            Result(claim=claim, reading=name, instance=i, verdict=verdict, sentence="") for i, verdict in outcomes
        ]
    return made


@pytest.mark.parametrize(("holding", "count"), [(("two-of-three",), 0), (("toy1",), 2)])
def test_a_reading_is_said_to_hold_only_where_another_fails(holding, count):
    statement = find("bias-bound/T3")
    statuses = dict.fromkeys(statement.literal_readings, "SUPPORTED") | {"as-written": "REFUTED"}
    found = reading_set("bias-bound/T3", statement, statuses, judged_on("bias-bound/T3", holding, ("toy1",)))
    assert found.holding == count
    assert ("undecided" in found.said) == (count == 0)
