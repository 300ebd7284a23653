"""A run's answer on a terminal: the front page's words, in a score of lines, at any width and in ASCII."""

from __future__ import annotations

import io

import pytest
from markupsafe import Markup
from rich.console import Console

from tests.verify.report.site.story_reports import FELL, HELD, both, failing, report
from verify.cli.output.spelling import in_ascii
from verify.report.formats.headline import LINES, headline, plain
from verify.report.report_files import Report
from verify.report.site.causes.failure_causes import causes
from verify.report.site.frame import SiteFrame
from verify.report.site.front_pages.answer import answer


def shown(renderable: object, width: int = 80) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(renderable)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_the_answer_and_each_cause_are_told_in_a_score_of_lines() -> None:
    lines = shown(headline(failing()))
    assert len(lines) <= LINES
    assert lines[0].startswith("Does the paper hold? Not as written.")
    said = " ".join(" ".join(lines).split())
    for cause in causes(SiteFrame.of(failing())):
        assert f"{cause.number} ✗ {cause.text.title}: " in said
    assert "With -v each statement has a row." in said


def test_the_words_are_those_of_the_front_page() -> None:
    made = failing()
    site = SiteFrame.of(made).at_front
    said = " ".join(" ".join(shown(headline(made))).split())
    told = answer(site, causes(site))
    assert plain(told.repaired) in said
    assert all(plain(part) in said for part in told.sentences)


@pytest.mark.parametrize("width", [30, 60, 100])
def test_no_line_is_too_long_and_all_can_be_spelt(width: int) -> None:
    assert all(len(line) <= width for line in shown(headline(failing()), width))
    assert all(line.isascii() for line in shown(in_ascii(headline(failing())), width))


def test_of_a_program_it_says_what_fails() -> None:
    made = report([one for one in both("bias-bound/T1", FELL, -1.0) if one.reading == "as-written"])
    fallen = [one.model_copy(update={"reading": "repaired"}) for one in made.results]
    of_mine = report(fallen).model_copy(update={"subject": "mine:Subject"})
    lines = shown(headline(of_mine))
    assert lines[0].startswith("Does mine:Subject do what the paper says?")
    assert any(line.startswith("✗ bias-bound/T1: ") for line in lines)


def test_where_nothing_fails_no_cause_is_told() -> None:
    said = " ".join(shown(headline(report(both("variance-bound", HELD, -1.0)))))
    assert "✗" not in said


@pytest.mark.parametrize(
    ("markup", "text"),
    [("α<sup>−2</sup>", "α⁻²"), ("α<sup>1/2</sup>", "α¹ᐟ²"), ("T<sub>3</sub>", "T₃"), ("ε<sub>λ</sub>", "ε_λ"),
     ('<a href="#x">a  b</a>', "a b")],
)  # fmt: skip
def test_markup_becomes_text(markup: str, text: str) -> None:
    assert plain(Markup(markup)) == text


def test_an_empty_run_has_an_answer(report: Report) -> None:
    assert "No check was run" in " ".join(shown(headline(report.model_copy(update={"results": (), "summary": ()}))))
