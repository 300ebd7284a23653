"""An experiment's page: what it shows, its pictures with the paper's figures beside, and its numbers."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from verify.experiments.model import Experiment, Row, as_csv
from verify.report import wording
from verify.report.drawn_charts import pictures, taken_away
from verify.report.site.frame import stylesheet_text, template

SHOWN_ROWS = 12


def files(experiment: Experiment) -> dict[str, str | bytes]:
    """The files of a finished experiment by name: page, data as JSON and as CSV, each picture as SVG and as PDF."""
    name = experiment.name
    return {
        f"{name}.json": experiment.model_dump_json(by_alias=True, indent=1) + "\n",
        f"{name}.csv": as_csv(experiment.rows),
        f"{name}.html": render(experiment),
    } | taken_away(experiment.plots, name)


def render(experiment: Experiment) -> str:
    """The page, self-contained; the same experiment gives the same bytes."""
    return template("experiment.html.j2").render(
        experiment=experiment, pictures=pictures(experiment.plots, experiment.name),
        tables=list(_tables(experiment.rows)), words=wording,
        shown=SHOWN_ROWS, number=_cell, style=Markup(stylesheet_text()),
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
