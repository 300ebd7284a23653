"""Pages taken apart: what tests ask of their tags, ids and links."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from posixpath import dirname, normpath

from spec.claims import Claim
from verify.report.model import ReportData
from verify.report.site.all_pages import site_files

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Parsed(HTMLParser):
    """Collects what tests ask about, and checks that tags nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.tags: Counter[str] = Counter()
        self.images_without_words = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        self.tags[tag] += 1
        self.ids += [names["id"] or ""] if "id" in names else []
        if tag == "a" and "href" in names:
            self.links.append(names["href"] or "")
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "svg" and names.get("role") == "img" and not names.get("aria-label"):
            self.images_without_words += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def html_of(report: ReportData, claims: dict[str, Claim] | None = None) -> dict[str, str]:
    """The pages by file, without style and script."""
    return {name: text for name, text in site_files(report, claims).items() if name.endswith(".html")}


def together(report: ReportData, claims: dict[str, Claim] | None = None) -> str:
    """All pages as one text."""
    return "\n".join(html_of(report, claims).values())


def dangling(files: dict[str, str]) -> list[str]:
    """Links between pages that lead nowhere, as ``from: link``."""

    @cache
    def parsed(name: str) -> Parsed:
        return Parsed(files[name])

    lost = []
    for name in files:
        for link in parsed(name).links:
            path, _, fragment = link.partition("#")
            target = normpath(f"{dirname(name)}/{path}").lstrip("/") if path else name
            if target not in files or (fragment and fragment not in parsed(target).ids):
                lost.append(f"{name}: {link}")
    return lost
