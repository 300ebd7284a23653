"""``f2csa paper``: the annotated paper as one page by itself, or as data."""

from __future__ import annotations

from typing import Any

from spec.files import write_files
from verify.campaign.baseline.storage import load_report
from verify.cli.arguments import paper_options
from verify.cli.output.console import print_json, print_lines
from verify.cli.statements.paper import report_file
from verify.report.site.frame import SiteFrame
from verify.report.site.paper.judged_paper import JudgedPaper, StandingAssertion, judged_paper
from verify.report.site.paper.paper_page import answer, page_alone


def annotate(options: paper_options.PaperAnnotate) -> None:
    """Write the page and say what it comes to, or print what stands in it."""
    site = SiteFrame.of(load_report(report_file(options.report, "REPORT"), "REPORT"))
    judged = judged_paper(site)
    if options.as_json:
        print_json(_entries(judged))
        return
    (path,) = write_files(options.out.parent, {options.out.name: page_alone(site)})
    print_lines([*answer(judged), str(path)])


def _entries(judged: JudgedPaper) -> list[dict[str, Any]]:
    return [_entry(one) for one in judged.assertions.values()]


def _entry(one: StandingAssertion) -> dict[str, Any]:
    return {
        "number": one.entry.number, "section": one.entry.section, "place": one.entry.place,
        "asserts": one.entry.asserts, "as_written": one.written.status, "repaired": one.repaired.status,
        "fails": one.fails, "statements": {
            judge.id: {reading: judge.standing(reading).status for reading in ("as-written", "repaired")}
            for judge in one.judges
        },
    }  # fmt: skip
