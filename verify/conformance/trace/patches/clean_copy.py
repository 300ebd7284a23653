"""A copy of the process in which no question was asked yet: what is found is confirmed there."""

from __future__ import annotations

import marshal
import os
import signal
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress

import numpy as np

from verify.conformance.trace.patches.running_functions import Codes, functions_in, swapped
from verify.subjects import MissingCapabilityError

MOST_SECONDS = 4.0
"""For all questions once."""
Asked = Callable[[], Sequence[float]]
"""Asks one question, and says how far off each part of its answer is."""


class CleanCopy:
    """Forked when it is made; each request is played in a copy of its own, in which nothing was kept yet.

    Args:
        questions: Each, as it is asked.
        files: The user's files.
    """

    def __init__(self, questions: Sequence[Asked], files: set[str]) -> None:
        (listens, self.tells), (self.hears, says) = os.pipe(), os.pipe()
        if os.fork() == 0:
            os.close(self.tells)
            os.close(self.hears)
            _serve(listens, says, questions, files)
        os.close(listens)
        os.close(says)

    def is_right(self, codes: Mapping[str, Codes]) -> bool:
        """Whether every question that is not refused comes out right with this code, by file, in a program as new."""
        data = marshal.dumps({path: dict(own) for path, own in codes.items()})
        with suppress(OSError):
            os.write(self.tells, struct.pack("q", len(data)))
            sent = 0
            while sent < len(data):
                sent += os.write(self.tells, data[sent:])
            return os.read(self.hears, 1) == b"1"
        return False


def _serve(listens: int, says: int, questions: Sequence[Asked], files: set[str]) -> None:
    """Answer requests until there are no more; does not return."""
    try:
        while len(head := os.read(listens, 8)) == 8:
            (size,), data = struct.unpack("q", head), b""
            while len(data) < size and (more := os.read(listens, size - len(data))):
                data += more
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
                os._exit(0 if _all_right(marshal.loads(data), questions, files) else 1)
            os.write(says, b"1" if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 else b"0")
    finally:
        os._exit(0)


def _all_right(codes: Mapping[str, Codes], questions: Sequence[Asked], files: set[str]) -> bool:
    objects = functions_in(files)
    with suppress(BaseException), ExitStack() as stack, np.errstate(all="ignore"):  # whatever changed source does
        for path, own in codes.items():
            stack.enter_context(swapped(objects.get(path, {}), own))
        return all(map(_is_right, questions))
    return False


def _is_right(ask: Asked) -> bool:
    """Whether a question comes out right, or is refused."""
    try:
        return all(one <= 1 for one in ask())
    except (MissingCapabilityError, NotImplementedError):
        return True
