"""Run tasks in this process, or in worker processes that cost only their own results, one BLAS thread each."""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection
from typing import Any, Self, TypeAlias

from spec import InvalidInputError
from verify.campaign.plan import Task, fault, perform
from verify.campaign.starting import as_the_user_has_it, context, main_left_alone, one_blas_thread
from verify.checks.measuring.case import checks
from verify.checks.measuring.long_runs import TOGETHER
from verify.report.model import Result
from verify.subjects import Subject, load_subject
from verify.subjects.faults import LoadingFaultError
from verify.subjects.loading import end, load_apart, offered
from verify.subjects.subject_names import version_of
from verify.subjects.time_limits import HANGS, SharedClock, TimedSubject, hung, is_limited, overdue, timed_here
from verify.subjects.wire.guard import adopt_orphans

AnyExecutor: TypeAlias = str | Executor | Callable[[], Executor]
"""Where tasks are run instead: an executor, what makes one, or the name of either."""


def run_here(tasks: Sequence[Task], subject: Subject, time_limit: float | None = None) -> Iterator[tuple[Task, Result]]:
    """Run tasks in this process; a limit on stage calls is kept as far as one process can."""
    for task in tasks:
        with timed_here(subject, time_limit) as timed:
            result = perform(task, timed)
        yield task, result


def prepare_worker() -> None:
    """Make a new process a worker."""
    import signal

    # Ctrl-C is the parent's to handle: it stops the workers and keeps what is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A worker outlives a killed parent otherwise, waiting for tasks that never come.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # What a subject prints is not the report, from native code either.
    sys.stdout = sys.stderr
    with suppress(OSError):
        os.dup2(2, 1)
    as_the_user_has_it()
    adopt_orphans()
    checks()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


TICK = 0.1
"""Longest time between two looks at the clocks, seconds."""
TRIES = 2
"""How often a task is given to a worker that dies of it, and how often workers may die of loading the subject."""
CHUNK = 24
"""Neighbouring tasks a worker takes at once: what it keeps of one instance serves the next statement on it."""
GRACE = 2.0
"""Time for a worker to end its subject's program before it is killed, seconds."""
LOADING, LEAST_LOADING = 60.0, 15.0
"""Time to load a subject without a limit on its stages, and the least with one, seconds."""


@dataclass
class _Worker:
    """A worker process, what it is at, how often that was tried, and since when."""

    process: Any
    pipe: Any
    cells: Any
    since: float
    ready: bool = False
    """Whether it has loaded its subject."""
    task: Task | None = None
    tries: int = 0
    own: deque[tuple[Task, int]] = field(default_factory=deque)

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


