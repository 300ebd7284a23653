"""What the commands on stores take; as :mod:`verify.cli.options`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from verify.cli.options import AnySeed, File, Table, Text


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
