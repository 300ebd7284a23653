"""What ``f2csa experiment`` takes: see :mod:`verify.cli.arguments.options`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Option

from verify.cli.arguments.options import AsJson, Jobs, Seed


@dataclass(frozen=True)
class ExperimentOptions:
    """What every experiment takes."""

    out: Annotated[Path, Option(help="Folder for its page, its data as JSON and CSV, and its finished cells.")] = Path(
        "experiments"
    )
    quick: Annotated[bool, Option("--quick", help="A smaller one, within a minute.")] = False
    seed: Seed = 0
    jobs: Jobs = None
    resume: Annotated[bool, Option("--resume", help="Go on from the finished cells in --out.")] = False
    as_json: AsJson = False


@dataclass(frozen=True)
class Convergence(ExperimentOptions):
    """The methods' losses and stationarity at d = 50, over calls and over seconds."""


@dataclass(frozen=True)
class Scaling(ExperimentOptions):
    """Work and time of a hypergradient and of a solve as the dimension grows."""

    largest: Annotated[
        int | None, Option(help="Largest dimension; default 8000 with 17 GB of memory, 4000 with 5, else what fits.")
    ] = None


@dataclass(frozen=True)
class Kinks(ExperimentOptions):
    """Which method finds a Goldstein point where rows switch on and off."""


@dataclass(frozen=True)
class BoardOptions(ExperimentOptions):
    """Who has the hypergradient first, at errors from 1e-2 to 1e-12: ours, pages, public programs, yours."""

    largest: Annotated[int | None, Option(help="Largest dimension; default 4000, with --quick 100.")] = None
    entrant: Annotated[
        list[str] | None, Option(help="An entrant kept elsewhere, as module:factory; may be repeated.")
    ] = None
