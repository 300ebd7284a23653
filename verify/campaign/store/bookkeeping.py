"""Which results of a run are kept already, which are left to do, and where they go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from spec.drawn import is_drawn
from verify.campaign.draws import went_wrong
from verify.campaign.plan import Task
from verify.campaign.store.addresses import Addresses, address_of
from verify.campaign.store.kept_results import Store
from verify.evidence.budget import EFFORT_STEP
from verify.report.model import Result
from verify.verdict import Verdict


@dataclass(frozen=True)
class Reuse:
    """Which kept results a run takes: those of the very same task, those of smaller efforts besides, or none.

    ``counts_draws``: whether results on drawn problems are but counted, so that memory need not hold their evidence.
    """

    same: bool = True
    smaller: bool = False
    counts_draws: bool = False


class Books:
    """A run's results by key, in a store or, without one, in memory.

    A fault is never taken: it is tried again. With ``smaller`` efforts, a decided result of one stands for the task,
    and an undecided one is gone on from.
    """

    def __init__(self, store: Store | None, addresses: Addresses | None, reuse: Reuse) -> None:
        self.store = store
        self.addresses = addresses
        self.reuse = reuse
        self.cells: dict[str, str] = {}
        self.taken = 0
        self.passed_over = 0
        self._inputs: dict[str, str] = {}
        self._done: dict[str, Result] = {}

    def open(self, tasks: Sequence[Task], mine: Sequence[Task]) -> list[Task]:
        """What of a run's share is left to do; the whole plan's addresses are settled here."""
        if self.store is None or self.addresses is None:
            return list(mine)
        choices = {task.key: [self._address(smaller) for smaller in self._efforts(task)] for task in tasks}
        results = self._found(self.store, mine, choices)
        if not self.reuse.same:
            self.passed_over, results = sum(choices[task.key][0] in results for task in mine), {}
        self.cells = {task.key: self._chosen(choices[task.key], results) for task in tasks}
        left = [task for task in mine if self.cells[task.key] not in results]
        self.taken = len(mine) - len(left)
        return [self._continued(task, choices[task.key], results) for task in left]

    @staticmethod
    def _found(store: Store, mine: Sequence[Task], choices: Mapping[str, Sequence[str]]) -> dict[str, Result]:
        """What is kept of what may be taken; of draws, of which there are many, without their evidence."""
        parts: dict[bool, dict[str, None]] = {True: {}, False: {}}
        for task in mine:
            parts[is_drawn(task.instance)].update(dict.fromkeys(choices[task.key]))
        results = store.results(parts[False])
        results |= {address: result.thin for address, result in store.by_address(parts[True])}
        return {address: result for address, result in results.items() if result.fault is None}

    @property
    def notices(self) -> tuple[str, ...]:
        """What there is to say of the store, one line each."""
        dropped = () if self.store is None else tuple(self.store.notices)
        return (*dropped, *([_PASSED_OVER.format(self.passed_over)] if self.passed_over else []))

    def keep(self, task: Task, result: Result) -> None:
        """Keep a finished result."""
        if self.store is not None:
            self.store.keep(self._inputs_of(task), result)
        else:
            self._done[task.key] = result if self._is_whole(task, result) else result.thin

    def results(self, mine: Sequence[Task]) -> list[Result]:
        """What is there of a run's share, in its order."""
        if self.store is None:
            return [self._done[task.key] for task in mine if task.key in self._done]
        by_address = self.store.results(self.cells[task.key] for task in mine)
        return [by_address[self.cells[task.key]] for task in mine if self.cells[task.key] in by_address]

    def each(self, mine: Sequence[Task]) -> Iterator[Result]:
        """The same one after the other, for more of them than memory holds."""
        if self.store is None:
            return iter(self.results(mine))
        return self.store.in_order([self.cells[task.key] for task in mine])

    def _is_whole(self, task: Task, result: Result) -> bool:
        return not (self.reuse.counts_draws and is_drawn(task.instance)) or went_wrong(result)

    def _address(self, task: Task) -> str:
        assert self.addresses is not None
        inputs = self.addresses.inputs(task)
        address = address_of(inputs)
        if not is_drawn(task.instance):
            self._inputs[address] = inputs
        return address

    def _inputs_of(self, task: Task) -> str:
        address = self.cells[task.key]
        if address in self._inputs:
            return self._inputs[address]
        assert self.addresses is not None
        return self.addresses.inputs(task)

    def _efforts(self, task: Task) -> list[Task]:
        """The task, and where smaller efforts count the same with these, the largest first."""
        tasks, effort = [task], task.effort
        while self.reuse.smaller and effort > 1:
            effort //= EFFORT_STEP
            tasks.append(replace(task, effort=effort))
        return tasks

    @staticmethod
    def _chosen(addresses: Sequence[str], results: dict[str, Result]) -> str:
        decided = (a for a in addresses if a in results and (a == addresses[0] or not _is_open(results[a])))
        return next(decided, addresses[0])

    @staticmethod
    def _continued(task: Task, addresses: Sequence[str], results: dict[str, Result]) -> Task:
        begun = next((results[a] for a in addresses[1:] if a in results), None)
        return task if begun is None else replace(task, continuation=begun.continuation)


_PASSED_OVER = "{} kept results were run again: not all that they depend on is known (--resume takes them)"


def _is_open(result: Result) -> bool:
    return result.verdict is Verdict.INCONCLUSIVE
