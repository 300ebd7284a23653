"""The command ``f2csa``. Commands import what they need when they run, so that help is instant."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

TRACEBACK = "F2CSA_TRACEBACK"
"""Environment variable that lets an internal fault show where it happened."""

app = typer.Typer(
    name="f2csa",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=(
        "A paper you can run: typed claims, a reference solver and a verifier for F2CSA.\n\n"
        "Exit codes: 0 as expected, 1 a finding, 2 wrong input, 3 a fault in the subject or the run."
    ),
)


@app.command()
def verify(
    claims: Annotated[
        list[str] | None, typer.Argument(help="Claims or proof steps, e.g. bias-bound/T3; all if none.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for report.json, report.html, report.md, junit.xml.")] = Path(
        "report"
    ),
    profile: Annotated[str, typer.Option(help="smoke, ci or full.")] = "ci",
    reading: Annotated[
        list[str] | None,
        typer.Option(help="as-written, repaired or only:FIELD; repeatable; default both, each choice isolated."),
    ] = None,
    instance: Annotated[list[str] | None, typer.Option(help="Only these atlas instances; repeatable.")] = None,
    subject: Annotated[str, typer.Option(help="reference, or package.module:Attribute.")] = "reference",
    seed: Annotated[int | None, typer.Option(help="Seed of all randomness, >= 0.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Worker processes; default one per core.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from an interrupted run in --out.")] = False,
    baseline: Annotated[
        Path | None, typer.Option(help="Verdicts to compare with: a report.json or a recorded baseline.")
    ] = None,
    record: Annotated[Path | None, typer.Option(help="Write the verdicts found to this file, as a new record.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print report.json instead of the table.")] = False,
) -> None:
    """Run checks and write the report."""
    from verify.commands.verify import execute

    code = execute(
        claims=claims or [], out=out, profile=profile, readings=reading, instances=instance or [], subject=subject,
        seed=seed, jobs=jobs, resume=resume, baseline=baseline, record=record, as_json=json_,
    )  # fmt: skip
    raise typer.Exit(code)


@app.command()
def claims(
    claim: Annotated[str | None, typer.Argument(help="A claim or step to explain; all are listed if none.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """List the paper's claims, or explain one."""
    from verify.commands.claims import execute

    execute(claim, as_json=json_)


@app.command()
def hypergradient(
    problem: Annotated[str, typer.Argument(help="A problem file, '-' for standard input, or atlas:NAME.")],
    x: Annotated[str | None, typer.Option(help="Upper-level point: numbers separated by commas or spaces.")] = None,
    alpha: Annotated[str, typer.Option(help="Accuracy parameter, > 0.")] = "0.1",
    reading: Annotated[str, typer.Option(help="as-written or repaired.")] = "repaired",
    choose: Annotated[
        list[str] | None, typer.Option(help="FIELD=VALUE: change one choice of the reading; repeatable.")
    ] = None,
    samples: Annotated[int, typer.Option(help="N_g, gradient samples averaged.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the noise, >= 0.")] = 0,
) -> None:
    """One oracle call as JSON: every stage's value, with the exact values beside."""
    from verify.commands.hypergradient import execute

    execute(problem, x=x, alpha=alpha, reading=reading, choices=choose or [], samples=samples, seed=seed)


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(help="One schema; all if none.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write one file a schema into this folder.")] = None,
) -> None:
    """JSON Schemas of every file this program reads or writes."""
    from verify.commands.schema import execute

    execute(name, out)


def main() -> NoReturn:
    """Entry point of the console script."""
    sys.exit(invoke())


def invoke(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; every error is one line on standard error."""
    from spec.errors import InvalidInputError

    try:
        code = app(arguments, standalone_mode=False)
    except InvalidInputError as error:
        return _say(str(error), 2)
    except KeyboardInterrupt:
        return _say("interrupted", 3)
    except BrokenPipeError:
        # The reader of a pipe left; that is its right. Python would complain again when flushing at exit.
        sys.stdout = None  # its documented way to skip the flush at exit
        return 0
    except RuntimeError as error:
        # A solver that gave up on data at the edge of double precision: said, not hidden, and no verdict.
        return _say(str(error), 3)
    except OSError as error:
        return _say(f"{error.filename or 'input/output'}: {error.strerror}", 2)
    except Exception as error:
        # Usage errors of the option parser, whichever parser typer carries.
        format_message = getattr(error, "format_message", None)
        if format_message is not None:
            return _say(format_message(), 2)
        if os.environ.get(TRACEBACK):
            raise
        return _say(f"internal fault: {type(error).__name__}: {error} (set {TRACEBACK}=1 to see where)", 3)
    return code if isinstance(code, int) else 0


def _say(line: str, code: int) -> int:
    sys.stderr.write(f"f2csa: {' '.join(line.split())}\n")
    return code
