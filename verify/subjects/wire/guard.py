"""Kills a subject's processes when the runner is gone, however it went: even ``kill -9`` closes its pipes.

A process of its own, in its own session, started as ``python guard.py MARK`` beside each subject. Its standard input
is a pipe from the runner: each line names the process group in use (0 for none); its end means that the runner is
gone or done. Then it kills the group and whatever else carries the mark in its environment.
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
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:  # noqa: PTH208, PTH112  # quick to start
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123  # quick to start
                    if wanted in file.read():
                        found.append(int(name))
            except OSError:
                continue
    return found


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


def main() -> None:
    """Wait for the end of standard input, then kill."""
    group = 0
    for line in sys.stdin.buffer:
        group = int(line)
    kill(group, sys.argv[1])


if __name__ == "__main__":
    main()
