"""The guard beside a subject, as its runner has it: told what to kill, and sent home when nothing is left."""

from __future__ import annotations

import subprocess
import sys

from verify.subjects.wire import guard


class GuardProcess:
    """A running guard.

    Args:
        mark: What the subject's processes carry in their environment.
    """

    def __init__(self, mark: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__, mark], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def watch(self, group: int) -> None:
        """Say which process group is in use; 0 for none."""
        if self._process.stdin is not None:
            try:
                self._process.stdin.write(b"%d\n" % group)
                self._process.stdin.flush()
            except OSError:  # it was killed; then nobody guards
                return

    def dismiss(self) -> None:
        """End it: there is nothing left to kill."""
        self.watch(0)
        if self._process.stdin is not None:
            try:
                self._process.stdin.close()
            except OSError:
                self._process.kill()
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