@dataclass
class Crew:
    """Worker processes of one subject that can be loaded by name; nothing of it is loaded in this process.

    A worker that dies, or whose stage call takes longer than the limit, costs only the result it was at.

    Args:
        subject: As :func:`verify.subjects.load_subject` takes it.
        jobs: Worker processes, >= 1.
        seconds: Limit on one stage call, ``None`` for none.
        watch: Called about every tenth of a second while results are waited for; what it raises ends them.
        in_process: Whether a Python subject is imported by the workers themselves, where it can do what it likes.
    """

    subject: str
    jobs: int = 1
    seconds: float | None = None
    watch: Callable[[], None] | None = None
    in_process: bool = False
    offers: str | None = None
    """The stages that a subject of its own process announces; other ones in another process are a fault."""
    version: str = ""
    """What the subject states, once it is loaded."""
    waiting: deque[tuple[Task, int]] = field(default_factory=deque)
    workers: list[_Worker] = field(default_factory=list)
    hangs: Counter[str] = field(default_factory=Counter)
    losses: list[InvalidInputError] = field(default_factory=list)
    """Why workers could not load the subject."""

    def __enter__(self) -> Self:
        """Load the subject in a first worker.

        Raises:
            InvalidInputError: If it is not there or offers no stage.
            LoadingFaultError: If it raises, ends its process or takes too long.
        """
        try:
            with one_blas_thread():
                self.workers.append(self._started())
                while self.workers and not self.workers[0].ready:
                    self._wait()
                    for _ in self._look_at(self.workers[0]):
                        pass  # it has no task yet
        except BaseException:
            self.close()
            raise
        if self.losses:
            raise self.losses[0]
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            for worker in self.workers:
                # It ends by itself, and its subject's program with it.
                worker.pipe.close()
                worker.process.join(GRACE)
        self.close()

    def close(self) -> None:
        """End all workers at once."""
        for worker in self.workers:
            worker.end()
        self.workers.clear()

    def results(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Result]]:
        """Run tasks; their results come as they are done."""
        self.waiting = deque((task, 0) for task in arranged(tasks))
        with one_blas_thread():
            while self.waiting or self._busy():
                if len(self.losses) < TRIES:
                    while len(self.workers) < min(self.jobs, len(self.waiting) + self._busy()):
                        self.workers.append(self._started())
                elif not self.workers:
                    yield from ((task, fault(task, str(self.losses[-1]), 0.0)) for task, _ in self.waiting)
                    return
                for worker in self.workers:
                    if worker.task is None and not worker.own:
                        worker.own.extend(self._share())
                    if worker.ready and worker.task is None and worker.own:
                        self._hand_over(worker, *worker.own.popleft())
                self._wait()
                if self.watch is not None:
                    self.watch()
                for worker in self.workers[:]:
                    yield from self._look_at(worker)

    def _wait(self) -> None:
        unlimited = self.watch is None and self.seconds is None and all(worker.ready for worker in self.workers)
        tick = None if unlimited else TICK if self.seconds is None else min(TICK, self.seconds / 4)
        connection.wait([end for worker in self.workers for end in (worker.pipe, worker.process.sentinel)], tick)

    def _share(self) -> Iterator[tuple[Task, int]]:
        """Tasks for a worker that has none: some of those that wait, or of those another worker cannot begin yet."""
        if not self.waiting:
            source = max((worker.own for worker in self.workers), key=len)
            yield from reversed([source.pop() for _ in range(len(source) // 2)])
        elif row := row_of(self.waiting[0][0]):
            while self.waiting and row_of(self.waiting[0][0]) == row:
                yield self.waiting.popleft()
        else:
            # Fewer towards the end, so that no worker is left without.
            for _ in range(min(CHUNK, math.ceil(len(self.waiting) / self.jobs))):
                yield self.waiting.popleft()

    def _busy(self) -> int:
        return sum(worker.task is not None or bool(worker.own) for worker in self.workers)

    def _started(self) -> _Worker:
        how = context()
        ours, theirs = how.Pipe()
        cells = how.RawArray("d", 2)
        what = theirs, cells, self.subject, self.seconds, self.in_process
        process = how.Process(target=_work, args=what, daemon=True)
        with main_left_alone():
            process.start()
        theirs.close()
        return _Worker(process, ours, cells, time.perf_counter())

    def _hand_over(self, worker: _Worker, task: Task, tries: int) -> None:
        worker.task, worker.tries, worker.since = task, tries + 1, time.perf_counter()
        # One that died since is found out at the next look.
        with suppress(OSError):
            worker.pipe.send((task, frozenset(stage for stage, count in self.hangs.items() if count >= HANGS)))

    def _look_at(self, worker: _Worker) -> Iterator[tuple[Task, Result]]:
        task, alive = worker.task, worker.process.is_alive()
        try:
            told = worker.pipe.recv() if worker.pipe.poll() else None
        except (EOFError, OSError):
            told, alive = None, False
        if told is not None and not worker.ready:
            worker.ready, answer = told
            if worker.ready:
                self.version, stages = answer
                if self.offers not in (None, stages):
                    # What fails in one process would be not applicable in another.
                    self._lose(worker, f"offers {stages or 'nothing'} in one process and {self.offers} in another")
                    return
                self.offers = stages
            else:
                self._lose(worker, answer)
            return
        if told is not None and task is not None:
            worker.task = None
            yield task, told
            return
        if not worker.ready:
            seconds = LOADING if self.seconds is None else max(self.seconds, LEAST_LOADING)
            if not alive:
                worker.process.join()
                self._lose(worker, f"ended its process while it was loaded (exit code {worker.process.exitcode})")
            elif time.perf_counter() - worker.since > seconds:
                self._lose(worker, f"was not loaded within {seconds:g} s")
            return
        stage = None if self.seconds is None else overdue(worker.cells, self.seconds)
        if alive and stage is None:
            return
        self._dismiss(worker)
        if task is None:
            return
        if alive and stage is not None and self.seconds is not None:
            self.hangs[stage] += 1
            yield task, fault(task, hung(stage, self.seconds), worker.since)
        elif worker.tries < TRIES:
            self.waiting.append((task, worker.tries))
        else:
            how = "its process ended" if self.seconds is None else f"exit code {worker.process.exitcode}"
            yield task, fault(task, f"the worker died ({how})", worker.since)

    def _lose(self, worker: _Worker, why: InvalidInputError | str) -> None:
        self.losses.append(LoadingFaultError("subject", why, self.subject) if isinstance(why, str) else why)
        self._dismiss(worker)

    def _dismiss(self, worker: _Worker) -> None:
        worker.end()
        self.workers.remove(worker)
        self.waiting.extendleft(reversed(worker.own))


def arranged(tasks: Sequence[Task]) -> list[Task]:
    """The longest rows of tasks first, so that the others are shared out around them; then a claim's by instance."""
    families: dict[str, int] = {}
    for task in tasks:
        families.setdefault(task.claim.split("/")[0], len(families))
    return sorted(
        tasks,
        key=lambda task: (
            (0, ROWS.index(row), "")
            if (row := row_of(task))
            else (1, families[task.claim.split("/")[0]], task.instance)
        ),
    )


RUNS = "runs of Algorithm 2"
ROWS = (RUNS, *TOGETHER)
"""Tasks that share what is long in them, which one worker makes once for all who ask."""


def shares_runs(task: Task) -> bool:
    """Whether it belongs to one of them."""
    return bool(row_of(task))


def row_of(task: Task) -> str:
    """Which of :data:`ROWS` it belongs to; empty if none."""
    if "optimise" in checks()[task.claim].needs:
        return RUNS
    claim = task.claim.split("/")[0]
    return claim if claim in TOGETHER else ""


def _work(pipe: Any, cells: Any, name: str, seconds: float | None, in_process: bool) -> None:
    """What a worker does until its pipe is closed: says how loading the subject went, then performs tasks."""
    prepare_worker()
    try:
        subject: Any = (load_subject if in_process else load_apart)(name, time_limit=seconds)
        pipe.send((True, (version_of(subject), offered(subject))))
    except InvalidInputError as error:
        pipe.send((False, error))
        return
    while True:
        try:
            task, hangs = pipe.recv()
        except (EOFError, OSError):
            end(subject)
            return
        started, timed = time.perf_counter(), subject
        try:
            if seconds is not None and is_limited(subject):
                timed = TimedSubject(subject, SharedClock(cells, seconds, hangs))
            result = perform(task, timed)
        except Exception as error:
            result = fault(task, f"the worker died ({type(error).__name__})", started)
        pipe.send(result)
