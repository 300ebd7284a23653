"""Corrections are what verdicts establish: the literal text fails, the repaired one holds; all else is open."""

from __future__ import annotations

import json

import pytest

from spec import InvalidInputError, load_claims
from tests import kept
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.summary import summarise
from verify.report.findings.corrections import corrections_in, corrections_json, corrections_markdown
from verify.report.findings.outline import outline
from verify.report.model import ReportData, Result
from verify.verdict import Verdict

CLAIMS = ["bias-bound/T3", "consistency/pair-order", "consistency/labels", "related-rates/deterministic-first-order"]


@pytest.fixture(scope="module")
def report():
    return kept.run(CLAIMS, readings=["as-written", "repaired"], profile="smoke")


def test_only_what_verdicts_establish_is_a_correction(report):
    found = corrections_in(report)
    assert [one.id for one in found.established] == ["bias-bound/T3", "consistency/pair-order"]
    for one in found.established:
        assert (one.as_written.verdict, one.repaired.verdict) == ("REFUTED", "SUPPORTED")
        assert one.as_written.rung
        assert one.as_written.command.startswith(f"f2csa verify {one.id} --reading as-written")
    # A statement that both texts share, or that was supported as written, corrects nothing.
    others = {one.id: one for one in found.others}
    assert "related-rates/deterministic-first-order" not in others or (
        others["related-rates/deterministic-first-order"].as_written.verdict == "SUPPORTED"
    )
    assert others["bias-bound/T1"].as_written.verdict == ""


def test_a_claim_of_which_only_some_steps_were_run_is_not_established(report):
    parent = next(one for one in corrections_in(report).others if one.id == "related-rates")
    assert parent.repaired.verdict == "PART"
    assert "not in the report" in parent.repaired.sentence


def test_what_the_text_does_not_say_is_not_corrected(report):
    found = corrections_in(report)
    known = {one.id for one in (*found.established, *found.others)}
    assert "bias-bound/T3" in known
    assert not known & {"consistency/labels", "bias-bound/holder-order", "goldstein-convergence/bias-potential"}


def test_a_verdict_is_decided_over_all_instances(report):
    turned = [
        result.model_copy(update={"verdict": "REFUTED"})
        if (result.claim, result.reading) == ("bias-bound/T3", "repaired") and position % 2
        else result
        for position, result in enumerate(report.results)
    ]
    found = corrections_in(report.model_copy(update={"results": tuple(turned)}))
    assert "bias-bound/T3" not in [one.id for one in found.established]


def test_a_fault_establishes_nothing(report):
    failed = [
        result.model_copy(update={"verdict": None, "fault": "boom"}) if result.claim == "bias-bound/T3" else result
        for result in report.results
    ]
    found = corrections_in(report.model_copy(update={"results": tuple(failed)}))
    one = next(one for one in found.others if one.id == "bias-bound/T3")
    assert one.as_written.verdict == "FAULT"
    assert "fault" in corrections_markdown(found)


def test_statements_whose_texts_do_not_differ_are_left_out(report):
    same = {full for claim in load_claims().values() for full, s in claim.statements() if s.as_written == s.repaired}
    assert same
    assert not same & {one.id for one in corrections_in(report).statements}


def test_the_diff_shows_both_texts_with_their_evidence(report):
    text = corrections_markdown(corrections_in(report, {"lemma:bias_bound": 7}))
    section = text.split("## bias-bound/T3")[1].split("\n## ")[0]
    assert "(label at line 7)" in section
    assert section.count("\n- as written: ") == section.count("\n+ repaired: ") == 1
    assert "refuted, certified" in section
    assert "`f2csa verify bias-bound/T3 --reading repaired" in section
    assert "* bias-bound/T1 (label at line 7): as written not in the report" in text
    assert text == corrections_markdown(corrections_in(report, {"lemma:bias_bound": 7}))


def test_as_json_it_is_plain_data(report):
    data = json.loads(json.dumps(corrections_json(corrections_in(report))))
    assert [one["id"] for one in data["corrections"]] == ["bias-bound/T3", "consistency/pair-order"]
    assert all(one["as_written"]["verdict"] != "REFUTED" or one["repaired"]["verdict"] != "SUPPORTED"
               for one in data["not_established"])  # fmt: skip


def test_the_first_line_counts_what_the_text_says_apart_from_what_it_takes_for_granted(report):
    found = corrections_in(report)
    assert (
        "Said by the text: 0 failing in every reading of their words, 1 holding in some. Taken for granted: 1 failing "
        "in every reading of their words, 0 holding in some."
    ) in corrections_markdown(found)
    assert {one.id: one.granted for one in found.established} == {
        "bias-bound/T3": False,
        "consistency/pair-order": True,
    }


def test_what_a_reading_leaves_undecided_is_no_correction():
    results = [
        Result(claim=claim, reading=reading, instance=instance, verdict=Verdict(verdict), sentence="")
        for key, verdict in shipped_record().items() for claim, reading, instance in [key.split("|")]
    ]  # fmt: skip
    summary = tuple(summarise(results, search=lambda _: None))
    made = ReportData(environment={}, seed=1, profile="ci", subject="reference", results=results, summary=summary)
    found = corrections_in(made)
    other = next(one for one in found.others if one.id == "bias-bound/L-H-lambda")
    assert other.as_written.verdict == "INCONCLUSIVE"
    # The first line has the numbers of every other page.
    counts = outline(made).counts
    told = corrections_markdown(found)
    assert f"Said by the text: {counts['as-written']['REFUTED']} failing in every reading" in told
    assert f"Taken for granted: {counts['granted']['REFUTED']} failing in every reading" in told


def test_an_empty_report_establishes_nothing(report):
    found = corrections_in(report.model_copy(update={"results": (), "summary": ()}))
    assert not found.established
    assert "\n0 of " in corrections_markdown(found)


def test_another_programs_report_says_nothing_of_the_paper(report):
    with pytest.raises(InvalidInputError, match="must be of the reference"):
        corrections_in(report.model_copy(update={"subject": "mine:Solver"}))
