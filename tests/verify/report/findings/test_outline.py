"""The outline joins claims with results and leaves nothing out."""

from __future__ import annotations

from verify.report.findings.outline import outline
from verify.report.findings.reading_outline import anchor
from verify.report.report_files import Report


def test_keeps_the_order_of_the_claims_and_drops_those_outside_the_run(report: Report, claims: dict) -> None:
    assert [claim.id for claim in outline(report, claims).claims] == list(claims)
    part = report.model_copy(update={"results": report.results[:1], "summary": ()})
    assert [claim.id for claim in outline(part, claims).claims] == ["bias-bound"]


def test_a_result_without_a_claim_on_record_is_kept(report: Report) -> None:
    arranged = outline(report, {})
    assert {entry.id for entry in arranged.statements} >= {"bias-bound", "bias-bound/T1", "variance-bound"}


def test_steps_say_whether_they_were_checked(report: Report, claims: dict) -> None:
    bias = next(claim for claim in outline(report, claims).claims if claim.id == "bias-bound")
    assert {step.id: step.checked for step in bias.steps} == {
        "bias-bound/T1": True,
        "bias-bound/T3": True,
        "bias-bound/ramp": False,
    }
    assert bias.refutations == "refuted: 1 as written"


def test_a_run_of_one_step_shows_that_step_alone_under_its_claim(report: Report, claims: dict) -> None:
    results = tuple(result for result in report.results if result.claim == "bias-bound/T1")
    rows = tuple(row for row in report.summary if row.claim == "bias-bound/T1")
    arranged = outline(report.model_copy(update={"results": results, "summary": rows}), claims)
    assert [entry.id for entry in arranged.statements] == ["bias-bound", "bias-bound/T1"]
    assert (arranged.claims[0].checked, arranged.claims[0].unchecked, arranged.unchecked) == (False, False, 0)


def test_counts_add_up(report: Report, claims: dict) -> None:
    arranged = outline(report, claims)
    for reading, counts in arranged.counts.items():
        assert sum(counts.values()) == sum(reading in entry.named for entry in arranged.statements)
    assert arranged.unchecked == 3
    assert arranged.instances == 4


def test_readings_come_named_first_then_isolated(report: Report, claims: dict) -> None:
    bias = next(claim for claim in outline(report, claims).claims if claim.id == "bias-bound")
    names = [found.reading for found in bias.readings]
    assert names == ["as-written", "repaired", "only:dual_term", "only:ramp_width"]
    assert bias.readings[2].claimed_exponent(bias.readings[2].results[0].evidence[0]) == 1.0


def test_the_deciding_result_comes_first(report: Report, claims: dict) -> None:
    rows = tuple(
        row.model_copy(update={"deciding": "a-zero"}) if row.claim == "bias-bound" else row for row in report.summary
    )
    bias = next(
        claim
        for claim in outline(report.model_copy(update={"summary": rows}), claims).claims
        if claim.id == "bias-bound"
    )
    assert [result.instance for result in bias.named["repaired"].results][:2] == ["a-zero", "toy1"]


def test_premises_say_what_became_of_them(report: Report, claims: dict) -> None:
    bias = next(claim for claim in outline(report, claims).claims if claim.id == "bias-bound")
    states = {item.premise.id: {name: found[0] for name, found in item.findings.items()} for item in bias.premises}
    assert states == {
        "strict-complementarity": {"as-written": "partly", "repaired": "met"},
        "bounded": {"as-written": "impossible", "repaired": "quiet"},
        "hessian-lipschitz": {"as-written": "quiet", "repaired": "quiet"},
    }
    taken = next(item for item in bias.premises if item.premise.taken_from)
    assert {found[1] for found in taken.findings.values()} == {"not asked", "taken from solution-error"}


def test_a_premise_that_nothing_examined_says_why_it_has_no_formula(report: Report, claims: dict) -> None:
    bare = report.model_copy(update={"results": tuple(r.model_copy(update={"evidence": ()}) for r in report.results)})
    bias = next(claim for claim in outline(bare, claims).claims if claim.id == "bias-bound")
    told = {item.premise.id: item.findings["as-written"][1] for item in bias.premises}
    assert told["bounded"] == "not examined: a supremum"
    assert told["strict-complementarity"] == "not examined"


def test_anchors_are_distinct() -> None:
    assert anchor("bias-bound/T1", "only:dual_term") == "bias-bound.T1.only.dual_term"
    assert anchor("bias-bound") == "bias-bound"
