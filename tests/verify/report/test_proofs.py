"""The section on where proofs first break: its rows, and that it stays out where there are none."""

from __future__ import annotations

import pytest

from spec import load_claims
from tests.verify.report.site.parsed import together
from verify.report.findings.outline import outline
from verify.report.findings.proof_breaks import proof_breaks
from verify.report.formats.markdown import render_markdown
from verify.report.report_files import Report
from verify.report.rows.summary_row import SummaryRow


@pytest.fixture
def about():
    def make(*ids):
        rows = tuple(SummaryRow(claim=name, reading="", status="NOT_CHECKED", sentence="") for name in ids)
        return Report(
            schema="f2csa-report/1", environment={}, seed=0, profile="ci", subject="reference", results=(), summary=rows
        )

    return make


def test_only_the_claims_of_the_report_are_listed(about):
    found = proof_breaks(outline(about("bias-bound", "related-rates")))
    assert [item.claim for item in found] == ["bias-bound"]
    assert found[0].step == "bias-bound/L-H-y"
    assert "orders follow" in found[0].remedy


def test_page_and_markdown_carry_the_section(about):
    report = about(*load_claims())
    page, text = together(report), render_markdown(report)
    for shown in (page, text):
        assert "Where each proof first breaks" in shown
    assert page.count("<code>bias-bound/L-H-y</code>") >= 1
    assert "`solution-error/strong-convexity`" in text


def test_no_section_without_orders(about, claims):
    report = about(*claims)
    assert proof_breaks(outline(report, claims), claims) == ()
    assert "first breaks" not in together(report, claims)
    assert "first breaks" not in render_markdown(report, claims)
