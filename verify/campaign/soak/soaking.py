"""A soak: runs over ever more drawn problems, kept in one store, until a count or a time is reached."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spec.drawn import family_of
from spec.files import write_files
from verify.campaign import run as campaign
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.draws import MOST
from verify.campaign.plan import Task
from verify.campaign.soak.instance_text import instance_text
from verify.campaign.soak.model import FILE, FINDINGS, DrawFinding, SoakReport
from verify.campaign.soak.shrinking import SECONDS, Judge, shrunk
from verify.campaign.soak.unexpected import unexpected
from verify.campaign.store.database import NAME as STORE
from verify.campaign.store.shards import Shard
from verify.campaign.worker_choice import loaded, on
from verify.checks.measuring.case import ProfileName
from verify.report.model import NAMED, Result
from verify.report.report_files import Report
from verify.subjects import Subject, name_of
from verify.truth.geometry import quadratic_of

if TYPE_CHECKING:
    from verify.campaign.executors.remote_workers import AnyExecutor


@dataclass(frozen=True)
class Soak:
    """What a soak asks; fields as the arguments of :func:`verify.campaign.run.run`.

    Args:
        out: Folder of its store and of what it finds.
        subject: Who is asked.
        claims: Statements; all that can be drawn if none.
        readings: ``as-written``, ``repaired`` or both.
        profile: Sizes of each result.
        seed: Of all randomness.
        draws: Problems of each family; as many as the time allows if ``None``.
        seconds: After which it ends; until it is interrupted if neither is given.
        shard: The share of it to run, of a given number of draws.
        jobs: Worker processes.
        executor: Where it is run instead.
        time_limit: Seconds a stage call of the subject may take.
        in_process: Whether a Python subject is imported where it is judged.
        fresh: Whether nothing that the store holds is taken.
        shrinking: Seconds spent on each finding.
    """

    out: Path
    subject: str | Subject = "reference"
    claims: Sequence[str] = ()
    readings: Sequence[str] = NAMED
    profile: ProfileName = "full"
    seed: int = campaign.DEFAULT_SEED
    draws: int | None = None
    seconds: float | None = None
    shard: Shard | None = None
    jobs: int = 1
    executor: AnyExecutor | None = None
    time_limit: float | None = None
    in_process: bool = False
    fresh: bool = False
    shrinking: float = SECONDS

    def carried_out(self, progress: campaign.Progress | None = None) -> tuple[SoakReport, bool]:
        """Ask, shrink what goes wrong, and write its files.

        Returns:
            What it came to, and whether it was interrupted.

        Raises:
            InvalidInputError: As :func:`verify.campaign.run.run`.
        """
        report, interrupted = self._asked(progress)
        draws = report.draws
        verdicts: dict[str, Counter[str]] = {}
        for row in () if draws is None else draws.rows:
            verdicts.setdefault(row.family, Counter()).update(row.verdicts)
        findings = [] if draws is None else [*unexpected(draws, shipped_record())]
        soak_report = SoakReport(
            subject=report.subject, profile=self.profile, seed=self.seed, draws=0 if draws is None else draws.each,
            complete=report.complete, results=0 if draws is None else draws.asked,
            verdicts={family: dict(sorted(counts.items())) for family, counts in verdicts.items()},
            findings=tuple(self._smallest(findings)),
        )  # fmt: skip
        write_files(self.out, {FILE: soak_report.model_dump_json(by_alias=True, indent=1) + "\n"})
        return soak_report, interrupted

    def _asked(self, progress: campaign.Progress | None) -> tuple[Report, bool]:
        """The report of the last of the runs; without a count each has twice the draws of the one before."""
        ends = None if self.seconds is None else time.monotonic() + self.seconds
        is_over = None if ends is None else lambda _: time.monotonic() >= ends
        each, fresh = self.draws or 1, self.fresh
        while True:
            report = campaign.run(
                self.claims, readings=self.readings, subject=self.subject, profile=self.profile, seed=self.seed,
                draws=each, atlas=False, effort=1, jobs=self.jobs, executor=self.executor, progress=progress,
                until=is_over, store=self.out / STORE, fresh=fresh, shard=self.shard, time_limit=self.time_limit,
                in_process=self.in_process,
            )  # fmt: skip
            over = ends is not None and time.monotonic() >= ends
            if not report.complete or over or self.draws is not None or 2 * each > MOST:
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
        how: dict[str, Any] = {"in_process": self.in_process}
        if self.executor is None:
            workers = loaded(self.subject, 1, self.time_limit, None, **how)
        else:
            workers = on(self.executor, self.subject, self.time_limit, None, **how)
        with workers as hands:

            def answer(task: Task) -> Result:
                ((_, result),) = hands.results_of([task])
                return result

            yield answer

    def _written(self, finding: DrawFinding, judge: Judge) -> DrawFinding:
        """The finding with its smallest problem in a file, and the command that repeats it there."""
        subject = self.subject if isinstance(self.subject, str) else name_of(self.subject)
        task = Task(finding.claim, finding.reading, finding.first, subject, self.profile, self.seed)
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
