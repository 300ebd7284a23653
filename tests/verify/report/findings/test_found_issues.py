"""What a reader must look at: every fault and finding, with the line of source where one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.report.findings.found_issues import Issue, SourceLine, SourceTree, issues_of, told
from verify.report.model import Result
from verify.report.report_files import Report
from verify.report.rows.letter import Letter, WrongTold
from verify.report.rows.summary_row import SummaryRow
from verify.verdict import Verdict

FAULT = "hypergradient raised ZeroDivisionError: division by zero (mine/steps.py:17 in step)"


def made(*results: Result, **more: object) -> Report:
    given = {"environment": {}, "seed": 1, "profile": "ci", "subject": "mine:Subject", "summary": ()} | more
    return Report(results=results, **given)


def result(verdict: Verdict | None, instance: str = "toy1", **more: object) -> Result:
    fields = {"claim": "bias-bound/T3", "reading": "repaired", "instance": instance, "verdict": verdict, "sentence": ""}
    return Result(**(fields | {"reproduce": f"f2csa verify {instance}"} | more))


@pytest.fixture
def tree(tmp_path: Path) -> SourceTree:
    (tmp_path / "work" / "src" / "mine").mkdir(parents=True)
    (tmp_path / "work" / "src" / "mine" / "steps.py").write_text("pass\n")
    (tmp_path / "outside.py").write_text("pass\n")
    return SourceTree.of({"GITHUB_WORKSPACE": str(tmp_path / "work")}, tmp_path / "work")


def test_a_fault_stands_first_at_its_line(tree: SourceTree) -> None:
    fallen = result(Verdict.REFUTED, "drawn:ties:7")
    finding = f"{fallen.where}: REFUTED, on record SUPPORTED. off by 3."
    found = issues_of(made(fallen, result(None, fault=FAULT), findings=(finding,)), tree)
    assert [(issue.level, issue.kind, issue.rule, issue.instance) for issue in found] == [
        ("error", "fault", "bias-bound/T3", "toy1"),
        ("error", "finding", "bias-bound/T3", "drawn:ties:7"),
    ]
    assert found[0].place == SourceLine("src/mine/steps.py", 17)
    assert found[1].place is None
    assert found[1].message == "REFUTED, on record SUPPORTED. off by 3."
    assert found[1].reproduce == "f2csa verify drawn:ties:7"


@pytest.mark.parametrize("named", ["gone.py", "../outside.py", "/etc/passwd"])
def test_only_files_of_the_checkout_are_places(tree: SourceTree, named: str) -> None:
    assert told([], [f"x: f raised E: e ({named}:3 in f)"], [], tree)[0].place is None


def test_a_job_in_a_folder_of_the_checkout_names_files_from_its_root(tmp_path: Path) -> None:
    (tmp_path / "solver").mkdir()
    (tmp_path / "solver" / "mine.py").write_text("pass\n")
    here = SourceTree.of({"GITHUB_WORKSPACE": str(tmp_path)}, tmp_path / "solver")
    assert here.find("mine.py") == "solver/mine.py"
    elsewhere = SourceTree.of({"GITHUB_WORKSPACE": str(tmp_path / "other")}, tmp_path / "solver")
    assert elsewhere.find("mine.py") == "mine.py"


def test_stages_and_lines_of_no_result_have_rules_of_their_own(tree: SourceTree) -> None:
    found = told(["activation: off by 2", "record: 3 gone"], [], [], tree, {"activation": ""})
    assert [(issue.rule, issue.message) for issue in found] == [
        ("stage/activation", "off by 2"),
        ("run", "record: 3 gone"),
    ]


def test_a_stage_says_what_it_computes_before_how_far_it_is_off(tree: SourceTree) -> None:
    (found,) = told(["activation: 3 of 9 are off"], [], [], tree, {"activation": "ρ = 1 (9 answers)."})
    assert (found.rule, found.message) == ("stage/activation", "ρ = 1 (9 answers). 3 of 9 are off")


def test_what_was_found_of_stages_after_a_run_stands_first(tree: SourceTree) -> None:
    fallen = result(Verdict.REFUTED)
    wrong = WrongTold(stage="hypergradient", sentence="line 6 = 2.", effect="", rest="It gives all 9 answers.")
    report = made(fallen, findings=(f"{fallen.where}: REFUTED. no",))
    found = issues_of(report.with_letter(Letter(stages=(), wrong=(wrong,))), tree)
    assert [(one.level, one.kind, one.rule) for one in found] == [
        ("warning", "cause", "stage/hypergradient"), ("error", "finding", "bias-bound/T3")
    ]  # fmt: skip
    assert found[0].message == "line 6 = 2. It gives all 9 answers."


def test_a_line_without_its_reading_is_of_the_repaired_one_where_it_names_a_claim(tree: SourceTree) -> None:
    fallen = result(Verdict.REFUTED)
    found = told(["bias-bound/T3 on toy1: refuted. off"], ["hypergradient on toy1: no answer"], [fallen], tree)
    assert [(issue.where, issue.message, issue.reproduce) for issue in found] == [
        ("run", "hypergradient on toy1: no answer", ""),
        ("bias-bound/T3 [repaired] on toy1", "refuted. off", "f2csa verify toy1"),
    ]


def test_a_refuted_repaired_statement_that_no_finding_names_is_a_warning(tree: SourceTree) -> None:
    rows = [
        SummaryRow(claim=name, reading=reading, status=Verdict.REFUTED, sentence="no", deciding="toy1")
        for name, reading in (("bias-bound/T1", "repaired"), ("bias-bound/T3", "repaired"), ("T", "as-written"))
    ]
    held = SummaryRow(claim="ok", reading="repaired", status=Verdict.SUPPORTED, sentence="")
    fallen = result(Verdict.REFUTED)
    report = made(fallen, summary=(*rows, held), findings=(f"{fallen.where}: REFUTED. no",))
    found = issues_of(report, tree)
    assert [issue.where for issue in found if issue.level == "warning"] == ["bias-bound/T1 [repaired] on toy1"]


def test_nothing_wrong_is_no_issue_and_an_interrupted_or_empty_comparison_is_one(tree: SourceTree) -> None:
    held = SummaryRow(claim="ok", reading="repaired", status=Verdict.SUPPORTED, sentence="")
    assert issues_of(made(result(Verdict.SUPPORTED), summary=(held,)), tree) == []
    silent = issues_of(made(result(Verdict.NOT_APPLICABLE), complete=False), tree)
    assert [(issue.rule, issue.level) for issue in silent] == [("run", "error")] * 2
    none = SummaryRow(claim="ok", reading="repaired", status=Verdict.INCONCLUSIVE, sentence="")
    (nothing,) = issues_of(made(result(Verdict.INCONCLUSIVE), summary=(none,)), tree)
    assert nothing == Issue("error", "run", "run", "no repaired statement about a solver holds for this subject")
