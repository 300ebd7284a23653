"""All files of the report's pages, by their path in the report's folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from spec.claims import Claim
from verify.report.model import ReportData
from verify.report.site import reference_pages
from verify.report.site.causes import cause_pages
from verify.report.site.claims import claim_page, matrix, objections
from verify.report.site.frame import SCRIPT, STYLE, Page, SiteFrame, render, script_text, stylesheet_text
from verify.report.site.front_pages import story, subject_page
from verify.report.site.living import algorithm_page
from verify.report.site.paper import paper_page
from verify.report.site.search_index import INDEX, index_script

MAKERS: tuple[Callable[[SiteFrame], list[Page]], ...] = (
    matrix.pages, claim_page.pages, reference_pages.pages, algorithm_page.pages, cause_pages.pages, paper_page.pages,
    objections.pages, story.pages,
    subject_page.pages,
)  # fmt: skip
"""What makes pages, those first to which others lead."""


def all_pages(site: SiteFrame) -> dict[str, Page]:
    """The pages of a report by file."""
    pages: dict[str, Page] = {}
    for maker in MAKERS:
        # A page may lead to those that were made before it.
        for page in maker(replace(site, files=tuple(pages))):
            pages.setdefault(page.file, page)
    return pages


def site_files(report: ReportData, claims: Mapping[str, Claim] | None = None) -> dict[str, str]:
    """The texts of the front page and of all that lies beside it; the same report gives the same bytes."""
    site = SiteFrame.of(report, claims)
    pages = all_pages(site)
    whole = replace(site, files=tuple(pages))
    ordered = sorted(pages.values(), key=lambda page: not page.is_front)
    texts = {page.file: render(page, whole) for page in ordered}
    beside = {file: text for page in pages.values() for file, text in page.beside}
    index = {INDEX: index_script(pages.values())}
    return {**texts, STYLE: stylesheet_text(), SCRIPT: script_text(), **index, **beside}
