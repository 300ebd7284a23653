"""A page for each cause: its mechanism, the smallest problem that shows it, what it breaks, and its repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from verify.evidence.model import ClosedForm
from verify.report import wording
from verify.report.model import Result
from verify.report.site import cell_numbers as numbers
from verify.report.site.cell_numbers import Number
from verify.report.site.downstream import Downstream, downstream
from verify.report.site.downstream import drawn as map_of
from verify.report.site.evidence_words import problem_text
from verify.report.site.failure_causes import Cause, causes
from verify.report.site.frame import Page, Site, drawn
from verify.report.site.powers import set_powers
from verify.report.site.rate_figure import RateFigure, plot, rate_figure


@dataclass(frozen=True)
class Broken:
    """A claim that rests on the cause's statement, and what became of it as written."""

    id: str
    title: str
    number: Number | None


def pages(site: Site) -> list[Page]:
    """One for each cause that the run shows."""
    found = causes(site)
    return [_page(site, cause, found) for cause in found]


def _page(site: Site, cause: Cause, every: Sequence[Cause]) -> Page:
    figure = rate_figure(cause.written, cause.repaired)
    reached = downstream(cause.text.origin or cause.text.statement, site.claims)
    deciding = site.deciding(cause.written)
    body = drawn(
        "cause.html.j2", site, cause=cause, every=every, figure=figure, plot=plot(figure) if figure else None,
        caption=_caption(figure) if figure else None, map=map_of(reached, cause.text.node, site),
        broken=_broken(site, reached), deciding=deciding, forms=_forms(site, cause),
        problem=problem_text(deciding.counterexample) if deciding and deciding.counterexample else "",
        line=wording.typeset, number=site.number,
    )  # fmt: skip
    return Page(cause.file, cause.text.title, set_powers(body), cause.brief.striptags())


def _broken(site: Site, reached: Downstream) -> list[Broken]:
    """Those of the run, with their numbers as written."""
    entries = [site.statements[name] for name in reached.claims if name in site.statements]
    return [Broken(entry.id, entry.title, site.cell(entry, "as-written")) for entry in entries]


def _forms(site: Site, cause: Cause) -> list[tuple[str, ClosedForm, Result]]:
    """What is measured as a formula, as written and repaired, where one was derived for the deciding instance."""
    found = []
    for name, reading in (("As written", cause.written), ("Repaired", cause.repaired)):
        result = site.deciding(reading) if reading else None
        form = numbers.closed_form(result) if result else None
        if result is not None and form is not None:
            found.append((name, form, result))
    return found


def _caption(figure: RateFigure) -> Markup:
    """What was measured and where, what the dashed line is, and where the repaired line lies above."""
    where = dict.fromkeys(figure.instances.values())
    on = Markup(" and ").join(Markup("<i>{}</i>").format(name) for name in where)
    said = Markup("{} on {}. The dashed line has the claimed slope and starts at the first point as written.").format(
        _capital(wording.typeset(figure.quantity)), on
    )
    if figure.crossing is None:
        return said
    place = wording.number(figure.crossing, 2)
    more = "In the range measured the repaired line lies above; extended at these slopes it is below from {} = {} on."
    return said + Markup(" ") + Markup(more).format(figure.variable, place)


def _capital(text: Markup) -> Markup:
    return Markup(str(text)[:1].upper() + str(text)[1:]) if str(text)[:1].isascii() else text
