"""A slow subject, kept within a time: what it cannot afford is left undecided."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.subjects import Call, MissingCapabilityError, Subject
from verify.subjects.protocol import offers

MARK = "more than there is time for"
PATIENCE = 8
"""Estimates, or oracle calls, after which one's time is known."""
SLICE = 256
"""Estimates, or oracle calls, between two looks at the clock."""
OUTER = 4.0
"""Time for runs of Algorithm 2, in times of that for estimates: a few claims need thousands of long runs."""


class UnaffordableError(MissingCapabilityError):
    """A check asks for more than its time allows."""


class Budget:
    """Time shared by results to come, what a cheap one leaves going to those after it; each may take a least share."""

    def __init__(self, seconds: float, least: float = 0.0) -> None:
        self._left = seconds
        self._least = least
        self._spent = 0.0
        self.share = seconds

    def start(self, tasks_left: int) -> None:
        """Begin another result."""
        self._left = max(0.0, self._left - self._spent)
        self.share, self._spent = self._left * max(self._least, 1 / max(1, tasks_left)), 0.0

    def spend(self, used: float) -> None:
        """Take time off."""
        self._spent += used

    def require(self, used: float, whole: float, what: str, instead: str) -> None:
        """Refuse what would take ``whole`` seconds where that exceeds the share; ``used`` ones are taken off then."""
        if self._spent + whole > self.share:
            self._spent += used
            raise UnaffordableError(
                f"{what} take {whole:.1f} s, {MARK} ({self.share:.1f} s); a longer --seconds, or {instead}, decides it"
            )


class Renamed:
    """Passes every stage on, under the name that reports call it and load it by."""

    def __init__(self, subject: Subject, name: str) -> None:
        self._subject = subject
        self.name = name

    def __getattr__(self, stage: str) -> Any:
        return getattr(self._subject, stage)


class Paced(Renamed):
    """Makes many estimates, and runs of Algorithm 2, as long as the time lasts.

    ``seconds`` are for the estimates of all results together; single calls have half of that besides, runs of
    Algorithm 2 :data:`OUTER` times that.
    """

    def __init__(self, subject: Subject, name: str, seconds: float) -> None:
        super().__init__(subject, name)
        self._singly = estimates_singly(subject)
        self._single, self._for_singles = 0.0, seconds / 2
        self._fastest = 0.0
        self.estimates, self.runs = Budget(seconds), Budget(OUTER * seconds, least=0.25)

    def __getattr__(self, stage: str) -> Any:
        if stage == "hypergradient_samples" and self._singly:
            return self._estimates
        found = getattr(self._subject, stage)
        if stage == "hypergradient":
            return self._alone
        return self._run(found, stage) if stage in ("optimise", "optimise_runs") else found

    def _alone(self, *asked: Any) -> Any:
        if self._single > self._for_singles:
            raise UnaffordableError(f"single calls took {self._single:.1f} s, {MARK}; a longer --seconds decides it")
        started, one = time.perf_counter(), self._subject.hypergradient  # type: ignore[attr-defined]  # it is offered
        try:
            return one(*asked)
        finally:
            self._single += time.perf_counter() - started

    def _estimates(self, problem: Any, x: Vector, call: Call, rng: Any, replications: int) -> Vector:
        least = f"{replications:,} estimates at {self._fastest * 1e3:.2g} ms each"
        self.estimates.require(0.0, self._fastest * replications, least, "hypergradient_samples")
        started, rows, done = time.perf_counter(), [], 0
        while done < replications:
            count = min(replications - done, PATIENCE if done == 0 else SLICE)
            rows.append(self._some(problem, x, call, rng, count))
            done += count
            used = time.perf_counter() - started
            self._fastest = min(self._fastest or used / done, used / done)
            what = f"{replications:,} estimates at {used / done * 1e3:.2g} ms each"
            self.estimates.require(used, used / done * replications, what, "hypergradient_samples")
        self.estimates.spend(time.perf_counter() - started)
        return np.concatenate(rows)

    def _some(self, problem: Any, x: Vector, call: Call, rng: Any, count: int) -> Vector:
        if offers(self._subject, "hypergradient_samples"):
            found: Any = self._subject
            return np.asarray(found.hypergradient_samples(problem, x.copy(), call, rng, count))
        one = self._subject.hypergradient  # type: ignore[attr-defined]  # it is offered, else nobody asks
        return np.array([np.asarray(one(problem, x.copy(), call, rng)) for _ in range(count)])

    def _run(self, found: Callable[..., Any], stage: str) -> Callable[..., Any]:
        def run(oracle: Callable[[Any], Any], x0: Vector, parameters: Any, *others: Any) -> Any:
            started, asked = time.perf_counter(), 0

            def watched(z: Any) -> Any:
                nonlocal asked
                asked += 1
                if asked == PATIENCE or asked % SLICE == 0:
                    used = time.perf_counter() - started
                    what = f"{parameters.T:,} steps of Algorithm 2 at {used / asked * 1e3:.2g} ms each"
                    instead = "a faster optimise_runs" if stage == "optimise_runs" else "optimise_runs"
                    self.runs.require(used, used / asked * parameters.T, what, instead)
                return oracle(z)

            answer = found(watched, x0, parameters, *others)
            self.runs.spend(time.perf_counter() - started)
            return answer

        return run


def estimates_singly(subject: Subject) -> bool:
    """Whether estimates come one at a time; a program may say so itself."""
    if not offers(subject, "hypergradient"):
        return False
    return not offers(subject, "hypergradient_samples") or getattr(subject, "estimates_singly", False) is True


def needs_pacing(subject: Subject) -> bool:
    """Whether estimates, or runs of Algorithm 2, come one at a time or through a pipe."""
    slow_runs = offers(subject, "optimise") and (
        not offers(subject, "optimise_runs") or getattr(subject, "keeps_time", False) is True
    )
    return estimates_singly(subject) or slow_runs
