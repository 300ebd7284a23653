"""The report as a table for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from spec.claims import Claim
from verify.report import prose, wording
from verify.report.model import NAMED, ReportData
from verify.report.outline import StatementOutline, outline

_STYLES = {
    "SUPPORTED": "cyan",
    "REFUTED": "bold red",
    "INCONCLUSIVE": "yellow",
    "VACUOUS": "magenta",
    wording.FAULT: "bold white on red",
}


def summary_table(report: ReportData, claims: Mapping[str, Claim] | None = None) -> Table:
    """Claims and their steps by readings; the caption says the same in sentences."""
    arranged = outline(report, claims)
    table = Table(
        caption=Text(" ".join(prose.overview(report, arranged))), caption_justify="left", box=None, pad_edge=False
    )
    table.add_column("Claim", no_wrap=True)
    for reading in NAMED:
        table.add_column(wording.reading_title(reading), no_wrap=True)
    table.add_column("One choice alone as written")
    for claim in arranged.claims:
        # A claim that nothing checks yet takes one line, not one a step.
        for entry in (claim, *(claim.steps if any(step.checked for step in claim.steps) else ())):
            name = Text(f"  {entry.id.split('/', 1)[1]}") if "/" in entry.id else Text(entry.id, style="bold")
            table.add_row(name, *(_cell(entry, reading) for reading in NAMED), _isolated(entry))
    return table


def _cell(entry: StatementOutline, reading: str) -> Text:
    if reading in entry.named:
        return _status(entry.named[reading].status)
    return _status(wording.NOT_CHECKED) if entry.unchecked else Text("not in this run", style="dim")


def _status(status: str) -> Text:
    return Text(f"{wording.MARKS.get(status, '')} {wording.word(status)}".strip(), style=_STYLES.get(status, "dim"))


def _isolated(entry: StatementOutline) -> Text:
    marks = [(wording.MARKS.get(found.status, ""), _STYLES.get(found.status, "dim")) for found in entry.isolated]
    return Text("  ").join(
        Text.assemble(mark, " ", found.choice) for mark, found in zip(marks, entry.isolated, strict=True)
    )
