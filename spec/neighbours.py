"""Our packages beside the user's files: which of them a name means, and what to say where it means another's."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path

OURS = ("spec", "f2csa_ref", "verify")
"""The top-level packages, which stand side by side."""
ROOT = Path(__file__).resolve().parents[1]
"""The folder they stand in."""


def shadowed() -> str:
    """What stands in front of one of our packages, in one line; empty where nothing does."""
    for name in OURS:
        module = importlib.util.find_spec(name)
        where = None if module is None else module.origin or next(iter(module.submodule_search_locations or ()), None)
        if where is not None and ROOT not in Path(where).resolve().parents:
            return (
                f"{where} stands in front of this package's own {name} ({ROOT / name}): "
                "rename it, or run from another folder"
            )
    return ""


@contextmanager
def working_folder_first() -> Iterator[None]:
    """Have the working folder looked into first, as somebody means who names a file of theirs.

    It stays on the path, for what is imported later. Where it holds one of our names, ours is imported before, and it
    ends up behind our folder: processes that are given this path, as an executor's are, find ours by it.
    """
    here = str(Path.cwd())
    if here in sys.path:
        yield
        return
    collides = Path(here).resolve() != ROOT and any(_holds(here, name) for name in OURS)
    if collides:
        for name in OURS:
            importlib.import_module(name)
    sys.path.insert(0, here)
    try:
        yield
    finally:
        if collides and here in sys.path:
            sys.path.remove(here)
            behind = [place for place, entry in enumerate(sys.path, 1) if Path(entry).resolve() == ROOT]
            sys.path.insert(behind[0] if behind else len(sys.path), here)


def _holds(folder: str, name: str) -> bool:
    """Whether a folder has a module of this name that can be taken for ours, which a bare folder is not."""
    module = PathFinder.find_spec(name, [folder])
    return module is not None and module.loader is not None


def not_from_here() -> list[str]:
    """Options of a new Python that runs ours: it does not look into the working folder, unless ours are there."""
    return [] if Path.cwd().resolve() == ROOT else ["-P"]
