"""How far a run is and how long the rest takes, at the pace of what it has finished."""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST = 5
"""Fewest finished pieces that a pace is read off."""


def to_go(done: int, left: int, seconds: float) -> float | None:
    """Seconds that the rest takes if it costs what was done did; ``None`` where too little is done to say."""
    return seconds * left / done if done >= LEAST and left > 0 else None


def spoken(seconds: float) -> str:
    """A time to go, as roughly as it is known: ``about 40 s``, ``about 3 min``, ``about 2 h``."""
    if seconds < 57.5:
        return f"about {max(5, 5 * round(seconds / 5))} s"
    if seconds < 5370:
        return f"about {max(1, round(seconds / 60))} min"
    return f"about {round(seconds / 3600)} h"


class Pace:
    """What is done, of how much, and what was done last, as last told; a stage after another counts anew.

    Args:
        clock: Seconds, from any zero.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.started = clock, clock()
        self.done, self.total, self.what = 0, 0, ""
        self.stage = 0
        """How many stages began."""
        self.ends: float | None = None
        """When it ends, whatever is done by then."""
        self._before, self._since = 0, self.started

    def __call__(self, done: int, total: int, what: str) -> None:
        """Hear how much is done, of how much, and what was done last; what an earlier run left was never made here."""
        if done < self.done or total != self.total:
            self._before, self._since = max(0, done - 1), self.clock() if self.stage else self.started
            self.stage += 1
        self.done, self.total, self.what = done, total, what.replace("|", " ")

    def to_go(self, now: float) -> str:
        """The time to go in words; empty where nothing can be said."""
        if self.ends is not None:
            return f"{spoken(max(0.0, self.ends - now))} to go"
        left = to_go(self.done - self._before, self.total - self.done, now - self._since)
        return "" if left is None else f"{spoken(left)} to go"

    @property
    def line(self) -> str:
        """Where the run is now."""
        now = self.clock()
        seconds = f"{now - self.started:.0f} s"
        if not self.total:
            return f"{seconds}: starting"
        rest = self.to_go(now)
        return f"{seconds}: {self.done:,} of {self.total:,} done, {rest + ', ' if rest else ''}last {self.what}"
