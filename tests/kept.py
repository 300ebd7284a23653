"""Results of the reference that tests of several files ask for: made once a session, by whichever worker asks first.

They lie in a folder of the session, under the digest of all sources and of what was asked, as in a run's store: what
other sources found is found under no key. Tests that patch anything are given what they compute themselves; who tests
a run's own arithmetic does not ask here at all.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import verify
from verify.campaign import workers
from verify.campaign.plan import Task, perform
from verify.campaign.store.dependencies import CodeHouse
from verify.report.model import Result
from verify.report.report_files import Report
from verify.subjects import ReferenceSubject, Subject
from verify.subjects.subject_names import REFERENCE

FOLDER = "F2CSA_TESTS_KEPT"
"""Environment variable by which workers find the session's folder."""
_own: dict[Task, Result] = {}
_plain = True


class Keeping:
    """Makes the folder for a session, removes it, and sees which tests patch anything."""

    def pytest_configure(self, config: pytest.Config) -> None:
        """Before the workers start, which have this process's environment."""
        if not hasattr(config, "workerinput"):
            os.environ[FOLDER] = tempfile.mkdtemp(prefix="f2csa-kept-")

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """After them."""
        if not hasattr(config, "workerinput"):
            shutil.rmtree(os.environ.pop(FOLDER), ignore_errors=True)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Before a test's fixtures."""
        global _plain  # one test at a time, as in all of pytest
        _plain = "monkeypatch" not in getattr(item, "fixturenames", ())


def result_of(task: Task) -> Result:
    """What :func:`verify.campaign.plan.perform` finds of the reference."""
    assert task.subject == REFERENCE
    if not _plain or FOLDER not in os.environ:
        return perform(task, ReferenceSubject())
    if task not in _own:
        _own[task] = _of_session(task)
    return _own[task]


def _of_session(task: Task) -> Result:
    name = hashlib.sha256(f"{_sources()} {task!r}".encode()).hexdigest()
    file = Path(os.environ[FOLDER]) / f"{name}.json"
    with file.with_suffix(".lock").open("w") as lock:
        # Another worker may be at it: what it will have found is waited for.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if file.exists():
            return Result.model_validate_json(file.read_text(encoding="utf-8"))
        found = perform(task, ReferenceSubject())
        file.write_text(found.model_dump_json(), encoding="utf-8")
        return found


@contextmanager
def served() -> Iterator[None]:
    """Runs of the reference in this process are given what is kept."""

    def given(task: Task, subject: Subject) -> Result:
        own = type(subject) is ReferenceSubject and not (task.continuation or task.posed)
        return result_of(task) if own else perform(task, subject)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "perform", given)
        yield


def run(claims: Sequence[str] = (), **how: Any) -> Report:
    """A run of the reference, as :func:`verify.run`'s, of what is kept."""
    with served():
        return verify.run(claims, **how)


@cache
def _sources() -> str:
    return CodeHouse().whole
