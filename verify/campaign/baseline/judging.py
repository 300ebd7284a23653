"""A run held against what is on record, and against what the user expects: its findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spec.expectations import ExpectedFailure, reason_of
from verify.campaign.baseline.comparison import Change, Comparison, compare
from verify.campaign.baseline.model import Baseline
from verify.campaign.expectations import overdue
from verify.report.model import Result
from verify.report.report_files import Report
from verify.report.wording import counted
from verify.subjects.stage_table import REFUSED
from verify.verdict import Verdict

MISSING_STAGE = ("Not applicable: the subject offers no ", f"Not applicable: {REFUSED}")
"""How a result begins whose check needs what the subject lacks."""


def judge(report: Report, recorded: Baseline) -> tuple[Report, Comparison]:
    """Compare a new run with a baseline narrowed to what the run was asked for.

    The report comes back with its findings, with what changed for the better or is new, and with every result marked
    as expected or not.
    """
    if report.has_verdicts:
        current = Baseline.of(report)
    else:
        current = recorded.model_copy(update={"results": (), "subject": report.subject, "seed": report.seed})
    left_out = {result.key for result in report.skipped}
    relevant = tuple(entry for entry in recorded.results if entry.key not in left_out)
    comparison = _held_to_lists(
        compare(recorded.model_copy(update={"results": relevant}), current, report.results), report
    )
    if missed := len(recorded.results) - len(relevant):
        note = f"{counted(missed, 'result')} on record {'was' if missed == 1 else 'were'} skipped on request"
        comparison = comparison.model_copy(update={"notes": (*comparison.notes, note)})
    verdicts = {change.key: change.worse for change in comparison.changes if change.kind == "verdict"}
    on_record = recorded.entries

    def marked(result: Result) -> Result:
        expected = None
        if result.key in on_record and result.verdict is not None:
            expected = None if verdicts.get(result.key) is False else result.key not in verdicts
        return result.model_copy(update={"expected": expected})

    update = {
        "results": tuple(marked(result) for result in report.results),
        "findings": comparison.findings,
        "changes": (*comparison.reported, *comparison.notes),
    }
    return report.model_copy(update=update), comparison


def _held_to_lists(comparison: Comparison, report: Report) -> Comparison:
    """The same, where no refutation that the user expects is a finding, and one expected that is none is."""
    excuses = {result.key: report.excuse(result) for result in report.excused}

    def excused(change: Change) -> Change:
        if change.kind not in ("verdict", "new") or not change.worse or change.key not in excuses:
            return change
        line = f"{change.line} Expected to fail: {excuses[change.key]}"
        return change.model_copy(update={"worse": False, "line": line})

    changes = [excused(change) for change in comparison.changes]
    for entry, line in overdue(report):
        place = entry.instance or "all its instances"
        named = {"claim": entry.claim, "reading": entry.reading, "instance": place}
        changes.append(Change(**named, kind="expected", worse=True, line=line))
    return comparison.model_copy(update={"changes": tuple(changes)})


def is_missing_stage(result: Result) -> bool:
    """Whether a check needs what the subject lacks; that is no deviation from any record."""
    return result.verdict is Verdict.NOT_APPLICABLE and result.sentence.startswith(MISSING_STAGE)


def hold_verdicts(
    results: Sequence[Result], record: Mapping[str, str], expected_failures: Sequence[ExpectedFailure] = ()
) -> tuple[list[Result], list[str]]:
    """Mark each result as the verdict on record, by key, or not, and list what differs in one line each.

    A fault is not a finding: it is reported as a fault. Nor is a refutation that is expected.
    """
    judged, findings = [], []
    for result in results:
        on_record = None if is_missing_stage(result) or result.is_skipped else record.get(result.key)
        expected = None if on_record is None or result.verdict is None else str(result.verdict) == on_record
        judged.append(result.model_copy(update={"expected": expected}))
        if result.verdict is Verdict.REFUTED and reason_of(expected_failures, **result.named):
            continue
        if expected is False:
            findings.append(f"{result.where}: {result.verdict}, on record {on_record}. {result.sentence}")
        elif on_record is None and result.reading == "repaired" and result.verdict is Verdict.REFUTED and record:
            findings.append(f"{result.where}: REFUTED. {result.sentence}")
    return judged, findings
