"""What the text says is counted apart from what it takes for granted, and every page has the same numbers."""

from __future__ import annotations

import pytest

from spec.claims import find
from tests.verify.report.formats.test_headline import shown
from tests.verify.report.site.parsed import html_of
from tests.verify.report.site.story_reports import FELL, HELD, both, report
from verify.report import prose
from verify.report.findings.counted_statements import counted_statements, group_of
from verify.report.findings.outline import outline
from verify.report.formats.headline import headline
from verify.report.formats.markdown import render_markdown

SAID = ("bias-bound/T1", "bias-bound/T2", "bias-bound/triangle")
GRANTED = ("bias-bound/L-H-y", "bias-bound/alpha-to-zero")
OURS = ("bias-bound/from-two-lemmas",)


def made():
    """Two of what the text says, one of what it takes for granted and one of ours refuted; the others hold."""
    failing = (*SAID[:2], GRANTED[0], *OURS)
    return report(
        [one for full in (*SAID, *GRANTED, *OURS) for one in both(full, FELL if full in failing else HELD, 1.0)]
    )


@pytest.mark.parametrize(
    ("full", "reading", "group"),
    [
        (SAID[0], "as-written", "as-written"), (GRANTED[0], "as-written", "granted"), (OURS[0], "as-written", "unsaid"),
        ("bias-bound/y-star-error", "as-written", "unsaid"), (GRANTED[0], "repaired", "repaired"),
        ("smoothness/experiment-data", "as-written", ""), ("smoothness/experiment-data", "repaired", ""),
    ],
)  # fmt: skip
def test_a_statement_is_counted_by_how_it_stands_to_the_words(full: str, reading: str, group: str) -> None:
    assert group_of(find(full), reading) == group


def test_each_group_is_counted_alone() -> None:
    outcomes = [(find(SAID[0]), "as-written", "REFUTED"), (find(GRANTED[0]), "as-written", "MIXED")]
    assert counted_statements(outcomes) == {"as-written": {"REFUTED": 1}, "granted": {"MIXED": 1}}
    assert outline(made()).counts == {
        "as-written": {"REFUTED": 2, "SUPPORTED": 1}, "granted": {"REFUTED": 1, "SUPPORTED": 1},
        "unsaid": {"REFUTED": 1}, "repaired": {"SUPPORTED": 6},
    }  # fmt: skip


def test_every_page_has_the_same_numbers() -> None:
    sentence = (
        "Of the statements that the text says, claims and proof steps together: as written, 2 are refuted and 1 holds; "
        "of those that it takes for granted, 1 is refuted and 1 holds; of those that no sentence of it makes, 1 fails; "
        "repaired, all of them asked together, 6 hold."
    )
    assert prose.tallied(outline(made())) == sentence
    pages = html_of(made())
    assert sentence in pages["report.html"]
    assert sentence in pages["pages/paper.html"]
    assert (
        "2 statements that the text says are refuted, and 1 that it takes for granted."
        in pages["pages/objections.html"]
    )
    terminal = " ".join(" ".join(shown(headline(made()))).split())
    assert "As written: ✗ 2 refuted and ✓ 1 hold; taken for granted: ✗ 1 and ✓ 1; not in the text: ✗ 1; " in terminal
    markdown = render_markdown(made())
    assert "Read as written, 1 statement is supported and 2 refuted." in markdown
    assert "Of statements that the text takes for granted, 1 is refuted and 1 holds." in markdown
    granted = markdown.split("<summary>Taken for granted, and refuted</summary>")[1].split("</details>")[0]
    assert [one for one in (*SAID, *GRANTED, *OURS) if f"- `{one}`" in granted] == [GRANTED[0]]


def test_steps_that_fall_are_told_apart_too() -> None:
    (claim,) = outline(made()).claims
    assert claim.refutations == "refuted: 2 as written, 1 taken for granted"
    assert "refuted" not in [claim.refutations for claim in outline(report(both(SAID[0], HELD, 1.0))).claims]
