"""The page of objections: each is answered by the run, or says that it is not."""

from __future__ import annotations

import re

from spec.claims import find, load_claims, premises_of
from spec.text.assertions import IN_THE_TEXT, load_assertions
from tests import kept
from tests.verify.report.site.story_reports import FELL, HELD, both, failing, holding, report, result
from verify.evidence.model import PremiseEvidence
from verify.report.report_files import Report
from verify.report.site.all_pages import site_files
from verify.report.site.claims.objections import DERIVED, FILE, WITHIN, Objection, refuted
from verify.report.site.frame import SiteFrame


def test_every_refutation_of_the_text_is_there_and_nothing_else() -> None:
    made = list(refuted(SiteFrame.of(failing())))
    assert "bias-bound/T1" in {one.entry.id for one in made}
    assert all(one.reading.status == "REFUTED" for one in made)
    assert list(refuted(SiteFrame.of(holding()))) == []
    assert FILE not in site_files(holding())


def test_what_the_text_does_not_say_is_not_defended() -> None:
    made = report([*both("bias-bound/from-two-lemmas", FELL, -2.0), *both("bias-bound/T1", FELL, -1.0)])
    assert [one.entry.id for one in refuted(SiteFrame.of(made))] == ["bias-bound/T1"]


def test_another_reading_that_was_not_run_leaves_its_objection_open() -> None:
    # As `summarise` has it the row would not be REFUTED: these rows are made by hand.
    made = report(both("bias-bound/T3", FELL, -2.0))
    (one,) = refuted(SiteFrame.of(made))
    assert not one.stands
    # Made by hand they have no premises evaluated either.
    assert {objection.says for objection in one.objections if not objection.answers} == {
        "You read our words in a way that we did not mean.", "Your problem breaks what we assume.",
    }  # fmt: skip
    page = site_files(made)[FILE]
    assert "Nothing in this run answers it." in page
    assert "To 1 of them an objection is left" in page


def test_each_other_reading_is_an_objection_with_where_it_fails_and_by_how_much() -> None:
    others = [name for name in find("bias-bound/T3").literal_readings if name != "as-written"]
    readings = [result("bias-bound/T3", name, FELL, 0.0) for name in others]
    (one,) = refuted(SiteFrame.of(report([*both("bias-bound/T3", FELL, -2.0), *readings])))
    said = {objection.says: objection.answers for objection in one.objections}
    meant = {says: answers for says, answers in said.items() if says.startswith("We meant: ")}
    assert len(meant) == len(others)
    assert set(meant.values()) == {("Then it is refuted on toy1, ≈ α⁰ where O(α) is claimed.",)}
    assert any("ỹ* and λ̃ maps of x" in says for says in meant)
    # Choices that the formula's quantities hang on and that the statement does not offer: nothing changes with them.
    hidden = [answers for says, answers in said.items() if says.startswith("You left out a choice")]
    assert hidden
    assert all("the same under each of its values" in answer for (answer,) in hidden)


def test_in_a_run_only_what_is_not_the_papers_words_stays_open() -> None:
    made = list(refuted(SiteFrame.of(kept.run(["bias-bound", "solution-error", "sfo-complexity"], profile="smoke"))))
    shown = {one.entry.id for one in made}
    assert {"bias-bound", "sfo-complexity"} <= shown
    assert "solution-error" not in shown, "it falls with a part that holds in some readings of its words"
    open_ones = {one.entry.id: [o.says for o in one.objections if not o.answers] for one in made if not one.stands}
    asserted = {full for one in load_assertions().assertions for full in {*one.covered_by} - {*one.beside}
                if one.kind in IN_THE_TEXT and not one.granted}  # fmt: skip
    # What these three take from other lemmas was not asked.
    lacking = {full for full, says in open_ones.items() if says == ["Your problem breaks what we assume."]}
    assert lacking == {"sfo-complexity", "sfo-complexity/inner-loops", "sfo-complexity/larger-alpha"}
    silent = open_ones.keys() - lacking
    assert "bias-bound/alpha-to-zero" in silent and not asserted & silent
    assert all(open_ones[full] == ["We do not say that."] for full in silent)


def objection(made: Report, full: str, says: str) -> Objection:
    (one,) = (one for one in refuted(SiteFrame.of(made)) if one.entry.id == full)
    return next(objection for objection in one.objections if objection.says == says)


BREAKS = "Your problem breaks what we assume."


def test_a_premise_that_the_text_takes_from_a_lemma_of_its_own_is_answered_by_what_became_of_that() -> None:
    costs = [*both("sfo-complexity", FELL, -9.0), *both("inner-cost", FELL, -6.0)]
    assert objection(report(costs), "sfo-complexity", BREAKS).answers == ()
    whole = report([*costs, *both("goldstein-convergence", HELD, -3.0)])
    assert objection(whole, "sfo-complexity", BREAKS).answers == (
        "“outer” is what the text takes from goldstein-convergence (supported).",
        "“inner” is what the text takes from inner-cost (refuted).",
    )


def test_one_premise_that_nothing_evaluates_or_that_fails_leaves_it_open() -> None:
    asked = [one for one in premises_of("bias-bound/T3") if "as-written" in one.readings and not one.under]
    met = [PremiseEvidence(premise=one.id, holds=True, finding="it holds") for one in asked]
    broken = [met[0].model_copy(update={"holds": False}), *met[1:]]
    for evidence, answers in ((met, len(met)), (met[1:], 0), (broken, 0)):
        written, repaired = both("bias-bound/T3", FELL, -2.0)
        made = report([written.model_copy(update={"evidence": (*written.evidence, *evidence)}), repaired])
        assert len(objection(made, "bias-bound/T3", BREAKS).answers) == answers


def test_where_it_stands_answers_nothing() -> None:
    (one,) = (one for one in refuted(SiteFrame.of(report(both("bias-bound/alpha-to-zero", FELL, -2.0)))))
    said = next(objection for objection in one.objections if objection.says == "We do not say that.")
    assert said.answers == ()
    assert any("hypothesis on α" in line for line in said.about)


def test_one_that_holds_under_another_reading_is_not_refuted() -> None:
    others = [name for name in find("bias-bound/T3").literal_readings if name != "as-written"]
    readings = [result("bias-bound/T3", name, HELD, 2.0) for name in others]
    made = report([*both("bias-bound/T3", FELL, -2.0), *readings])
    assert list(refuted(SiteFrame.of(made))) == []


def test_a_report_on_another_program_has_no_such_page() -> None:
    assert FILE not in site_files(report(both("bias-bound/T3", FELL, -2.0), subject="pkg:Mine"))


def bounds_objected(made: Report) -> list[tuple[str, ...]]:
    (one,) = refuted(SiteFrame.of(made))
    return [said.answers for said in one.objections if said.says.startswith("We assume bounded gradients")]


def test_quadratics_without_bounded_gradients_are_answered_by_the_papers_own_note() -> None:
    assert bounds_objected(report(both("bias-bound/T3", FELL, -2.0))) == [(WITHIN,)]
    # An assumption itself is asked of no problem that could break it.
    assert bounds_objected(report(both("lipschitz-solution/domain", FELL, -2.0))) == []


def test_no_statement_of_what_is_derived_has_a_bound_on_gradients_in_it() -> None:
    # Its number would be another on a larger set.
    for claim in load_claims().values():
        for said in (claim, *claim.steps) if claim.kind in DERIVED else ():
            assert not {"L_f", "L_g"} & {*re.findall(r"L_\w", said.as_written.latex + said.repaired.latex)}, said.id
