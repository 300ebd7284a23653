"""Where this package stands: its own ``spec`` and ``f2csa_ref``, whatever else bears these names."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

ROOT = str(Path(__file__).resolve().parents[1])
"""The folder that holds the three packages."""
NAMES = ("spec", "f2csa_ref", "verify")
_SAFE, _OURS = "PYTHONSAFEPATH", "f2csa"
"""Python's variable that keeps the working folder off a new process's path, and the value that says who set it."""


class OwnPlace:
    """Finds the three packages beside this file, before any of their names elsewhere."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As the finders of ``sys.meta_path`` do; nothing of any other name."""
        del target
        return PathFinder.find_spec(fullname, [ROOT]) if path is None and fullname in NAMES else None


def pin() -> None:
    """Have the three names mean this package's own from now on."""
    if not any(getattr(finder, "__qualname__", "") == OwnPlace.__qualname__ for finder in sys.meta_path):
        sys.meta_path.insert(0, OwnPlace)


def shadow() -> str:
    """Which of the three was imported from elsewhere before, on one line; empty where none was."""
    for name in NAMES:
        module = sys.modules.get(name)
        found = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
        if module is None or found is None:
            continue
        own = Path(ROOT, name, "__init__.py")
        if Path(found).resolve() != own.resolve():
            return f"{name}: must be {own}, which belongs to {Path(ROOT, 'verify')}; got {found}"
    return ""


@contextmanager
def working_folder_first() -> Iterator[None]:
    """Import what stands in the working folder first: it is what users mean by ``my_solver:Subject``.

    The folder stays on the path; behind this package where it holds one of the three names, as processes that inherit
    the path and import this package would find that instead.
    """
    here = str(Path.cwd())
    if here in sys.path:
        yield
        return
    sys.path.insert(0, here)
    try:
        yield
    finally:
        if _collides(here) and here in sys.path:
            sys.path.remove(here)
            sys.path.insert(sys.path.index(ROOT) + 1 if ROOT in sys.path else len(sys.path), here)


def _collides(folder: str) -> bool:
    return folder != ROOT and any(PathFinder.find_spec(name, [folder]) is not None for name in NAMES)


def child_path() -> list[str]:
    """The path of this process for a child that loads a subject, which finds the working folder by itself."""
    here = str(Path.cwd().resolve())
    paths = dict.fromkeys(str(Path(entry).resolve()) for entry in sys.path)
    return [entry for entry in paths if entry == ROOT or entry != here]


def python(code: str) -> list[str]:
    """The command of a fresh Python that runs code with this very package, whatever the working folder holds."""
    first = f"import sys; sys.path.insert(0, {ROOT!r}); import verify; sys.path.remove({ROOT!r})"
    return [sys.executable, "-P", "-c", f"{first}\n{code}"]


@contextmanager
def safe_path() -> Iterator[None]:
    """Processes started meanwhile do not look for modules in the working folder; :func:`as_started` undoes the rest."""
    if os.environ.get(_SAFE) or str(Path.cwd().resolve()) == ROOT:
        yield
        return
    os.environ[_SAFE] = _OURS
    try:
        yield
    finally:
        as_started()


def as_started() -> None:
    """Take back what :func:`safe_path` said in the environment: a subject's own programs are none of its business."""
    if os.environ.get(_SAFE) == _OURS:
        del os.environ[_SAFE]
