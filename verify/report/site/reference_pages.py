"""Pages to look things up in: the symbols, and the archive of what the run says across claims."""

from __future__ import annotations

from verify.report import prose, wording
from verify.report.findings import drawn_problems, user_lists
from verify.report.findings.hypothesis_ledger import ledgers
from verify.report.findings.judged_assertions import judged_assertions
from verify.report.findings.proof_breaks import proof_breaks
from verify.report.site.frame import FOLDER, Page, SiteFrame, drawn
from verify.report.site.words import glossary

ARCHIVE = f"{FOLDER}archive.html"


def pages(site: SiteFrame) -> list[Page]:
    """The archive and the symbols."""
    body = drawn(
        "archive.html.j2", site, prose=prose, drawn_problems=drawn_problems, user_lists=user_lists,
        breaks=proof_breaks(site.outline, site.claims), ledgers=list(ledgers(site.report.summary, site.claims)),
        assertions=judged_assertions(site.outline),
    )  # fmt: skip
    letters = drawn("glossary.html.j2", site, groups=glossary.grouped())
    about = f"{wording.counted(len(site.report.results), 'result')}: the record, every literal reading, hypotheses."
    return [
        Page(ARCHIVE, "Archive", body, about),
        Page(glossary.FILE, "Symbols", letters, "The paper's letters, with their names in code and files."),
    ]
