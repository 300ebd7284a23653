"""A soak: runs over ever more drawn problems, kept in one store, until a count or a time is reached."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from spec.drawn import family_of
from spec.files import write_files
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.draws import MOST
from verify.campaign.plan import Task
from verify.campaign.run import carry_out
from verify.campaign.run_options import RunOptions
from verify.campaign.soak.instance_text import instance_text
from verify.campaign.soak.model import FILE, FINDINGS, DrawFinding, SoakReport
from verify.campaign.soak.shrinking import SECONDS, Judge, shrunk
from verify.campaign.soak.unexpected import unexpected
from verify.campaign.store.database import NAME as STORE
from verify.campaign.worker_choice import workers_of
from verify.report.model import Result
from verify.report.report_files import Report
from verify.truth.geometry import quadratic_of


@dataclass(frozen=True)
class Soak:
    """What a soak asks.

    Args:
        out: Folder of its store and of what it finds.
        options: What each of its runs asks; as many draws as the time allows if there are ``None``.
        seconds: After which it ends; until it is interrupted if neither is given.
        shrinking: Seconds spent on each finding.
    """

    out: Path
    options: RunOptions
    seconds: float | None = None
    shrinking: float = SECONDS

    def carried_out(self) -> tuple[SoakReport, bool]:
        """Ask, shrink what goes wrong, and write its files.

        Returns:
            What it came to, and whether it was interrupted.

        Raises:
            InvalidInputError: As :func:`verify.campaign.run.run`.
        """
        report, interrupted = self._last_report()
        draws = report.draws
        verdicts: dict[str, Counter[str]] = {}
        for row in () if draws is None else draws.rows:
            verdicts.setdefault(row.family, Counter()).update(row.verdicts)
        findings = [] if draws is None else [*unexpected(draws, shipped_record())]
        soak_report = SoakReport(
            subject=report.subject, profile=self.options.profile, seed=self.options.seed,
            draws=0 if draws is None else draws.each,
            complete=report.complete, results=0 if draws is None else draws.asked,
            verdicts={family: dict(sorted(counts.items())) for family, counts in verdicts.items()},
            findings=tuple(self._smallest(findings)),
        )  # fmt: skip
        write_files(self.out, {FILE: soak_report.model_dump_json(by_alias=True, indent=1) + "\n"})
        return soak_report, interrupted

    def _last_report(self) -> tuple[Report, bool]:
        """The report of the last of the runs; without a count each has twice the draws of the one before."""
        ends = None if self.seconds is None else time.monotonic() + self.seconds
        is_over = None if ends is None else lambda _: time.monotonic() >= ends
        each, fresh = self.options.draws or 1, self.options.fresh
        every_run = replace(self.options, atlas=False, effort=1, until=is_over, store=self.out / STORE)
        while True:
            report = carry_out(replace(every_run, draws=each, fresh=fresh))
            over = ends is not None and time.monotonic() >= ends
            if not report.complete or over or self.options.draws is not None or 2 * each > MOST:
                return report, not report.complete and not over
            # What the last run found anew is not to be found once more.
            each, fresh = 2 * each, False

    def _smallest(self, findings: Sequence[DrawFinding]) -> Iterator[DrawFinding]:
        if not findings:
            return
        with self._judge() as judge:
            for finding in findings:
                yield self._written(finding, judge)

    @contextmanager
    def _judge(self) -> Iterator[Judge]:
        with workers_of(replace(self.options, jobs=1)) as hands:

            def answer(task: Task) -> Result:
                ((_, result),) = hands.results_of([task])
                return result

            yield answer

    def _written(self, finding: DrawFinding, judge: Judge) -> DrawFinding:
        """The finding with its smallest problem in a file, and the command that repeats it there."""
        subject_profile_seed = self.options.subject_name, self.options.profile, self.options.seed
        task = Task(finding.claim, finding.reading, finding.first, *subject_profile_seed)
        smallest = shrunk(task, judge, self.shrinking)
        if smallest is None:
            sentence = (
                "Asked once more, it did not show: what the subject answers is not a function of what it is asked."
            )
            return finding.model_copy(update={"sentence": sentence, "command": task.command})
        instance, result = smallest
        path = self.out / FINDINGS / finding.file_name
        posed = replace(task, instance=str(path))
        family = family_of(finding.first)
        purpose = f"{finding.claim} [{finding.reading}] goes wrong: {finding.outcome}; shrunk from {finding.first}"
        comment = f"{purpose}.\n{family.purpose}\n{result.sentence}\nRepeat it: {posed.command}"
        write_files(path.parent, {path.name: instance_text(instance, purpose, comment)})
        q = quadratic_of(instance.problem)
        return finding.model_copy(
            update={
                "sentence": result.sentence, "instance": str(path), "n": q.n, "m": q.m, "p": q.p,
                "command": posed.command,
            }
        )  # fmt: skip
