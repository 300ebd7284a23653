"""A finished experiment as data: what was run, its rows, its curves, and what it shows in sentences."""

from __future__ import annotations

import csv
import io
import math
from typing import Literal

from pydantic import Field

from spec.files import Frozen
from verify.evidence.charts import Plot

SCHEMA: Literal["f2csa-experiment/1"] = "f2csa-experiment/1"
Size = Literal["quick", "whole"]
Value = float | int | str | bool | None
Row = dict[str, Value]
"""One line of the data: named plain values."""


class Finding(Frozen):
    """One number that a statement of the paper is about.

    Args:
        statement: Full id, ``scaling-experiment/growth``.
        quantity: What was measured.
        measured: Its value.
        interval: Its interval over seeds or instances; ``None`` where it has none.
        sentence: The same in words.
    """

    statement: str
    quantity: str
    measured: float
    interval: tuple[float, float] | None = None
    sentence: str


class Experiment(Frozen):
    """Everything one run of an experiment found.

    Args:
        schema: ``f2csa-experiment/1``.
        name: ``convergence``, ``scaling`` or ``kinks``.
        title: What it asks.
        lead: The first thing a reader is told.
        size: ``quick`` or ``whole``.
        seed: Seed of all randomness.
        setting: What the rows depend on besides the code.
        sentences: What it shows, in the order of importance.
        findings: One number each that a statement of the paper is about.
        plots: Its curves.
        rows: The raw data, one line a measured point.
        environment: Versions that can influence a number.
        seconds: Time spent.
    """

    schema_name: Literal["f2csa-experiment/1"] = Field(default=SCHEMA, alias="schema")
    name: str
    title: str
    lead: str
    size: Size
    seed: int
    setting: dict[str, Value | list[Value]]
    sentences: tuple[str, ...]
    findings: tuple[Finding, ...]
    plots: tuple[Plot, ...]
    rows: tuple[Row, ...]
    environment: dict[str, str] = Field(default_factory=dict)
    seconds: float = 0.0

    def finding(self, statement: str) -> Finding:
        """The finding on a statement.

        Raises:
            KeyError: If this experiment says nothing of it.
        """
        for finding in self.findings:
            if finding.statement == statement:
                return finding
        raise KeyError(statement)


def as_csv(rows: tuple[Row, ...]) -> str:
    """The rows with one column for each name met, in the order of first meeting; numbers to their last digit."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return stream.getvalue()


def _cell(value: Value) -> Value:
    return repr(value) if isinstance(value, float) and math.isfinite(value) else value
