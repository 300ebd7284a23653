"""Standard streams that outlive their readers: what becomes of the output never decides what a command returns.

A reader that leaves, ``f2csa verify | head -1``, has read enough: the rest is thrown away and the command goes on to
its own exit code. A stream that cannot be written, a full disk, is remembered, and turns a success into a fault.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import TextIO, cast


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
    text = io.TextIOWrapper(
        buffered, encoding=stream.encoding, errors=stream.errors, line_buffering=line_buffering,
        write_through=bool(getattr(stream, "write_through", False)),
    )  # fmt: skip
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
