"""Run tasks here or on any standard executor, one BLAS thread each."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import connection
from typing import Any

from verify.campaign.plan import Task
from verify.campaign.tasks import fault, perform
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


def run_pool(tasks: Sequence[Task], jobs: int, time_limit: float | None = None) -> Iterator[tuple[Task, Result]]:
    """Run tasks in worker processes; one that kills its worker costs only its own result."""
    lost: list[Task] = []
    with one_blas_thread():
        with _pool(jobs) as pool:
            yield from run_on(pool, tasks, lost, time_limit)
        # A dead worker takes the whole pool with it: what was still open is run again, each task on its own.
        for task in lost:
            with _pool(1) as alone:
                yield from run_on(alone, [task], None, time_limit)


def run_on(
    pool: Executor, tasks: Sequence[Task], lost: list[Task] | None = None, time_limit: float | None = None
) -> Iterator[tuple[Task, Result]]:
    """Run tasks on any standard executor, in chunks, yielding results as they come.

    Args:
        pool: The executor.
        tasks: What to run.
        lost: Collects the tasks whose worker died, to be run again; without it they become faults.
        time_limit: Seconds one stage call of a program may take.
    """
    with main_left_alone():
        futures = {pool.submit(_perform_chunk, chunk, time_limit): chunk for chunk in _chunks(tasks)}
    try:
        for future in as_completed(futures):
            chunk = futures[future]
            try:
                results = future.result()
            except (KeyboardInterrupt, SystemExit):
                raise
            except Exception as error:
                if lost is not None and isinstance(error, BrokenExecutor):
                    lost += chunk
                    continue
                broken = isinstance(error, BrokenExecutor)
                why = f"the worker died ({'its process ended' if broken else type(error).__name__})"
                results = [fault(task, why, time.perf_counter()) for task in chunk]
            yield from zip(chunk, results, strict=True)
    except BaseException:
        # Shutting down forgets the processes, so they are looked up before.
        processes = list((getattr(pool, "_processes", None) or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        raise


CHUNK = 6
"""Tasks a worker takes at once: large enough to hide the hand-over, small enough to keep both cores busy."""


def _chunks(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    for start in range(0, len(tasks), CHUNK):
        yield list(tasks[start : start + CHUNK])


def _perform_chunk(tasks: list[Task], time_limit: float | None) -> list[Result]:
    return [perform(task, _subject(task.subject, time_limit)) for task in tasks]


def _subject(name: str, time_limit: float | None) -> Subject:
    return _program(name, time_limit) if name.startswith(COMMAND) else load_subject(name)


@lru_cache(maxsize=4)
def _program(name: str, time_limit: float | None) -> Subject:
    """One process of a program serves all tasks of a worker; it ends with the worker."""
    return load_subject(name, time_limit=time_limit)


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, initializer=prepare_worker, mp_context=context())


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
        context.set_forkserver_preload(["verify.campaign.tasks", "f2csa_ref"])
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
