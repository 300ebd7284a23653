"""What ``f2csa conform`` takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from verify.cli.arguments.options import Annotations, AnySeed, File, InProcess, Jobs, NoSettings, Sarif, Text, Texts


@dataclass(frozen=True)
class Conform:
    """Judge another implementation: where it deviates, which known mistake it is, and a case to paste."""

    claims: Annotated[Texts, Argument(help="Claims or proof steps to judge, repaired reading; all if none.")] = None
    python: Annotated[Text, Option(help="package.module:Attribute with any of the stages.")] = None
    command: Annotated[Text, Option(help="Program that speaks the wire (docs/wire.md).")] = None
    problem: Annotated[Texts, Option(help="Compare stages on this problem, too: a file or atlas:NAME; repeatable.")] = (
        None
    )
    x: Annotated[
        Texts, Option(help='Its point, in the order of --problem; else the file\'s "x", else 0 or a drawn one.')
    ] = None
    reading: Annotated[
        str, Option(help="repaired, or as-written: hold stages against the paper as written, judge no claims.")
    ] = "repaired"
    out: Annotated[Path, Option(help="Folder for conform.json and the report's files.")] = Path("conform")
    save_cases: Annotated[File, Option(help="Folder to keep the repros in, as tests: a pytest file each.")] = None
    force: Annotated[bool, Option("--force", help="Let --save-cases replace files of yours.")] = False
    watch: Annotated[bool, Option("--watch", help="Judge again whenever the subject's source changes.")] = False
    profile: Annotated[str, Option(help="conform, smoke, ci or full.")] = "conform"
    seed: AnySeed = None
    jobs: Jobs = None
    estimates: Annotated[int | None, Option(help="Most estimates asked for one at a time; the rest is open.")] = None
    seconds: Annotated[float | None, Option(help="Time after which nothing more is asked; changes no verdict.")] = None
    time_limit: Annotated[float | None, Option(help="Seconds one stage call may take; longer is a fault.")] = None
    in_process: InProcess = False
    self_test: Annotated[bool, Option("--self-test", help="Only try whether stages answer in the right form.")] = False
    exitfirst: Annotated[
        bool,
        Option(
            "--exitfirst", "-x", help="Judge no claim once a stage deviates or faults; stop at the first that does."
        ),
    ] = False
    trace: Annotated[
        bool, Option("--trace", help="Look for the line of your Python source that makes a stage wrong (20 s at most).")
    ] = False
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print findings, faults and the closing line alone.")] = False
    no_settings: NoSettings = False
    annotations: Annotations = None
    sarif: Sarif = None
    as_json: Annotated[bool, Option("--json", help="Print conform.json instead of the letter.")] = False
