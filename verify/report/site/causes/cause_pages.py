"""A page for each cause: its mechanism, the smallest problem that shows it, what it breaks, and its repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verify.evidence.model import ClosedForm
from verify.report import wording
from verify.report.model import Result
from verify.report.site.causes.downstream import Downstream, downstream
from verify.report.site.causes.downstream import drawn as map_of
from verify.report.site.causes.failure_causes import Cause, causes
from verify.report.site.frame import Page, SiteFrame, drawn
from verify.report.site.plots.rate_figure import above, rate_figure
from verify.report.site.plots.slope_plot import Figure, figure
from verify.report.site.words import cell_numbers as numbers
from verify.report.site.words.cell_numbers import CellNumber
from verify.report.site.words.evidence_words import problem_text
from verify.report.site.words.powers import set_powers


@dataclass(frozen=True)
class Broken:
    """A claim that rests on the cause's statement, and what became of it as written."""

    id: str
    title: str
    number: CellNumber | None


def pages(site: SiteFrame) -> list[Page]:
    """One for each cause that the run shows."""
    shown_causes = causes(site)
    return [_page(site, cause, shown_causes) for cause in shown_causes]


def _page(site: SiteFrame, cause: Cause, every: Sequence[Cause]) -> Page:
    reached = downstream(cause.text.origin or cause.text.statement, site.claims)
    deciding = site.deciding(cause.written)
    body = drawn(
        "cause.html.j2", site, cause=cause, every=every, slopes=_slopes(site, cause), crossing=_crossing(cause),
        map=map_of(reached, cause.text.node, site), broken=_broken(site, reached), deciding=deciding,
        forms=_forms(site, cause),
        problem=problem_text(deciding.counterexample) if deciding and deciding.counterexample else "",
        line=wording.typeset, number=site.number,
    )  # fmt: skip
    return Page(cause.file, cause.text.title, set_powers(body), cause.brief.striptags())


def _broken(site: SiteFrame, reached: Downstream) -> list[Broken]:
    """Those of the run, with their numbers as written."""
    entries = [site.statements[name] for name in reached.claims if name in site.statements]
    return [Broken(entry.id, entry.title, site.cell(entry, "as-written")) for entry in entries]


def _forms(site: SiteFrame, cause: Cause) -> list[tuple[str, ClosedForm, Result]]:
    """What is measured as a formula, as written and repaired, where one was derived for the deciding instance."""
    forms = []
    for name, reading in (("As written", cause.written), ("Repaired", cause.repaired)):
        result = site.deciding(reading) if reading else None
        form = numbers.closed_form(result) if result else None
        if result is not None and form is not None:
            forms.append((name, form, result))
    return forms


def _slopes(site: SiteFrame, cause: Cause) -> Figure | None:
    """The claimed slope with both readings, where something was swept."""
    readings = [reading for reading in cause.drawn if reading is not None]
    return figure([(reading, site.number(reading)) for reading in readings], cause.entry.title)


def _crossing(cause: Cause) -> str:
    """What must be said where the repaired line lies above in the range measured."""
    drawing = rate_figure(*cause.drawn)
    return above(drawing) if drawing is not None else ""
