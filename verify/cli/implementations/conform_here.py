"""``f2csa conform`` in this process: refuse what cannot be judged, judge, write the files, print the letter."""

from __future__ import annotations

import gc
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from typing import cast

from spec.claims import ReadingName
from spec.errors import InvalidInputError
from spec.files import refuse_to_replace
from spec.reading import NAMED
from verify.campaign.workers import Crew
from verify.checks.measuring.case import ProfileName
from verify.cli.arguments.conform_options import Conform
from verify.cli.arguments.sources import read_numbers, require_one_of
from verify.cli.output.ci_output import CiOutput
from verify.cli.output.console import cores, ended_politely, plain_console, print_json, progress_bar, say
from verify.cli.output.folder import FILES, require_folder, require_our_pages
from verify.conformance import judge
from verify.conformance.further_questions.judging_options import ConformOptions
from verify.conformance.further_questions.own_problems import OwnProblem
from verify.conformance.model import Conformance
from verify.subjects import load_subject
from verify.subjects.loading import end, load_apart
from verify.subjects.subject_names import COMMAND
from verify.subjects.time_limits import check_limit
from verify.subjects.wire.guard import adopt_orphans

TIME_LIMIT = 30.0
"""Seconds one stage call may take unless another limit is given."""


def judge_here(options: Conform) -> int:
    """Judge; returns the exit code.

    Raises:
        InvalidInputError: If something is asked for that cannot be done.
    """
    gc.freeze()  # what is imported stays: not to be looked through for garbage again and again
    require_together(options)
    if options.self_test:
        _load_once(options)
        return _self_test(options)
    require_folder(options.out)
    for name in ("conform.json", *FILES):
        refuse_to_replace(options.out / name)
    require_our_pages(options.out)
    what = _asked(options)
    _load_once(options)
    ci_output = CiOutput(options.annotations, options.sarif, as_json=options.as_json)
    with progress_bar(quiet=options.quiet) as progress, ended_politely(), redirect_stdout(sys.stderr):
        conformance = judge.carry_out(replace(what, progress=progress))
    ci_output.conformance(conformance)
    if options.as_json:
        print_json(conformance.content())
        return conformance.exit_code
    files = f"{options.out / 'conform.json'}, {options.out / 'report.html'}"
    for text in (*_told(conformance, quiet=options.quiet), f"{conformance.seconds:.0f} s; everything: {files}"):
        plain_console().print(text, markup=False, soft_wrap=True)
    return conformance.exit_code


def require_together(options: Conform) -> None:
    """Refuse options that say nothing together."""
    if options.x is not None and len(options.x) != len(options.problem or ()):
        rule = f"must be given as often as --problem, {len(options.problem or ())} times"
        raise InvalidInputError("--x", rule, len(options.x))
    if options.trace and options.command is not None:
        raise InvalidInputError("--trace", "must go with --python: it reads Python source")
    if options.force and options.save_cases is None:
        raise InvalidInputError("--force", "must go with --save-cases")
    require_one_of("--reading", options.reading, NAMED)
    _ = _own_problems(options)
    if options.watch and options.as_json:
        raise InvalidInputError("--watch", "must not go with --json")
    judging = {
        "--watch": options.watch, "--problem": options.problem, "--save-cases": options.save_cases,
        "--sarif": options.sarif, "--exitfirst": options.exitfirst, "--trace": options.trace,
    }  # fmt: skip
    for name, given in judging.items():
        if options.self_test and given:
            raise InvalidInputError(name, "must not go with --self-test, which judges nothing")


def _own_problems(options: Conform) -> list[OwnProblem]:
    sources = options.problem or []
    points: list[str | None] = [None] * len(sources) if options.x is None else [*options.x]
    return [
        OwnProblem.read(source, None if x is None else read_numbers(x.strip().strip("[]()"), "--x"))
        for source, x in zip(sources, points, strict=True)
    ]


def _asked(options: Conform) -> ConformOptions:
    """What the command line asks for; what it leaves open is the options' own default."""
    given = {
        name: value
        for name in ("claims", "seed", "estimates", "seconds")
        if (value := getattr(options, name)) is not None
    }
    return ConformOptions(
        options.python if options.python is not None else f"{COMMAND}{options.command}",
        out=options.out, problems=_own_problems(options),
        # Any text may stand on a command line; other names are refused by whom they are passed to.
        profile=cast(ProfileName, options.profile), reading=cast(ReadingName, options.reading),
        save_cases=options.save_cases, force=options.force, in_process=options.in_process,
        jobs=cores() if options.jobs is None else options.jobs,
        time_limit=TIME_LIMIT if options.time_limit is None else options.time_limit, exitfirst=options.exitfirst,
        trace=options.trace and (_silent if options.quiet else say), **given,
    )  # fmt: skip


def _load_once(options: Conform) -> None:
    """Refuse a subject that ends its process while it is loaded, or hangs, where it is loaded in this one."""
    check_limit(options.time_limit)
    adopt_orphans()
    if options.python is not None and options.in_process:
        with Crew(options.python, seconds=options.time_limit, in_process=True):
            pass


def _silent(text: str) -> None:
    """Nothing."""


def _told(conformance: Conformance, *, quiet: bool) -> list[str]:
    """The letter; quietly, findings and faults, one line each, and its first line, which sums up."""
    if not quiet:
        return [f"{conformance}\n"]
    lines = [f"finding: {line}" for line in conformance.findings] + [f"fault: {line}" for line in conformance.faults]
    return [*lines, str(conformance).partition("\n")[0]]


def _self_test(options: Conform) -> int:
    """Whether calls and answers have the right form; says nothing about their values."""
    lines: list[tuple[str, bool | None, str]]
    if options.command is not None:
        from verify.subjects.wire.self_test import run_self_test

        limit = {} if options.time_limit is None else {"seconds": options.time_limit}
        lines = [(line.check, line.ok, line.line) for line in run_self_test(options.command, **limit)]
    else:
        subject = (load_subject if options.in_process else load_apart)(
            str(options.python), time_limit=options.time_limit
        )
        try:
            lines = judge.run_self_test(subject)
        finally:
            end(subject)
    marks = {True: "ok  ", False: "FAIL", None: "-   "}
    for check, ok, line in lines:
        if options.quiet and ok is not False:
            continue
        sys.stdout.write(f"{marks[ok]}  {check}: {line}\n")
    # What offers nothing has shown nothing.
    tried = [ok for _, ok, _ in lines if ok is not None]
    return 0 if tried and all(tried) else 3
