"""Which outcomes on drawn problems nobody expects: faults, and refutations that the record has on no instance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from verify.campaign.soak.model import DrawFinding
from verify.report.rows.draws_model import DrawnProblems, DrawRow
from verify.report.wording import FAULT
from verify.verdict import Verdict

OUTCOMES: tuple[Literal["FAULT", "REFUTED"], ...] = ("FAULT", "REFUTED")


def unexpected(draws: DrawnProblems, record: Mapping[str, str]) -> Iterator[DrawFinding]:
    """A finding for each statement, reading and kind of outcome, in the order of the counts.

    A refutation is expected where the reference's record has one of that statement under that reading: as written a
    right program reproduces the paper's.
    """
    refuted = {tuple(key.split("|")[:2]) for key, verdict in record.items() if verdict == Verdict.REFUTED}
    rows: dict[tuple[str, str], list[DrawRow]] = {}
    for row in draws.rows:
        rows.setdefault((row.claim, row.reading), []).append(row)
    for (claim, reading), some in rows.items():
        for outcome in OUTCOMES:
            shown = [row for row in some if row.verdicts.get(outcome)]
            if shown and (outcome == FAULT or (claim, reading) not in refuted):
                yield DrawFinding(
                    claim=claim, reading=reading, outcome=outcome, first=shown[0].named[outcome][0],
                    families={row.family: row.verdicts[outcome] for row in shown},
                )  # fmt: skip
