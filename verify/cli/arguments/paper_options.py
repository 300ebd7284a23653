"""What ``f2csa paper`` takes: see :mod:`verify.cli.arguments.options`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from verify.cli.arguments.options import AsJson, File, Texts


@dataclass(frozen=True)
class PaperLint:
    """Find passages of a TeX source that do not go together; exit 1 where there are any."""

    file: Annotated[Path, Argument(help="A TeX source.")]
    rule: Annotated[Texts, Option(help="Only this rule; repeatable (docs/paper.md lists them).")] = None
    as_json: AsJson = False


@dataclass(frozen=True)
class PaperExtract:
    """Make a source's extract, which checks of consistency compare; exit 1 where it is not the one on record."""

    file: Annotated[Path, Argument(help="A TeX source.")]
    out: Annotated[File, Option(help="TOML file to write.")] = None
    as_json: AsJson = False


@dataclass(frozen=True)
class PaperCheck:
    """Hold a TeX source against the lines that the annotated paper quotes; exit 1 where they differ."""

    file: Annotated[Path, Argument(help="A TeX source.")]
    as_json: AsJson = False


@dataclass(frozen=True)
class PaperCorrections:
    """Show the corrected statements as a diff, each with the verdicts behind it."""

    file: Annotated[File, Argument(help="The paper's TeX source, for the lines of its labels.")] = None
    report: Annotated[Path, Option(help="A report.json, or the folder it lies in.")] = Path("report")
    as_json: AsJson = False


@dataclass(frozen=True)
class PaperAnnotate:
    """Write the paper's argument in our words, each assertion marked by its verdicts: one page by itself."""

    report: Annotated[Path, Argument(help="A report.json, or the folder it lies in.")] = Path("report")
    out: Annotated[Path, Option(help="HTML file to write.")] = Path("paper.html")
    as_json: Annotated[bool, Option("--json", help="Print how each assertion stands instead of a page.")] = False
