"""What a store remembers beside its results: small texts by name, each with its digest; and the state that it is in."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import suppress

from verify.campaign.store.database import one_transaction


def remembered(connection: sqlite3.Connection, what: str) -> dict[str, str]:
    """What was remembered under a name; nothing if nothing was, or another text than what was written."""
    row = connection.execute("SELECT text, digest FROM notes WHERE name = ?", (what,)).fetchone()
    return dict(json.loads(row[0])) if row and row[1] == digest(what, str(row[0])) else {}


def remember(connection: sqlite3.Connection, kind: str, name: str, what: dict[str, str]) -> None:
    """Remember something of a kind, and of that kind nothing else; where the disk is full, nothing."""
    with suppress(sqlite3.Error), one_transaction(connection):
        connection.execute("DELETE FROM notes WHERE substr(name, 1, ?) = ?", (len(kind), kind))
        text = json.dumps(what)
        connection.execute("INSERT INTO notes VALUES (?, ?, ?)", (kind + name, text, digest(kind + name, text)))


def state(connection: sqlite3.Connection) -> str:
    """A digest of all results and plans as they lie there, every column."""
    hasher = hashlib.sha256()
    for table, key in (("cells", "address"), ("plans", "digest")):
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY {key}"):  # our own two names
            hasher.update(repr(row).encode())
    return hasher.hexdigest()


def digest(*texts: str) -> str:
    """SHA-256 of texts, told apart."""
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()
