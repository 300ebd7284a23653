"""The front page of a report on the paper: the answer, what was found, what causes it, and a problem to try it on."""

from __future__ import annotations

from markupsafe import Markup

from verify.report import wording
from verify.report.findings.outline import StatementOutline
from verify.report.findings.proven import proven_in
from verify.report.model import NAMED
from verify.report.prose import standing, tallied
from verify.report.site.causes.added_hypotheses import LEADS
from verify.report.site.causes.failure_causes import Cause, causes
from verify.report.site.frame import FRONT, Page, SiteFrame, drawn
from verify.report.site.front_pages.answer import answer
from verify.report.site.front_pages.finding_rows import finding_rows
from verify.report.site.plots.rate_figure import above, rate_figure, spark
from verify.report.site.plots.toy_figure import ToyFigure, toy_figure
from verify.report.site.words import cell_numbers
from verify.report.site.words.powers import set_powers
from verify.verdict import Verdict

KNOWN = "bias-bound/T3"
"""What the toy problem shows: without it in the run there is nothing to try."""


def pages(site: SiteFrame) -> list[Page]:
    """The front page, where the report is about the paper."""
    if not site.report.is_of_the_paper:
        return []
    here = site.at_front
    shown = causes(here)
    told = answer(here, shown)
    body = drawn(
        "story.html.j2", here, answer=told, causes=shown, rows=finding_rows(here, shown), holding=_holding(here),
        toy=_toy(here), proven=proven_in(here.outline), spark=_spark, counts=here.outline.counts,
        asked=_asked(here) if told.scope else [], leads=LEADS,
        tallied=tallied(here.outline), record=standing(here.report), beside=_beside(here),
    )  # fmt: skip
    description = " ".join([told.short, *(Markup(part).striptags() for part in told.sentences)])
    return [Page(FRONT, "Does the paper hold?", set_powers(body), description)]


ROWS = 60
"""Most statements of a partial run that the front page lists."""


def _asked(site: SiteFrame) -> list[StatementOutline]:
    """What a partial run asked, where the page has room for it."""
    entries = [entry for entry in site.outline.statements if entry.checked or entry.missing]
    return entries if len(entries) <= ROWS else []


def _beside(site: SiteFrame) -> list[tuple[Markup, str, Markup, str]]:
    """Other points of the lattice of readings, where nothing else was asked: what, under which, how, in a sentence."""
    if site.outline.counts:
        return []
    return [
        (site.link(row.claim), row.reading, cell_numbers.figure(str(row.status), wording.word(str(row.status))),
         row.sentence)
        for row in site.report.summary if row.reading and row.reading not in NAMED
    ]  # fmt: skip


def _spark(cause: Cause) -> tuple[Markup, str, str]:
    """The small plot of a cause, what is counted in it, and what must be said where the repaired line lies above."""
    figure = rate_figure(*cause.drawn)
    if figure is None:
        return Markup(""), "", ""
    return spark(figure, ticked=True), figure.counted or figure.series[0].quantity, above(figure)


def _holding(site: SiteFrame) -> list[StatementOutline]:
    """Claims of the paper, not their steps, that hold as written by the run."""
    return [
        claim for claim in site.outline.claims
        if "as-written" in claim.named and claim.named["as-written"].status == Verdict.SUPPORTED
        and claim.named["as-written"].counts
    ]  # fmt: skip


def _toy(site: SiteFrame) -> ToyFigure | None:
    """The toy problem, where the run shows what it shows: the literal text failing on it and the repaired one not."""
    entry = site.statements.get(KNOWN)
    statuses = {name: reading.status for name, reading in entry.named.items()} if entry else {}
    fails = statuses.get("as-written") == Verdict.REFUTED and statuses.get("repaired") == Verdict.SUPPORTED
    return toy_figure() if fails else None
