"""What a verdict is called: by what is asked and by whether the text says it; what is said where verdicts differ."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from spec.claims import Claim
from tests.verify.report.conftest import make_report
from tests.verify.report.site.parsed import html_of, together
from verify.report import prose, wording
from verify.report.findings.outline import StatementOutline, outline
from verify.report.formats.junit import render_junit
from verify.report.formats.markdown import render_markdown
from verify.report.formats.terminal import summary_table
from verify.report.rows.summary_row import SummaryRow
from verify.report.site.notebook import html_fragment
from verify.verdict import Verdict


def changed(claims: dict[str, Claim], **given: object) -> dict[str, Claim]:
    """The claims, with fields of ``bias-bound/T1`` given."""
    bias = claims["bias-bound"]
    steps = tuple(step.model_copy(update=given) if step.id == "T1" else step for step in bias.steps)
    return claims | {"bias-bound": bias.model_copy(update={"steps": steps})}


def entry(claims: dict[str, Claim], full: str = "bias-bound/T1") -> StatementOutline:
    return next(found for found in outline(make_report(), claims).statements if found.id == full)


@pytest.mark.parametrize(
    ("relation", "title", "word"),
    [
        ("said", "As written", "refuted"),
        ("implied", "As the text takes for granted", "refuted"),
        ("silent", "Not in the text", "not in the text; fails"),
        ("consequence", "Our consequence of the text", "not in the text, follows from it; fails"),
    ],
)
def test_as_written_stands_over_the_papers_words_alone(claims, relation, title, word):
    found = entry(changed(claims, relation=relation)).named["as-written"]
    assert (found.title, found.word) == (title, word)
    repaired = entry(changed(claims, relation=relation)).named["repaired"]
    assert (repaired.title, repaired.word) == ("Repaired", wording.word(repaired.status))


@pytest.mark.parametrize("relation", ["silent", "consequence"])
def test_what_is_not_said_is_not_counted_as_refuted_as_written(claims, relation):
    report = make_report()
    before, after = outline(report, claims), outline(report, changed(claims, relation=relation))
    assert after.counts["as-written"]["REFUTED"] == before.counts["as-written"]["REFUTED"] - 1
    assert after.counts["repaired"] == before.counts["repaired"]
    assert (before.counts.get("unsaid"), after.counts["unsaid"]) == (None, {"REFUTED": 1})
    assert "Of statements that the text does not make, 1 fails." in prose.overview(report, after)
    assert entry(claims, "bias-bound").refutations == "refuted: 1 as written"
    assert entry(changed(claims, relation=relation), "bias-bound").refutations == ""


def test_no_face_puts_as_written_over_what_is_not_said(claims, monkeypatch):
    report, told = make_report(), changed(claims, relation="consequence")
    text = render_markdown(report, told)
    assert "`bias-bound/T1`, our consequence of the text" in text.split("Not in the text, and not so")[1]
    assert "`bias-bound/T1`, as written" not in text
    assert "✗ not in the text, follows from it; fails" in text
    page = html_of(report, told)["pages/bias-bound.html"]
    section = page[page.index('id="bias-bound/T1.as-written"') :]
    assert section[: section.index("</summary>")].count("Our consequence of the text") == 1
    assert "As written" not in section[: section.index("</summary>")]
    table = summary_table(report, told).table
    assert any("not in the text, follows from it; fails" in str(cell) for cell in table.columns[1].cells)
    monkeypatch.setattr("verify.report.formats.junit.load_claims", lambda: told)
    cases = {case.get("name"): case for case in ElementTree.fromstring(render_junit(report).encode()).iter("testcase")}
    output = cases["bias-bound/T1 [as-written] toy1"].find("system-out")
    assert output.text.startswith("not in the text, follows from it; fails: ")
    assert cases["bias-bound/T1 [repaired] toy1"].find("system-out").text.startswith("supported: ")


@pytest.mark.parametrize(
    ("question", "verdict", "word"),
    [
        ("can-be-met", Verdict.SUPPORTED, "can be met"),
        ("can-be-met", Verdict.REFUTED, "cannot be met"),
        ("can-be-met", Verdict.VACUOUS, "cannot be met"),
        ("can-be-met", Verdict.INCONCLUSIVE, "inconclusive"),
        ("falls-inside", Verdict.REFUTED, "experiment falls outside"),
        ("falls-inside", Verdict.SUPPORTED, "experiment falls inside"),
        ("holds", Verdict.REFUTED, "refuted"),
    ],
)
def test_an_assumption_is_met_and_an_experiment_falls_inside_it(claims, question, verdict, word):
    statement = claims["bias-bound"].model_copy(update={"question": question})
    assert wording.told(verdict, statement, "as-written") == word
    assert wording.told(verdict, statement, "repaired") == word
    assert wording.told(verdict, None, "as-written") == wording.word(verdict)


def test_assumptions_are_asked_whether_they_can_be_met():
    from spec import load_claims

    for claim in load_claims().values():
        if claim.kind == "assumption":
            assert claim.question == "can-be-met", claim.id
    asked = {full: s.question for claim in load_claims().values() for full, s in claim.statements()}
    assert {full for full, question in asked.items() if question == "falls-inside"} == {
        "smoothness/experiment-data", "stochastic-oracles/experiment-noise",
    }  # fmt: skip


def test_an_experiment_that_falls_outside_refutes_nothing(claims):
    report = make_report()
    before, after = outline(report, claims), outline(report, changed(claims, question="falls-inside"))
    assert (before.outside, after.outside) == (0, 1)
    assert after.counts["as-written"]["REFUTED"] == before.counts["as-written"]["REFUTED"] - 1
    assert "In 1 place the paper's own experiment falls outside what is assumed." in prose.overview(report, after)
    held = with_status(report, "bias-bound", "as-written", Verdict.SUPPORTED)
    told = outline(held, changed(claims, question="falls-inside")).claims
    assert prose.remarks(next(found for found in told if found.id == "bias-bound")) == []


def with_status(report, claim: str, reading: str, status: Verdict):
    rows = tuple(
        row.model_copy(update={"status": status}) if (row.claim, row.reading) == (claim, reading) else row
        for row in report.summary
    )
    return report.model_copy(update={"summary": rows})


def test_a_claim_that_holds_although_a_step_does_not_says_so(claims):
    report = make_report()
    assert prose.remarks(entry(claims, "bias-bound")) == []
    held = with_status(report, "bias-bound", "as-written", Verdict.SUPPORTED)
    (bias,) = [found for found in outline(held, claims).claims if found.id == "bias-bound"]
    said = "As written, the statement holds although T1, which is no part of it, does not."
    assert prose.remarks(bias) == [said]
    assert said in render_markdown(held, claims)
    assert said in together(held, claims)
    told = outline(held, changed(claims, relation="silent")).claims
    assert prose.remarks(next(found for found in told if found.id == "bias-bound")) == []


def test_a_claim_that_falls_by_an_interaction_of_its_choices_says_so(claims):
    report = make_report()
    for choice in ("dual_term", "ramp_width"):
        assert prose.remarks(next(f for f in outline(report, claims).claims if f.id == "bias-bound")) == []
        report = with_status(report, "bias-bound", f"only:{choice}", Verdict.SUPPORTED)
    (bias,) = [found for found in outline(report, claims).claims if found.id == "bias-bound"]
    (said,) = prose.remarks(bias)
    assert "interaction of its choices: with dual_term and ramp_width" in said


def test_what_is_left_open_is_neither_unchecked_nor_a_verdict(claims):
    report = make_report()
    why = "Nothing was looked up."
    row = SummaryRow(claim="related-rates", reading="", status="LEFT_OPEN", sentence=why)
    rows = tuple(r for r in report.summary if r.claim != "related-rates")
    report = report.model_copy(update={"summary": (*rows, row)})
    arranged = outline(report, claims)
    found = next(f for f in arranged.claims if f.id == "related-rates")
    assert (found.left_open, found.unchecked, found.checked, arranged.left_open) == (why, False, False, 1)
    assert "1 more statement is left open for a reason." in " ".join(prose.overview(report, arranged))
    assert report.coverage == make_report().coverage
    text = render_markdown(report, claims)
    assert "*⋯ left open*" in text
    assert f"- `related-rates`: {why}" in text
    page = html_of(report, claims)["pages/related-rates.html"]
    assert why in page[page.index('id="related-rates"') :]
    assert "left open" in html_fragment(report, claims)
    case = next(c for c in ElementTree.fromstring(render_junit(report).encode()).iter("testcase")
                if c.get("name") == "related-rates")  # fmt: skip
    assert case.find("skipped").get("message") == f"left open: {why}"
