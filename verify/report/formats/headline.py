"""A run's answer for a terminal: the headline, its causes, what repairs it and what is proven, in a score of lines.

The words are those of the front page (:mod:`verify.report.site.front_pages.answer`), its markup made plain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from markupsafe import Markup

from spec.claims import Claim
from spec.formulas.powers import superscript
from verify.report import prose, wording
from verify.report.findings import user_lists
from verify.report.findings.counted_statements import TITLES
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import ReportData
from verify.report.paragraphs import Headline, Paragraph
from verify.report.signs import MIXED, PROVEN, look
from verify.report.site.causes.failure_causes import Cause, causes
from verify.report.site.frame import SiteFrame
from verify.report.site.front_pages.answer import answer
from verify.verdict import Verdict

LINES = 20
"""Most lines at eighty columns."""
SHOWN = 6
"""Statements of a program's report that are named, most."""
_RAISED = re.compile(r"<sup>([^<]*)</sup>")
_LOWERED = re.compile(r"<sub>([^<]*)</sub>")
_SMALL = str.maketrans("0123456789ijkrt", "₀₁₂₃₄₅₆₇₈₉ᵢⱼₖᵣₜ")


def plain(text: Markup | str) -> str:
    """Markup as a line of text: powers raised by characters, indices lowered, all else without its tags."""
    shown = _RAISED.sub(lambda match: superscript(match[1].replace("−", "-")), str(text))
    shown = _LOWERED.sub(lambda match: _index(match[1]), shown)
    return " ".join(Markup(shown).striptags().split())


def _index(text: str) -> str:
    lowered = text.translate(_SMALL)
    return lowered if lowered != text and not set(lowered) & set(text) else f"_{text}"


def headline(report: ReportData, claims: Mapping[str, Claim] | None = None) -> Headline:
    """The answer of a report: of the paper that of its front page, of a program what of it holds."""
    site = SiteFrame.of(report, claims).at_front
    told = _of_the_paper(site) if report.is_of_the_paper else _of_a_program(site)
    return Headline(tuple(told))


def _of_the_paper(site: SiteFrame) -> Iterator[Paragraph]:
    shown_causes = causes(site)
    told = answer(site, shown_causes)
    opening = f"{prose.title(site.report)} {told.short}"
    yield Paragraph(" ".join([opening, *map(plain, told.sentences)]), "bold", len(opening))
    for cause in shown_causes:
        yield _cause(site, cause)
    proved = f"{look(PROVEN).mark} {plain(told.proved)}" if told.proved else ""
    parts = [" ".join(part for part in (plain(told.repaired), proved) if part), told.scope]
    yield from (Paragraph(part) for part in parts if part)
    last = [*_tally(site), *prose.standing(site.report), *user_lists.sentences(site.report)]
    yield Paragraph(" ".join([*last, "With -v each statement has a row."]))


def _cause(site: SiteFrame, cause: Cause) -> Paragraph:
    """``1 ✗ A term that should cancel stays: α⁻², claimed O(α); ✓ repaired α²``."""
    lead = f"{cause.number} {look(str(Verdict.REFUTED)).mark} {cause.text.title}"
    written = site.number(cause.written)
    text = f"{lead}: {plain(written.told)}, claimed {written.claimed}"
    if cause.is_repaired and cause.repaired is not None:
        repaired = site.number(cause.repaired)
        text += f"; {repaired.mark} repaired {plain(repaired.said)}"
    return Paragraph(text, "bold", len(lead), "    ")


def _tally(site: SiteFrame) -> Iterator[str]:
    """``As written: ✗ 3 refuted and ✓ 2 hold; taken for granted: ✗ 1; …``: what a sign says is told once."""
    told, groups = set[str](), list[str]()
    for group, counts in site.outline.counts.items():
        parts = []
        for status in (Verdict.REFUTED, MIXED, Verdict.VACUOUS, Verdict.INCONCLUSIVE, wording.FAULT,
                       Verdict.NOT_APPLICABLE, Verdict.SUPPORTED):  # fmt: skip
            if counts.get(status):
                words = "" if status in told else f" {_counted(str(status))}"
                parts.append(f"{look(str(status)).mark} {counts[status]}{words}")
                told.add(status)
        title = TITLES[group].lower() if groups else TITLES[group]
        groups.append(f"{title}: {wording.listing(parts)}")
    if groups:
        yield f"{'; '.join(groups)}."


def _counted(status: str) -> str:
    words = {str(Verdict.SUPPORTED): "hold", MIXED: "hold in some readings"}
    return words.get(status) or wording.word(status)


def _of_a_program(site: SiteFrame) -> Iterator[Paragraph]:
    report = site.report
    opening = prose.title(report)
    yield Paragraph(" ".join([opening, *prose.overview(report, site.outline)]), "bold", len(opening))
    failing = [reading for reading in _repaired(site) if reading.status in (Verdict.REFUTED, wording.FAULT)]
    for reading in failing[:SHOWN]:
        number, status = site.number(reading), look(reading.status)
        what = plain(number.said) if number.text != number.word else wording.word(reading.status)
        claimed = f", claimed {number.claimed}" if number.claimed else ""
        lead = f"{status.mark} {reading.claim}"
        yield Paragraph(f"{lead}: {what}{claimed}", status.style, len(lead), "    ")
    if len(failing) > SHOWN:
        yield Paragraph(f"  and {len(failing) - SHOWN} more")


def _repaired(site: SiteFrame) -> Iterable[ReadingOutline]:
    return (entry.named["repaired"] for entry in site.outline.statements if "repaired" in entry.named)
