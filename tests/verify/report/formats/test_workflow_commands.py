"""Annotations are workflow commands that the runner reads back as they were meant."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from verify.report.findings.found_issues import Issue, SourceLine
from verify.report.formats.workflow_commands import SHOWN, commands_of, escape_message, escape_property

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60)


def read(line: str) -> tuple[str, dict[str, str], str]:
    """As the runner does (actions/runner, ActionCommand.cs): by the first ``::``, ``,`` and ``=``, then unescaped."""
    match = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
    assert match
    level, told, message = match.groups()
    pairs = (pair.partition("=") for pair in told.split(","))
    named = {name: value.replace("%2C", ",").replace("%3A", ":") for name, _, value in pairs}
    plain = {name: unescaped(value) for name, value in named.items()}
    return level, plain, unescaped(message)


def unescaped(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


@given(TEXTS, TEXTS)
def test_whatever_is_said_is_one_line_that_reads_back(message: str, rule: str) -> None:
    (line,) = commands_of([Issue("error", "fault", rule, message, place=SourceLine("a,b:c%.py", 3))])
    assert "\n" not in line
    assert "\r" not in line
    level, named, said = read(line)
    assert (level, said) == ("error", message)
    assert named == {"file": "a,b:c%.py", "line": "3", "title": f"fault: {rule}"}


def test_the_escapes_are_those_of_the_runner() -> None:
    assert escape_message("50 %\r\na:b,c") == "50 %25%0D%0Aa:b,c"
    assert escape_property("a:b,c%") == "a%3Ab%2Cc%25"


def test_one_crash_is_one_annotation_however_many_results_it_takes() -> None:
    crash = [
        Issue(
            "error", "fault", f"bias-bound/T{k}", "no", "repaired", f"toy{k}", SourceLine("mine.py", 17), f"again {k}"
        )
        for k in range(30)
    ]
    (line,) = commands_of(crash)
    assert read(line)[2] == "no (and 29 more of it)\nAgain: again 0"


def test_no_more_are_said_than_are_shown_and_the_last_counts_the_rest() -> None:
    many = [Issue("error", "finding", f"claim-{k}", "off") for k in range(SHOWN + 5)]
    lines = commands_of([*many, Issue("warning", "refuted", "x", "no")])
    assert len(lines) == SHOWN + 1
    assert read(lines[SHOWN - 1])[2] == "6 more; report.md and report.json list all"
    assert read(lines[-1])[:2] == ("warning", {"title": "refuted: x"})
    assert len(commands_of(many[:SHOWN])) == SHOWN


def test_a_book_is_cut() -> None:
    assert len(commands_of([Issue("error", "fault", "x", "w" * 100_000)])[0]) < 1100
