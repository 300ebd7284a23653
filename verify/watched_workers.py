"""Worker processes under watch: a stage that takes too long loses its worker, whatever it hangs in."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

from verify.results import Result
from verify.subjects import load_subject
from verify.tasks import Task, fault, perform
from verify.time_limits import HANGS, SharedClock, TimedSubject, hung, is_limited, overdue
from verify.workers import context, main_left_alone, one_blas_thread, prepare_worker

TICK = 0.1
"""Longest time between two looks at the clocks, seconds."""
TRIES = 2
"""How often a task is given to a worker that dies of it."""


@dataclass
class _Worker:
    process: Any
    pipe: Any
    cells: Any
    task: Task | None = None
    tries: int = 0
    since: float = 0.0


def run_watched(tasks: Sequence[Task], jobs: int, seconds: float) -> Iterator[tuple[Task, Result]]:
    """Run tasks in worker processes, none of whose stage calls may take longer than some time.

    Args:
        tasks: What to run; of subjects that can be loaded by name.
        jobs: Worker processes.
        seconds: Time for one stage call.

    Yields:
        Tasks with their results as they come. A call that takes too long is a fault of its task alone.
    """
    waiting = deque((task, 0) for task in tasks)
    hangs: Counter[str] = Counter()
    workers: list[_Worker] = []
    try:
        with one_blas_thread():
            while waiting or any(worker.task for worker in workers):
                while len(workers) < min(jobs, len(waiting) + sum(worker.task is not None for worker in workers)):
                    workers.append(_started(seconds))
                for worker in workers:
                    if worker.task is None and waiting:
                        _hand_over(worker, *waiting.popleft(), hangs)
                connection.wait(
                    [end for worker in workers for end in (worker.pipe, worker.process.sentinel)],
                    min(TICK, seconds / 4),
                )
                for worker in workers[:]:
                    yield from _look_at(worker, workers, waiting, hangs, seconds)
    finally:
        for worker in workers:
            _end(worker)


def _started(seconds: float) -> _Worker:
    made = context()
    ours, theirs = made.Pipe()
    cells = made.RawArray("d", 2)
    process = made.Process(target=_work, args=(theirs, cells, seconds), daemon=True)
    with main_left_alone():
        process.start()
    theirs.close()
    return _Worker(process, ours, cells)


def _hand_over(worker: _Worker, task: Task, tries: int, hangs: Counter[str]) -> None:
    worker.task, worker.tries, worker.since = task, tries + 1, time.perf_counter()
    try:
        worker.pipe.send((task, frozenset(stage for stage, count in hangs.items() if count >= HANGS)))
    except OSError:  # it died since; the next look finds out
        return


def _look_at(
    worker: _Worker,
    workers: list[_Worker],
    waiting: deque[tuple[Task, int]],
    hangs: Counter[str],
    seconds: float,
) -> Iterator[tuple[Task, Result]]:
    task = worker.task
    alive = worker.process.is_alive()
    try:
        result = worker.pipe.recv() if worker.pipe.poll() else None
    except (EOFError, OSError):
        result, alive = None, False
    if result is not None and task is not None:
        worker.task = None
        yield task, result
        return
    stage = overdue(worker.cells, seconds)
    if alive and stage is None:
        return
    _end(worker)
    workers.remove(worker)
    if task is None:
        return
    if stage is not None and alive:
        hangs[stage] += 1
        yield task, fault(task, hung(stage, seconds), worker.since)
    elif worker.tries < TRIES:
        waiting.append((task, worker.tries))
    else:
        yield task, fault(task, f"the worker died (exit code {worker.process.exitcode})", worker.since)


def _end(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.kill()
    worker.process.join()


def _work(pipe: Any, cells: Any, seconds: float) -> None:
    """What a worker does until its pipe is closed."""
    prepare_worker()
    while True:
        try:
            task, hangs = pipe.recv()
        except (EOFError, OSError):
            return
        subject = load_subject(task.subject)
        timed: Any = TimedSubject(subject, SharedClock(cells, seconds, hangs)) if is_limited(subject) else subject
        pipe.send(perform(task, timed))
