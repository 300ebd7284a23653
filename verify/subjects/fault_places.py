"""Where in the user's own source an error was raised: file, line and function, never a line of the judge's."""

from __future__ import annotations

import os
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import NamedTuple

_ROOT = Path(__file__).resolve().parents[2]
_HOUSE = tuple(str(_ROOT / room) + os.sep for room in ("spec", "f2csa_ref", "verify"))
_STANDARD = tuple(
    os.path.realpath(path) + os.sep for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")} if path
)
_INSTALLED = ("site-packages", "dist-packages")
LONGEST = 120
"""Characters of a place that are shown, at most."""


class _Line(NamedTuple):
    frame: FrameType
    number: int
    file: str


def raised_at(error: BaseException) -> str:
    """``mysolver.py:17 in step``: the innermost line of the user's source on the way to an error.

    Where all of it is installed, as a published solver is, it is the innermost line of the package that was called.
    Empty where there is none. Files are named as they are imported, whatever the working directory and the machine.
    """
    lines = [line for line in _lines(error) if _is_foreign(line.file)]
    own = [line for line in lines if _package(line.file) is None]
    if not own:
        own = [line for line in lines if _package(line.file) == _package(lines[0].file)]
    if not own:
        return ""
    # How deep a recursion gets depends on where it began.
    chosen = own[0] if isinstance(error, RecursionError) else own[-1]
    return on_one_line(f"{_named(chosen)}:{chosen.number} in {chosen.frame.f_code.co_name}", LONGEST)


def on_one_line(text: str, longest: int) -> str:
    """The beginning of a text without anything that a line cannot hold."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:longest]).split())


def _lines(error: BaseException) -> list[_Line]:
    """Every line on the way to it, outermost first."""
    lines, step = [], error.__traceback__
    while step is not None:
        lines.append(_Line(step.tb_frame, step.tb_lineno, _real(step.tb_frame.f_code.co_filename)))
        step = step.tb_next
    return lines


@lru_cache(maxsize=1024)
def _real(file: str) -> str:
    try:
        return os.path.realpath(file)
    except (OSError, ValueError):  # whoever compiles source may call its file anything
        return file


def _is_foreign(file: str) -> bool:
    """Whether a file is neither the judge's nor Python's."""
    if Path(file).name.startswith("<") or file.startswith(_HOUSE):
        return False
    return _package(file) is not None or not file.startswith(_STANDARD)


def _package(file: str) -> str | None:
    """The installed package a file is of; ``None`` for what is not installed."""
    parts = Path(file).parts
    places = [k for k, part in enumerate(parts[:-1]) if part in _INSTALLED]
    return parts[places[-1] + 1] if places else None


def _named(line: _Line) -> str:
    """The end of a file's path that its module's name is made of: ``mysolver.py``, ``mine/steps.py``."""
    name, path = line.frame.f_globals.get("__name__"), Path(line.file)
    depth = name.count(".") + 1 if isinstance(name, str) else 1
    if path.name == "__init__.py":
        depth += 1
    parts = path.parts[-depth:]
    return "/".join(parts) if isinstance(name, str) and parts[0] == name.partition(".")[0] else path.name
