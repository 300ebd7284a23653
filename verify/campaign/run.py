"""Run checks over instances and readings, in parallel, into a report; what is finished is kept on the way."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from spec import InvalidInputError
from verify.campaign.baseline.comparison import hold_verdicts
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.plan import DEFAULT_SEED, Task, plan
from verify.campaign.recheck.rechecking import follows
from verify.campaign.summary import summarise
from verify.campaign.workers import Crew, run_here
from verify.checks.measuring.case import find_profile
from verify.evidence.budget import level_of
from verify.report.faces import Report
from verify.report.model import NAMED as ALL_READINGS
from verify.report.model import Result
from verify.subjects import Subject, load_subject, name_of, require_stages
from verify.subjects.loading import COMMAND, REFERENCE, as_program, version_of
from verify.subjects.protocol import TRUSTED
from verify.subjects.time_limits import check_limit
from verify.verdict import Verdict

Progress = Callable[[int, int, str], None]
"""Called with (tasks done, tasks in all, what was just done)."""


def run(
    claims: Iterable[str] = (),
    *,
    subject: str | Subject = "reference",
    readings: Iterable[str] = ALL_READINGS,
    instances: Iterable[str] = (),
    profile: str = "ci",
    seed: int = DEFAULT_SEED,
    effort: int = 1,
    jobs: int = 1,
    progress: Progress | None = None,
    watch: Callable[[], None] | None = None,
    store: Path | None = None,
    resume: bool = True,
    record: dict[str, str] | None = None,
    time_limit: float | None = None,
    in_process: bool = False,
) -> Report:
    """Verify claims and return the report.

    Args:
        claims: Full ids of claims or steps; a claim brings its steps. All if empty.
        subject: The implementation: ``"reference"``, ``"package.module:Attribute"``, ``"command:COMMAND LINE"`` for a
            program that speaks the wire, or an object with stages.
        readings: ``"as-written"``, ``"repaired"``, or ``"only:FIELD"`` for one choice as written alone. With both
            named readings, profiles that isolate add every choice alone.
        instances: Atlas names; each check's own list if empty.
        profile: ``"smoke"``, ``"ci"`` or ``"full"``.
        seed: Seed of all randomness, >= 0. The same seed gives the same report for any number of jobs.
        effort: Factor on all sample sizes of random decisions: 1, 4, 16, ..., at most 4096. With ``resume`` and a
            store, results that a smaller effort left undecided go on from the samples they have.
        jobs: Worker processes, >= 1. What is given by name is judged in them; an object, and the reference with one
            job, run in this process.
        progress: Called after each result.
        watch: Called about every tenth of a second while worker processes are waited for; a ``KeyboardInterrupt`` it
            raises ends the run with what is done.
        store: File that keeps finished results, so that an interrupted run can go on from there.
        resume: Whether to go on from what the store holds; else it starts anew.
        record: Verdicts on record by result key, to compare with; the shipped record if ``None``.
        time_limit: Seconds one stage call of the subject may take, > 0; one that takes longer is a fault, and a stage
            that did so twice is not called again. ``None``: 30 s for a program, 120 s in Python, no limit in process.
            An object is interrupted as far as one process can; the reference is never limited. Loading may take as
            long, and at least 15 s; 60 s without a limit.
        in_process: Whether a Python subject given by name is imported by the processes that judge it, which it can then
            end, or deceive; else it runs in processes of its own (docs/trust.md). The report names it.

    Returns:
        The report. ``print`` it, show it in a notebook, or :meth:`~verify.report.model.Report.write` it.

    Raises:
        InvalidInputError: If a name is unknown, a number out of range, or the subject cannot be loaded.

    Example:
        >>> import verify
        >>> report = verify.run(["bias-bound/T3"], instances=["toy1"], profile="smoke")
        >>> [(row["reading"], str(row["verdict"])) for row in report.records()]
        [('as-written', 'REFUTED'), ('repaired', 'SUPPORTED')]
    """
    claims = [claims] if isinstance(claims, str) else list(claims)
    readings = [readings] if isinstance(readings, str) else list(readings)
    instances = [instances] if isinstance(instances, str) else list(instances)
    if jobs < 1:
        raise InvalidInputError("jobs", "must be >= 1", jobs)
    name = subject if isinstance(subject, str) else name_of(subject)
    check_limit(time_limit)
    level_of(effort)
    planned = plan(claims, readings, instances, find_profile(profile), name, seed)
    tasks = [replace(task, effort=effort) for task in planned]
    kept = Store(store, environment(), name, profile, seed) if store is not None else None
    complete = True
    with _loaded(subject, jobs, time_limit, watch, in_process=in_process) as (version, results_of, stop):
        done = {} if kept is None else kept.load() if resume else kept.start()
        started = time.perf_counter()
        open_tasks = [task for planned in tasks if (task := _left(planned, done.get(planned.key))) is not None]
        count = len(tasks) - len(open_tasks)
        try:
            for task, result in results_of(open_tasks):
                done[task.key] = result
                count += 1
                if kept is not None:
                    kept.append(task.key, result)
                if progress is not None:
                    progress(count, len(tasks), task.key)
        except KeyboardInterrupt:
            complete = False
            stop()
    results = [done[task.key] for task in tasks if task.key in done]
    judged, findings = hold_verdicts(results, shipped_record() if record is None else record)
    return Report(
        environment=environment() | whereabouts(subject, in_process=in_process), seed=seed, profile=profile,
        subject=name, subject_version=version,
        results=tuple(judged), summary=tuple(summarise(judged, claims, name)),
        seconds=time.perf_counter() - started, complete=complete, findings=tuple(findings),
        changes=tuple(kept.dropped) if kept is not None else (),
    )  # fmt: skip


@contextmanager
def _loaded(
    subject: str | Subject,
    jobs: int,
    time_limit: float | None,
    watch: Callable[[], None] | None,
    *,
    in_process: bool,
) -> Iterator[tuple[str, Callable[[Sequence[Task]], Iterator[tuple[Task, Result]]], Callable[[], None]]]:
    """The version a subject states, how tasks are run on it, and how that is stopped at once.

    What is given by name is loaded in workers: a stranger's code may end its process, with a success at that, or hang.
    """
    if isinstance(subject, str) and (subject != REFERENCE or jobs > 1):
        with Crew(subject, jobs, time_limit, watch, in_process) as crew:
            yield crew.version, crew.results, crew.close
    else:
        here = load_subject(subject) if isinstance(subject, str) else subject
        require_stages(here, name_of(here))
        yield version_of(here), partial(run_here, subject=here, time_limit=time_limit), lambda: None


def _left(task: Task, found: Result | None) -> Task | None:
    """A task if it was never finished, or was left undecided with fewer samples than now asked for."""
    if found is None:
        return task
    is_open = found.verdict is Verdict.INCONCLUSIVE and found.effort < task.effort
    return replace(task, continuation=found.continuation) if is_open else None


def environment() -> dict[str, str]:
    """Versions that can influence a number; no machine names, no paths."""
    packages = ("f2csa-verify", "numpy", "scipy", "daqp", "python-flint", "pydantic")
    found = {name: metadata.version(name) for name in packages}
    return {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}", **found}


def whereabouts(subject: str | Subject, *, in_process: bool) -> dict[str, str]:
    """What is to be said of a subject that runs among those who judge it."""
    if isinstance(subject, str):
        foreign = in_process and subject != REFERENCE and not subject.startswith(COMMAND)
    else:
        held: Any = subject
        while "_subject" in getattr(held, "__dict__", {}):
            held = held.__dict__["_subject"]  # what paces and times a subject stands around it
        foreign = as_program(held) is None and type(held) not in TRUSTED
    return {"subject runs": "in the judge's own process: nothing keeps it from deceiving"} if foreign else {}


class Store:
    """A JSON-lines file: a header that says which run it belongs to, then one finished result a line.

    The file is created if missing; results of other versions are not reused. ``dropped`` says which results were not
    believed, one line each.
    """

    def __init__(self, path: Path, environment: dict[str, str], subject: str, profile: str, seed: int) -> None:
        self.path = path
        self.dropped: list[str] = []
        self.subject = subject
        self.header = {"environment": environment, "subject": subject, "profile": profile, "seed": seed}

    def start(self) -> dict[str, Result]:
        """Begin anew, whatever the file holds."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.header) + "\n", encoding="utf-8")
        return {}

    def load(self) -> dict[str, Result]:
        """Results kept so far, by key; starts the file if there is none.

        A line that is torn, or is not a result, is dropped with all that follows it. Faults are tried again, and so is
        a result that does not follow from its own evidence. A file of another run, or of another kind, is refused.
        """
        if not self.path.exists():
            return self.start()
        # What a crash left in the last line need not be text.
        lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        try:
            header = json.loads(lines[0])
        except (IndexError, ValueError, RecursionError):
            raise InvalidInputError("--resume", "must find a file of finished results", self.path.name) from None
        if header != self.header:
            different = [
                key for key in self.header if not isinstance(header, dict) or header.get(key) != self.header[key]
            ]
            raise InvalidInputError("--resume", f"must continue the same run; it differs in {', '.join(different)}")
        kept: dict[str, Result] = {}
        for line in lines[1:]:
            try:
                entry = json.loads(line)
                key, result = entry["key"], Result.model_validate(entry["result"])
            except (ValueError, RecursionError, KeyError, TypeError):
                break
            if key != result.key or (result.verdict is None) == (result.fault is None):
                break
            if (broken := follows(result, self.subject)) is not None:
                self.dropped.append(f"{result.where}: the kept result was dropped: {broken}")
                kept.pop(key, None)
            elif result.fault is None:
                kept[key] = result
        good = [json.dumps(self.header), *(_line(key, result) for key, result in kept.items())]
        self.path.write_text("\n".join(good) + "\n", encoding="utf-8")
        return kept

    def append(self, key: str, result: Result) -> None:
        """Keep one more result."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(key, result) + "\n")


def _line(key: str, result: Result) -> str:
    return json.dumps({"key": key, "result": result.model_dump(mode="json")})


__all__ = ["ALL_READINGS", "DEFAULT_SEED", "Progress", "environment", "plan", "run"]
