"""Our packages beside the user's files: which of them a name means, and what to say where it means another's."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

OURS = ("spec", "f2csa_ref", "verify")
"""The top-level packages, which stand side by side."""


def shadowed() -> str:
    """What stands in front of one of our packages, in one line; empty where nothing does."""
    root = Path(__file__).resolve().parents[1]
    for name in OURS:
        found = importlib.util.find_spec(name)
        where = None if found is None else found.origin or next(iter(found.submodule_search_locations or ()), None)
        if where is not None and root not in Path(where).resolve().parents:
            return (
                f"{where} stands in front of this package's own {name} ({root / name}): "
                "rename it, or run from another folder"
            )
    return ""


def look_here_too() -> None:
    """Have the working folder looked into first, as somebody means who names a file of theirs.

    Our own packages are imported before: one of the same name there is not taken for ours.
    """
    for name in OURS:
        importlib.import_module(name)
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
