"""The folder a run writes into: nobody else's file is lost there, and no report that holds more."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from spec.claims import ORDER
from spec.errors import InvalidInputError
from spec.files import refuse_to_replace
from verify.campaign.store.database import NAME as STORE
from verify.campaign.store.database import require_store
from verify.report.formats import times

FRONT = "report.html"
FILES = ("report.json", "evidence.json", FRONT, "report.md", "junit.xml", times.FILE)
PAGES = "pages"
"""Folder beside ``report.html`` for the pages that it leads to."""
PART = "part"
"""Folder beside a report for runs of a part of it."""


def folder_for(out: Path, planned: Collection[str]) -> Path:
    """The folder, or its ``part`` where its report holds results, by key, that the planned run does not replace.

    Raises:
        InvalidInputError: If it is a file, or holds somebody else's file under one of our names.
    """
    require_ours(out)
    if set(_reported(out)) <= set(planned):
        return out
    require_ours(out / PART)
    return out / PART


def require_ours(folder: Path) -> None:
    """Refuse a folder that is a file, or that holds somebody else's file under one of our names."""
    require_folder(folder)
    for name in FILES:
        refuse_to_replace(folder / name)
    require_our_pages(folder)
    require_store(folder / STORE, "--out")


def require_our_pages(folder: Path) -> None:
    """Refuse somebody else's file under a name that a page of a report may have."""
    require_folder(folder / PAGES)
    for path in (folder / PAGES).glob("*.*"):
        if _is_page(path.name):
            refuse_to_replace(path)


def _is_page(name: str) -> bool:
    """Whether a run may write a page of this name."""
    stem, _, ending = name.rpartition(".")
    if ending != "html":
        return name in ("style.css", "site.js", "search-index.js")
    return stem in (*ORDER, "matrix", "paper", "archive", "glossary") or stem.startswith(("cause-", "claim-"))


def require_folder(out: Path, argument: str = "--out") -> None:
    """Refuse a file where a folder is to be written."""
    if out.exists() and not out.is_dir():
        raise InvalidInputError(argument, "must be a folder", str(out))


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
        contents = json.loads((folder / FILES[0]).read_text(encoding="utf-8"))
        if isinstance(contents, dict):
            return contents
    return {}
