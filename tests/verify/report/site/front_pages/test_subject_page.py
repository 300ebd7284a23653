"""A foreign program's report is about that program: its stages, what fails, what could not be asked."""

from __future__ import annotations

import re

import pytest

from tests.verify.report.site.story_reports import FELL, HELD, report, result
from verify.report.model import Result
from verify.report.report_files import Report
from verify.report.rows.letter import Letter, StageTold, WrongTold
from verify.report.site.all_pages import site_files
from verify.report.site.frame import SiteFrame
from verify.report.site.front_pages import subject_page
from verify.report.site.front_pages.subject_page import conform_command, headline, told
from verify.verdict import Verdict

FAILING = (
    result("bias-bound/T3", "repaired", FELL, -2.0),
    result("bias-bound/T1", "repaired", HELD),
)
LETTER = Letter(
    stages=(
        StageTold(stage="activation", status="agrees", sentence="81 answers agree.", compared=81),
        StageTold(stage="hypergradient", status="diverges", sentence="74 of 220 are off.", compared=220, diverging=74),
        StageTold(stage="optimise", status="not offered", sentence="Not applicable: the subject offers no optimise."),
    ),
    first="hypergradient",
    wrong=(
        WrongTold(
            stage="hypergradient", sentence="line 6 = the right one + α₁·Aᵀλ̃ (46 answers are as it says).",
            effect="∇F off by up to 1.3e+04", rest="This is not all: 28 are not as it says.",
            known=(("keeps-dual-term", "it grows like α⁻²"),),
        ),
    ),
    smallest="Smallest instance found (n = 1): it answers 55 where it must be 5.", code="print(1)\n",
    notes=("A note.",),
)  # fmt: skip


def silent(claim: str, why: str) -> Result:
    return result(claim, "repaired", Verdict.NOT_APPLICABLE).model_copy(
        update={"sentence": f"Not applicable: the subject offers no {why}.", "measured": None, "interval": None}
    )


def mine(*results: Result, letter: Letter | None = None) -> Report:
    return report(results, subject="mine:Subject").with_letter(letter)


def body(made: Report) -> str:
    (page,) = subject_page.pages(SiteFrame.of(made))
    return str(page.body)


def test_the_menu_names_the_program_and_no_story() -> None:
    menus = {
        subject: re.findall(r'<nav class="page top".*?</nav>', site_files(made)["pages/matrix.html"], re.S)
        for subject, made in (("mine", mine(*FAILING)), ("paper", report(FAILING)))
    }
    assert 'href="../report.html">The program</a>' in menus["mine"][0]
    assert "story" not in menus["mine"][0]
    assert 'href="../report.html">The story</a>' in menus["paper"][0]


def test_what_is_wrong_comes_first_by_name() -> None:
    page = body(mine(*FAILING, letter=LETTER))
    assert "<h1" in page
    assert "Line 6 is wrong; the rest agrees</h1>" in page
    assert "<p>This is not all: 28 are not as it says.</p>" in page
    assert page.index("line 6 = the right one") < page.index("Stage by stage") < page.index("What fails")
    assert "1.3 × 10<sup>4</sup>" in page
    assert "keeps-dual-term" in page
    assert "74 of 220 are off." in page
    assert "print(1)" in page


def test_without_stages_it_says_where_it_first_goes_wrong_and_what_names_it() -> None:
    page = body(mine(*FAILING))
    assert "1 of 2 statements fails</h1>" in page
    assert "It first goes wrong in <b>The oracle&#39;s error</b>" in page
    assert "f2csa conform --python mine:Subject" in page
    assert "Stage by stage</h2>" not in page


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ((), "Nothing was asked"),
        ((result("bias-bound/T1", "repaired", HELD),), "The one statement that could be asked holds"),
        ((FAILING[1], result("bias-bound/T2", "repaired", HELD)), "All 2 statements asked hold"),
        ((silent("bias-bound/T1", "lower_level"),), "No comparison was made"),
        ((result("bias-bound/T1", "repaired", None, fault="crash"),), "1 statement ended in a fault"),
        (
            (FAILING[1], result("bias-bound/T2", "repaired", Verdict.INCONCLUSIVE)),
            "Nothing fails, but 1 of 2 statements stay undecided",
        ),
        ((result("bias-bound/T1", "as-written", FELL),), "The one statement that could be asked fails"),
    ],
)
def test_the_headline_is_the_outcome(results: tuple[Result, ...], said: str) -> None:
    assert headline(SiteFrame.of(mine(*results))) == said


@pytest.mark.parametrize(
    ("statuses", "said"),
    [
        (("diverges", "diverges"), "Line 4 is wrong; so is 1 more stage"),
        (("diverges", "undecided"), "Line 4 is wrong"),
        (("diverges", "not offered"), "Line 4 is wrong"),
    ],
)
def test_the_headline_says_what_of_the_rest(statuses: tuple[str, str], said: str) -> None:
    stages = [
        StageTold(stage=name, status=s, sentence="")
        for name, s in zip(("activation", "samples"), statuses, strict=True)
    ]
    assert headline(SiteFrame.of(mine(*FAILING, letter=Letter(stages=tuple(stages), first="activation")))) == said


def test_agreeing_stages_leave_the_claims_to_speak() -> None:
    letter = Letter(stages=(StageTold(stage="activation", status="agrees", sentence=""),))
    assert headline(SiteFrame.of(mine(*FAILING, letter=letter))) == "1 of 2 statements fails"


def test_what_could_not_be_asked_has_its_reason() -> None:
    page = body(mine(*FAILING, silent("bias-bound/T2", "optimise"), silent("goldstein-convergence", "optimise")))
    row = page.split("What could not be asked", 1)[1]
    assert "offers no optimise</td><td>2: " in row
    assert "bias-bound/T2" in row


def test_a_report_on_the_paper_is_no_such_page() -> None:
    assert subject_page.pages(SiteFrame.of(report(FAILING))) == []


def test_a_letter_is_no_part_of_the_data() -> None:
    made = mine(*FAILING, letter=LETTER)
    assert made.timeless.letter == LETTER
    assert "keeps-dual-term" not in made.model_dump_json()


def test_the_command_names_the_subject_as_it_was_given() -> None:
    assert conform_command("a.b:C") == "f2csa conform --python a.b:C"
    assert conform_command("command:node subject.mjs") == 'f2csa conform --command "node subject.mjs"'


def test_powers_of_ten_are_set() -> None:
    assert told("off by 1.3e+04 at `toy1`") == "Off by 1.3 × 10<sup>4</sup> at toy1"
    assert told("α grows").startswith("α")
    assert told("2.5e-11") == "2.5 × 10<sup>−11</sup>"
