"""The command ``f2csa``. A command's code is imported when it runs, so that help is instant."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from copy import copy
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
import typer.core
import typer.main

from verify.cli.arguments import (
    conform_options,
    experiment_options,
    options,
    paper_options,
    point_options,
    skeleton_options,
    store_options,
)
from verify.cli.arguments.completion import COMPLETING, SHELLS, install, prepare, script_of, with_shell

PROGRAM = "f2csa"
TRACEBACK = "F2CSA_TRACEBACK"
"""Environment variable that lets an internal fault show where it happened."""
COMMANDS: dict[type, tuple[str, str]] = {
    options.Verify: ("verify", "verify.cli.runs.verify_start:verify"),
    store_options.Merge: ("merge", "verify.cli.runs.stores:merge"),
    store_options.ReportOptions: ("report", "verify.cli.runs.stores:report"),
    store_options.EntrantsOptions: ("board", "verify.cli.implementations.board:board"),
    store_options.SoakOptions: ("soak", "verify.cli.runs.soak:soak"),
    options.Claims: ("claims", "verify.cli.statements.claims:claims"),
    point_options.HypergradientOptions: ("hypergradient", "verify.cli.problems.point:hypergradient"),
    point_options.Goldstein: ("goldstein", "verify.cli.problems.point:goldstein"),
    point_options.Instances: ("instances", "verify.cli.problems.instances:instances"),
    options.Solve: ("solve", "verify.cli.problems.solve:run"),
    options.Orders: ("orders", "verify.cli.statements.claims:orders"),
    options.Refute: ("refute", "verify.cli.statements.claims:refute"),
    options.Calibrate: ("calibrate", "verify.cli.runs.calibrate:calibrate"),
    options.Gate: ("gate", "verify.cli.runs.gate:gate"),
    options.Prove: ("prove", "verify.cli.statements.prove:prove"),
    options.Recheck: ("recheck", "verify.cli.runs.recheck:recheck"),
    options.BadgeOptions: ("badge", "verify.cli.implementations.exports:badge"),
    options.Vectors: ("vectors", "verify.cli.implementations.exports:vectors"),
    conform_options.Conform: ("conform", "verify.cli.implementations.conform:conform"),
    skeleton_options.HistoryOptions: ("history", "verify.cli.runs.history_of_records:history"),
    skeleton_options.Init: ("init", "verify.cli.implementations.skeleton:init"),
    skeleton_options.Doctor: ("doctor", "verify.cli.implementations.doctor:doctor"),
    skeleton_options.SettingsOptions: ("settings", "verify.cli.project:settings"),
    options.Schema: ("schema", "verify.cli.implementations.exports:schema"),
    options.RecordOptions: ("baseline record", "verify.cli.runs.verify:record"),
    options.Compare: ("baseline compare", "verify.cli.runs.verify:compare"),
    experiment_options.Convergence: ("experiment convergence", "verify.cli.problems.experiment:convergence"),
    experiment_options.Scaling: ("experiment scaling", "verify.cli.problems.experiment:scaling"),
    experiment_options.BoardOptions: ("experiment board", "verify.cli.problems.experiment:board"),
    experiment_options.Kinks: ("experiment kinks", "verify.cli.problems.experiment:kinks"),
    paper_options.PaperAnnotate: ("paper annotate", "verify.cli.statements.annotate:annotate"),
    paper_options.PaperCheck: ("paper check", "verify.cli.statements.paper:check_paper"),
    paper_options.PaperLint: ("paper lint", "verify.cli.statements.paper:lint_paper"),
    paper_options.PaperExtract: ("paper extract", "verify.cli.statements.paper:extract_paper"),
    paper_options.PaperCorrections: ("paper corrections", "verify.cli.statements.paper:corrections"),
}
"""By what a command takes: its name, and the function that takes it and may return an exit code."""

app = typer.Typer(
    name="f2csa",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=(
        "A paper you can run: typed claims, a reference solver and a verifier for F2CSA.\n\n"
        "Exit codes: 0 as expected, 1 a finding, 2 wrong input, 3 a fault in the subject or the run."
    ),
)


class Group(typer.core.TyperGroup):
    """Commands of which one may be asked for as an option, before its own arguments: ``paper --corrections``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The same with that option as the command it names, or with the command that the group does by itself."""
        if args and args[0] in AS_OPTION and args[0].removeprefix("--") in self.commands:
            args = [args[0].removeprefix("--"), *args[1:]]
        elif (alone := BY_ITSELF.get(self.name or "")) and (not args or _is_no_command(args[0], self.commands)):
            args = [alone, *args]
        return list(super().parse_args(ctx, args))


AS_OPTION = ("--corrections",)
"""Commands that are options, too."""
BY_ITSELF = {"paper": "annotate"}
"""What a group does where none of its commands is named."""


def _is_no_command(first: str, commands: Collection[str]) -> bool:
    """Whether a group's first argument is an option or a file of its own command's, and no misspelt command."""
    if first.startswith("-"):
        return first not in ("-h", "--help")
    return first not in commands and (Path(first).exists() or Path(first).suffix == ".json")


GROUPS = {
    "baseline": "Record what an implementation comes out with; find drifts.",
    "experiment": "The paper's two experiments and two of ours: methods on equal budgets, or at equal errors.",
    "paper": (
        "The paper annotated with verdicts (annotate, done where no command is named); a TeX source held against "
        "itself; its corrected statements (also as --corrections)."
    ),
}
_groups = {"": app} | {
    name: typer.Typer(cls=Group, no_args_is_help=name not in BY_ITSELF, help=text) for name, text in GROUPS.items()
}
for _name in GROUPS:
    app.add_typer(_groups[_name], name=_name)
for _options, (_name, _) in COMMANDS.items():
    _group, _, _verb = _name.rpartition(" ")
    # A data class is a function of its fields: what typer calls is what it makes.
    _groups[_group].command(_verb)(_options)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        typer.echo(metadata.version("f2csa-verify"))
        raise typer.Exit


def _show_completion(shell: str | None) -> None:
    if shell is not None:
        typer.echo(script_of(shell, PROGRAM))
        raise typer.Exit


def _install_completion(shell: str | None) -> None:
    if shell is not None:
        typer.echo(f"Completion for {shell} is in {install(shell, PROGRAM)}; a new {shell} has it.")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and leave.", is_eager=True, callback=_show_version)
    ] = False,
    install_completion: Annotated[
        str | None,
        typer.Option(
            help=f"Have {SHELLS} complete f2csa's commands, options, claims and instances; default $SHELL.",
            metavar="[SHELL]",
            is_eager=True,
            callback=_install_completion,
        ),
    ] = None,
    show_completion: Annotated[
        str | None,
        typer.Option(
            help="Print that script instead.",
            metavar="[SHELL]",
            is_eager=True,
            callback=_show_completion,
        ),
    ] = None,
) -> None:
    """Options before any command."""


def main(altered: Callable[[], str] = str) -> NoReturn:
    """The command, from its arguments to its exit code.

    Args:
        altered: What is wrong with the files of this package, in one line; asked where something broke within.
    """
    if refused := _hold_closed():
        sys.exit(_say(refused, 2))
    from verify.cli.output.outlets import patient, told
    from verify.cli.output.spelling import is_wanted, settle
    from verify.cli.supervision import supervised

    ascii_wanted = is_wanted()
    (sys.stdout, out), (sys.stderr, err) = patient(sys.stdout), patient(sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show Greek letters shows their names, after the work is done, not a fault.
        if isinstance(stream, io.TextIOWrapper):
            settle(stream, ascii_wanted=ascii_wanted)
    outlets = [one for one in (out, err) if one is not None]
    sys.exit(supervised(lambda: told(invoke(altered=altered), outlets), sys.argv[1:]))


def _hold_closed() -> str:
    """Put the null device where a standard stream is closed; what is wrong with that, if anything.

    A file opened later would take the stream's number, and whatever prints there would print into it.
    """
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    while closed and (held := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(held, True)
    if closed:
        os.close(held)
    for name in closed:
        setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115, PTH123  # until the end
    return "standard output: must be open; > /dev/null throws what is printed away" if "stdout" in closed else ""


def invoke(arguments: list[str] | None = None, altered: Callable[[], str] = str) -> int:
    """Run the command line and return its exit code; every error is one line on standard error."""
    arguments = with_shell(sys.argv[1:] if arguments is None else arguments)
    if completing := COMPLETING in os.environ:
        prepare()
    try:
        # Nothing asked is help asked: a page to read, not an error on one line.
        first = "" if completing else next(iter(arguments), "")
        request = _parser(first)(arguments or ["--help"], prog_name=PROGRAM, standalone_mode=False)
        code = _run(request) if type(request) in COMMANDS else request
    except KeyboardInterrupt:
        return _say("interrupted", 3)
    except SystemExit as error:
        if completing:
            return error.code if isinstance(error.code, int) else 0
        return _say(f"something called exit({error.code}) in the middle of the run", 3)
    except RuntimeError as error:
        # A solver that gave up on data at the edge of double precision: said, not hidden, and no verdict.
        return _say(_words(error), 3)
    except OSError as error:
        from spec.errors import FULL

        code = 3 if error.errno in FULL else 2  # a full disk is a fault of the run, not of what was asked
        return _say(f"{error.filename or 'input/output'}: {error.strerror or _words(error)}", code)
    except Exception as error:
        if refused := _refusal(error):
            return _say(str(error), refused)
        # Usage errors of the option parser, whichever parser typer carries.
        format_message = getattr(error, "format_message", None)
        if format_message is not None:
            return _say(format_message(), 2)
        if os.environ.get(TRACEBACK):
            raise
        if wrong := altered():
            return _say(wrong, 3)
        return _say(f"internal fault: {_described(error)} (set {TRACEBACK}=1 to see where)", 3)
    return code if isinstance(code, int) else 0


@lru_cache(maxsize=8)
def _parser(first: str = "") -> Any:
    """The option parser of the command or group that is named first, else of all.

    Making it takes longer than most commands: one of a command takes a tenth of one of all of them.
    """
    alone = copy(app)
    alone.registered_commands = [each for each in app.registered_commands if each.name == first]
    alone.registered_groups = [each for each in app.registered_groups if each.name == first]
    return typer.main.get_command(alone if alone.registered_commands or alone.registered_groups else app)


def _run(request: object) -> object:
    module, _, function = COMMANDS[type(request)][1].partition(":")
    return getattr(import_module(module), function)(request)


def _refusal(error: Exception) -> int:
    """The exit code where the input is wrong, else 0; only a room that is loaded refuses any: none is loaded for it."""
    rules = sys.modules.get("spec.errors")
    return int(error.exit_code) if rules is not None and isinstance(error, rules.InvalidInputError) else 0


def _words(error: Exception) -> str:
    """What an error says; its name where it says nothing, or cannot."""
    with suppress(Exception):
        if text := str(error).strip():
            return text
    return f"{_described(error)}, without a word"


def _described(error: Exception) -> str:
    from verify.subjects.faults import described

    return described(error, placed=False)


def _say(line: str, code: int) -> int:
    from verify.cli.output.console import printable

    try:
        sys.stderr.write(f"f2csa: {printable(' '.join(line.split()))}\n")
    except OSError:
        # Nobody can be told; the exit code says it. Python would complain again when flushing at exit.
        sys.stderr = None  # as for standard output
    return code
