"""Standard streams that outlive their readers: what becomes of the output never decides what a command returns.

A reader that leaves, ``f2csa verify | head -1``, has read enough: the rest is thrown away and the command goes on to
its own exit code. A stream that cannot be written, a full disk, is remembered, and turns a success into a fault.

A job of GitHub Actions takes lines of a certain form for commands; what is quoted, a subject's message, gives none.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from typing import TextIO, cast

ON_GITHUB = "GITHUB_ACTIONS"
"""Is ``true`` in every step of a workflow of GitHub Actions."""
_COMMAND = re.compile(r"^(\s*):(?=:)|##(?=\[)", re.MULTILINE)
"""Where the runner sees a command: ``::`` first in a line, ``##[`` anywhere (actions/runner, ``ActionCommand.cs``)."""


class Spoken(io.TextIOWrapper):
    """A standard stream from which a runner takes no command but those that are meant.

    ``guarded`` says whether one reads it; set where annotations are asked for.
    """

    guarded = False

    def write(self, text: str, /) -> int:
        """Write the text, no line of it a command."""
        super().write(without_commands(text) if self.guarded else text)
        return len(text)

    def command(self, line: str) -> None:
        """Write a line that is meant as one."""
        super().write(f"{line}\n")


def without_commands(text: str) -> str:
    """The text with a space in whatever a runner would take for a command."""
    return _COMMAND.sub(lambda match: f"{match[1]}: " if match[1] is not None else "# #", text)


class Outlet(io.FileIO):
    """A stream's descriptor whose errors are kept instead of raised.

    ``failed`` says what went wrong, but for a reader's leaving.

    Args:
        stream: Open for writing; kept, so that it is not closed before this is.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream.fileno(), "w", closefd=False)
        self.stream = stream
        self.reader_left = False
        self.failed = ""

    def write(self, data: bytes | bytearray | memoryview, /) -> int:  # type: ignore[override]  # any buffer
        """Write what can be written; everything counts as written."""
        try:
            if not (self.reader_left or self.failed):
                return super().write(data) or 0
        except BrokenPipeError:
            self.reader_left = True
        except OSError as error:
            self.failed = error.strerror or str(error)
        return len(memoryview(data).cast("B"))


def patient(stream: TextIO) -> tuple[TextIO, Outlet | None]:
    """A stream of the same descriptor, encoding and manners that no reader can break; itself where it has none."""
    try:
        outlet = Outlet(stream)
    except (OSError, ValueError):
        return stream, None
    stream.flush()
    buffered = io.BufferedWriter(cast(io.RawIOBase, outlet))
    line_buffering = bool(getattr(stream, "line_buffering", False)) or os.isatty(outlet.fileno())
    text = Spoken(
        buffered, encoding=stream.encoding, errors=stream.errors, line_buffering=line_buffering,
        write_through=bool(getattr(stream, "write_through", False)),
    )  # fmt: skip
    text.guarded = os.environ.get(ON_GITHUB) == "true"
    return text, outlet


def told(code: int, outlets: Sequence[Outlet]) -> int:
    """The exit code once all is flushed: that of the command, but no success where its output was lost."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    lost = next((outlet.failed for outlet in outlets if outlet.failed), "")
    if lost:
        sys.stderr.write(f"f2csa: output was lost: {lost}\n")
        sys.stderr.flush()
    return 3 if lost and code == 0 else code
