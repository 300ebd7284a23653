"""``f2csa conform``: judge another implementation and say what is wrong with it."""

from __future__ import annotations

import sys
from dataclasses import replace

from spec.errors import InvalidInputError
from verify.cli.arguments.conform_options import Conform
from verify.cli.implementations.judge_process import follow_parent, is_apart, judge_apart, say_finished
from verify.cli.output.console import ended_politely

# What judges is imported where judging begins: a process that only starts another one needs nothing of it.


def conform(options: Conform) -> int:
    """Judge, write the files, print the letter; returns the exit code.

    A Python subject runs in a process of its own. With --in-process it runs in the one that judges, which is then not
    this one; where it ends that, it is judged again apart.
    """
    options = _of_settings(options)
    if (options.python is None) == (options.command is None):
        given = "both" if options.python else "neither"
        raise InvalidInputError("subject", 'must be given by one of --python pkg.mod:Subject or --command "…"', given)
    if options.watch:
        from verify.cli.implementations.conform_here import require_together
        from verify.cli.implementations.watch import watch

        require_together(options)
        return watch(options, conform)
    if options.in_process and not is_apart():
        with ended_politely():
            code = judge_apart(["conform", *_spelled_out(options)])
        if code is not None:
            return code
        sys.stderr.write("f2csa: the subject ended the process it was judged in; judged again in one of its own\n")
        options = replace(options, in_process=False)
    from verify.cli.implementations.conform_here import judge_here

    if not is_apart():
        return judge_here(options)
    follow_parent()
    try:
        return judge_here(options)
    finally:
        say_finished()


def _of_settings(options: Conform) -> Conform:
    """The same, of the settings' subject where none is given, with what they say of it."""
    from verify.cli.project import with_settings
    from verify.subjects.subject_names import COMMAND, REFERENCE

    if options.python is not None and options.command is not None:
        return options
    named = options.python if options.command is None else f"{COMMAND}{options.command}"
    options, settings = with_settings(options, named)
    own = settings.settings.subject
    if named is not None or own is None or own == REFERENCE:
        return options
    if own.startswith(COMMAND):
        return replace(options, command=own.removeprefix(COMMAND))
    return replace(options, python=own)


def _spelled_out(options: Conform) -> list[str]:
    """The arguments that ask the same of another process."""
    given = {name.replace("_", "-"): value for name, value in vars(options).items() if name != "claims"}
    given["json"] = given.pop("as-json")
    spelled = []
    for name, value in given.items():
        every = value if isinstance(value, list) else [value]
        spelled += [f"--{name}" if v is True else f"--{name}={v}" for v in every if v is not None and v is not False]
    return [*spelled, "--", *(options.claims or ())]
