"""The front page, the README, the corrected statements and the terminal say the same orders of the same causes."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from spec.formulas.powers import superscript
from tests import kept
from verify.evidence.rates.undecided import rough
from verify.report.findings.corrections import corrections_in
from verify.report.formats.headline import headline, plain
from verify.report.report_files import Report
from verify.report.site.causes.failure_causes import Cause, cause_texts, causes
from verify.report.site.frame import SiteFrame
from verify.report.site.front_pages import story
from verify.report.site.words.cell_numbers import CellNumber

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
ITEMS = {
    found[1]: " ".join(found[0].split())
    for found in re.finditer(r"^\d\. \*\*.*?\(`([\w/-]+)`\)(?:.*\n)(?:   .*\n)*", README, re.M)
}
"""The README's findings, by the statement that each is about."""
FINDINGS = 5


@pytest.fixture(scope="module")
def report() -> Report:
    """The causes' statements, each on one or two instances."""
    asked = {name for text in cause_texts() for name in (text.statement, text.repaired or text.statement)}
    return kept.run(sorted(asked), profile="smoke", jobs=1)


@pytest.fixture(scope="module")
def found(report: Report) -> dict[str, Cause]:
    return {cause.text.statement: cause for cause in causes(SiteFrame.of(report).at_front)}


def of(cause: Cause) -> tuple[CellNumber, CellNumber]:
    """What the front page says of it, as written and repaired."""
    assert cause.repaired is not None
    return cause.site.number(cause.written), cause.site.number(cause.repaired)


def test_the_readme_tells_the_first_causes(found: dict[str, Cause]) -> None:
    assert len(ITEMS) == FINDINGS
    assert list(ITEMS) == [text.statement for text in cause_texts()][:FINDINGS]
    assert set(ITEMS) <= set(found)
    for text in cause_texts()[:FINDINGS]:
        assert f"**{text.title}**" in ITEMS[text.statement]


def test_the_readme_says_the_orders_of_the_front_page(found: dict[str, Cause]) -> None:
    for claim, item in ITEMS.items():
        written, repaired = of(found[claim])
        said = item.replace("δ_G", "δ").replace("**", "")
        result = written.result
        assert result is not None
        assert result.measured is not None
        power = superscript(f"{rough(result.measured):g}") if written.is_fit else ""
        order = f"about {written.text[0]}{power}" if written.is_fit else written.text
        assert f"{order} " in said, claim
        assert f"{written.claimed} is claimed" in said, claim
        assert any(f" {order}" in said for order in (repaired.firm, repaired.text) if order), claim


def test_the_terminal_and_the_front_page_say_the_same(report: Report, found: dict[str, Cause]) -> None:
    (page,) = story.pages(SiteFrame.of(report))
    stream = io.StringIO()
    Console(file=stream, width=100, color_system=None).print(headline(report))
    shown, printed = plain(page.body), " ".join(stream.getvalue().split())
    for cause in found.values():
        written, repaired = of(cause)
        for order in (plain(written.told), written.claimed):
            assert order in printed
            assert order in shown.replace(" )", ")")
        assert f"repaired {plain(repaired.said)}" in printed


def test_the_corrected_statements_say_the_same(report: Report, found: dict[str, Cause]) -> None:
    corrected = {one.id: one for one in corrections_in(report).statements}
    for claim, cause in found.items():
        written, _ = of(cause)
        sentence = corrected[claim].as_written.sentence
        if written.sign == "about":
            power = written.result.measured if written.result else None
            assert power is not None
            assert f"about {written.text[0]}^{rough(power):g}, not settled" in sentence
            assert "[" not in sentence
        elif not written.is_fit and written.text not in ("α⁰", "ε⁰"):
            assert written.text in sentence, claim
        allowed = corrected[claim].as_its_words_allow
        assert not allowed or plain(written.said).replace("\u00a0", " ") in allowed, claim
