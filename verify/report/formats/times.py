"""``times.json``: how long a run took. Nothing else in a report's files differs between two runs of the same."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field

from spec.files import Frozen

if TYPE_CHECKING:
    from verify.report.model import ReportData

FILE = "times.json"
SCHEMA = "f2csa-times/1"


class Times(Frozen):
    """Seconds of a run, and of each of its results by key; a kept result's are those it once took.

    Args:
        schema: ``f2csa-times/1``.
        seconds: Of the whole run, kept results taken in no time; of a report made without a run, of all results.
        results: Of each result.
    """

    schema_: str = Field(default=SCHEMA, alias="schema")
    seconds: float
    results: dict[str, float]

    model_config = ConfigDict(populate_by_name=True, title="Times")


def render_times(report: ReportData) -> str:
    """The file's text."""
    spent = {result.key: result.seconds for result in report.results if result.seconds is not None}
    total = math.fsum(spent.values()) if report.seconds is None else report.seconds
    return text_of(Times(seconds=total, results=spent))


def text_of(held: Times) -> str:
    """Times as the file has them."""
    return held.model_dump_json(by_alias=True, indent=1) + "\n"


def read(path: Path) -> Times | None:
    """A file's times; ``None`` where it cannot be read or holds none."""
    try:
        return Times.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None
