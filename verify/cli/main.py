"""The command ``f2csa``. Commands import what they need when they run, so that help is instant."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

TRACEBACK = "F2CSA_TRACEBACK"
"""Environment variable that lets an internal fault show where it happened."""

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


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        typer.echo(metadata.version("f2csa-verify"))
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and leave.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Options before any command."""


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
    subject: Annotated[
        str, typer.Option(help="reference, package.module:Attribute, or command:COMMAND LINE.")
    ] = "reference",
    seed: Annotated[int | None, typer.Option(help="Seed of all randomness, >= 0.")] = None,
    effort: Annotated[
        int, typer.Option(help="Factor on all sample sizes, 1, 4, 16, ...; with --resume only where undecided.")
    ] = 1,
    jobs: Annotated[int | None, typer.Option(help="Worker processes; default one per core.")] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds a stage call of the subject may take; default 30 for a command, none in Python."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the run in --out that was interrupted or left undecided.")
    ] = False,
    baseline: Annotated[
        Path | None, typer.Option(help="Verdicts to compare with: a report.json or a recorded baseline.")
    ] = None,
    record: Annotated[Path | None, typer.Option(help="Write the verdicts found to this file, as a new record.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print report.json instead of the table.")] = False,
) -> None:
    """Run checks and write the report."""
    from verify.cli.verify import execute

    code = execute(
        claims=claims or [], out=out, profile=profile, readings=reading, instances=instance or [], subject=subject,
        seed=seed, effort=effort, jobs=jobs, resume=resume, baseline=baseline, record=record, as_json=json_,
        time_limit=time_limit,
    )  # fmt: skip
    raise typer.Exit(code)


