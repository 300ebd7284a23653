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

    def is_right(self, codes: Mapping[str, Codes], which: Sequence[int]) -> bool:
        """Whether these questions, by number, come out right with this code, by file, in a program as new."""
        data = marshal.dumps(({path: dict(own) for path, own in codes.items()}, [*which]))
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
                codes, which = marshal.loads(data)
                os._exit(0 if _all_right(codes, [questions[k] for k in which], files) else 1)
            os.write(says, b"1" if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 else b"0")
    finally:
        os._exit(0)


def _all_right(codes: Mapping[str, Codes], questions: Sequence[Asked], files: set[str]) -> bool:
    objects = functions_in(files)
    with suppress(BaseException), ExitStack() as stack, np.errstate(all="ignore"):  # whatever changed source does
        for path, own in codes.items():
            stack.enter_context(swapped(objects.get(path, {}), own))
        return all(one <= 1 for ask in questions for one in ask())
    return False
