"""A report held against a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.regression.comparison import Comparison, compare
from verify.regression.model import Baseline

if TYPE_CHECKING:
    from verify.results import Report, Result


def judge(report: Report, recorded: Baseline) -> tuple[Report, Comparison]:
    """Compare, and mark the report with what came out.

    Args:
        report: The new run.
        recorded: The baseline, narrowed to what the run was asked for.

    Returns:
        The report with its findings, with what changed for the better or is new, and with every result marked as
        expected or not; and the comparison.
    """
    faults = {_key(result): result.fault for result in report.results if result.fault is not None}
    sentences = {_key(result): result.sentence for result in report.results}
    if any(result.verdict is not None for result in report.results):
        found = Baseline.of(report)
    else:
        found = recorded.model_copy(update={"results": (), "subject": report.subject, "seed": report.seed})
    comparison = compare(recorded, found, sentences=sentences, faults=faults)
    verdicts = {
        f"{change.claim}|{change.reading}|{change.instance}": change.worse
        for change in comparison.changes
        if change.kind == "verdict"
    }
    on_record = recorded.entries

    def marked(result: Result) -> Result:
        key = _key(result)
        expected = None
        if key in on_record and result.verdict is not None:
            expected = None if verdicts.get(key) is False else key not in verdicts
        return result.model_copy(update={"expected": expected})

    update = {
        "results": tuple(marked(result) for result in report.results),
        "findings": comparison.findings,
        "changes": (*comparison.reported, *comparison.notes),
    }
    return report.model_copy(update=update), comparison


def _key(result: Result) -> str:
    return f"{result.claim}|{result.reading}|{result.instance}"
