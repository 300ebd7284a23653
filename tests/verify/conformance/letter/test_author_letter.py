"""What a conformance run found reaches the page of its report, and nothing of it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.conformance import judge
from verify.conformance.found import Diagnosis, Match, Reproduction, StageFinding
from verify.conformance.letter.author_letter import told
from verify.conformance.model import Conformance
from verify.report.report_files import Report

FOUND = Conformance(
    environment={}, seed=1, subject="mine:Subject", profile="conform",
    stages=(StageFinding(stage="hypergradient", status="diverges", sentence="3 of 4 are off.", compared=4, diverging=3),
            StageFinding(stage="optimise", status="not offered", sentence="Offers none.")),
    first="hypergradient",
    diagnoses=(Diagnosis(stage="hypergradient", sentence="line 6 = the right one + b (4 answers).", effect=2.5),),
    reproduction=Reproduction(sentence="Smallest instance found.", code="print(2)\n"), claims=(), notes=("A note.",),
    findings=("hypergradient: off",), faults=(), seconds=1.0,
)  # fmt: skip


def test_stages_diagnosis_and_smallest_case_are_told() -> None:
    letter = told(FOUND)
    assert [(stage.stage, stage.status, stage.compared, stage.diverging) for stage in letter.stages] == [
        ("hypergradient", "diverges", 4, 3),
        ("optimise", "not offered", 0, 0),
    ]
    assert letter.first == "hypergradient"
    assert [(one.stage, one.sentence, one.effect) for one in letter.wrong] == [
        ("hypergradient", "line 6 = the right one + b (4 answers).", "∇F off by up to 2.5")
    ]
    assert (letter.smallest, letter.code, letter.notes) == ("Smallest instance found.", "print(2)\n", ("A note.",))


def matching(*ids: str) -> Diagnosis:
    matches = tuple(
        Match(id=one, bug_type="paper-as-written", effect="it grows", caught_by=(), matches=True, distance=0.1,
              difference=0.0, compared=4) for one in ids
    )  # fmt: skip
    return Diagnosis(stage="hypergradient", sentence="line 6 = the right one + b.", effect=2.5, matches=matches)


@pytest.mark.parametrize(
    ("ids", "choices"),
    [
        (("keeps-dual-term",), ("dual_term",)), (("flipped-penalty",), ()), ((), ()),
        (("keeps-dual-term", "flipped-penalty"), ()),
    ],
)  # fmt: skip
def test_a_mistake_that_is_a_choice_of_the_paper_is_told_as_one(ids: tuple[str, ...], choices: tuple[str, ...]) -> None:
    (wrong,) = told(FOUND.model_copy(update={"diagnoses": (matching(*ids),)})).wrong
    assert wrong.choices == choices
    assert [id_ for id_, _ in wrong.known] == list(ids)


def test_the_page_written_beside_the_findings_says_what_is_wrong(tmp_path: Path) -> None:
    report = Report(
        environment={}, seed=1, profile="conform", subject="mine:Subject", results=(), summary=()
    )  # fmt: skip
    judge.write(FOUND.model_copy(update={"report": report}), tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Line 6 is wrong" in page
    assert "line 6 = the right one + b" in page
    assert "print(2)" in page
