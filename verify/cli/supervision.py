"""A run that cannot be ended as a success from within: what it imports may leave the process at any line."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence

EXECUTOR = "--executor"
"""The option whose factory runs beside the judge."""


def supervised(run: Callable[[], int], arguments: Sequence[str]) -> int:
    """The exit code of a run; 3 where it ended before it came to one.

    Where an executor is named, its factory is somebody else's code in the process that judges: ``os._exit(0)`` there
    would be a success that nothing earned. Such a run has a process of its own and says its code to this one.
    """
    named = any(word == EXECUTOR or word.startswith(f"{EXECUTOR}=") for word in arguments)
    if not named or not hasattr(os, "fork"):
        return run()
    heard, write_end = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(heard)
        own = run()
        os.write(write_end, bytes([own & 0xFF]))
        return own
    os.close(write_end)
    # A terminal interrupts both; a signal to this process alone is passed on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda which, _: os.kill(child, which))
    code = _code(heard)
    _, status = os.waitpid(child, 0)
    if code is not None:
        os._exit(code)  # the child has flushed, and closed what was open
    ended = os.waitstatus_to_exitcode(status)
    how = f"signal {-ended}" if ended < 0 else f"exit code {ended}"
    sys.stderr.write(f"f2csa: something in the run ended its process before the run was over ({how})\n")
    return 3


def _code(descriptor: int) -> int | None:
    with os.fdopen(descriptor, "rb") as pipe:
        word = pipe.read(1)
    return word[0] if word else None
