"""How much is asked of a subject that answers one question at a time: so many estimates, so many steps, and until when.

What a statement may ask for is counted, so that the same seed asks the same on a slow machine as on a fast one. Time
only ends the asking: what was not asked by then is not judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from spec import InvalidInputError
from spec.exact import Vector
from verify.conformance.found import MARK
from verify.subjects import Call, MissingCapabilityError, Subject
from verify.subjects.protocol import offers
from verify.subjects.stage_table import STAGES, TOGETHER

ESTIMATES = 60_000
"""Estimates that all statements together may ask for one at a time."""
SECONDS = 300.0
"""Time after which nothing more is asked."""
STEPS_AN_ESTIMATE = 10
"""Steps of Algorithm 2 they may ask for, for each of these: a few statements need thousands of long runs."""
SLICE = 256
"""Estimates asked for between two looks at the clock where they come one at a time, and"""
BATCH = 1 << 16
"""where they come many at once."""


class TimeIsUpError(KeyboardInterrupt):
    """The time for asking is over; what is done is kept, as after an interrupt."""


class Clock:
    """So many seconds from now; ``seconds`` may be infinite."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.was_ended = False
        self._began = time.monotonic()

    @property
    def spent(self) -> float:
        """Seconds since it was set."""
        return time.monotonic() - self._began

    @property
    def is_up(self) -> bool:
        """Whether they are over."""
        return self.was_ended or self.spent > self.seconds

    def end(self) -> None:
        """Let nothing more be asked."""
        self.was_ended = self.was_ended or not self.is_up

    def check(self) -> None:
        """Raise :class:`TimeIsUpError` once they are over."""
        if self.is_up:
            raise TimeIsUpError


class UnaffordableError(MissingCapabilityError):
    """A statement asks for more than its share."""


class PacingBudget:
    """A count shared by results to come, what a cheap one leaves going to those after it; each may take a least share.

    ``what`` is counted, ``option`` gives more of it, and so does a subject with another ``stage``.
    """

    def __init__(self, whole: int, what: str, least: float = 0.0) -> None:
        self.whole = self._left = whole
        self.what = what
        self._least = least
        self._spent = 0
        self.share = whole

    def start(self, tasks_left: int) -> None:
        """Begin another result."""
        self._left, self._spent = max(0, self._left - self._spent), 0
        self.share = int(self._left * max(self._least, 1 / max(1, tasks_left)))

    def spend(self, count: int) -> None:
        """Take off what was asked."""
        self._spent += count

    def require(self, count: int, instead: str) -> None:
        """Refuse what exceeds the share."""
        if self._spent + count > self.share:
            raise UnaffordableError(
                f"{self._spent + count:,} {self.what} are {MARK}, {self.share:,} of the {self.whole:,} that one run "
                f"asks for one at a time; a larger --estimates, or {instead}, decides it"
            )


class Renamed:
    """Passes every stage on, under the name that reports call it and load it by."""

    def __init__(self, subject: Subject, name: str) -> None:
        self._subject = subject
        self.name = name

    def __getattr__(self, stage: str) -> Any:
        return getattr(self._subject, stage)


class Timed(Renamed):
    """Asks a subject nothing any more once the time is up; many estimates at once are asked for in batches."""

    def __init__(self, subject: Subject, name: str, clock: Clock) -> None:
        super().__init__(subject, name)
        self.clock = clock

    def __getattr__(self, stage: str) -> Any:
        member = getattr(self._subject, stage)
        if stage not in (*STAGES, TOGETHER) or not callable(member):
            return member
        if stage == "hypergradient_samples":
            return self._batches

        def in_time(*arguments: Any) -> Any:
            self.clock.check()
            return member(*arguments)

        return in_time

    def _batches(self, problem: Any, x: Vector, call: Call, rng: Any, replications: int) -> Vector:
        many, rows = self._subject.hypergradient_samples, []  # type: ignore[attr-defined]  # it is offered
        for start in range(0, replications, BATCH):
            self.clock.check()
            rows.append(many(problem, x.copy(), call, rng, min(BATCH, replications - start)))
        return rows[0] if len(rows) == 1 else np.concatenate([np.asarray(part) for part in rows])


class Paced(Timed):
    """Makes many estimates, and runs of Algorithm 2, one at a time, as long as the counts last."""

    def __init__(self, subject: Subject, name: str, estimates: int = ESTIMATES, clock: Clock | None = None) -> None:
        super().__init__(subject, name, clock or Clock(np.inf))
        self._singly = estimates_singly(subject)
        self.estimates = PacingBudget(estimates, "estimates")
        self.steps = PacingBudget(STEPS_AN_ESTIMATE * estimates, "steps of Algorithm 2", least=0.25)

    def __getattr__(self, stage: str) -> Any:
        if stage == "hypergradient_samples" and self._singly:
            return self._estimates
        member = super().__getattr__(stage)
        return self._run(member, stage) if stage in ("optimise", "optimise_runs") else member

    def _estimates(self, problem: Any, x: Vector, call: Call, rng: Any, replications: int) -> Vector:
        self.estimates.require(replications, "hypergradient_samples")
        rows: list[Vector] = []
        done = 0
        while done < replications:
            self.clock.check()
            count = min(replications - done, SLICE)
            rows.append(self._some(problem, x, call, rng, count))
            done += count
        self.estimates.spend(done)
        return np.concatenate(rows)

    def _some(self, problem: Any, x: Vector, call: Call, rng: Any, count: int) -> Vector:
        if offers(self._subject, "hypergradient_samples"):
            subject: Any = self._subject
            return np.asarray(subject.hypergradient_samples(problem, x.copy(), call, rng, count))
        one = self._subject.hypergradient  # type: ignore[attr-defined]  # it is offered, else nobody asks
        return np.array([np.asarray(one(problem, x.copy(), call, rng)) for _ in range(count)])

    def _run(self, method: Callable[..., Any], stage: str) -> Callable[..., Any]:
        def run(oracle: Callable[[Any], Any], x0: Vector, parameters: Any, *others: Any) -> Any:
            self.steps.require(parameters.T, "optimise_runs" if stage == "optimise" else "fewer of them")

            def watched(z: Any) -> Any:
                self.clock.check()
                return oracle(z)

            answer = method(watched, x0, parameters, *others)
            self.steps.spend(parameters.T)
            return answer

        return run


def require_counts(estimates: int, seconds: float) -> None:
    """Refuse counts and times that leave nothing to ask.

    Raises:
        InvalidInputError: Unless ``estimates`` is >= 0 and ``seconds`` > 0 and finite.
    """
    if estimates < 0:
        raise InvalidInputError("estimates", "must be >= 0", estimates)
    if not 0 < seconds < np.inf:
        raise InvalidInputError("seconds", "must be > 0 and finite", seconds)


def estimates_singly(subject: Subject) -> bool:
    """Whether estimates come one at a time; a program may say so itself."""
    if not offers(subject, "hypergradient"):
        return False
    return not offers(subject, "hypergradient_samples") or getattr(subject, "estimates_singly", False) is True


def needs_pacing(subject: Subject) -> bool:
    """Whether estimates, or runs of Algorithm 2, come one at a time or through a pipe."""
    slow_runs = offers(subject, "optimise") and (
        not offers(subject, "optimise_runs") or getattr(subject, "answers_slowly", False) is True
    )
    return estimates_singly(subject) or slow_runs
