"""The report lists the paper's assertions with this run's verdicts: all of them, in order, none beside a definition."""

from __future__ import annotations

import re

import pytest

from spec.claims import load_claims
from spec.text.assertions import load_assertions
from tests.verify.report.site.parsed import dangling, html_of
from verify.report.findings.judged_assertions import decided, judged_assertions
from verify.report.findings.outline import outline
from verify.report.formats import markdown
from verify.report.formats.markdown import render_markdown
from verify.report.model import ReportData
from verify.report.rows.summary_row import SummaryRow

ENTRIES = load_assertions().assertions


def whole(status: str = "SUPPORTED") -> ReportData:
    """A run of every statement, all as written with one status and all repaired supported."""
    rows = [
        SummaryRow(claim=full, reading=reading, status=status if reading == "as-written" else "SUPPORTED", sentence="")
        for claim in load_claims().values() for full, statement in claim.statements()
        for reading in ("as-written", "repaired") if not statement.left_open
    ]  # fmt: skip
    rows += [
        SummaryRow(claim=full, reading="", status="LEFT_OPEN", sentence=statement.left_open)
        for claim in load_claims().values() for full, statement in claim.statements() if statement.left_open
    ]  # fmt: skip
    return ReportData(environment={}, seed=0, profile="ci", subject="reference", results=(), summary=tuple(rows))


def listed(report: ReportData):
    return [item for _, items in judged_assertions(outline(report)) for item in items]


def test_a_whole_run_lists_all_in_order_each_with_its_statements():
    items = listed(whole())
    assert [item.entry.number for item in items] == [entry.number for entry in ENTRIES]
    for item in items:
        assert tuple(by.statement.id for by in item.judged_by) == item.entry.covered_by


def test_the_verdicts_are_those_of_the_run():
    for status, word in (("SUPPORTED", "✓ supported"), ("REFUTED", "✗ refuted, repaired ✓ supported")):
        (item,) = [item for item in listed(whole(status)) if item.entry.number == 150]
        assert [by.words for by in item.judged_by] == ["", word]


def test_nothing_stands_beside_a_definition():
    for item in listed(whole("REFUTED")):
        if item.entry.granted:
            assert all(not by.outcomes for by in item.judged_by)
            assert item.note.startswith(f"A {item.entry.granted}, ")
            assert item.entry.leaves_open in item.note
        else:
            assert all((by.statement.id in item.entry.beside) != bool(by.outcomes) for by in item.judged_by)


def test_what_is_open_says_so():
    notes = {item.entry.number: item.note for item in listed(whole())}
    assert notes[86] == "A definition, which leaves noise_pairing open; these are judged under each of its values."
    assert notes[28].startswith("Left open: An appraisal")
    assert notes[10] == "Taken for granted."
    assert notes[107] == ""
    assert decided(ENTRIES[85]) == notes[86][:1].lower() + notes[86][1:-1]


def test_a_run_of_a_part_lists_what_it_judges(report, claims):
    items = [item for _, items in judged_assertions(outline(report, claims)) for item in items]
    known = {entry.id for entry in outline(report, claims).statements}
    assert items
    assert all(known.intersection(item.entry.covered_by) for item in items)
    assert len(items) == sum(bool(known.intersection(entry.covered_by)) for entry in ENTRIES)


@pytest.fixture(scope="module")
def pages(report, claims) -> dict[str, str]:
    return html_of(report, claims)


def test_the_archive_has_a_place_for_each_and_its_links_lead_somewhere(pages, report, claims):
    page = pages["pages/archive.html"]
    section = page[page.index('id="assertions"') :]
    section = section[: section.index("<footer")]
    numbers = [int(n) for n in re.findall(r'<li value="(\d+)" id="a\1">', section)]
    assert numbers == [item.entry.number for _, items in judged_assertions(outline(report, claims)) for item in items]
    assert dangling(pages) == []
    assert section.count("<details") == section.count("<summary>") >= 5
    assert "<details open" not in section
    t_1 = section[section.index('id="a126"') :]
    t_1 = t_1[: t_1.index("</li>")]
    assert '<span class="n">refuted</span></span>, repaired <span class="v good">' in t_1


def test_markdown_folds_them_away_and_a_report_without_them_has_no_section(report, claims, monkeypatch):
    text = render_markdown(report, claims)
    assert "<summary>What the paper asserts</summary>" in text
    assert "`bias-bound/T1` ✗ refuted, repaired ✓ supported |" in text
    monkeypatch.setattr(markdown, "judged_assertions", lambda _: [])
    assert "What the paper asserts" not in render_markdown(report, claims)
