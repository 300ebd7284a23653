"""``python -m benchmarks.scaling TIMES [COPIES]``: a run on 1 to 10,000 workers, simulated from measured costs.

TIMES is a run's ``times.json``. Its results are handed out as
:class:`verify.campaign.executors.remote_workers.RemoteWorkers` does: those that share runs of Algorithm 2 stay together
by instance, the others go out in neighbourhoods that come back after half a second. One process hands all of them
over, one after the other. COPIES is how many runs there are at once, of other seeds: as many times the work, its
longest piece as long as ever.
"""

from __future__ import annotations

import heapq
import json
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

from verify.campaign.executors.remote_workers import SECONDS, WorkerShare, cut
from verify.campaign.plan import Task
from verify.campaign.workers import shares_runs
from verify.report.formats import times

WORKERS = (1, 2, 10, 100, 1000, 10_000)
HANDOVER = 0.0025
"""Seconds of the process that hands a chunk over to Dask and takes its results back; measured 2.4 ms."""
TEAM = 100
"""Workers of one such process where there are several."""


def tasks_of(costs: Mapping[str, float]) -> list[Task]:
    """The tasks of these results, by key."""
    return [Task(*key.split("|"), "reference", "ci", 0) for key in costs]


def simulate(costs: Mapping[str, float], shares: Sequence[WorkerShare], workers: int) -> float:
    """Seconds of list scheduling: who is free takes what waits first; what comes back undone waits last."""
    waiting, busy, order = deque(shares), list[tuple[float, int, list[WorkerShare]]](), count()
    free, now, given_until = workers, 0.0, 0.0
    while waiting or busy:
        while waiting and free:
            share = waiting.popleft()
            done, spent = _worked(share, costs)
            given_until = max(now, given_until) + HANDOVER
            rest = share.rest(done, max(spent, 1e-9), SECONDS)
            heapq.heappush(busy, (given_until + spent, next(order), rest))
            free -= 1
        now, _, rest = heapq.heappop(busy)
        free += 1
        waiting.extend(rest)
    return now


def _worked(share: WorkerShare, costs: Mapping[str, float]) -> tuple[int, float]:
    """How many of its tasks a worker does before it comes back, and the seconds they take."""
    spent, whole = 0.0, shares_runs(share.tasks[0])
    for done, task in enumerate(share.tasks, 1):
        spent += costs[task.key]
        if spent > SECONDS and not whole:
            return done, spent
    return len(share.tasks), spent


def longest(costs: Mapping[str, float], shares: Sequence[WorkerShare]) -> float:
    """Seconds of the longest piece that is not cut: no number of workers is faster."""
    pieces = [sum(costs[task.key] for task in share.tasks) for share in shares if shares_runs(share.tasks[0])]
    return max([*pieces, *costs.values()])


def ordered(one: Sequence[WorkerShare], copies: int) -> list[WorkerShare]:
    """So many runs at once; the pieces that are not cut come first, as in one."""
    return sorted([*one] * copies, key=lambda share: not shares_runs(share.tasks[0]))


def main(arguments: list[str]) -> int:
    """Print a table; 2 without a file, or where the copies are no number."""
    if not arguments or not all(text.isdigit() and int(text) > 0 for text in arguments[1:]):
        sys.stderr.write("python -m benchmarks.scaling TIMES [COPIES]\n")
        return 2
    costs = times.Times.model_validate(json.loads(Path(arguments[0]).read_text(encoding="utf-8"))).results
    copies = int(arguments[1]) if len(arguments) > 1 else 1
    one = list(cut(tasks_of(costs)))
    work = copies * sum(costs.values())
    sys.stdout.write(
        f"{copies * len(costs):,} results, {work:,.0f} s of work, longest piece {longest(costs, one):.1f} s\n\n"
        f"| workers | one process: s | efficiency | one for {TEAM} workers: s | efficiency |\n|---|---|---|---|---|\n"
    )
    for workers in WORKERS:
        alone = simulate(costs, ordered(one, copies), workers)
        row = f"| {workers:,} | {alone:,.1f} | {work / alone / workers:.2g} |"
        teams = workers // TEAM
        if teams > 1 and copies >= teams:
            # The one with most seeds is the last to end.
            shared = simulate(costs, ordered(one, -(-copies // teams)), TEAM)
            row += f" {shared:,.1f} | {work / shared / workers:.2g} |"
        else:
            row += " | |"
        sys.stdout.write(row + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
