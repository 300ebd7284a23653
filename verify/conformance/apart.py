"""A stranger's class is judged in a process of its own: one that ends its process ends no judgement with success."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading

HERE = "F2CSA_JUDGED_APART"
"""Environment variable that tells the judging process its two pipes: to say that it finished, to see its parent end."""


def judge_apart(arguments: list[str]) -> int | None:
    """Run ``f2csa`` with these arguments in a child process, whose words are passed on.

    Returns its exit code; ``None`` if it ended without having finished.
    """
    finished, says = os.pipe()
    sees, alive = os.pipe()
    environment = {**os.environ, HERE: f"{says},{sees}"}
    # A terminal is left to the child, which shows its progress there.
    messages = None if sys.stderr.isatty() else subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-m", "verify", *arguments], env=environment, pass_fds=(says, sees), stdout=subprocess.PIPE,
        stderr=messages, encoding="utf-8", errors="replace",
    ) as child:  # fmt: skip
        os.close(says)
        os.close(sees)
        try:
            out, errors = _told(child)
        finally:
            os.close(alive)
    sys.stderr.write(errors or "")
    with os.fdopen(finished, "rb") as pipe:
        done = bool(pipe.read(1))
    if not done:
        return None
    sys.stdout.write(out)
    return child.returncode


def _told(child: subprocess.Popen[str]) -> tuple[str, str | None]:
    """What it says, waited for through the interrupts that ask it to stop: it keeps what is done."""
    while True:
        try:
            return child.communicate()
        except KeyboardInterrupt:
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


def served(name: str) -> str:
    """The command that serves a Python subject over the wire, where it can end nobody's process but its own."""
    return shlex.join([sys.executable, "-m", "verify.subjects.wire.serve", name])
