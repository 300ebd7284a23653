"""A subject that answers one estimate at a time, kept within a time: what it cannot afford is left undecided."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from verify.subjects import MissingCapabilityError, Subject
from verify.subjects.protocol import offers

if TYPE_CHECKING:
    from verify.subjects import Call
    from verify.subjects.protocol import Vector

MARK = "more estimates than there is time for"
PATIENCE = 8
"""Estimates after which one's time is known."""


class UnaffordableError(MissingCapabilityError):
    """A check asks for more estimates than its time allows."""


class Paced:
    """Passes every stage on; makes many estimates from single ones as long as the time lasts.

    Args:
        subject: The subject; it offers no ``hypergradient_samples``.
        name: What reports call it.
        seconds: Time for the estimates of all results together.
    """

    def __init__(self, subject: Subject, name: str, seconds: float) -> None:
        self._subject = subject
        self.name = name
        self._left = seconds
        self._share = seconds
        self._spent = 0.0

    def __getattr__(self, stage: str) -> Any:
        return getattr(self._subject, stage)

    def start(self, tasks_left: int) -> None:
        """Begin another result: what is left is shared with those to come; what a cheap one leaves goes to them."""
        self._left = max(0.0, self._left - self._spent)
        self._share, self._spent = self._left / max(1, tasks_left), 0.0

    def hypergradient_samples(self, problem: Any, x: Vector, call: Call, rng: Any, replications: int) -> Vector:
        """Single estimates, one after another.

        Raises:
            UnaffordableError: As soon as the rest would take longer than there is.
        """
        started = time.perf_counter()
        one, rows = self.hypergradient, []
        for k in range(replications):
            rows.append(np.asarray(one(problem, x.copy(), call, rng)))
            if k + 1 == PATIENCE or (k + 1) % 256 == 0:
                used = time.perf_counter() - started
                each = used / (k + 1)
                if self._spent + each * replications > self._share:
                    self._spent += used
                    raise UnaffordableError(
                        f"{replications:,} {MARK}: at {each * 1e3:.2g} ms each they take {each * replications:.1f} s "
                        f"of {self._share:.1f} s; a longer --seconds, or hypergradient_samples, decides it"
                    )
        self._spent += time.perf_counter() - started
        return np.array(rows)


def needs_pacing(subject: Subject) -> bool:
    """Whether estimates come one at a time."""
    return offers(subject, "hypergradient") and not offers(subject, "hypergradient_samples")
