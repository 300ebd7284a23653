"""``f2csa conform``: judge another implementation and say what is wrong with it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
from contextlib import redirect_stdout
from dataclasses import replace

from spec.errors import InvalidInputError
from spec.files import refuse_to_replace
from verify.campaign import run as campaign
from verify.campaign.workers import Crew
from verify.cli import options
from verify.cli.console import cores, ended_politely, plain_console, print_json, progress_bar
from verify.cli.folder import FILES, require_folder
from verify.conformance import judge
from verify.conformance.pacing import ESTIMATES
from verify.subjects import load_subject, require_stages
from verify.subjects.loading import COMMAND

TIME_LIMIT = 30.0
"""Seconds one stage call may take unless another limit is given."""


def conform(asked: options.Conform) -> int:
    """Judge, write the files, print the letter; returns the exit code.

    A class is judged in a process of its own. One that ends that process is judged again over the wire, where it can
    end nobody's but its own, stage by stage.
    """
    if (asked.python is None) == (asked.command is None):
        given = "both" if asked.python else "neither"
        raise InvalidInputError("subject", 'must be given by one of --python pkg.mod:Subject or --command "…"', given)
    if not asked.self_test:
        require_folder(asked.out)
        for name in ("conform.json", *FILES):
            refuse_to_replace(asked.out / name)
    if asked.python is not None and not is_apart():
        with ended_politely():
            code = judge_apart(["conform", *_spelled_out(asked)])
        if code is not None:
            return code
        sys.stderr.write("f2csa: the subject ended the process it was judged in; judged again in one of its own\n")
        asked = replace(asked, python=None, command=served(asked.python))
    if not is_apart():
        return _judge(asked)
    follow_parent()
    try:
        return _judge(asked)
    finally:
        say_finished()


def _spelled_out(asked: options.Conform) -> list[str]:
    """The arguments that ask the same of another process."""
    given = {name.replace("_", "-"): value for name, value in vars(asked).items() if name != "claims"}
    given["json"] = given.pop("as-json")
    spelled = [f"--{name}" if value is True else f"--{name}={value}" for name, value in given.items()
               if value is not None and value is not False]  # fmt: skip
    return [*spelled, "--", *(asked.claims or ())]


def _judge(asked: options.Conform) -> int:
    if asked.python is not None:
        with Crew(asked.python, seconds=asked.time_limit):
            pass  # one that ends its process while it is loaded, or hangs, is refused here
    if asked.self_test:
        return _self_test(asked)
    name = asked.python if asked.python is not None else f"{COMMAND}{asked.command}"
    with progress_bar() as progress, ended_politely(), redirect_stdout(sys.stderr):
        found = judge.conform(
            name, claims=asked.claims or (), profile=asked.profile, out=asked.out, progress=progress,
            seed=campaign.DEFAULT_SEED if asked.seed is None else asked.seed,
            jobs=cores() if asked.jobs is None else asked.jobs,
            estimates=ESTIMATES if asked.estimates is None else asked.estimates,
            seconds=judge.SECONDS if asked.seconds is None else asked.seconds,
            time_limit=TIME_LIMIT if asked.time_limit is None else asked.time_limit,
        )  # fmt: skip
    if asked.as_json:
        print_json(found.content())
        return found.exit_code
    files = f"{asked.out / 'conform.json'}, {asked.out / 'report.html'}"
    for text in (str(found), f"\n{found.seconds:.0f} s; everything: {files}"):
        plain_console().print(text, markup=False, soft_wrap=True)
    return found.exit_code


def _self_test(asked: options.Conform) -> int:
    """Whether calls and answers have the right form; says nothing about their values."""
    if asked.command is not None:
        from verify.subjects.wire.self_test import run_self_test

        limit = {} if asked.time_limit is None else {"seconds": asked.time_limit}
        lines = [(line.check, line.ok, line.line) for line in run_self_test(asked.command, **limit)]
    else:
        subject = load_subject(str(asked.python))
        require_stages(subject, str(asked.python))
        lines = judge.run_self_test(subject)
    for check, ok, line in lines:
        sys.stdout.write(f"{'ok  ' if ok else 'FAIL'}  {check}: {line}\n")
    return 0 if lines and all(ok for _, ok, _ in lines) else 3


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
        [sys.executable, "-m", "verify", *arguments], env=environment, pass_fds=(says, sees), stdout=subprocess.PIPE,
        stderr=messages, encoding="utf-8", errors="replace",
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


def served(name: str) -> str:
    """The command that serves a Python subject over the wire, where it can end nobody's process but its own."""
    return shlex.join([sys.executable, "-m", "verify.subjects.wire.serve", name])
