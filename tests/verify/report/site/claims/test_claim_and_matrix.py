"""A claim's page and its rows among all claims: the answer first, the loud before the quiet, what a filter looks at."""

from __future__ import annotations

import re

import pytest

from spec.claims import ORDER, load_claims
from tests.verify.report.conftest import make_report
from tests.verify.report.site.parsed import html_of
from verify.report.findings.outline import outline
from verify.report.report_files import Report
from verify.report.site.claims.paper_stages import STAGES, staged
from verify.report.site.frame import SiteFrame
from verify.verdict import Verdict


@pytest.fixture(scope="module")
def files(report: Report, claims: dict) -> dict[str, str]:
    return html_of(report, claims)


def answer(page: str) -> str:
    return re.sub(r"<[^>]+>", "", re.findall(r'<p class="answer wide">(.*?)</p>', page, re.DOTALL)[0])


def test_the_first_sentence_is_the_answer_with_its_numbers(files: dict[str, str]) -> None:
    said = answer(files["pages/bias-bound.html"])
    assert said.startswith("Refuted as written: ≈\u00a0α−2 where O(α) is claimed (norm of the bias).")
    assert "Repaired it holds" in said
    assert (
        "O(α), as claimed (proven; measured ≈\u00a0α2)" in said
        or "O(α) (proven; measured ≈\u00a0α2), as claimed" in said
    )
    assert answer(files["pages/variance-bound.html"]).startswith("Refuted as written: 199.4 where ≤ 0.01 ± 1.2")


def test_the_answer_turns_with_the_verdict(claims: dict) -> None:
    report = make_report()
    rows = tuple(
        row.model_copy(update={"status": Verdict.SUPPORTED if row.reading == "as-written" else Verdict.REFUTED})
        if row.claim == "bias-bound" else row
        for row in report.summary
    )  # fmt: skip
    said = answer(html_of(report.model_copy(update={"summary": rows}), claims)["pages/bias-bound.html"])
    assert said.startswith("Holds as written: ")
    assert "Repaired it is refuted" in said


def test_added_hypotheses_are_named_in_the_answer() -> None:
    premises = [p for p in load_claims()["bias-bound"].premises if p.readings == ("repaired",)]
    said = answer(html_of(make_report(), load_claims())["pages/bias-bound.html"])
    assert premises
    for premise in premises:
        assert premise.id.replace("-", " ") in said


def test_steps_stand_from_loud_to_quiet_and_the_first_is_open(files: dict[str, str]) -> None:
    page = files["pages/bias-bound.html"]
    steps = re.findall(r'<details class="step" id="([^"]+)"( open)?', page)
    assert [name for name, _ in steps] == ["bias-bound/T1", "bias-bound/T3", "bias-bound/ramp"]
    assert [bool(is_open) for _, is_open in steps] == [True, False, False]


def test_each_reading_of_each_statement_has_its_evidence(report: Report, files: dict[str, str], claims: dict) -> None:
    for entry in outline(report, claims).statements:
        page = files[f"pages/{entry.id.split('/')[0]}.html"]
        for reading in entry.readings:
            assert f'id="{entry.id}.{reading.reading.replace(":", ".")}"' in page


def test_a_row_says_what_filters_look_at(files: dict[str, str]) -> None:
    page = files["pages/matrix.html"]
    (row,) = re.findall(r'<tr class="claim" id="bias-bound"([^>]*)>', page)
    data = dict(re.findall(r'data-(\w+)="([^"]*)"', row))
    assert data == {
        "stage": "oracle", "written": "REFUTED", "repaired": "SUPPORTED PROVEN", "alone": "REFUTED INCONCLUSIVE",
        "evidence": "numeric proven symbolic",
    }  # fmt: skip
    options = re.findall(r'<option value="([A-Z_]+)">', page)
    assert set(options) == {
        "REFUTED", "PROVEN", "SUPPORTED", "VACUOUS", "NOT_APPLICABLE", "FAULT", "NOT_CHECKED", "INCONCLUSIVE",
    }  # fmt: skip


def test_without_scripts_all_rows_show_and_the_tools_do_not(files: dict[str, str]) -> None:
    page = files["pages/matrix.html"]
    assert re.search(r'<form class="tools[^>]* hidden>', page)
    assert re.findall(r"<t[rdh][^>]* hidden", page) == []


def test_every_claim_of_the_paper_has_a_stage() -> None:
    assert sorted(name for _, _, names in STAGES for name in names) == sorted(ORDER)


def test_a_claim_of_no_stage_is_not_lost(report: Report) -> None:
    odd = report.results[0].model_copy(update={"claim": "made-up"})
    found = list(staged(outline(report.model_copy(update={"results": (odd,), "summary": ()}), {})))
    assert [(name, [claim.id for claim in claims]) for name, _, claims in found] == [("other", ["made-up"])]


def test_addresses_lead_from_the_front_and_from_within(report: Report, claims: dict) -> None:
    site = SiteFrame.of(report, claims)
    assert site.href("bias-bound/T1") == "bias-bound.html#bias-bound/T1"
    assert site.href("bias-bound/T1", "only:dual_term") == "bias-bound.html#bias-bound/T1.only.dual_term"
    assert site.at_front.href("bias-bound/T1") == "pages/bias-bound.html#bias-bound/T1"
    assert site.row("bias-bound/T1") == "matrix.html#bias-bound/T1"
    assert site.href("nothing/here") == ""
    assert site.link("nothing/here") == "<code>nothing/here</code>"
    assert (site.to_file("report.html"), site.at_front.to_file("report.html")) == ("../report.html", "report.html")
    assert site.to_file("pages/matrix.html") == "matrix.html"
    assert site.sentence("as bias-bound/T1 says") == (
        'As <a href="bias-bound.html#bias-bound/T1">bias-bound/T1</a> says'
    )
