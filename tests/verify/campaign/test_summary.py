"""A summary's rows: what decided, as numbers and not only in a sentence."""

from __future__ import annotations

import pytest

import verify
from spec.claims import find, load_claims
from verify.campaign.summary import DECIDING
from verify.checks.measuring.case import checks
from verify.report.model import ReportData
from verify.report.summary_row import SummaryRow
from verify.verdict import claimed_order


@pytest.fixture(scope="module")
def report() -> ReportData:
    return verify.run(["bias-bound", "sfo-complexity"], instances=["toy1"], profile="smoke")


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
        assert one.status == (deciding.verdict or "FAULT")


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
