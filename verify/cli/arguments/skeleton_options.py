"""What ``f2csa init``, ``doctor``, ``settings`` and ``history`` take: an implementation's first day, and later ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from verify.cli.arguments.options import AsJson, File


@dataclass(frozen=True)
class Init:
    """A skeleton of an implementation, its CI workflow, and the commands that record its baseline."""

    language: Annotated[str, Argument(help="python, torch, cpp, rust or node.")]
    out: Annotated[Path, Option(help="Folder to write into.")] = Path()
    force: Annotated[bool, Option("--force", help="Replace files that are there.")] = False


@dataclass(frozen=True)
class Doctor:
    """What computes here: versions, processor code, BLAS; where the packages lie, and whether their files are ours."""

    as_json: AsJson = False


@dataclass(frozen=True)
class SettingsOptions:
    """What f2csa.toml, or [tool.f2csa] in pyproject.toml, says in this folder."""

    name: Annotated[str | None, Argument(help="One setting, such as subject: its value alone.")] = None
    as_json: AsJson = False


@dataclass(frozen=True)
class HistoryOptions:
    """Verdicts, exponents and constants over recorded baselines, and where one moved."""

    files: Annotated[list[Path], Argument(help="Baselines or reports, oldest first, or a folder of them, by name.")]
    commits: Annotated[bool, Option("--commits", help="Read the versions that git has of one file.")] = False
    out: Annotated[File, Option(help="HTML file to write, with a small line for each number that moved.")] = None
    as_json: AsJson = False
