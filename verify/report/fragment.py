"""The report's summary as an HTML fragment, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.report import prose, wording
from verify.report.outline import NAMED, outline
from verify.report.page import template

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spec.claims import Claim
    from verify.results import Report

# A notebook brings its own style sheets and its own light or dark: every style is inline, and the colours are
# mid-tones that can be read on both.
TONES = {
    "SUPPORTED": "#1b8297",
    "REFUTED": "#d0512a",
    "INCONCLUSIVE": "#94791a",
    "VACUOUS": "#9168bd",
    wording.FAULT: "#d0307a",
}


def html_fragment(report: Report, claims: Mapping[str, Claim] | None = None) -> str:
    """Claims by readings, with a tally of the steps, and the run in sentences above.

    Args:
        report: What the run found.
        claims: Claims by id; those of ``spec`` by default.
    """
    return template("fragment.html.j2").render(
        report=report, outline=outline(report, claims), named=NAMED, words=wording, prose=prose, tones=TONES
    )
