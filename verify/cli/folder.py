"""The folder a run writes into: nobody else's file is lost there, and no report that holds more."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from spec.errors import InvalidInputError
from spec.files import refuse_to_replace
from verify.campaign.store.database import NAME as STORE
from verify.campaign.store.database import require_store
from verify.report import times

FILES = ("report.json", "evidence.json", "report.html", "report.md", "junit.xml", times.FILE)
PART = "part"
"""Folder beside a report for runs of a part of it."""


def folder_for(out: Path, planned: Collection[str]) -> Path:
    """The folder, or its ``part`` where its report holds results, by key, that the planned run does not replace.

    Raises:
        InvalidInputError: If it is a file, or holds somebody else's file under one of our names.
    """
    _require_ours(out)
    if set(_reported(out)) <= set(planned):
        return out
    _require_ours(out / PART)
    return out / PART


def _require_ours(folder: Path) -> None:
    require_folder(folder)
    for name in FILES:
        refuse_to_replace(folder / name)
    require_store(folder / STORE, "--out")


def require_folder(out: Path) -> None:
    """Refuse a file where a folder is to be written."""
    if out.exists() and not out.is_dir():
        raise InvalidInputError("--out", "must be a folder", str(out))


def holds_complete(folder: Path) -> bool:
    """Whether the report there is of a run that ended by itself."""
    return bool(_report(folder).get("complete"))


def _reported(folder: Path) -> Iterator[str]:
    rows = _report(folder).get("results")
    for row in rows if isinstance(rows, list) else ():
        with suppress(KeyError, TypeError):
            yield "|".join((row["claim"], row["reading"], row["instance"]))


def _report(folder: Path) -> dict[str, object]:
    """What is there, as far as it can be read; what cannot is no report."""
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads((folder / FILES[0]).read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
    return {}
