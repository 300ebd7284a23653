"""What is submitted to an executor: a function of plain data, which needs nothing but this package where it runs."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from f2csa_ref.libraries.one_thread import one_thread
from spec.errors import InvalidInputError
from verify.campaign.plan import Task, perform
from verify.campaign.run_environment import machine, versions
from verify.campaign.store.dependencies import installed
from verify.checks.measuring.case import checks
from verify.report.model import Result
from verify.subjects import Subject
from verify.subjects.loading import end, load_apart, offered
from verify.subjects.subject_names import version_of

LOADS = 10
"""Least work for a subject that had to be loaded, in times of its loading."""
_alone = threading.Lock()
"""One chunk at a time in one process: precision and the threads of BLAS are of the process."""


@dataclass(frozen=True)
class House:
    """The code and the versions that results are to come from; which processor, and so last digits, is open."""

    code: str
    versions: tuple[tuple[str, str], ...]

    @classmethod
    def here(cls) -> House:
        """Those of this process, as they were when first asked for."""
        return cls(installed().whole, tuple(versions().items()))

    def hold(self) -> None:
        """Refuse to work elsewhere: what is kept under one address must not come from other code.

        Raises:
            InvalidInputError: If this process has other code or versions.
        """
        mine = House.here()
        if mine == self:
            return
        theirs = dict(self.versions)
        other = [f"{name} {value}" for name, value in mine.versions if theirs.get(name) != value]
        differences = ", ".join(other) or "other code of f2csa-verify"
        raise InvalidInputError(
            "executor", f"must have workers with the code and versions of this machine; they have {differences}"
        )


@dataclass(frozen=True)
class Chunk:
    """Neighbouring tasks of one subject; ``seconds`` of work after which the rest comes back undone, if any.

    ``offers`` are the stages it announced where it was introduced.
    """

    tasks: tuple[Task, ...]
    subject: str
    time_limit: float | None
    seconds: float | None
    house: House
    offers: str = ""


@dataclass(frozen=True)
class Done:
    """The results of a chunk's first tasks, at least one, and the seconds of work they took of those there were.

    ``machine`` is what chose their last digits.
    """

    results: tuple[Result, ...]
    spent: float
    seconds: float
    machine: tuple[tuple[str, str], ...] = ()


def performed(chunk: Chunk) -> Done:
    """Load the subject, perform tasks, end the subject.

    Raises:
        InvalidInputError: If this process has other code, or cannot load the subject.
    """
    with _alone:
        subject, loading = _loaded(chunk.subject, chunk.time_limit, chunk.house)
        try:
            if offered(subject) != chunk.offers:
                # What fails in one process would be not applicable in another.
                rule = f"offers {offered(subject)} in one process and {chunk.offers or 'nothing'} in another"
                raise InvalidInputError("subject", rule, chunk.subject)
            with one_thread():
                started, results = time.perf_counter(), []
                seconds = float("inf") if chunk.seconds is None else max(chunk.seconds, LOADS * loading)
                for task in chunk.tasks:
                    results.append(perform(task, subject))
                    spent = time.perf_counter() - started
                    if spent > seconds:
                        break
        finally:
            end(subject)
    return Done(tuple(results), spent, seconds, tuple(machine().items()))


def introduced(subject: str, time_limit: float | None, house: House) -> tuple[str, str]:
    """The version and the stages that the subject states where this runs; raises as :func:`performed` does."""
    with _alone:
        loaded, _ = _loaded(subject, time_limit, house)
        try:
            return version_of(loaded), offered(loaded)
        finally:
            end(loaded)


def _loaded(name: str, time_limit: float | None, house: House) -> tuple[Subject, float]:
    """The subject, in a process of its own if it is foreign, and the seconds it took to load."""
    house.hold()
    checks()  # whatever they import is there before BLAS is held to one thread
    started = time.perf_counter()
    return load_apart(name, time_limit=time_limit), time.perf_counter() - started
