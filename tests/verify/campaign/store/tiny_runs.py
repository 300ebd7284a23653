"""A tiny plan whose results are made once: what is run afterwards costs nothing but the store."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

import verify
from tests import kept
from verify.campaign import plan as planning
from verify.campaign import workers
from verify.campaign.plan import Task
from verify.campaign.store.database import NAME
from verify.campaign.store.kept_results import StoreRow
from verify.campaign.store.packing import packed
from verify.report.model import Result
from verify.report.report_files import Report
from verify.subjects import ReferenceSubject

CLAIMS = ("bias-bound/T3", "solution-error")
NARROW = CLAIMS[:1]
ASKED: dict[str, Any] = {"profile": "smoke", "instances": ["toy1", "toy2"]}


@lru_cache(maxsize=1)
def made() -> dict[str, Result]:
    """Real results by key."""
    return {result.key: result for result in kept.run(CLAIMS, **ASKED).results}


class Performer:
    """Hands out what was made, and counts; ``ends`` after so many as if Ctrl-C were pressed, ``dies`` by a signal."""

    def __init__(self) -> None:
        self.performed: list[str] = []
        self.ends: int | None = None
        self.dies: int | None = None

    def __call__(self, task: Task, subject: object) -> Result:
        if self.dies is not None and len(self.performed) >= self.dies:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.ends is not None and len(self.performed) >= self.ends:
            raise KeyboardInterrupt
        self.performed.append(task.key)
        return made()[task.key].model_copy(update={"expected": None, "seconds": 0.25})


@contextmanager
def performer() -> Iterator[Performer]:
    made()
    fake = Performer()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "perform", fake)
        patch.setattr(planning, "perform", fake)
        yield fake


def run(store: Path | None, claims: tuple[str, ...] = CLAIMS, **how: Any) -> Report:
    return verify.run(claims, store=store, **ASKED, **how)


def text(report: Report) -> str:
    """All of a report but its times."""
    return report.timeless.model_dump_json(by_alias=True)


@lru_cache(maxsize=8)
def whole(claims: tuple[str, ...] = CLAIMS) -> str:
    """What an uninterrupted run without a store comes out with."""
    with performer():
        return text(run(None, claims))


def keys_of(claims: tuple[str, ...]) -> set[str]:
    """Keys of what a run of claims produces."""
    return {key for key in made() if any(key.split("|")[0] == c or key.startswith(f"{c}/") for c in claims)}


class Failing(sqlite3.Connection):
    """A connection on a disk that is full from the ``left``-th write on."""

    left = 0

    def execute(self, statement: str, *arguments: Any) -> sqlite3.Cursor:  # type: ignore[override]  # any arguments
        if statement.startswith(("INSERT", "DELETE", "CREATE", "COMMIT")):
            self._count()
        return super().execute(statement, *arguments)

    def executemany(self, statement: str, *arguments: Any) -> sqlite3.Cursor:  # type: ignore[override]  # any arguments
        self._count()
        return super().executemany(statement, *arguments)

    def _count(self) -> None:
        if type(self).left <= 0:
            raise sqlite3.OperationalError("database or disk is full")
        type(self).left -= 1


@contextmanager
def full_disk(after: int) -> Iterator[None]:
    """The disk is full after so many writes of SQLite's."""
    plain = sqlite3.connect
    Failing.left = after
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda *given, **how: plain(*given, factory=Failing, **how))
        yield


def in_a_child(action: Callable[[], object]) -> int:
    """Do something in a copy of this process; returns how that ended, as :func:`os.waitstatus_to_exitcode` says."""
    with warnings.catch_warnings():
        # Nothing here needs the threads that a copy lacks.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_run(store: Path, after: int, claims: tuple[str, ...] = CLAIMS) -> int:
    """A run that is killed when it has finished so many results."""

    def action() -> None:
        with performer() as fake:
            fake.dies = after
            run(store, claims)

    return in_a_child(action)


def rows(store: Path) -> list[StoreRow]:
    with sqlite3.connect(store) as connection:
        found = [StoreRow.unpacked(row) for row in connection.execute("SELECT * FROM cells ORDER BY address")]
    connection.close()
    return found


def edit(store: Path, row: StoreRow, **changes: Any) -> None:
    """Change columns of a row, and nothing that depends on them."""
    with sqlite3.connect(store) as connection:
        for name, value in changes.items():
            held = packed(value) if name in ("inputs", "result") and isinstance(value, str) else value
            connection.execute(f"UPDATE cells SET {name} = ? WHERE address = ?", (held, row.address))
    connection.close()


def forged(row: StoreRow, **fields: Any) -> StoreRow:
    """A row of our own making: the result changed, its digest right."""
    result = Result.model_validate(json.loads(row.result) | fields)
    return StoreRow.of(row.inputs, result.model_copy(update={"seconds": row.seconds}))


class Stranger(ReferenceSubject):
    """Not the reference, and right."""

    name = "stranger"
    version = "1"


STORE = NAME
