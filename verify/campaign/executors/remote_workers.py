"""Results from an executor's workers, as they are done: nothing is lost with a worker, nor with the executor."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import Any, Literal, Self, TypeAlias

from spec.errors import InvalidInputError
from verify.campaign.executors.chunks import Chunk, Done, House, introduced, performed
from verify.campaign.executors.named import factory_of
from verify.campaign.plan import Task, fault
from verify.campaign.workers import TICK, TRIES, AnyExecutor, arranged, row_of, shares_runs
from verify.report.model import Result
from verify.subjects.faults import described

AT_ONCE = 64
"""Most tasks submitted at once: the cheapest take 2 ms, and to hand one over takes up to 10 ms."""
SECONDS = 0.5
"""Work after which a chunk comes back with what is done; the rest is cut by what that cost."""
Try: TypeAlias = Literal["first", "again", "singly"]


@dataclass(frozen=True)
class WorkerShare:
    """Tasks that are submitted together, how often they were, and whether nothing else may run beside them."""

    tasks: tuple[Task, ...]
    tried: Try = "first"
    alone: bool = False

    def after(self, error: BaseException) -> list[WorkerShare]:
        """What to submit once its worker died: all of it again, then its tasks singly, then nothing.

        Where the whole executor broke, its tasks run alone at last, so that the next one to blame is known.
        """
        if self.tried == "first":
            return [WorkerShare(self.tasks, "again")]
        if self.tried == "again":
            return [WorkerShare((task,), "singly", isinstance(error, BrokenExecutor)) for task in self.tasks]
        return []

    def rest(self, count: int, spent: float, seconds: float) -> list[WorkerShare]:
        """What is left after ``count`` tasks took ``spent`` seconds, in pieces that should take ``seconds`` each."""
        left = self.tasks[count:]
        size = max(1, math.ceil(seconds * count / spent)) if left else 1
        return [WorkerShare(left[k : k + size], self.tried, self.alone) for k in range(0, len(left), size)]


@dataclass
class RemoteWorkers:
    """The workers of an executor, for one subject that can be loaded by name where they are.

    Args:
        source: An executor, which is its owner's to shut down and cannot be had again; or a name or a function of no
            argument, which is asked for another one where the first broke.
        subject: As :func:`verify.subjects.load_subject` takes it.
        seconds: Limit on one stage call, ``None`` for the default of the subject's kind.
        watch: Called about every tenth of a second while results are waited for; what it raises ends them.
    """

    source: AnyExecutor
    subject: str
    seconds: float | None = None
    watch: Callable[[], None] | None = None
    executor: Executor | None = None
    house: House = field(default_factory=House.here)
    offers: str = ""
    """The stages that a subject of its own process announces, once it is introduced; other ones later are a fault."""
    waiting: deque[WorkerShare] = field(default_factory=deque)
    running: dict[Future[Any], tuple[WorkerShare, Executor]] = field(default_factory=dict)
    machines: set[tuple[tuple[str, str], ...]] = field(default_factory=set)
    """Those of the workers so far, as :func:`verify.campaign.run_environment.machine` says them."""
    arrived: deque[tuple[Task, Result]] = field(default_factory=deque)
    failures: int = 0
    """How often in a row nothing could be submitted."""
    _ended: SimpleQueue[Future[Any]] = field(default_factory=SimpleQueue)
    _make: Callable[[], Executor] | None = None

    def __enter__(self) -> Self:
        """Have the executor.

        Raises:
            InvalidInputError: If there is none of that name, or it cannot be had.
        """
        if isinstance(self.source, Executor):
            self.executor = self.source
        else:
            self._make = factory_of(self.source) if isinstance(self.source, str) else self.source
            self.executor = self._make()
        return self

    def __exit__(self, *_: object) -> None:
        for future in self.running:
            future.cancel()
        self._give_up()

    def introduction(self) -> str:
        """The version the subject states where it is loaded.

        Raises:
            InvalidInputError: If the workers have other code, cannot load the subject, or end.
        """
        for _ in range(TRIES):
            try:
                future = self._had().submit(introduced, self.subject, self.seconds, self.house)
                while True:
                    if wait([future], TICK).done:
                        version, self.offers = future.result()
                        return str(version)
                    if self.watch is not None:
                        self.watch()
            except InvalidInputError:
                raise
            except Exception as error:
                why = f"must have workers that run this package ({described(error, placed=False)})"
                if isinstance(error, BrokenExecutor):
                    if self._make is None:
                        break
                    self._give_up()
        raise InvalidInputError("executor", why)

    def results(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Result]]:
        """Run tasks; their results come as they are done."""
        self.waiting = deque(cut(tasks))
        while self.waiting or self.running or self.arrived:
            self._submit()
            while self.arrived:
                yield self.arrived.popleft()
            with suppress(Empty):
                if self.running:
                    self._take(self._ended.get(timeout=TICK))
            if self.watch is not None:
                self.watch()

    def stop(self) -> list[tuple[Task, Result]]:
        """Begin nothing more; what is done and was not given out yet."""
        self.waiting.clear()
        for future in self.running:
            future.cancel()
        if isinstance(self.executor, ThreadPoolExecutor):
            wait(self.running)  # they are of this very process, which goes on
        for future in list(self.running):
            if future.done() and not future.cancelled() and future.exception() is None:
                self._take(future)
        self.waiting.clear()
        return list(self.arrived)

    def _submit(self) -> None:
        while self.waiting and self._has_room(self.waiting[0]):
            share = self.waiting.popleft()
            try:
                executor = self._had()
                # Runs of Algorithm 2 are made once for all who ask: these stay together.
                seconds = None if shares_runs(share.tasks[0]) else SECONDS
                chunk = Chunk(share.tasks, self.subject, self.seconds, seconds, self.house, self.offers)
                future = executor.submit(performed, chunk)
            except Exception as error:
                self.waiting.appendleft(share)
                self.failures += 1
                if self._make is not None and self.failures < TRIES and not isinstance(error, InvalidInputError):
                    self._give_up()
                    continue
                self._fault_all(f"the executor broke ({described(error, placed=False)})")
                return
            self.failures = 0
            self.running[future] = share, executor
            future.add_done_callback(self._ended.put)

    def _has_room(self, share: WorkerShare) -> bool:
        """Whether it may be submitted now; a pool that breaks with one worker is given little beyond its width."""
        if share.alone or any(other.alone for other, _ in self.running.values()):
            return not self.running
        width = getattr(self.executor, "_max_workers", None)
        return not isinstance(width, int) or len(self.running) <= width

    def _take(self, future: Future[Any]) -> None:
        share, executor = self.running.pop(future, (None, None))
        if share is None:
            return
        try:
            done = future.result()
            if not isinstance(done, Done) or not done.results:
                raise TypeError(f"it answered with {type(done).__name__}")  # noqa: TRY301  # as if its worker had died
        except KeyboardInterrupt:
            self.waiting.appendleft(share)
            raise
        except BaseException as error:  # cancelled, killed, exit(): whatever it was, it is no result
            if isinstance(error, BrokenExecutor) and executor is self.executor and self._make is not None:
                self._give_up()
            again = share.after(error)
            self.waiting.extend(again)
            if not again:
                self.arrived.extend((task, fault(task, _died(error), 0.0)) for task in share.tasks)
            return
        self.machines.add(done.machine)
        self.arrived.extend(zip(share.tasks, done.results, strict=False))
        self.waiting.extend(share.rest(len(done.results), done.spent, done.seconds))

    def _fault_all(self, why: str) -> None:
        for share in self.waiting:
            self.arrived.extend((task, fault(task, why, 0.0)) for task in share.tasks)
        self.waiting.clear()

    def _had(self) -> Executor:
        if self.executor is None:
            assert self._make is not None
            self.executor = self._make()
        return self.executor

    def _give_up(self) -> None:
        """Shut down an executor of our own."""
        if self._make is not None and self.executor is not None:
            executor, self.executor = self.executor, None
            with suppress(Exception):
                executor.shutdown(wait=not self.running, cancel_futures=True)


def cut(tasks: Sequence[Task]) -> Iterator[WorkerShare]:
    """Those that share runs together by instance, the others in neighbourhoods, the long first."""
    for shared, row in groupby(arranged(tasks), row_of):
        mine = list(row)
        if shared:
            by_instance: dict[str, list[Task]] = {}
            for task in mine:
                by_instance.setdefault(task.instance, []).append(task)
            yield from (WorkerShare(tuple(some)) for some in by_instance.values())
        else:
            yield from (WorkerShare(tuple(mine[k : k + AT_ONCE])) for k in range(0, len(mine), AT_ONCE))


def _died(error: BaseException) -> str:
    return str(error) if isinstance(error, InvalidInputError) else f"the worker died ({type(error).__name__})"
