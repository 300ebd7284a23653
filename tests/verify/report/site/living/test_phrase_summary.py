"""The phrases in one table, held to the tables below it and to the claims."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spec.claims import find
from tests.verify.report.site.story_reports import failing
from verify.report.findings.proven import standing_of
from verify.report.site.causes.added_hypotheses import RATES, hypothesis_texts
from verify.report.site.frame import SiteFrame
from verify.report.site.living.counted_costs import Cost
from verify.report.site.living.orders_table import NO_MAP, other_rows, reading_rows
from verify.report.site.living.phrase_summary import PhraseRow, phrase_rows
from verify.report.site.living.phrases import switches
from verify.report.site.living.states_of_alpha import living_places

texts = hypothesis_texts()


@pytest.fixture(scope="module")
def rows() -> dict[str, PhraseRow]:
    places = living_places()
    made = phrase_rows(SiteFrame.of(failing()), switches(), reading_rows(places), other_rows(places, ()))
    return {row.switch.field: row for row in made}


def test_every_phrase_breaks_its_claim_alone_and_repaired_all_hold(rows: dict[str, PhraseRow]) -> None:
    assert list(rows) == [one.field for one in switches()]
    for row in rows.values():
        if row.tab.id == "cost":  # counted in a run alone
            assert not row.alone.known
            continue
        assert row.alone.bad
        assert not row.repaired.bad


def test_alone_is_the_worst_instance_of_the_reading_that_differs_in_it(rows: dict[str, PhraseRow]) -> None:
    table = reading_rows(living_places())
    for field in ("dual_term", "inner_stop", "ramp_width"):
        (one,) = (
            row for row in table
            if [each.field for each in row.changed] == [field] and row.values[field] == rows[field].switch.as_written
        )  # fmt: skip
        orders = [order for _, order in one.orders if order not in (None, NO_MAP)]
        assert rows[field].alone.order == min(orders)


def added(*claims: str) -> set[str]:
    return {
        texts[premise.id].title if premise.id in texts else premise.id.replace("-", " ").capitalize()
        for claim in claims for premise in find(claim).premises if premise.readings == ("repaired",)
    }  # fmt: skip


def test_hypotheses_are_those_that_the_claims_add_by_the_front_pages_names(rows: dict[str, PhraseRow]) -> None:
    assert set(rows["dual_term"].hypotheses) == added("bias-bound")
    assert set(rows["noise_pairing"].hypotheses) == added("variance-bound", "variance-bound/per-sample")
    # The cost asks for what it rests on, and that is not the mean squared error's lemma.
    asked = set(rows["inner_solver"].hypotheses)
    assert asked == added(*(name for name in RATES if name != "hypergradient-accuracy"))
    assert not {texts[name].title for name in ("second-moment-accuracy", "wide-ramp")} & asked


def test_what_theorems_ask_and_leave_out_is_their_own(rows: dict[str, PhraseRow]) -> None:
    for row in rows.values():
        statement = row.switch.text.beyond.statement if row.switch.text.beyond else row.tab.statement
        found = standing_of(statement)
        assert (row.gaps, row.lacks) == ((found.gaps, found.lacks) if found else ((), ()))
        assert bool(row.grade) == (found is not None)


def test_a_cost_that_was_counted_is_told() -> None:
    places, field = living_places(), "inner_solver"
    (switch,) = (one for one in switches() if one.field == field)
    counted = [
        replace(A_COST, value=value, order=order) for value, order in ((switch.as_written, -9), (switch.repaired, -5))
    ]
    made = phrase_rows(SiteFrame.of(failing()), [switch], reading_rows(places), other_rows(places, counted))
    assert (made[0].alone.order, made[0].alone.bad, made[0].repaired.order, made[0].repaired.bad) == (
        -9,
        True,
        -5,
        False,
    )


A_COST = Cost("", "", "", order=0, derived=False, settled=False, points=((0.1, 10.0),), steps=())
