"""The file that keeps results: SQLite, ours and whole or not touched, one writer at a time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from spec.errors import InvalidInputError, unwritable

NAME = "store.sqlite"
"""The file's name in a folder of reports."""
APPLICATION = 0x46324353
"""Which program's file it is, in SQLite's own field for that: ``F2CS``."""
VERSION = 3
"""Of what is written; in version 2 each text was compressed by itself."""
READABLE = (2, VERSION)
# Results of a page's size lie in rows: a tree without rows would give each the whole pages that it overflows into.
TABLES = {
    "cells": (
        "CREATE TABLE cells (address TEXT PRIMARY KEY, inputs BLOB NOT NULL, result BLOB NOT NULL, "
        "seconds REAL NOT NULL, digest TEXT NOT NULL)"
    ),
    "plans": (
        "CREATE TABLE plans (digest TEXT PRIMARY KEY, request TEXT NOT NULL, cells BLOB NOT NULL, at REAL NOT NULL) "
        "WITHOUT ROWID"
    ),
    "notes": ("CREATE TABLE notes (name TEXT PRIMARY KEY, text TEXT NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID"),
}
_MAGIC, _HEADER = b"SQLite format 3\0", 100
LOG = "-wal"
"""Ending of the file beside it that holds what was written last."""
READ = "STORE"
"""What a command calls a store that is there to be read, and nothing of it written."""


class StoreError(RuntimeError):
    """A store that could not be read or written in the middle of a run; what was finished before is in it."""


def require_store(path: Path, argument: str) -> None:
    """Refuse a file that is there and is no store of ours; only its first bytes are read.

    Raises:
        InvalidInputError: If it is somebody else's, cut off, or of another version. An empty file is nobody's, unless
            results that belong to it lie beside.
    """
    try:
        with path.open("rb") as file:
            start = file.read(_HEADER)
            size = file.seek(0, os.SEEK_END)
    except FileNotFoundError:
        start, size = b"", 0
    except OSError as error:
        raise InvalidInputError(argument, f"must be a store that can be read ({error.strerror})", str(path)) from None
    log = path.with_name(path.name + LOG)
    if not start:
        if log.exists() and log.stat().st_size:
            rule = f"must not be missing while {log.name} is there: bring it back, or move that file away, too"
            raise InvalidInputError(argument, rule, str(path))
        return
    whole = log.exists() or (size >= _HEADER and size == _pages(start))
    if not whole or not start.startswith(_MAGIC) or _number(start, 68) != APPLICATION:
        rule = f"must not hold a {path.name} that f2csa did not write, or that was cut off: move it, or choose another"
        read = "must be a store that f2csa wrote, and whole"
        raise InvalidInputError(argument, read if argument == READ else f"{rule} folder", str(path))
    if _number(start, 60) not in READABLE:
        known = " or ".join(map(str, READABLE))
        rule = f"must be a store of version {known}: another f2csa wrote it; use that one, or another folder"
        raise InvalidInputError(argument, rule, f"{path} of version {_number(start, 60)}")


def _pages(start: bytes) -> int:
    """Bytes of all pages, as the header says."""
    page = int.from_bytes(start[16:18], "big")
    return _number(start, 28) * (65536 if page == 1 else page)


def _number(start: bytes, at: int) -> int:
    return int.from_bytes(start[at : at + 4], "big")


def opened(path: Path, argument: str) -> sqlite3.Connection:
    """Open a store to write to, made where there is none; nobody else can open it until it is closed.

    Raises:
        InvalidInputError: If it is not ours, broken, in use, or cannot be written.
    """
    require_store(path, argument)
    try:
        if not path.exists() or not path.stat().st_size:
            _create(path)
        return _checked(sqlite3.connect(_uri(path, "rw"), uri=True, isolation_level=None, timeout=0), path, argument)
    except OSError as error:
        raise unwritable(error, argument, "must be in a folder that can be written", str(path)) from None
    except sqlite3.Error as error:
        raise _refusal(error, argument, path) from None


def opened_to_read(path: Path, argument: str) -> sqlite3.Connection:
    """Open a store that is there; one that no run was cut off in is not written to, not even in its folder.

    Raises:
        InvalidInputError: If there is none, or it is not ours, broken or in use.
    """
    if not path.is_file():
        raise InvalidInputError(argument, "must be a store, or a folder with one", str(path))
    if path.with_name(path.name + LOG).exists():
        return opened(path, argument)
    require_store(path, argument)
    try:
        uri = _uri(path, "ro") + "&immutable=1"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)
        return _checked(connection, path, argument, writes=False)
    except sqlite3.Error as error:
        raise _refusal(error, argument, path) from None


@contextmanager
def one_transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is written inside, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        # A full disk may have rolled it back already.
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _checked(connection: sqlite3.Connection, path: Path, argument: str, *, writes: bool = True) -> sqlite3.Connection:
    """A connection ready for use: locked, in WAL mode, its file whole and of nothing but our tables."""
    connection.text_factory = _text
    try:
        # Locked before the log is first looked at, it needs no shared memory, so that a network's disk will do.
        for setting in ("trusted_schema=OFF", "locking_mode=EXCLUSIVE", "synchronous=NORMAL"):
            connection.execute(f"PRAGMA {setting}")
        if writes:
            connection.execute("PRAGMA journal_mode=WAL")
        _require_whole(connection, path, argument)
        if writes and connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            # What is written from now on is of this version: a program of an earlier one must refuse it.
            connection.execute(f"PRAGMA user_version={VERSION}")
    except BaseException:
        connection.close()
        raise
    return connection


def _text(raw: bytes) -> str:
    """What is no text is read as one that nobody wrote."""
    return raw.decode("utf-8", "replace")


def _require_whole(connection: sqlite3.Connection, path: Path, argument: str) -> None:
    (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    held = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    if state != "ok" or dict(held) != TABLES:
        raise InvalidInputError(argument, "must be whole; it is damaged: move it away to start anew", str(path))


def _create(path: Path) -> None:
    """Make an empty store under another name, then give it its own: it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        connection = sqlite3.connect(part, isolation_level=None)
        try:
            with one_transaction(connection):
                connection.execute(f"PRAGMA application_id={APPLICATION}")
                connection.execute(f"PRAGMA user_version={VERSION}")
                for table in TABLES.values():
                    connection.execute(table)
        finally:
            connection.close()
        if path.exists():
            part.replace(path)
        else:
            _publish(part, path)
    finally:
        for left in (part, part.with_name(f"{part.name}-journal")):
            left.unlink(missing_ok=True)


def _publish(part: Path, path: Path) -> None:
    """Give a file its name, unless another run was faster."""
    try:
        os.link(part, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        part.replace(path)


def _uri(path: Path, mode: str) -> str:
    return f"{path.absolute().as_uri()}?mode={mode}"


def _refusal(error: sqlite3.Error, argument: str, path: Path) -> Exception:
    """What SQLite says, as a rule that the file breaks; where the disk is full, as a fault of the run."""
    text = str(error)
    if "disk is full" in text:
        return StoreError(f"{path} failed ({text})")
    rule = f"must be a store that can be opened ({text})"
    if "locked" in text:
        rule = "must not be in use: another run is writing to it"
    if "not a database" in text or "malformed" in text:
        rule = f"must be whole; it is damaged ({text}): move it away to start anew"
    return InvalidInputError(argument, rule, str(path))
