"""A process that a guard starts and ends: nothing it starts outlives it, wherever that hides."""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import uuid
import weakref
from collections.abc import Mapping, Sequence
from multiprocessing import util

from spec.errors import InvalidInputError
from verify.subjects.wire import guard

_LIVE: weakref.WeakSet[Guarded] = weakref.WeakSet()


class Guarded:
    """A process under guard; refused if it cannot be started.

    Args:
        command: The program and its arguments.
        environment: Its environment; this process's own if ``None``.

    ``streams`` are the pipes to its standard input, output and error, unbuffered.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        if os.name != "posix":
            raise InvalidInputError("command", "needs a POSIX system", os.name)
        self.mark = uuid.uuid4().hex
        self.code: int | None = None
        """How it ended, negative for a signal, once that is known."""
        self._told = b""
        held, self._control = os.pipe()
        self._status, tells = os.pipe()
        try:
            self.guard = subprocess.Popen(
                [sys.executable, "-I", "-S", guard.__file__, self.mark, str(held), str(tells), *command],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                start_new_session=True, pass_fds=(held, tells), env=environment,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            os.close(self._control)
            os.close(self._status)
            raise _not_started(getattr(error, "strerror", None) or str(error), command) from None
        finally:
            os.close(held)
            os.close(tells)
        self.streams = self.guard.stdin, self.guard.stdout, self.guard.stderr
        if not _LIVE:
            # Worker processes leave without atexit; this hook runs in both.
            util.Finalize(None, end_all, exitpriority=100)
            atexit.register(end_all)
        _LIVE.add(self)
        self.pid = self._started(command)

    def _started(self, command: Sequence[str]) -> int:
        """The process id, also of its process group, as the guard says."""
        line = b""
        while not line.endswith(b"\n") and (data := os.read(self._status, 1)):
            line += data
        word, _, rest = line.decode(errors="replace").strip().partition(" ")
        if word == "started":
            os.set_blocking(self._status, False)
            return int(rest)
        self.pid = 0
        self.end()
        raise _not_started(rest or "its guard ended", command)

    def ended(self) -> bool:
        """Whether it ended; whatever it started has then, too."""
        if self.code is not None or self._status < 0:
            return True
        try:
            data = os.read(self._status, 64)
        except BlockingIOError:
            return False
        self._told += data
        if match := re.fullmatch(rb"ended (-?\d+)\n", self._told):
            self.code = int(match[1])
        elif not data:
            self.end()  # somebody killed the guard
        return self.code is not None or not data

    def processes(self) -> dict[int, int]:
        """Bytes of memory of everything that runs under the guard, by process id (Linux; elsewhere none)."""
        return guard.memory_below(self.guard.pid)

    def end(self) -> None:
        """End it and everything it started."""
        if self._control < 0:
            return
        os.close(self._control)
        self._control = -1
        _LIVE.discard(self)
        try:
            self.guard.wait(2 * guard.PATIENCE)
        except subprocess.TimeoutExpired:
            self.guard.kill()
            self.guard.wait()
        if self.guard.returncode != 0:
            # Somebody killed the guard; what it would have killed is killed here.
            guard.end_group(self.pid)
            for pid in guard.marked(self.mark):
                guard.end(pid)
            guard.end_strays({other.guard.pid for other in _LIVE})
        for stream in self.streams:
            if stream is not None:
                stream.close()
        os.close(self._status)
        self._status = -1


def _not_started(reason: str, command: Sequence[str]) -> InvalidInputError:
    return InvalidInputError("command", f"cannot be started ({reason})", command[0])


def end_all() -> None:
    """End everything under guard that this process started."""
    for process in list(_LIVE):
        process.end()
