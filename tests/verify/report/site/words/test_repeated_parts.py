"""What a page says many times: one drawing, one meaning and one long text each, and every reference lands."""

from __future__ import annotations

import re

import pytest

from tests.verify.report.conftest import make_report
from tests.verify.report.site.parsed import Parsed, dangling, html_of
from verify.report.site.claims import claim_page
from verify.report.site.search_index import INDEX
from verify.report.site.words.cell_numbers import drawn_mark
from verify.report.site.words.evidence_words import run_lengths
from verify.report.site.words.number_signs import rung_sign
from verify.report.site.words.repeated_parts import said_once
from verify.verdict import Verdict

PROBLEM = '<details><summary>Problem file</summary><pre tabindex="0">{}</pre></details>'


def page(*parts: str) -> str:
    return "<head><title>t</title></head>\n<body>\n" + "\n".join(parts) + "</body>"


def test_a_mark_is_drawn_once_and_referred_to() -> None:
    good, bad = drawn_mark(Verdict.SUPPORTED), drawn_mark(Verdict.REFUTED)
    made = said_once(page(good, bad, good))
    assert re.findall(r'<use href="#(mark-\d)"/>', made) == ["mark-1", "mark-2", "mark-1"]
    for name, mark in (("mark-1", good), ("mark-2", bad)):
        drawing = re.sub(r"</?svg[^>]*>", "", mark)
        assert f'<symbol id="{name}" viewBox="0 0 10 10">{drawing}</symbol>' in made
        assert made.count(drawing) == 1
    assert said_once(page("<p>none</p>")) == page("<p>none</p>")


def test_a_meaning_is_given_where_a_sign_first_stands() -> None:
    numeric, proven = rung_sign("numeric"), rung_sign("proven")
    made = said_once(page(numeric, proven, numeric, numeric))
    assert (made.count(numeric), made.count(proven)) == (1, 1)
    assert made.count('<abbr class="rung">numeric</abbr>') == 2


def test_a_long_text_is_given_once_and_linked_from_where_it_stands_again() -> None:
    made = said_once(page(PROBLEM.format("a"), PROBLEM.format("b"), PROBLEM.format("a"), PROBLEM.format("a")))
    assert made.count('<pre tabindex="0">a</pre>') == 1
    assert made.count('<a href="#given-1">Problem file</a>') == 2
    assert PROBLEM.format("b") in made
    assert dangling({"a.html": made}) == []


@pytest.fixture(scope="module")
def whole_pages(claims: dict) -> dict[str, str]:
    return html_of(make_report(), claims)


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch, claims: dict) -> dict[str, str]:
    """The pages of a report whose claims are all too long for one page."""
    monkeypatch.setattr(claim_page, "LONGEST", 1)
    return html_of(make_report(), claims)


def test_a_long_claim_has_its_steps_evidence_on_a_page_of_its_own(
    whole_pages: dict[str, str], apart: dict[str, str]
) -> None:
    whole = whole_pages["pages/bias-bound.html"]
    short, evidence = apart["pages/bias-bound.html"], apart["pages/bias-bound-evidence.html"]
    assert apart.keys() - whole_pages.keys() == {"pages/bias-bound-evidence.html"}  # others have no steps
    assert dangling(apart) == []
    for text in apart.values():
        made = Parsed(text)
        assert made.open == []
        assert len(made.ids) == len(set(made.ids))
    ids = re.findall(r'<details class="reading" id="(bias-bound/[^"]+)"', whole)
    assert len(ids) == 4
    assert re.findall(r'<details class="reading" id="([^"]+)"', evidence) == ids
    for each in ids:  # an address of before still leads to it
        assert f'id="{each}"><a href="bias-bound-evidence.html#{each}">' in short
    # The claim's own evidence stays.
    assert '<details class="reading" id="bias-bound.repaired">' in short
    shown = re.findall(r"<dd>.*?</dd>|<svg class=\"plot\".*?</svg>", whole, re.DOTALL)
    assert [each for each in shown if each not in short + evidence] == []


def test_evidence_apart_is_no_page_that_a_search_finds(monkeypatch: pytest.MonkeyPatch, claims: dict) -> None:
    from verify.report.site.all_pages import site_files

    monkeypatch.setattr(claim_page, "LONGEST", 1)
    assert "-evidence.html" not in site_files(make_report(), claims)[INDEX]


def test_exponents_alike_in_a_row_are_said_once() -> None:
    assert run_lengths((1.956, 1.99, 2.0, 2.0001, 1.9999)) == "1.96, 1.99, 2.00 (3 times)"
    assert run_lengths(()) == ""
