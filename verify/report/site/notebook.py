"""A report as a table for a notebook, which brings its own light or dark."""

from __future__ import annotations

from collections.abc import Mapping

from spec.claims import Claim
from verify.report import prose
from verify.report.model import ReportData
from verify.report.site.frame import SiteFrame, template


def html_fragment(report: ReportData, claims: Mapping[str, Claim] | None = None) -> str:
    """Claims by readings with their numbers, a tally of the steps, and the run in sentences above."""
    site = SiteFrame.of(report, claims)
    return template("notebook.html.j2").render(report=report, outline=site.outline, site=site, prose=prose)
