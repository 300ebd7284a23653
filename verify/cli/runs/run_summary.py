"""What a run says when it ends: its table or its numbers, findings and faults, and one closing line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spec.expectations import ExpectedFailure, reason_of
from spec.reading import is_repaired_text
from verify.campaign.baseline.judging import hold_verdicts
from verify.cli.output.folder import FRONT
from verify.cli.runs.stage_causes import causes
from verify.cli.runs.unchanged_run import RunWords
from verify.evidence.budget import EFFORT_STEP
from verify.report.formats.headline import headline
from verify.report.formats.terminal import FEW, told
from verify.report.model import Result
from verify.report.report_files import Report
from verify.report.wording import counted
from verify.verdict import Verdict

NONE_HOLDS = "finding: no repaired statement about a solver holds for this subject"
NOTHING = "fault: nothing that was asked applies to the subject; no comparison was made"


@dataclass
class FirstBad:
    """Where ``--exitfirst`` ends a run: a fault, a verdict not on record, or a repaired statement that is refuted."""

    record: Mapping[str, str]
    expected_failures: Sequence[ExpectedFailure] = ()
    result: Result | None = None

    def __call__(self, result: Result) -> bool:
        """Whether the run ends with this result."""
        if self.result is None and self._is_bad(result):
            self.result = result
        return self.result is not None

    def _is_bad(self, result: Result) -> bool:
        (judged,), findings = hold_verdicts([result], self.record, self.expected_failures)
        if result.verdict is Verdict.REFUTED and reason_of(self.expected_failures, **result.named):
            return False
        fallen = is_repaired_text(result.reading) and result.verdict is Verdict.REFUTED and not judged.expected
        return result.fault is not None or bool(findings) or fallen


@dataclass(frozen=True)
class Ending:
    """How a run ended, beside its report: files written, seconds in all, and where it stopped by itself.

    ``seconds`` is ``None`` where nothing was run.
    """

    paths: Sequence[Path]
    folder: Path
    seconds: float | None = None
    stopped_at: Result | None = None

    @property
    def front(self) -> Path | None:
        """The front page, where it was written."""
        return next((path for path in self.paths if path.name == FRONT), None)


def show(report: Report, ending: Ending, *, quiet: bool = False, table: bool = False) -> None:
    """Print what :func:`words_of` has."""
    words_of(report, ending, quiet=quiet, table=table).show(ending.front, ending.seconds)


def words_of(report: Report, ending: Ending, *, quiet: bool = False, table: bool = False) -> RunWords:
    """The answer and what there is to say of the run; quietly, findings, faults and the closing line.

    Few results are told with their numbers; of many the headline, or every statement's row where ``table`` asks.
    """
    few = 0 < len(report.results) <= FEW
    answer = None if quiet else told(report) if few or table else headline(report)
    lines = [f"finding: {line}" for line in report.findings]
    lines += [f"cause: {line}" for line in causes(report)]
    lines += [NONE_HOLDS] if report.nothing_holds and not report.findings else []
    lines += [] if quiet else [f"note: {line}" for line in (*report.notices, *report.changes)]
    lines += [f"fault: {result.where}: {result.fault}" for result in report.faults]
    lines += [NOTHING] if report.nothing_compared else []
    if report.complete and not quiet and (undecided := _undecided(report)):
        more = f"--resume --effort {EFFORT_STEP * max(result.effort for result in undecided)}"
        some = counted(len(undecided), "result")
        lines.append(f"undecided for want of samples: {some}; {more} goes on from there")
    lines += _unfinished(report, ending)
    if report.kept and not quiet:
        all_, were = counted_in_print(len(report.results)), "was" if report.kept == 1 else "were"
        lines.append(f"{report.kept:,} of {all_} {were} kept from earlier runs")
    return RunWords(answer, lines, _counted(report))


def _counted(report: Report) -> str:
    """``1,912 results, 2 skipped``."""
    told = f", {counted(len(report.excused), 'expected failure')}" if report.excused else ""
    told += f", {counted(len(report.skipped), 'result')} skipped" if report.skipped else ""
    results, drawn = len(report.results), ""
    if report.draws is not None and report.only_drawn:
        results, drawn = report.draws.asked, " on drawn problems"
    return f"{counted_in_print(results)}{drawn}{told}"


def _unfinished(report: Report, ending: Ending) -> list[str]:
    if report.complete:
        return []
    state = "the report is partial" if ending.paths else f"{ending.folder} keeps the report of an earlier run"
    again = "" if report.is_of_the_paper else " with --resume"
    if ending.stopped_at is None:
        return [f"interrupted: {state}; what is done is kept: run it again{again} to go on"]
    where, why = ending.stopped_at.where, ending.stopped_at.fault or str(ending.stopped_at.verdict)
    return [f"stopped at {where}: {why}; {state}; what is done is kept: run it again{again}, without -x, to go on"]


def counted_in_print(results: int) -> str:
    """``1,912 results``."""
    return f"{results:,} result{'s' * (results != 1)}"


def _undecided(report: Report) -> list[Result]:
    """Results that more samples may decide."""
    return [r for r in report.results if r.verdict is Verdict.INCONCLUSIVE and r.rung == "statistical"]
