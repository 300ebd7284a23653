"""An experiment's page: the answer, its first pictures, the first table, then what stands behind them."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from verify.experiments.model import Experiment, Row, as_csv
from verify.report import wording
from verify.report.figures.drawn_charts import pictures, taken_away
from verify.report.site.frame import stylesheet_text, template

SHOWN_ROWS = 20
"""Rows of a first table that stands open, below the first pictures."""
FIRST = 2
"""Pictures that stand before the first table; the others follow it."""


def files(experiment: Experiment) -> dict[str, str | bytes]:
    """The files of a finished experiment by name: page, data as JSON and as CSV, each picture as SVG and as PDF."""
    name = experiment.name
    return {
        f"{name}.json": experiment.model_dump_json(by_alias=True, indent=1) + "\n",
        f"{name}.csv": as_csv(experiment.rows),
        f"{name}.html": render(experiment),
    } | taken_away(experiment.plots, name, direct=True)


def render(experiment: Experiment) -> str:
    """The page, self-contained; the same experiment gives the same bytes."""
    tables = list(_tables(experiment.rows))
    answer = tables.pop(0) if tables and len(tables[0][1]) <= SHOWN_ROWS else None
    return template("experiment.html.j2").render(
        experiment=experiment, pictures=pictures(experiment.plots, experiment.name, direct=True),
        answer=answer, tables=tables, words=wording, first=FIRST, number=_cell, style=Markup(stylesheet_text()),
    )  # fmt: skip


def _tables(rows: tuple[Row, ...]) -> Iterator[tuple[tuple[str, ...], list[Row]]]:
    """Rows of one shape together, in the order of their first."""
    shapes: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        shapes.setdefault(tuple(row), []).append(row)
    yield from shapes.items()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return wording.number(value)
    return str(value)
