"""What the commands on stores take; as :mod:`verify.cli.arguments.options`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from verify.cli.arguments import completion
from verify.cli.arguments.options import (
    Annotations,
    AnySeed,
    Executor,
    File,
    InProcess,
    Jobs,
    Table,
    Text,
    Texts,
    TimeLimit,
)


@dataclass(frozen=True)
class Merge:
    """Join stores of finished results, such as those of f2csa verify --shard."""

    stores: Annotated[list[Path], Argument(help="Stores, or folders with a store.sqlite.")]
    out: Annotated[Path, Option(help="Store to add them to, or its folder; made where there is none.")]


@dataclass(frozen=True)
class ReportOptions:
    """Write the report of a store's results; nothing is run."""

    store: Annotated[Path, Argument(help="A store, or a folder with a store.sqlite.")] = Path("report")
    out: Annotated[File, Option(help="Folder for the report's files; default the store's.")] = None
    subject: Annotated[Text, Option(help="Of runs of this subject.")] = None
    profile: Annotated[Text, Option(help="Of runs of this profile.")] = None
    seed: AnySeed = None
    baseline: Annotated[File, Option(help="Verdicts to compare with: a report.json or a recorded baseline.")] = None
    plots: Annotated[File, Option(help="Folder to write each statement's plot to, as SVG and as PDF.")] = None
    table: Table = False
    as_json: Annotated[bool, Option("--json", help="Print report.json instead.")] = False


@dataclass(frozen=True)
class EntrantsOptions:
    """Set several programs' reports side by side: stages, statements, letters."""

    reports: Annotated[
        list[Path], Argument(help="Folders of reports of f2csa conform or verify, or a report.json or conform.json.")
    ]
    out: Annotated[Path, Option(help="Folder for board.html and board.md.")] = Path("board")
    as_json: Annotated[bool, Option("--json", help="Print the board as JSON instead of Markdown.")] = False


@dataclass(frozen=True)
class SoakOptions:
    """Ask statements about ever more drawn problems; shrink what goes wrong on one to the smallest that shows it."""

    claims: Annotated[
        Texts,
        Argument(help="Claims or proof steps; all that can be drawn if none.", autocompletion=completion.claims),
    ] = None
    out: Annotated[Path, Option(help="Folder for store.sqlite, soak.json and findings.")] = Path("soak")
    draws: Annotated[int | None, Option(help="Problems of each family; ever more until it is ended if not given.")] = (
        None
    )
    duration: Annotated[Text, Option("--for", help="How long, such as 90s, 20m or 8h, instead of --draws.")] = None
    reading: Annotated[Texts, Option(help="as-written or repaired; repeatable; default both.")] = None
    profile: Annotated[
        Text, Option(help="Sizes of each result: smoke, ci or full (the default).", autocompletion=completion.profiles)
    ] = None
    subject: Annotated[
        Text, Option(help="reference (the default), package.module:Attribute, or command:COMMAND LINE.")
    ] = None
    seed: AnySeed = None
    jobs: Jobs = None
    executor: Executor = None
    shard: Annotated[Text, Option(help="I/K: one of K shares of so many --draws; f2csa merge joins them.")] = None
    time_limit: TimeLimit = None
    in_process: InProcess = False
    fresh: Annotated[bool, Option("--fresh", help="Run everything anew, whatever results --out keeps.")] = False
    shrinking: Annotated[float, Option(help="Seconds spent on shrinking each finding, >= 0.")] = 30.0
    quiet: Annotated[bool, Option("--quiet", "-q", help="Show no progress.")] = False
    annotations: Annotations = None
    as_json: Annotated[bool, Option("--json", help="Print soak.json instead.")] = False
