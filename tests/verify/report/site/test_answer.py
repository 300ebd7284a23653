"""The opening says what the run found: other verdicts, other sentences."""

from __future__ import annotations

import pytest

from tests.verify.report.site.story_reports import FELL, HELD, both, failing, holding, report, result
from verify.report.faces import Report
from verify.report.site.answer import answer, asked, numeral, tallied
from verify.report.site.failure_causes import causes
from verify.report.site.frame import Site
from verify.verdict import Verdict


def told(made: Report) -> str:
    site = Site.of(made).at_front
    found = answer(site, causes(site))
    return " ".join([found.short, *(part.striptags() for part in found.said), found.repaired.striptags()])


def test_what_fails_is_told_with_its_numbers_and_causes() -> None:
    said = told(failing())
    assert said.startswith("Not as written. The gradient estimate is off by α−2 where O(α) is claimed")
    assert "a run costs ε−9 samples where O(ε⁻⁵ δ⁻¹) is claimed" in said
    assert "Five faults cause this." in said
    assert said.endswith("both rates hold.")


def test_another_exponent_is_another_sentence() -> None:
    said = told(failing(-3.0))
    assert "α−3" in said
    assert "α−2" not in said


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
    site = Site.of(report([result("bias-bound/T1", "as-written", verdict)]))
    assert answer(site, ()).short == short


def test_what_fails_repaired_is_named() -> None:
    said = told(report(both("bias-bound/T1", FELL, -1.0, repaired=FELL)))
    assert "Repaired, 0 of 1 hold; not bias-bound/T1." in said
    assert "both rates" not in said


def test_the_repaired_reading_alone_is_told_as_such() -> None:
    site = Site.of(report([result("bias-bound/T1", "repaired", HELD)]))
    found = answer(site, ())
    assert found.short == "The text as written was not asked."
    assert "the text as written was not asked" in found.asked


def test_a_part_says_what_it_asked() -> None:
    site = Site.of(report(both("bias-bound/T3", FELL, -2.0)))
    assert asked(site).startswith("Asked: 1 proof step of ")


def test_counts_stand_in_words_with_the_worst_first() -> None:
    site = Site.of(report([*both("bias-bound/T1", FELL, -1.0), *both("bias-bound/T2", HELD, 1.0)]))
    assert "as written, 1 is refuted and 1 holds; repaired, 2 hold" in tallied(site)
    assert tallied(Site.of(report([]))) == ""


def test_hypotheses_are_those_that_the_run_shows_to_be_needed() -> None:
    with_it = [*both("bias-bound/uniformity", FELL, 0.0), *both("bias-bound", HELD, 1.0)]
    added = answer(Site.of(report(with_it)), ()).hypotheses
    assert [name for name, _ in added] == ["strict complementarity"]
    without = [*both("bias-bound/uniformity", HELD, 1.0), *both("bias-bound", HELD, 1.0)]
    assert answer(Site.of(report(without)), ()).hypotheses == []


def test_small_counts_are_words() -> None:
    assert (numeral(5, opening=True), numeral(9), numeral(40)) == ("Five", "nine", "40")
