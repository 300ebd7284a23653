"""Judging in a process of its own, which whatever is judged may end without ending the judgement."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

from spec.neighbours import not_from_here

HERE = "F2CSA_JUDGED_APART"
"""Environment variable that tells the judging process its two pipes: to say that it finished, to see its parent end."""


def judge_apart(arguments: list[str]) -> int | None:
    """Run ``f2csa`` with these arguments in a child process, whose words are passed on.

    Returns its exit code; ``None`` if it ended by itself without having finished.

    Raises:
        KeyboardInterrupt: If it was told to stop before it could say anything.
    """
    finished, says = os.pipe()
    sees, alive = os.pipe()
    environment = {**os.environ, HERE: f"{says},{sees}"}
    # A terminal is left to the child, which shows its progress there.
    messages = None if sys.stderr.isatty() else subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, *not_from_here(), "-m", "verify", *arguments], env=environment, pass_fds=(says, sees),
        stdout=subprocess.PIPE, stderr=messages, encoding="utf-8", errors="replace",
    ) as child:  # fmt: skip
        os.close(says)
        os.close(sees)
        try:
            out, errors, stopped = _told(child)
        finally:
            os.close(alive)
    sys.stderr.write(errors or "")
    with os.fdopen(finished, "rb") as pipe:
        done = bool(pipe.read(1))
    if not done:
        if stopped:
            raise KeyboardInterrupt
        return None
    sys.stdout.write(out)
    return child.returncode


def _told(child: subprocess.Popen[str]) -> tuple[str, str | None, bool]:
    """What it says, waited for through the interrupts that ask it to stop, and whether there were any."""
    stopped = False
    while True:
        try:
            return *child.communicate(), stopped
        except KeyboardInterrupt:
            stopped = True
            # The terminal tells both; whoever tells this process alone means both.
            child.terminate()


def is_apart() -> bool:
    """Whether this process was started to judge."""
    return HERE in os.environ


def follow_parent() -> None:
    """End with the parent process, however it ends."""
    os.set_inheritable(int(os.environ[HERE].split(",")[0]), False)
    sees = int(os.environ[HERE].split(",")[1])

    def watch() -> None:
        os.read(sees, 1)
        os._exit(3)

    threading.Thread(target=watch, daemon=True).start()


def say_finished() -> None:
    """Tell the parent process that the judgement was made."""
    os.write(int(os.environ[HERE].split(",")[0]), b"1")
