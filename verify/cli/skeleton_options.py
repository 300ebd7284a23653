"""What ``f2csa init`` takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, Option


@dataclass(frozen=True)
class Init:
    """A skeleton of an implementation, its CI workflow, and the commands that record its baseline."""

    language: Annotated[str, Argument(help="python, torch, cpp, rust or node.")]
    out: Annotated[Path, Option(help="Folder to write into.")] = Path()
    force: Annotated[bool, Option("--force", help="Replace files that are there.")] = False
