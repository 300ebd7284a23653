"""What a user's own lists did to a run, in words: refutations they expect, and what they asked not to be asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from verify.report import wording
from verify.report.model import ReportData
from verify.verdict import Verdict


class ListedRow(NamedTuple):
    """One entry of a list: its kind, name and reason, and what came of it in this run."""

    kind: str
    id: str
    reason: str
    outcome: str


def sentences(report: ReportData) -> list[str]:
    """How many results the lists concern; none where they concern none."""
    lines = []
    if excused := len(report.excused):
        noun = wording.counted(excused, "result is", "results are")
        lines.append(f"{noun} refuted as the user expects: no finding, and refuted all the same.")
    if skipped := len(report.skipped):
        noun = wording.counted(skipped, "result was", "results were")
        lines.append(f"{noun} skipped on request and {'supports' if skipped == 1 else 'support'} nothing.")
    return lines


def rows(report: ReportData) -> Iterator[ListedRow]:
    """Every entry of the lists that this run has something of."""
    for entry in report.expected_failures:
        covered = [result for result in report.results if entry.covers(**result.named)]
        if covered:
            fallen = sum(result.verdict is Verdict.REFUTED for result in covered)
            outcome = f"refuted on {fallen} of {wording.counted(len(covered), 'instance')}"
            yield ListedRow("expected to fail", f"{entry.claim} [{entry.reading}]", entry.reason, outcome)
    for skip in report.skips:
        if count := sum(result.is_skipped and skip.covers(**result.named) for result in report.results):
            yield ListedRow("skipped", skip.id, skip.reason, f"{wording.counted(count, 'result')} not asked")
