"""A limit on how long one stage call of a Python subject may take."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from spec.errors import InvalidInputError
from verify.subjects.protocol import TRUSTED, StageFaultError, Subject
from verify.subjects.stage_table import STAGES

HANGS = 2
"""Hangs after which a stage is not called again."""


def check_limit(seconds: float | None) -> None:
    """Refuse a limit that is not a positive finite number."""
    if seconds is not None and not 0 < seconds < float("inf"):
        raise InvalidInputError("time_limit", "must be > 0 and finite", seconds)


def hung(stage: str, seconds: float) -> str:
    """What is said of a stage that hung."""
    return f"{stage} did not answer within {seconds:g} s"


def hung_before(stage: str, seconds: float) -> StageFaultError:
    """What is said of a stage that hung too often."""
    return StageFaultError(f"{stage} is not called again: it did not answer within {seconds:g} s, twice", "hang")


class TimedSubject:
    """A subject whose stages tell a clock when they begin and end.

    The time the runner's oracle takes inside ``optimise`` is not the subject's: each answer restarts the clock.
    """

    def __init__(self, subject: Subject, clock: SharedClock | AlarmClock) -> None:
        self._subject = subject
        self.clock = clock

    def __getattr__(self, name: str) -> Any:
        stage = getattr(self._subject, name)
        if name not in STAGES or not callable(stage):
            return stage

        def timed(*args: Any) -> Any:
            if name.startswith("optimise"):
                args = (self._paused(name, args[0]), *args[1:])
            self.clock.start(name)
            try:
                return stage(*args)
            finally:
                self.clock.stop()

        return timed

    def _paused(self, stage: str, oracle: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def answer(z: Any) -> Any:
            self.clock.stop()
            try:
                return oracle(z)
            finally:
                self.clock.start(stage)

        return answer


class SharedClock:
    """Writes the running stage and its start where the parent process sees them; ``hangs`` are not called again.

    The cells are two shared doubles: number of the running stage from 1, 0 for none; its start, monotonic seconds.
    """

    def __init__(self, cells: Any, seconds: float, hangs: frozenset[str]) -> None:
        self._cells, self._seconds, self._hangs = cells, seconds, hangs

    def start(self, stage: str) -> None:
        """Say that a stage begins; raises where it hung too often."""
        if stage in self._hangs:
            raise hung_before(stage, self._seconds)
        self._cells[1] = time.monotonic()
        self._cells[0] = STAGES.index(stage) + 1

    def stop(self) -> None:
        """Say that none runs."""
        self._cells[0] = 0


def overdue(cells: Any, seconds: float) -> str | None:
    """The stage that runs for too long, if one does."""
    number = int(cells[0])
    return STAGES[number - 1] if number and time.monotonic() - cells[1] > seconds else None


class AlarmClock:
    """Interrupts a stage in this very process, by the system's alarm.

    A stage that holds on to the interpreter from native code is not interrupted: only another process can end that.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._stage = ""
        self._hangs: Counter[str] = Counter()

    def start(self, stage: str) -> None:
        """Set the alarm, again every second for a stage that swallows it."""
        if self._hangs[stage] >= HANGS:
            raise hung_before(stage, self._seconds)
        self._stage = stage
        signal.setitimer(signal.ITIMER_REAL, self._seconds, 1.0)

    def stop(self) -> None:
        """Cancel the alarm."""
        signal.setitimer(signal.ITIMER_REAL, 0.0)

    def ring(self, _number: int, _frame: object) -> None:
        """End the stage."""
        self._hangs[self._stage] += 1
        raise StageFaultError(hung(self._stage, self._seconds), "hang")


@contextmanager
def timed_here(subject: Subject, seconds: float | None) -> Iterator[Subject]:
    """A subject limited within this process, as far as that goes; unchanged without a limit.

    Needs the main thread of a POSIX system; elsewhere nothing is limited.
    """
    main = threading.current_thread() is threading.main_thread()
    if seconds is None or not main or not hasattr(signal, "setitimer") or not is_limited(subject):
        yield subject
        return
    clock = AlarmClock(seconds)
    before = signal.signal(signal.SIGALRM, clock.ring)
    timed: Any = TimedSubject(subject, clock)
    try:
        yield timed
    finally:
        clock.stop()
        signal.signal(signal.SIGALRM, before)


def timed_alike(subject: Subject, like: object) -> Subject:
    """Another subject on the clock of one that is limited already, its hangs counted; unchanged beside one that is not.

    Args:
        subject: A copy, say.
        like: What :func:`timed_here` made.
    """
    if not isinstance(like, TimedSubject):
        return subject
    timed: Any = TimedSubject(subject, like.clock)
    return timed  # type: ignore[no-any-return]  # stages are passed on by name


def is_limited(subject: object) -> bool:
    """Whether a limit is kept from outside: not for the reference, nor for a program, which keeps its own."""
    return type(subject) not in TRUSTED and not getattr(subject, "keeps_time", False)
