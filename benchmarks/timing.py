"""Times that mean something on a shared machine: minima over repeats that take turns, and their ratios."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Action = Callable[[], object]
SECONDS = 0.6
"""Time spent on a comparison's repeats, a party."""


@dataclass(frozen=True)
class Row:
    """One comparison: ours and a peer's time in seconds, for one thing at one size."""

    what: str
    size: str
    peer: str
    ours: float
    theirs: float
    note: str = ""

    def __str__(self) -> str:
        ratio = self.ours / self.theirs
        return f"| {self.what} | {self.size} | {1e3 * self.ours:.3g} | {self.peer} | {1e3 * self.theirs:.3g} | {ratio:.2g} | {self.note} |"  # noqa: E501


HEAD = "| what | size | ours, ms | peer | peer, ms | ours / peer | note |\n|---|---|---|---|---|---|---|"


def minima(*actions: Action, most: int = 200) -> list[float]:
    """Shortest time of each, in seconds; they take turns, so that a busy moment hits all alike."""
    for action in actions:
        action()
    times: list[list[float]] = [[] for _ in actions]
    end = time.perf_counter() + SECONDS * len(actions)
    while len(times[0]) < 3 or (time.perf_counter() < end and len(times[0]) < most):
        for action, taken in zip(actions, times, strict=True):
            start = time.perf_counter()
            action()
            taken.append(time.perf_counter() - start)
    return [min(taken) for taken in times]


def stream_rate(megabytes: int = 128) -> float:
    """Bytes a second that one core reads from memory: a dot product of a block that no cache holds with itself."""
    block = np.ones(megabytes << 17)
    (seconds,) = minima(lambda: np.dot(block, block), most=30)
    return block.nbytes / seconds
