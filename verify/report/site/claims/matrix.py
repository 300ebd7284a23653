"""All claims and steps on one page: the measured number in each cell, below it what was claimed."""

from __future__ import annotations

from dataclasses import dataclass

from verify.report import wording
from verify.report.findings.counted_statements import REPAIRED, TITLES
from verify.report.findings.outline import StatementOutline
from verify.report.findings.proven import proven_in
from verify.report.signs import PROVEN
from verify.report.site.claims.paper_stages import staged
from verify.report.site.frame import FOLDER, Page, SiteFrame, drawn
from verify.report.site.words import cell_numbers as numbers
from verify.report.site.words.cell_numbers import CellNumber
from verify.report.site.words.number_signs import ABOVE, MEANS
from verify.verdict import Verdict

FILE = f"{FOLDER}matrix.html"
FILTERED = (
    Verdict.REFUTED, wording.MIXED, PROVEN, Verdict.SUPPORTED, Verdict.INCONCLUSIVE, Verdict.VACUOUS,
    Verdict.NOT_APPLICABLE, wording.FAULT, wording.NOT_CHECKED, wording.LEFT_OPEN,
)  # fmt: skip
"""Verdicts that rows can be filtered by, the loud ones first."""


@dataclass(frozen=True)
class MatrixRow:
    """One claim or step: its cells by reading, and what a filter looks at."""

    entry: StatementOutline
    cells: tuple[tuple[str, CellNumber | None], ...]
    statuses: dict[str, str]
    evidence: str
    restated: str


def pages(site: SiteFrame) -> list[Page]:
    """The one page; none where nothing was run."""
    if not site.outline.statements:
        return []
    stages = [
        (name, words, [_row(site, entry) for claim in claims for entry in (claim, *claim.steps)])
        for name, words, claims in staged(site.outline)
    ]
    rows = [row for _, _, stage_rows in stages for row in stage_rows]
    present = {status for row in rows for statuses in row.statuses.values() for status in statuses.split()}
    options = [(str(status), numbers.word(str(status))) for status in FILTERED if status in present]
    tokens = {rung for row in rows for rung in row.evidence.split()}
    rungs = [(_token(rung), rung) for rung in (*ABOVE, *MEANS) if _token(rung) in tokens]
    body = drawn(
        "matrix.html.j2", site, stages=stages, options=options, counts=_counts(site),
        rungs=rungs, shown=len(rows),
    )  # fmt: skip
    return [Page(FILE, "All claims", body, f"{wording.counted(len(rows), 'claim and step', 'claims and steps')}, "
                 "with what was measured of each under both readings.")]  # fmt: skip


def _row(site: SiteFrame, entry: StatementOutline) -> MatrixRow:
    cells = tuple((reading, site.cell(entry, reading)) for reading in ("as-written", "repaired"))
    shown = [number for _, number in cells if number is not None]
    alone = [reading.status for reading in entry.isolated]
    statuses = {
        "written": _status(entry, "as-written"), "repaired": _status(entry, "repaired"),
        "alone": " ".join(dict.fromkeys(alone)),
    }  # fmt: skip
    rungs = [rung for number in shown for rung in (number.grade, number.firm_by if number.fitted else "", number.rung)]
    evidence = " ".join(dict.fromkeys(_token(rung) for rung in rungs if rung))
    statuses["repaired"] += f" {PROVEN}" if any(number.grade == "proven" for number in shown) else ""
    return MatrixRow(entry, cells, statuses, evidence, site.restated(entry))


def _token(rung: str) -> str:
    """A rung as one word, as a filter compares it."""
    return rung.replace(" ", "-")


def _status(entry: StatementOutline, reading: str) -> str:
    outcome = entry.named.get(reading)
    return entry.missing if outcome is None else outcome.shown


def _counts(site: SiteFrame) -> list[tuple[str, list[tuple[str, str, int]]]]:
    """By group of statements: status to draw, words and count, the loud ones first."""
    tallies = []
    for group, counts in site.outline.counts.items():
        tally = [(str(status), numbers.word(str(status)), counts[status]) for status in FILTERED if counts.get(status)]
        tallies.append((TITLES[group], tally))
        whole = len(proven_in(site.outline).whole) if group == REPAIRED and site.report.is_of_the_paper else 0
        if whole:
            tally.append((PROVEN, "of these proven for every problem", whole))
    return tallies
