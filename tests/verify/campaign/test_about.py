"""Whom a statement is about: a foreign subject is asked, and credited, what is said of a solver alone."""

from __future__ import annotations

import pytest

import verify
from spec import InvalidInputError, load_claims
from spec.claims import find
from verify.campaign.baseline.model import Baseline
from verify.campaign.plan import DEFAULT_SEED, plan
from verify.checks.measuring.case import checks, find_profile
from verify.conformance import judge
from verify.report.formats.badge import badge_of
from verify.report.prose import title
from verify.subjects import MissingCapabilityError, ReferenceSubject
from verify.subjects.stage_table import CAPABILITIES
from verify.subjects.subject_names import name_of

STATEMENTS = {full: statement for claim in load_claims().values() for full, statement in claim.statements()}


class Missing:
    """Offers every stage, and refuses every call."""

    def __getattr__(self, stage):
        if stage not in CAPABILITIES:
            raise AttributeError(stage)

        def refuse(*_):
            raise MissingCapabilityError("not today")

        return refuse


class Own(ReferenceSubject):
    """Right, and called by a name that is not its own."""

    name = "reference"


def test_what_a_check_needs_of_a_subject_says_whom_its_statement_is_about():
    for full, check in checks().items():
        assert (STATEMENTS[full].about == "subject") == bool(check.needs), full


@pytest.mark.parametrize("named", [(), ("smoothness", "bias-bound"), ("related-rates", "solution-error")])
def test_of_a_foreign_subject_only_what_is_about_it_is_planned(named):
    tasks = plan(named, ("repaired",), (), find_profile("smoke"), "mine:Subject", DEFAULT_SEED)
    assert tasks
    assert {find(task.claim).about for task in tasks} == {"subject"}
    of_the_paper = plan(named, ("repaired",), (), find_profile("smoke"), "reference", DEFAULT_SEED)
    assert {task.claim for task in tasks} < {task.claim for task in of_the_paper}


def test_mathematics_alone_cannot_be_asked_of_a_subject():
    with pytest.raises(InvalidInputError, match="must say something about a solver"):
        verify.run(["smoothness"], subject=Own())


def test_the_references_name_is_its_own():
    assert name_of(Own()) == "Own"
    assert name_of(ReferenceSubject()) == "reference"


def test_a_report_of_a_foreign_subject_speaks_of_it():
    report = verify.run(["bias-bound/T3", "smoothness/licq"], subject=Own(), instances=["toy1"], profile="smoke")
    assert title(report) == "Does Own do what the paper says?"
    assert {row.about for row in report.summary} == {result.about for result in report.results} == {"subject"}
    assert "put to “Own” on 1 instance" in str(report).replace("\n", " ")
    assert str(report.coverage) == "1 of 1 statements about a solver hold"
    assert {entry.claim for entry in Baseline.of(report).results} == {"bias-bound/T3"}


def test_nothing_compared_is_no_success_anywhere(tmp_path):
    claims = ["bias-bound", "goldstein-convergence/clip"]
    report = verify.run(claims, subject=Missing(), instances=["toy1"], profile="smoke")
    assert report.nothing_compared
    assert report.exit_code == 3
    assert badge_of(report).message == "nothing could be asked"
    assert "no comparison was made" in " ".join(str(report).split())
    report.write(tmp_path)
    assert "nothing that was asked applies" in (tmp_path / "junit.xml").read_text()
    found = judge.conform(Missing(), claims=["bias-bound/T3"], estimates=2_000)
    assert found.exit_code == 3
    assert "no comparison was made" in str(found)


def test_a_part_that_cannot_be_asked_is_said():
    class Part(Missing):
        def hypergradient(self, *given):
            return ReferenceSubject().hypergradient(*given)

    report = verify.run(["bias-bound/T3", "solution-error/monotonicity"], subject=Part(), instances=["toy1"],
                        readings=["repaired"], profile="smoke")  # fmt: skip
    assert str(report.coverage) == "1 of 2 statements about a solver could be asked; it holds"
    assert badge_of(report).colour == "yellow"
    assert report.exit_code == 0
