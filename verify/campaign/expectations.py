"""What a user's lists say of a run: what is not asked, and which refutations are expected, held against what came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from spec.claims import find as find_claim
from spec.errors import InvalidInputError
from spec.expectations import ExpectedFailure, Listed, Skip, reason_of
from verify.campaign.plan import Task, plan
from verify.checks.measuring.case import find_profile
from verify.report.model import SKIPPED, ReportData, Result
from verify.report.wording import counted
from verify.verdict import Verdict


class Overdue(NamedTuple):
    """An expected failure that did not fail, and what to say of it."""

    entry: ExpectedFailure
    line: str


def require_askable(entries: Iterable[Listed], subject: str, argument: str) -> None:
    """Refuse what no run asks of this subject: such a line would never say anything.

    Raises:
        InvalidInputError: On the first such entry.
    """
    for entry in entries:
        readings = [entry.reading] if entry.reading else ["as-written", "repaired"]
        instances = [entry.instance] if entry.instance else []
        try:
            tasks = plan([entry.claim], readings, instances, find_profile("full"), subject, 0)
        except InvalidInputError as error:
            raise InvalidInputError(f"{argument} {entry.id}", error.rule, error.value) from None
        if not any(entry.covers(**task.named) for task in tasks):
            raise InvalidInputError(argument, f"must name what is asked of {subject}", entry.id)


def set_apart(tasks: Sequence[Task], skips: Sequence[Skip]) -> tuple[list[Task], list[Task]]:
    """Tasks to be done, and those that a list leaves out."""
    left_out = [task for task in tasks if skips and reason_of(skips, **task.named)]
    apart = {task.key for task in left_out}
    return [task for task in tasks if task.key not in apart], left_out


def skipped(task: Task, skips: Sequence[Skip]) -> Result:
    """The result of what was not asked."""
    sentence = f"{SKIPPED}{reason_of(skips, **task.named)}"
    return Result(
        **task.named, verdict=Verdict.NOT_APPLICABLE, sentence=sentence, reproduce=task.command, effort=task.effort,
        about=find_claim(task.claim).about,
    )  # fmt: skip


def overdue(report: ReportData) -> Iterator[Overdue]:
    """Expected failures that hold, or that nothing was asked about: a line for a failure that is gone hides the next.

    An entry that names no instance is judged where all instances of the run's profile were asked.
    """
    if not report.complete:
        return
    for entry in report.expected_failures:
        covered = [result for result in report.results if entry.covers(**result.named)]
        if not covered or not _is_whole(entry, covered, report):
            continue
        verdicts = [result.verdict for result in covered]
        if None in verdicts or {Verdict.REFUTED, Verdict.INCONCLUSIVE} & {*verdicts}:
            continue
        on = f"on {entry.instance}" if entry.instance else f"on {counted(len(covered), 'instance')}"
        held = Verdict.SUPPORTED in verdicts
        how = f"holds {on}" if held else f"was not judged: {covered[0].sentence.rstrip('.')}"
        where = f"{entry.claim} [{entry.reading}]"
        yield Overdue(entry, f"{where} is expected to fail ({entry.reason}), but {how}; take it off the list")


def _is_whole(entry: ExpectedFailure, results: Sequence[Result], report: ReportData) -> bool:
    if entry.instance:
        return True
    profile = find_profile(report.profile)
    tasks = plan([entry.claim], [entry.reading], [], profile, report.subject, report.seed)
    return {task.key for task in tasks if entry.covers(**task.named)} <= {result.key for result in results}
