"""Run tasks in this process, or in worker processes that cost only their own results, one BLAS thread each."""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import connection
from typing import Any

from verify.campaign.plan import Task, fault, perform
from verify.checks.measuring.case import checks
from verify.report.model import Result
from verify.subjects import Subject, load_subject
from verify.subjects.loading import COMMAND
from verify.subjects.time_limits import HANGS, SharedClock, TimedSubject, hung, is_limited, overdue, timed_here


def run_here(tasks: Sequence[Task], subject: Subject, time_limit: float | None = None) -> Iterator[tuple[Task, Result]]:
    """Run tasks in this process; a limit on stage calls is kept as far as one process can."""
    for task in tasks:
        with timed_here(subject, time_limit) as timed:
            result = perform(task, timed)
        yield task, result


def run_apart(tasks: Sequence[Task], jobs: int, time_limit: float | None = None) -> Iterator[tuple[Task, Result]]:
    """Run tasks of subjects that can be loaded by name in worker processes; their results come as they are done.

    A worker that dies, or whose stage call takes longer than the limit, costs only the result it was at.
    """
    # The longest row of tasks first, so that the others are shared out around it.
    crew = _Crew(jobs, time_limit, deque((task, 0) for task in sorted(tasks, key=lambda task: not _shares_runs(task))))
    try:
        with one_blas_thread():
            yield from crew.results()
        for worker in crew.workers:
            # It ends by itself, and its subject's program with it.
            worker.pipe.close()
            worker.process.join(GRACE)
    finally:
        for worker in crew.workers:
            worker.end()


@contextmanager
def main_left_alone() -> Iterator[None]:
    """Start workers without running the caller's main module in them.

    They need nothing from it, and running it again would start another run in every script that has no
    ``if __name__ == "__main__"`` guard.
    """
    main = sys.modules["__main__"]
    names = ("__file__", "__spec__")
    kept: dict[str, Any] = {name: main.__dict__.pop(name) for name in names if name in main.__dict__}
    main.__dict__["__spec__"] = None
    try:
        yield
    finally:
        main.__dict__.update(kept)


def prepare_worker() -> None:
    """Make a new process a worker."""
    import signal

    # Ctrl-C is the parent's to handle: it stops the workers and keeps what is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A worker outlives a killed parent otherwise, waiting for tasks that never come.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # What a subject prints is not the report.
    sys.stdout = sys.stderr
    checks()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def context() -> Any:
    """How worker processes are started."""
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["verify.campaign.plan", "f2csa_ref"])
    return context


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Workers inherit one BLAS thread each: two on two cores stall one another."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


TICK = 0.1
"""Longest time between two looks at the clocks, seconds."""
TRIES = 2
"""How often a task is given to a worker that dies of it."""
CHUNK = 6
"""Neighbouring tasks a worker takes at once: what it keeps of one serves the next, and both cores stay busy."""
GRACE = 2.0
"""Time for a worker to end its subject's program before it is killed, seconds."""


@dataclass
class _Worker:
    """A worker process, what it is at, how often that was tried, and since when."""

    process: Any
    pipe: Any
    cells: Any
    task: Task | None = None
    tries: int = 0
    since: float = 0.0
    own: deque[tuple[Task, int]] = field(default_factory=deque)

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


@dataclass
class _Crew:
    """Worker processes, the tasks they have not begun with how often each was tried, and which stages hung."""

    jobs: int
    seconds: float | None
    waiting: deque[tuple[Task, int]]
    workers: list[_Worker] = field(default_factory=list)
    hangs: Counter[str] = field(default_factory=Counter)

    def results(self) -> Iterator[tuple[Task, Result]]:
        tick = None if self.seconds is None else min(TICK, self.seconds / 4)
        while self.waiting or self._busy():
            while len(self.workers) < min(self.jobs, len(self.waiting) + self._busy()):
                self.workers.append(self._started())
            for worker in self.workers:
                if worker.task is None and not worker.own:
                    worker.own.extend(self._share())
                if worker.task is None and worker.own:
                    self._hand_over(worker, *worker.own.popleft())
            connection.wait([end for worker in self.workers for end in (worker.pipe, worker.process.sentinel)], tick)
            for worker in self.workers[:]:
                yield from self._look_at(worker)

    def _share(self) -> Iterator[tuple[Task, int]]:
        """Tasks for a worker that has none: some of those that wait, or of those another worker cannot begin yet."""
        if not self.waiting:
            source = max((worker.own for worker in self.workers), key=len)
            yield from reversed([source.pop() for _ in range(len(source) // 2)])
        elif _shares_runs(self.waiting[0][0]):
            while self.waiting and _shares_runs(self.waiting[0][0]):
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
        process = how.Process(target=_work, args=(theirs, cells, self.seconds), daemon=True)
        with main_left_alone():
            process.start()
        theirs.close()
        return _Worker(process, ours, cells)

    def _hand_over(self, worker: _Worker, task: Task, tries: int) -> None:
        worker.task, worker.tries, worker.since = task, tries + 1, time.perf_counter()
        # One that died since is found out at the next look.
        with suppress(OSError):
            worker.pipe.send((task, frozenset(stage for stage, count in self.hangs.items() if count >= HANGS)))

    def _look_at(self, worker: _Worker) -> Iterator[tuple[Task, Result]]:
        task, alive = worker.task, worker.process.is_alive()
        try:
            result = worker.pipe.recv() if worker.pipe.poll() else None
        except (EOFError, OSError):
            result, alive = None, False
        if result is not None and task is not None:
            worker.task = None
            yield task, result
            return
        stage = None if self.seconds is None else overdue(worker.cells, self.seconds)
        if alive and stage is None:
            return
        worker.end()
        self.workers.remove(worker)
        self.waiting.extendleft(reversed(worker.own))
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


def _shares_runs(task: Task) -> bool:
    """Whether it asks for runs of Algorithm 2, which one worker makes once for all who ask."""
    return "optimise" in checks()[task.claim].needs


def _work(pipe: Any, cells: Any, seconds: float | None) -> None:
    """What a worker does until its pipe is closed."""
    prepare_worker()
    while True:
        try:
            task, hangs = pipe.recv()
        except (EOFError, OSError):
            return
        started = time.perf_counter()
        try:
            subject: Any = _subject(task.subject, seconds)
            if seconds is not None and is_limited(subject):
                subject = TimedSubject(subject, SharedClock(cells, seconds, hangs))
            result = perform(task, subject)
        except Exception as error:
            result = fault(task, f"the worker died ({type(error).__name__})", started)
        pipe.send(result)


def _subject(name: str, time_limit: float | None) -> Subject:
    return _program(name, time_limit) if name.startswith(COMMAND) else load_subject(name)


@lru_cache(maxsize=4)
def _program(name: str, time_limit: float | None) -> Subject:
    """One process of a program serves all tasks of a worker; it ends with the worker."""
    return load_subject(name, time_limit=time_limit)
