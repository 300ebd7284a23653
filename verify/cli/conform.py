"""``f2csa conform``: judge another implementation and say what is wrong with it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

from spec.errors import InvalidInputError
from verify.campaign import run as campaign
from verify.cli.verify import cores, ended_politely, progress_bar
from verify.conformance import apart
from verify.conformance.judge import SECONDS, conform
from verify.conformance.model import Conformance
from verify.subjects import load_subject, require_stages
from verify.subjects.loading import COMMAND

TIME_LIMIT = 30.0
"""Seconds one stage call may take unless another limit is given."""


def execute(
    *,
    python: str | None,
    command: str | None,
    claims: Sequence[str],
    out: Path,
    profile: str,
    seed: int | None,
    jobs: int | None,
    seconds: float | None,
    time_limit: float | None,
    self_test: bool,
    as_json: bool,
) -> int:
    """Judge, write the files, print the letter; returns the exit code.

    A class is judged in a process of its own. One that ends that process is judged again over the wire, where it can
    end nobody's but its own, stage by stage.
    """
    if (python is None) == (command is None):
        given = "both" if python else "neither"
        raise InvalidInputError("subject", 'must be given by one of --python pkg.mod:Subject or --command "…"', given)
    if out.exists() and not out.is_dir() and not self_test:
        raise InvalidInputError("--out", "must be a folder", str(out))
    if python is not None and not apart.is_apart():
        options = {"--python": python, "--out": out, "--profile": profile, "--seed": seed, "--jobs": jobs,
                   "--seconds": seconds, "--time-limit": time_limit}  # fmt: skip
        flags = {"--self-test": self_test, "--json": as_json}
        asked = [f"{name}={value}" for name, value in options.items() if value is not None]
        with ended_politely():
            code = apart.judge_apart(["conform", *asked, *(flag for flag, on in flags.items() if on), "--", *claims])
        if code is not None:
            return code
        sys.stderr.write("f2csa: the subject ended the process it was judged in; judged again in one of its own\n")
        python, command = None, apart.served(str(python))
    if not apart.is_apart():
        return _judge(python, command, claims, out, profile, seed, jobs, seconds, time_limit, self_test, as_json)
    apart.follow_parent()
    try:
        return _judge(python, command, claims, out, profile, seed, jobs, seconds, time_limit, self_test, as_json)
    finally:
        apart.say_finished()


def _judge(
    python: str | None, command: str | None, claims: Sequence[str], out: Path, profile: str, seed: int | None,
    jobs: int | None, seconds: float | None, time_limit: float | None, self_test: bool, as_json: bool,
) -> int:  # fmt: skip
    if self_test:
        return _self_test(python, command, time_limit)
    name = python if python is not None else f"{COMMAND}{command}"
    with progress_bar() as progress, ended_politely(), redirect_stdout(sys.stderr):
        found = conform(
            str(name), claims=claims, profile=profile, seed=campaign.DEFAULT_SEED if seed is None else seed,
            jobs=jobs if jobs is not None else cores(), seconds=SECONDS if seconds is None else seconds,
            time_limit=TIME_LIMIT if time_limit is None else time_limit, out=out, progress=progress,
        )  # fmt: skip
    if as_json:
        sys.stdout.write(json.dumps(found.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=False) + "\n")
    else:
        _show(found, out)
    return found.exit_code


def _show(found: Conformance, out: Path) -> None:
    from rich.console import Console

    console = Console(highlight=False, emoji=False)
    console.print(str(found), markup=False, soft_wrap=True)
    console.print(f"\n{found.seconds:.0f} s; everything: {out / 'conform.json'}, {out / 'report.html'}", markup=False,
                  soft_wrap=True)  # fmt: skip


def _self_test(python: str | None, command: str | None, time_limit: float | None) -> int:
    """Whether calls and answers have the right form; says nothing about their values."""
    if command is not None:
        from verify.subjects.wire.self_test import run_self_test

        made = run_self_test(command) if time_limit is None else run_self_test(command, seconds=time_limit)
        lines = [(line.check, line.ok, line.line) for line in made]
    else:
        from verify.conformance.stage_trials import run_self_test as run_python_self_test

        subject = load_subject(str(python))
        require_stages(subject, str(python))
        lines = run_python_self_test(subject)
    for check, ok, line in lines:
        sys.stdout.write(f"{'ok  ' if ok else 'FAIL'}  {check}: {line}\n")
    return 0 if lines and all(ok for _, ok, _ in lines) else 3
