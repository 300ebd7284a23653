"""A subject's processes: how much memory they take, and their end when the runner is gone, however it went.

Even ``kill -9`` closes a runner's pipes. So a guard, a process of its own in its own session, is started as ``python
guard.py MARK`` beside each subject. Its standard input is a pipe from the runner: each line names the process group in
use (0 for none); its end means that the runner is gone or done. Then it kills the group and whatever else carries the
mark in its environment.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

VARIABLE = "F2CSA_SUBJECT"
"""Environment variable that marks a subject and all its children, wherever they hide."""


def marked(mark: str) -> list[int]:
    """Processes that carry the mark in their environment (Linux; elsewhere none are found)."""
    wanted = f"{VARIABLE}={mark}".encode()
    pids = []
    for number in _numbers():
        try:
            with open(f"/proc/{number}/environ", "rb") as file:  # noqa: PTH123  # quick to start
                if wanted in file.read():
                    pids.append(number)
        except OSError:
            continue
    return pids


def _numbers() -> list[int]:
    names = os.listdir("/proc") if os.path.isdir("/proc") else []  # noqa: PTH208, PTH112  # quick to start
    return [int(name) for name in names if name.isdigit()]


def kill(group: int, mark: str) -> None:
    """Kill a process group and everything marked."""
    if group > 1:
        _send_kill(os.killpg, group)
    for pid in marked(mark):
        _send_kill(os.kill, pid)


def _send_kill(how: Callable[[int, int], None], target: int) -> None:
    try:
        how(target, signal.SIGKILL)
    except OSError:  # gone already
        return


def resident_bytes(group: int) -> int:
    """Memory of all processes of a group and of their descendants (Linux; elsewhere 0)."""
    processes: dict[int, tuple[int, int, int]] = {}
    for number in _numbers():
        try:
            with open(f"/proc/{number}/stat", "rb") as file:  # noqa: PTH123  # quick to start
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if len(fields) > 21:
            processes[number] = int(fields[1]), int(fields[2]), int(fields[21])
    inside = {pid for pid, (_, its_group, _) in processes.items() if its_group == group}
    new = inside
    while new:
        new = {pid for pid, (parent, *_) in processes.items() if parent in new} - inside
        inside |= new
    pages = sum(processes[pid][2] for pid in inside)
    return pages * os.sysconf("SC_PAGE_SIZE") if pages else 0


class GuardProcess:
    """A running guard, as the runner has it beside a subject that carries a mark."""

    def __init__(self, mark: str) -> None:
        import subprocess  # the guard itself does without: it is quick to start

        self._late = subprocess.TimeoutExpired
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, mark], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
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
        except self._late:
            self._process.kill()
            self._process.wait()


def main() -> None:
    """Wait for the end of standard input, then kill."""
    group = 0
    for line in sys.stdin.buffer:
        group = int(line)
    kill(group, sys.argv[1])


if __name__ == "__main__":
    main()
