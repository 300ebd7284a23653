"""What theorems and derivations say of repaired statements."""

from __future__ import annotations

import pytest

from tests.verify.report.site.story_reports import FELL, HELD, both, report
from verify.proofs.kernel.standings import counts
from verify.proofs.kernel.theorems import load_theorems
from verify.report.findings.outline import outline
from verify.report.findings.proven import FirmOrder, firm_order, grade, proven_in, standing_of
from verify.report.formats.badge import badge_of
from verify.report.formats.markdown import render_markdown
from verify.report.formats.terminal import summary_table


def test_grades_are_those_of_the_record() -> None:
    rows = {row.statement for row in load_theorems().settled if row.reading == "repaired"}
    grades = [grade(name) for name in rows]
    assert grades.count("proven") == counts()["proven"] > 0
    assert grades.count("proven in part") == counts()["part"] > 0
    assert grade("convergence-experiment") == ""


def test_a_statement_that_fails_in_the_run_is_not_called_proven() -> None:
    assert [one.entry.id for one in proven_in(outline(report(both("bias-bound", HELD, 1.0)))).whole] == ["bias-bound"]
    made = [one for one in both("bias-bound", FELL, -2.0) if one.reading == "as-written"]
    assert proven_in(outline(report(made))).said == ""


@pytest.mark.parametrize(
    ("claim", "order"),
    [("bias-bound", FirmOrder("O(α)", "proven")), ("sfo-complexity", FirmOrder("O(ε⁻⁹ δ⁻¹)", "derived")),
     ("related-rates", None)],
)  # fmt: skip
def test_an_order_is_firm_by_a_theorem_or_a_derivation(claim: str, order: FirmOrder | None) -> None:
    arranged = outline(report(both(claim, HELD, -9.0)))
    (entry,) = [one for one in arranged.statements if one.id == claim]
    assert firm_order(entry.named["repaired"]) == order
    assert firm_order(entry.named["as-written"]) is None


def test_what_refutes_the_literal_text_is_a_theorem_of_its_own() -> None:
    found = standing_of("bias-bound/T3", "as-written")
    assert found is not None
    assert found.grade == "refuted"


def test_the_badge_says_how_many_are_proven_of_the_paper_alone() -> None:
    made = report(both("bias-bound", HELD, 1.0))
    assert badge_of(made).message.endswith("; 1 proven")
    assert "proven" not in badge_of(made.model_copy(update={"subject": "mine:Subject"})).message


def test_the_table_and_markdown_have_the_same_sign_and_of_a_program_none() -> None:
    made = report(both("bias-bound", HELD, 1.0))
    (row,) = [row for row in summary_table(made).rows if row.name == "bias-bound"]
    assert row.named[1].text.plain == "∎ supported, proven"
    assert "| ∎ supported, proven |" in render_markdown(made)
    of_mine = made.model_copy(update={"subject": "mine:Subject"})
    assert "∎" not in str(summary_table(of_mine).rows)
    assert "∎" not in render_markdown(of_mine)