@app.command()
def claims(
    claim: Annotated[str | None, typer.Argument(help="A claim or step to explain; all are listed if none.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """List the paper's claims, or explain one."""
    from verify.cli.claims import execute

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
    given: Annotated[
        list[str] | None,
        typer.Option(help="STAGE=NUMBERS: use this y_star, lam, rho or y_penalty; repeatable."),
    ] = None,
) -> None:
    """One oracle call as JSON: every stage's value, with the exact values beside."""
    from verify.cli.hypergradient import execute

    execute(
        problem, x=x, alpha=alpha, reading=reading, choices=choose or [], samples=samples, seed=seed, given=given or []
    )


@app.command()
def goldstein(
    problem: Annotated[str, typer.Argument(help="A problem file, '-' for standard input, or atlas:NAME.")],
    radius: Annotated[str, typer.Option(help="Radius of the Goldstein ball, units of x, > 0.")],
    x: Annotated[str | None, typer.Option(help="Upper-level point: numbers separated by commas or spaces.")] = None,
    box: Annotated[
        list[str] | None,
        typer.Option(help="LOW,HIGH of X, once for all components or once each; adds its normal cone at x."),
    ] = None,
) -> None:
    """Bounds of dist(0, ∂_δF(x)) as JSON: exact for n = 1, certified for n <= 4, an estimate from below beyond."""
    from verify.cli.goldstein import execute

    execute(problem, x=x, radius=radius, box=box or [])


@app.command()
def solve(
    problem: Annotated[
        str, typer.Argument(help="A problem file, '-', atlas:NAME, or python:package.module:objectives.")
    ],
    x: Annotated[str | None, typer.Option(help="Start: numbers separated by commas or spaces; default 0.")] = None,
    alpha: Annotated[str, typer.Option(help="Accuracy parameter of the oracle, > 0.")] = "0.1",
    radius: Annotated[str, typer.Option(help="Radius of the Goldstein ball, units of x, > 0.")] = "0.1",
    schedule: Annotated[str, typer.Option(help="budget, repaired or paper.")] = "budget",
    epsilon: Annotated[str | None, typer.Option(help="Target stationarity, for repaired and paper.")] = None,
    calls: Annotated[int, typer.Option(help="Oracle calls, for budget.")] = 10_000,
    lipschitz: Annotated[str | None, typer.Option(help="L_F; estimated if not given.")] = None,
    gap: Annotated[str | None, typer.Option(help="F(x_0) - inf F; estimated if not given.")] = None,
    bias: Annotated[str | None, typer.Option(help="Bound on the oracle's bias; estimated if not given.")] = None,
    variance: Annotated[str | None, typer.Option(help="Bound on its variance; estimated if not given.")] = None,
    block_length: Annotated[int | None, typer.Option(help="M, instead of the schedule's; D = radius / M.")] = None,
    blocks: Annotated[int | None, typer.Option(help="K, instead of the schedule's.")] = None,
    eta: Annotated[float | None, typer.Option(help="Step size, instead of the schedule's.")] = None,
    reading: Annotated[str, typer.Option(help="as-written or repaired.")] = "repaired",
    choose: Annotated[
        list[str] | None, typer.Option(help="FIELD=VALUE: change one choice of the reading; repeatable.")
    ] = None,
    samples: Annotated[int, typer.Option(help="N_g, gradient samples averaged in each call.")] = 1,
    output: Annotated[
        str, typer.Option(help="uniform (the paper's random block) or smallest (shortest mean answer).")
    ] = "uniform",
    project_onto: Annotated[
        list[str] | None,
        typer.Option(help="LOW,HIGH of X, once or once for each component: project x onto it; default free steps."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness, >= 0.")] = 0,
    trace: Annotated[Path, typer.Option(help="JSON-lines file to write.")] = Path("trace.jsonl"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the trace of an interrupted run.")] = False,
    max_calls: Annotated[int, typer.Option(help="Refuse schedules with more oracle calls than this.")] = 1_000_000,
    plot: Annotated[Path | None, typer.Option(help="Picture of the trace to write, .svg or .png.")] = None,
) -> None:
    """Run Algorithms 1 and 2; the result is JSON, the way there a trace."""
    from verify.cli.solve import Request, execute

    execute(
        Request(
            source=problem, x=x, alpha=alpha, radius=radius, schedule=schedule, epsilon=epsilon, calls=calls,
            lipschitz_F=lipschitz, gap=gap, bias=bias, variance=variance, M=block_length, K=blocks, eta=eta,
            reading=reading, choices=tuple(choose or ()), samples=samples, output=output,
            project_onto=tuple(project_onto or ()), seed=seed, trace=trace, resume=resume, max_calls=max_calls,
            plot=plot,
        )
    )  # fmt: skip


@app.command()
def orders(
    claim: Annotated[str | None, typer.Argument(help="A claim or step; where each proof first breaks if none.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Every inference, machine-readable.")] = False,
) -> None:
    """Whether the orders the proofs assert follow from the bounds they rest on."""
    from verify.cli.orders import execute

    execute(claim, as_json=json_)


@app.command()
def refute(
    claim: Annotated[str, typer.Argument(help="A claim or step, e.g. bias-bound/T3.")],
    reading: Annotated[str, typer.Option(help="as-written or repaired.")] = "as-written",
    out: Annotated[Path | None, typer.Option(help="Write the problem file here.")] = None,
    weight: Annotated[int, typer.Option(help="Largest sum of integers of the one-dimensional problems tried.")] = 5,
    tries: Annotated[int, typer.Option(help="Larger problems tried where none of those serves.")] = 40,
    seed: Annotated[int, typer.Option(help="Seed of the larger ones, >= 0.")] = 0,
    json_: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """The smallest problem that breaks a claim, with a derivation to follow by hand."""
    from verify.cli.refute import execute

    execute(claim, reading=reading, out=out, weight=weight, tries=tries, seed=seed, as_json=json_)


@app.command()
def calibrate(
    budget: Annotated[float, typer.Option(help="Probability of any false refutation in one run to hold to.")] = 1e-2,
    runs: Annotated[int, typer.Option(help="Runs on right subjects, and as many on barely wrong ones.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of all randomness, >= 0.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Worker processes; default one per core.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Whether the statistical decisions keep their promised error rates and power."""
    from verify.cli.calibrate import execute

    raise typer.Exit(execute(budget=budget, runs=runs, seed=seed, jobs=jobs, as_json=json_))


baseline = typer.Typer(no_args_is_help=True, help="Record what an implementation comes out with; find drifts.")
app.add_typer(baseline, name="baseline")


@baseline.command("record")
def baseline_record(
    claims: Annotated[list[str] | None, typer.Argument(help="Claims or proof steps; all if none.")] = None,
    out: Annotated[Path, typer.Option(help="File to write; a baseline there is replaced.")] = Path(
        "f2csa-baseline.json"
    ),
    source: Annotated[
        Path | None, typer.Option("--from", help="Record this report.json instead of running anything.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is no baseline, too.")] = False,
    subject: Annotated[str | None, typer.Option(help="As for verify; default reference.")] = None,
    profile: Annotated[str | None, typer.Option(help="smoke, ci or full; default ci.")] = None,
    reading: Annotated[list[str] | None, typer.Option(help="As for verify; repeatable.")] = None,
    instance: Annotated[list[str] | None, typer.Option(help="Only these atlas instances; repeatable.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all randomness, >= 0.")] = None,
    effort: Annotated[int | None, typer.Option(help="Factor on all sample sizes, 1, 4, 16, ...")] = None,
    jobs: Annotated[int | None, typer.Option(help="Worker processes; default one per core.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds a stage call of the subject may take.")] = None,
) -> None:
    """Keep verdicts, exponents, constants and counts of a run, with their intervals."""
    from verify.cli.baseline import Request, record

    request = Request(
        tuple(claims or ()), subject, profile, tuple(reading or ()), tuple(instance or ()), seed, effort, jobs,
        time_limit,
    )  # fmt: skip
    raise typer.Exit(record(request, source=source, out=out, force=force))


@baseline.command("compare")
def baseline_compare(
    file: Annotated[Path, typer.Argument(help="A baseline, a report.json, or a record of verdicts.")],
    claims: Annotated[list[str] | None, typer.Argument(help="Only these claims or proof steps.")] = None,
    with_: Annotated[
        Path | None, typer.Option("--with", help="Compare this report.json; else what was recorded is run again.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the report, with what was found, here.")] = None,
    subject: Annotated[str | None, typer.Option(help="Run this one instead of the recorded one.")] = None,
    profile: Annotated[str | None, typer.Option(help="Run this profile instead of the recorded one.")] = None,
    reading: Annotated[list[str] | None, typer.Option(help="Only these readings; repeatable.")] = None,
    instance: Annotated[list[str] | None, typer.Option(help="Only these atlas instances; repeatable.")] = None,
    seed: Annotated[int | None, typer.Option(help="Run this seed instead of the recorded one.")] = None,
    effort: Annotated[int | None, typer.Option(help="Run with this factor instead of the recorded one.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Worker processes; default one per core.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds a stage call of the subject may take.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Find what got worse since a baseline; what got better is reported and fails nothing."""
    from verify.cli.baseline import Request, compare

    request = Request(
        tuple(claims or ()), subject, profile, tuple(reading or ()), tuple(instance or ()), seed, effort, jobs,
        time_limit,
    )  # fmt: skip
    raise typer.Exit(compare(request, file=file, source=with_, out=out, as_json=json_))


@app.command()
def badge(
    report: Annotated[Path, typer.Argument(help="A report.json, or the folder it lies in.")] = Path("report"),
    out: Annotated[Path | None, typer.Option(help="Folder for badge.svg, badge.json; default the report's.")] = None,
    label: Annotated[str, typer.Option(help="Left half of the badge.")] = "F2CSA",
) -> None:
    """A badge of a report's verdicts: a picture, and JSON for a shields endpoint."""
    from verify.cli.badge import execute

    execute(report, out=out, label=label)


@app.command()
def vectors(
    out: Annotated[Path | None, typer.Option(help="Write the vectors and their manifest into this folder.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Print id, stage, strata and flags, a vector a line.")] = False,
    check: Annotated[Path | None, typer.Option(help="Check hashes, form and ids of vectors in a folder.")] = None,
) -> None:
    """Stage-level test vectors with exact answers, for implementations in any language."""
    from verify.cli.vectors import execute

    raise typer.Exit(execute(out=out, listing=list_, folder=check))


@app.command()
def conform(
    claims: Annotated[
        list[str] | None, typer.Argument(help="Claims or proof steps to judge, repaired reading; all if none.")
    ] = None,
    python: Annotated[str | None, typer.Option(help="package.module:Attribute with any of the stages.")] = None,
    command: Annotated[str | None, typer.Option(help="Program that speaks the wire (docs/wire.md).")] = None,
    out: Annotated[Path, typer.Option(help="Folder for conform.json and the report's files.")] = Path("conform"),
    profile: Annotated[str, typer.Option(help="conform, smoke, ci or full.")] = "conform",
    seed: Annotated[int | None, typer.Option(help="Seed of all randomness, >= 0.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Worker processes; default one per core.")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Time for estimates made one at a time; claims that take more stay open.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds one stage call may take; longer is a fault.")
    ] = None,
    self_test: Annotated[
        bool, typer.Option("--self-test", help="Only try whether every offered stage is answered in the right form.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print conform.json instead of the letter.")] = False,
) -> None:
    """Judge another implementation: where it deviates, which known mistake it is, and a case to paste."""
    from verify.cli.conform import execute

    code = execute(
        python=python, command=command, claims=claims or [], out=out, profile=profile, seed=seed, jobs=jobs,
        seconds=seconds, time_limit=time_limit, self_test=self_test, as_json=json_,
    )  # fmt: skip
    raise typer.Exit(code)


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(help="One schema; all if none.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write one file a schema into this folder.")] = None,
) -> None:
    """JSON Schemas of every file this program reads or writes."""
    from verify.cli.schema import execute

    execute(name, out)


def main() -> NoReturn:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show Greek letters shows question marks, after the work is done, not a fault.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(invoke())


def invoke(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; every error is one line on standard error."""
    from spec.errors import InvalidInputError

    try:
        # Nothing asked is help asked: a page to read, not an error on one line.
        code = app((sys.argv[1:] if arguments is None else arguments) or ["--help"], standalone_mode=False)
    except InvalidInputError as error:
        return _say(str(error), 2)
    except KeyboardInterrupt:
        return _say("interrupted", 3)
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            return _say(f"something called exit({error.code}) in the middle of the run", 3)
        # The reader of a pipe left; that is its right. The option parser may have noticed first, and would exit with
        # 1, which means something else here. Python would complain again when flushing at exit.
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
    # What a file holds may be quoted; it must not steer the terminal.
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(line.split()))
    sys.stderr.write(f"f2csa: {shown}\n")
    return code
