"""A summary's rows: what decided, as numbers and not only in a sentence."""

from __future__ import annotations

import pytest

from spec.claims import find, load_claims
from tests import kept
from verify.campaign.plan import plan
from verify.campaign.summary import DECIDING, summarise
from verify.checks.measuring.case import checks, find_profile
from verify.evidence.rates.orders import claimed_order
from verify.report.model import ReportData, Result
from verify.report.rows.summary_row import SummaryRow
from verify.verdict import Verdict


@pytest.fixture(scope="module")
def report() -> ReportData:
    return kept.run(["bias-bound", "sfo-complexity"], instances=["toy1"], profile="smoke")


def row(report: ReportData, claim: str, reading: str) -> SummaryRow:
    (found,) = (row for row in report.summary if (row.claim, row.reading) == (claim, reading))
    return found


def test_a_row_has_the_numbers_of_the_result_that_decided(report: ReportData) -> None:
    results = {result.key: result for result in report.results}
    decided = [row for row in report.summary if row.decided_by]
    assert decided
    for one in decided:
        deciding = results[f"{one.decided_by}|{one.reading}|{one.deciding}"]
        assert [getattr(one, name) for name in DECIDING] == [getattr(deciding, name) for name in DECIDING]
        left_open = "Not decided under" in one.sentence
        assert one.status == (Verdict.INCONCLUSIVE if left_open else deciding.verdict or "FAULT")


def test_a_row_says_what_both_texts_claim_and_what_was_asked_of_whom(report: ReportData) -> None:
    for one in report.summary:
        statement = find(one.claim)
        assert (one.title, one.about) == (statement.title, statement.about)
        assert one.stages == (checks()[one.claim].needs if one.claim in checks() else ())
        for said, text in ((one.printed, statement.as_written), (one.repaired, statement.repaired)):
            assert said is not None
            assert (said.quantity, said.tag, said.exponents) == (
                text.bound.quantity, text.bound.tag, text.bound.exponents,
            )  # fmt: skip


def test_the_third_term_as_numbers(report: ReportData) -> None:
    written, repaired = row(report, "bias-bound/T3", "as-written"), row(report, "bias-bound/T3", "repaired")
    assert written.printed is not None
    assert (written.printed.order, written.claimed) == ("O(α)", "O(α)")
    assert written.quantity == repaired.quantity == "T₃"
    assert (written.measured, written.interval, written.rung) == (-2.0, (-2.0, -2.0), "certified")
    assert repaired.measured == 2.0
    assert "hypergradient" in written.stages


def test_an_order_in_print_has_all_variables() -> None:
    printed = {claimed_order(find(name).as_written.bound) for claim in load_claims().values()
               for name, _ in claim.statements()}  # fmt: skip
    assert {"O(ε⁻³·δ⁻¹)", "O(α)", ""} <= printed


READINGS = tuple(dict.fromkeys(("as-written", *find("bias-bound/T3").literal_readings)))


def judged(verdicts: dict[str, str], repaired: str = "SUPPORTED") -> SummaryRow:
    """The row of a statement of several literal readings, where some were asked."""
    every = {**verdicts, **({"repaired": repaired} if repaired else {})}
    results = [
        Result(claim="bias-bound/T3", reading=name, instance="toy1", verdict=Verdict(found), sentence=f"{name}.")
        for name, found in every.items()
    ]
    rows = summarise(results, ["bias-bound/T3"], search=lambda _: None)
    return next(row for row in rows if row.reading == "as-written")


def test_a_text_is_refuted_only_where_every_literal_reading_is() -> None:
    fails = dict.fromkeys(READINGS, "REFUTED")
    assert judged(fails).status == "REFUTED"
    # Nothing can meet its hypotheses under one: that is no reading under which it stands.
    assert judged(fails | {READINGS[2]: "VACUOUS"}).status == "REFUTED"
    for found in ("INCONCLUSIVE", "NOT_APPLICABLE"):
        row = judged(fails | {READINGS[2]: found})
        assert row.status == "INCONCLUSIVE"
        count = len(READINGS)
        assert row.sentence == f"as-written. Not decided under 1 of {count} literal readings: {READINGS[2]}."
    assert judged({READINGS[0]: "REFUTED"}).sentence.count("(not asked)") == len(READINGS) - 1
    # It holds under one: the words decide, and the point that was asked for fails.
    assert judged(fails | {READINGS[1]: "SUPPORTED", READINGS[2]: "INCONCLUSIVE"}).status == "REFUTED"


def test_a_point_that_is_asked_for_by_name_is_told_of_itself_alone() -> None:
    assert judged({READINGS[0]: "REFUTED"}, repaired="").status == "REFUTED"


def test_smoke_asks_every_literal_reading_of_what_it_judges() -> None:
    tasks = plan([], ["as-written", "repaired"], [], find_profile("smoke"), "reference", 0)
    asked: dict[str, set[str]] = {}
    for task in tasks:
        asked.setdefault(task.claim, set()).add(task.reading)
    assert all(set(find(claim).literal_readings) <= readings for claim, readings in asked.items())
    others = plan([], ["as-written", "repaired"], [], find_profile("smoke"), "pkg:Mine", 0)
    assert {task.reading for task in others} == {"as-written", "repaired"}
