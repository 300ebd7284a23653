"""The front page of any run: the answer in a sentence, what needs attention, and the claims with their numbers."""

from __future__ import annotations

from verify.report import prose
from verify.report.outline import StatementOutline
from verify.report.site.cell_numbers import Number
from verify.report.site.frame import FRONT, Page, Site, drawn


def pages(site: Site) -> list[Page]:
    """The one page that is whole by itself."""
    here = site.at_front
    body = drawn("front.html.j2", here, prose=prose, cells=lambda claim: _cells(here, claim))
    return [Page(FRONT, prose.title(site.report), body, " ".join(prose.overview(site.report, site.outline)[:2]))]


def _cells(site: Site, claim: StatementOutline) -> list[tuple[str, Number | None]]:
    return [(reading, site.cell(claim, reading)) for reading in ("as-written", "repaired")]
