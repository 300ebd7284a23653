"""Where the values of a rewritten program's expressions come by: recorded, or exchanged for others."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from verify.conformance.trace.source_sites import SourceSite

Key = tuple[int, int]
"""An expression's number, and the line that called its function where that is the user's, too; else 0."""
Exchange = Callable[[int, int, Any], Any]
"""From the turn, the number of oracle answers so far and the computed value to the one that takes its place."""


@dataclass(frozen=True)
class ExchangedPlace:
    """Where values are exchanged: of all calls of the expression's function, or of those from one line."""

    exchange: Exchange
    caller: int | None = None


class TooLongError(Exception):
    """An exchanged value made the program run on."""


@dataclass
class SeenValues:
    """What one expression came to, each time: values, when each was, and how many oracle answers had been given."""

    values: list[Any] = field(default_factory=list)
    when: list[int] = field(default_factory=list)
    clocks: list[int] = field(default_factory=list)


class ValueWatch:
    """What a rewritten program calls with each value; called without anything asked of it, it gives the value back."""

    def __init__(self) -> None:
        self.sites: list[SourceSite] = []
        self.files: set[str] = set()
        self.clock = 0
        """How many answers the oracle has given in this run."""
        self.root = Path.cwd()
        self._record: dict[Key, SeenValues] | None = None
        self._count = 0
        self._exchanges: Mapping[int, ExchangedPlace] = {}
        self._turns: dict[int, int] = {}
        self._left, self._until = 0, 0.0

    def named(self, path: Path) -> str:
        """A file as messages name it: below the working directory where it is, else by its name."""
        resolved, root = path.resolve(), self.root.resolve()
        return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else path.name

    def __call__(self, k: int, value: Any) -> Any:
        """The value, or what takes its place."""
        if self._exchanges:
            value = self._exchanged(k, value)
        if self._record is not None:
            snapshot = _kept(value)
            if snapshot is not None:
                entry = self._record.setdefault((k, self._caller()), SeenValues())
                entry.values.append(snapshot)
                entry.when.append(self._count)
                entry.clocks.append(self.clock)
                self._count += 1
        return value

    def _exchanged(self, k: int, value: Any) -> Any:
        self._left -= 1
        if self._left < 0 or time.monotonic() > self._until:
            raise TooLongError
        place = self._exchanges.get(k)
        if place is None or _kept(value) is None or place.caller not in (None, self._caller(3)):
            return value
        turn = self._turns.get(k, 0)
        self._turns[k] = turn + 1
        return place.exchange(turn, self.clock, value)

    def _caller(self, above: int = 2) -> int:
        """The line of the user's that called the function in which a value came by; 0 where none of theirs did."""
        frame = sys._getframe(above).f_back  # no other way to know who called
        return frame.f_lineno if frame is not None and frame.f_code.co_filename in self.files else 0

    def record(self, run: Callable[[], Any]) -> tuple[Any, dict[Key, SeenValues]]:
        """A run's result, and every value on its way."""
        self._record, self._count, self.clock = {}, 0, 0
        try:
            answer = run()
        finally:
            record, self._record = self._record, None
        return answer, record

    def exchanged(
        self, run: Callable[[], Any], exchanges: Mapping[int, ExchangedPlace], *, most: int, seconds: float
    ) -> Any:
        """A run's result with values exchanged; it ends where more than ``most`` values come by, or after a time."""
        self._exchanges = exchanges
        self._turns, self._left, self._until, self.clock = {}, most, time.monotonic() + seconds, 0
        try:
            return run()
        finally:
            self._exchanges = {}


def _kept(value: Any) -> Any:
    """A copy of a number, an array of numbers, or a tuple of them; ``None`` for anything else."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.dtype.kind == "f" else None
    if isinstance(value, float):
        return float(value)
    if isinstance(value, tuple) and 1 < len(value) <= 3:
        parts = tuple(_kept(part) for part in value)
        return None if any(part is None or isinstance(part, tuple) for part in parts) else parts
    return None


def in_form_of(value: Any, like: Any) -> Any:
    """A value as what it takes the place of: the same kind of number, an array of its own."""
    if isinstance(like, tuple):
        return tuple(in_form_of(a, b) for a, b in zip(value, like, strict=True))
    if isinstance(like, np.ndarray):
        return np.array(value, dtype=np.float64).reshape(like.shape)
    return type(like)(value) if isinstance(like, np.floating) else float(value)


def by_turn(wants: Sequence[Any]) -> Exchange:
    """Exchange turn by turn; beyond the turns there were, begin anew."""
    return lambda turn, _clock, value: _fitting(wants[turn % len(wants)], value)


def by_answers(wants: Sequence[Any], offset: int) -> Exchange:
    """Exchange by how many answers the oracle has given, less ``offset``; what lies beyond stays."""

    def exchange(_turn: int, clock: int, value: Any) -> Any:
        t = clock - offset
        return _fitting(wants[t], value) if 0 <= t < len(wants) else value

    return exchange


def _fitting(want: Any, value: Any) -> Any:
    """The wanted value where it has the form of the computed one; else that."""
    try:
        return in_form_of(want, value)
    except (TypeError, ValueError):
        return value
