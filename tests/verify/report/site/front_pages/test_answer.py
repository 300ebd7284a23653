"""The opening says what the run found: other verdicts, other sentences."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from markupsafe import Markup

from spec.claims import load_claims
from tests.verify.report.site.story_reports import FELL, HELD, both, failing, holding, report, result
from verify.report.findings.reading_sets import LiteralReading, ReadingSet
from verify.report.prose import tallied
from verify.report.report_files import Report
from verify.report.site.causes.added_hypotheses import LEADS, RATES, AddedHypothesis, asked_by_rates, hypothesis_texts
from verify.report.site.causes.failure_causes import causes
from verify.report.site.frame import SiteFrame
from verify.report.site.front_pages.answer import _kindest, answer, asked, numeral
from verify.report.site.front_pages.story import pages
from verify.verdict import Verdict


def told(made: Report) -> str:
    site = SiteFrame.of(made).at_front
    found = answer(site, causes(site))
    return " ".join([found.short, *(part.striptags() for part in found.sentences), found.repaired.striptags()])


def test_what_fails_is_told_with_its_numbers_and_causes() -> None:
    said = told(failing())
    assert said.startswith("Not as written. The gradient estimate is off by ≈ α−2 where O(α) is claimed")
    assert "a run costs ≈ ε−9 gradients where O(ε⁻⁵ δ⁻¹) is claimed" in said
    assert "Six faults cause this." in said
    assert said.endswith(
        "Repaired: the bias is O(α), proven for every problem that meets its premises where f and g are quadratic; a "
        "run costs O(ε⁻⁵ δ⁻¹) gradients if lines 3, 5 and 6 share one sample, and O(ε⁻⁹ δ⁻¹) with fresh ones, "
        "derived, and measured on 1 instance."
    )


def test_another_exponent_is_another_sentence() -> None:
    said = told(failing(-3.0))
    assert "α−3" in said
    assert "α−2" not in said


def test_a_rate_that_falls_with_a_part_is_not_told_by_the_parts_number_alone() -> None:
    made = report([*both("sfo-complexity", FELL, -9.0), *both("sfo-complexity/noise-proportional", FELL, 0.0)])
    part = next(one for one in made.results if one.claim.endswith("noise-proportional"))
    rows = tuple(
        row.model_copy(update={"reproduce": part.reproduce, "deciding": part.instance})
        if (row.claim, row.reading) == ("sfo-complexity", "as-written") else row
        for row in made.summary
    )  # fmt: skip
    changed = made.model_copy(update={"summary": rows})
    said = told(changed)
    assert (
        "“Total number of stochastic gradient calls” falls with its part sfo-complexity/noise-proportional: ≈ α0"
        in said
    )
    assert "a run costs" not in said.lower()
    assert causes(SiteFrame.of(changed)) == ()
    assert [cause.text.name for cause in causes(SiteFrame.of(made))] == ["uncounted-loops"]


def test_where_all_holds_nothing_fails() -> None:
    said = told(holding())
    assert "Not as written" not in said
    assert said.startswith("As far as it was asked, yes.")
    assert "fault" not in said


def test_nothing_asked_is_said() -> None:
    said = told(report([]))
    assert said.startswith("Nothing was asked. No check was run: 17 claims on record")


def test_faults_are_said() -> None:
    made = report([result("bias-bound/T3", "as-written", None, fault="it crashed")])
    said = told(made)
    assert "Undecided." in said
    assert "1 run ended in a fault and gave no verdict." in said


def test_an_interrupted_run_is_a_part() -> None:
    assert "The run was interrupted" in told(report(both("bias-bound/T3", FELL, -2.0), complete=False))


@pytest.mark.parametrize(
    ("verdict", "short"),
    [
        (FELL, "Not as written."),
        (HELD, "As far as it was asked, yes."),
        (Verdict.VACUOUS, "Not as written."),
        (Verdict.INCONCLUSIVE, "Undecided."),
    ],
)
def test_the_short_answer_is_the_verdict(verdict: Verdict, short: str) -> None:
    site = SiteFrame.of(report([result("bias-bound/T1", "as-written", verdict)]))
    assert answer(site, ()).short == short


def test_what_the_text_takes_for_granted_is_asked_and_called_so() -> None:
    made = report(both("bias-bound/L-H-y", FELL, -1.0))
    assert told(made).startswith(
        "Not in what it takes for granted. Of 1 statement that the text takes for granted, 1 is"
    )
    assert "was not asked" not in asked(SiteFrame.of(made))
    assert told(report([*both("bias-bound/T1", FELL, -1.0), *both("bias-bound/L-H-y", HELD, 1.0)])).startswith(
        "Not as written. Of 1 statement asked as written, 1 is refuted; of 1 statement that the text takes for granted"
    )


def test_what_fails_repaired_is_named() -> None:
    said = told(report(both("bias-bound/T1", FELL, -1.0, repaired=FELL)))
    assert "Repaired, 0 of 1 hold; not bias-bound/T1." in said
    assert "the bias is" not in said


def test_the_repaired_reading_alone_is_told_as_such() -> None:
    site = SiteFrame.of(report([result("bias-bound/T1", "repaired", HELD)]))
    found = answer(site, ())
    assert found.short == "The text as written was not asked."
    assert "the text as written was not asked" in found.scope


def test_a_part_says_what_it_asked() -> None:
    site = SiteFrame.of(report(both("bias-bound/T3", FELL, -2.0)))
    assert asked(site).startswith("Asked: 1 proof step of ")


def test_counts_stand_in_words_with_the_worst_first() -> None:
    site = SiteFrame.of(report([*both("bias-bound/T1", FELL, -1.0), *both("bias-bound/T2", HELD, 1.0)]))
    assert "as written, 1 is refuted and 1 holds; repaired, all of them asked together, 2 hold" in tallied(site.outline)
    assert tallied(SiteFrame.of(report([])).outline) == ""


def test_hypotheses_are_those_that_the_run_shows_to_be_needed() -> None:
    with_it = [*both("bias-bound/uniformity", FELL, 0.0), *both("bias-bound", HELD, 1.0)]
    (added,) = answer(SiteFrame.of(report(with_it)), ()).added
    assert (added.premise, added.instance) == ("strict-complementarity", "toy1")
    assert added.asking.striptags() == "bias-bound"
    assert "the largest bias is ≈ α0, claimed O(α)" in added.without.striptags()
    assert added.href.endswith("bias-bound.html#bias-bound/uniformity")
    without = [*both("bias-bound/uniformity", HELD, 1.0), *both("bias-bound", HELD, 1.0)]
    assert answer(SiteFrame.of(report(without)), ()).added == ()


def test_which_rate_asks_for_which_hypothesis_follows_from_what_it_rests_on() -> None:
    site = SiteFrame.of(report(both("bias-bound", HELD, 1.0)))
    rates = {"bias-bound": "the bias", "sfo-complexity": "the cost"}

    def one(title: str, *claims: str) -> AddedHypothesis:
        nothing = Markup("")
        return AddedHypothesis(title, title, nothing, nothing, claims, nothing, "", "")

    added = [one("Wide", "hypergradient-accuracy"), one("Smooth", "bias-bound"), one("Free", "goldstein-convergence")]
    assert asked_by_rates(site, added, rates) == (
        "The bias asks for smooth; the cost asks for these and free; hypergradient accuracy asks for wide besides."
    )
    assert asked_by_rates(site, added[2:], rates) == "The cost asks for free."
    assert asked_by_rates(site, [], rates) == ""


def test_hypotheses_of_single_steps_stand_apart_from_those_not_shown_to_be_needed() -> None:
    rough = result("bias-bound/holder-order", "as-written", FELL)
    mended = result("bias-bound/holder-order", "repaired", HELD)
    found = answer(SiteFrame.of(report([rough, mended, *both("bias-bound", HELD, 1.0)])), ())
    told = {str(one.asks): (one.asking.striptags(), one.is_needed) for one in found.others}
    assert told["The second derivatives of f and g are Lipschitz continuous near (x, y*(x))"] == ("bias-bound/T3", True)
    assert told["Rows that an error of the pair switches on together are linearly independent"][1] is False
    assert [one.lead for one in found.others] == sorted((one.lead for one in found.others), key=LEADS.index)
    assert not {one.premise for one in found.added} & {"independent-rows", "lipschitz-hessian"}


def test_what_a_step_is_granted_stands_by_itself_on_the_front_page() -> None:
    limit = "sfo-complexity/noise-free-limit"
    added = [*both("bias-bound/uniformity", FELL, 0.0), *both("bias-bound", HELD, 1.0)]
    site = SiteFrame.of(report([*both(limit, HELD, -5.0), *added]))
    others = {str(one.asks): one for one in answer(site, ()).others}
    granted = others["Some rows are active and keep their weight, but fewer than y has components"]
    assert (granted.asking.striptags(), granted.lead) == (limit, LEADS[-1])
    assert [one for one in others.values() if one.lead == LEADS[-1]] == [granted]
    assert f"<li><b>{LEADS[-1]}</b>" in pages(site)[0].body


def test_another_number_without_a_hypothesis_is_another_sentence() -> None:
    made = report([*both("bias-bound/uniformity", FELL, -3.0), *both("bias-bound", HELD, 1.0)])
    (added,) = answer(SiteFrame.of(made), ()).added
    assert "the largest bias is ≈ α−3, claimed O(α)" in added.without.striptags()


def test_without_a_number_no_sentence_about_one_is_told() -> None:
    empty = result("bias-bound/uniformity", "as-written", Verdict.VACUOUS).model_copy(
        update={"measured": None, "interval": None, "evidence": ()}
    )
    held = result("bias-bound/uniformity", "repaired", HELD)
    (added,) = answer(SiteFrame.of(report([empty, held, *both("bias-bound", HELD, 1.0)])), ()).added
    assert added.without == "the statement that shows its need comes out as vacuous"


def test_every_hypothesis_that_may_be_added_is_told_and_no_other() -> None:
    possible = {
        premise.id for name in RATES for premise in load_claims()[name].premises
        if premise.shown_by and "as-written" not in premise.readings
    }  # fmt: skip
    assert set(hypothesis_texts()) == possible


@pytest.mark.parametrize("verdict", [FELL, Verdict.INCONCLUSIVE])
def test_a_cost_that_does_not_hold_with_fresh_samples_is_named_in_the_headline(verdict: Verdict) -> None:
    fresh = ("sfo-complexity", "repaired")
    changed = [
        one.model_copy(update={"verdict": verdict}) if (one.claim, one.reading) == fresh else one
        for one in failing().results
    ]  # fmt: skip
    said = told(report(changed))
    assert "not sfo-complexity." in said
    assert "a run costs O" not in said


def test_small_counts_are_words() -> None:
    assert (numeral(5, opening=True), numeral(9), numeral(40)) == ("Five", "nine", "40")


def test_what_does_not_apply_to_what_was_run_is_no_failure_and_no_success() -> None:
    absent = both("bias-bound/T2", FELL, -1.0, repaired=Verdict.NOT_APPLICABLE)
    said = told(report([*both("bias-bound/T1", FELL, -1.0), *absent]))
    assert "Repaired, 1 of 2 hold; bias-bound/T2 does not apply here." in said
    worse = told(report([*both("bias-bound/T1", FELL, -1.0, repaired=FELL), *absent]))
    assert "Repaired, 0 of 2 hold; not bias-bound/T1; bias-bound/T2 does not apply here." in worse


def readings(*found: tuple[str, str, float]) -> ReadingSet:
    literal = tuple(
        LiteralReading(f"r{k}", (f"v{k}",), status, measured, "O(α)", off)
        for k, (status, measured, off) in enumerate(found)
    )
    return ReadingSet("bias-bound", "", literal, ())


@pytest.mark.parametrize(
    ("literal", "said"),
    [
        (readings((FELL, "α⁻²", 3.0), (FELL, "α⁻¹", 2.0)), "The kindest reading still gives α⁻¹."),
        # What cannot be met under a reading gives no number, and hides none.
        (readings((FELL, "α⁻²", 3.0), (Verdict.VACUOUS, "", 0.0), (FELL, "α⁻¹", 2.0)),
         "The kindest reading still gives α⁻¹."),
        (readings((FELL, "α⁻²", 3.0), (HELD, "", 0.0)), ""),
        (readings((FELL, "α⁻²", 3.0), (FELL, "", 2.0)), ""),
    ],
)  # fmt: skip
def test_the_kindest_of_readings_that_all_fail_is_told(literal: ReadingSet, said: str) -> None:
    entry = SimpleNamespace(named={"as-written": SimpleNamespace(status=Verdict.REFUTED)}, literal=literal)
    assert str(_kindest(cast("SiteFrame", SimpleNamespace(statements={"bias-bound": entry})))) == said
