"""A history as one page: the records, and a small line for each exponent and constant of what moved."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from verify.campaign.baseline.history import Course, History, Line
from verify.report.site.frame import stylesheet_text
from verify.report.wording import counted, number
from verify.verdict import Verdict

WIDTH, HEIGHT, EDGE = 120.0, 26.0, 4.0
"""Size of a small line and its margin, CSS pixels."""
_OWN = """
main { margin: 0 auto; max-width: 80rem; padding: 1.5rem 1rem; }
.history td, .history th { padding: .2rem .6rem; text-align: left; vertical-align: top; }
.history { display: block; overflow-x: auto; }
.history polyline { fill: none; stroke: currentColor; stroke-width: 1.3; }
.history circle { fill: currentColor; }
"""


def history_page(history: History) -> str:
    """The page, self-contained; the same history gives the same bytes."""
    records = Markup("").join(
        Markup("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>").format(
            record.name, record.subject, ", ".join(f"{count} {name}" for name, count in record.verdicts.items()),
            f"{len(record.worse)} worse, {len(record.other)} other",
        ) for record in history.records
    )  # fmt: skip
    moved = Markup("").join(row for line in history.moved for row in _rows(line))
    said = f"{counted(len(history.moved), 'result')} of {len(history.lines)} moved over {len(history.records)} records."
    table = Markup(
        '<table class="history"><tr><th>result</th><th>number</th><th>line</th><th>values</th></tr>{}</table>'
    )
    return Markup(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="f2csa-verify">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>F2CSA: history</title>'
        "<style>{}{}</style></head><body><main><h1>History of recorded baselines</h1><p>{}</p>"
        '<table class="history"><tr><th>record</th><th>subject</th><th>verdicts</th><th>against the last</th></tr>{}'
        "</table>{}</main></body></html>\n"
    ).format(
        Markup(stylesheet_text()), Markup(_OWN), said, records, table.format(moved) if moved else ""
    )  # fmt: skip


def _rows(line: Line) -> list[Markup]:
    where = f"{line.claim} [{line.reading}] on {line.instance}"
    numbers = Markup("<tr><td></td><td>{}, {}</td><td>{}</td><td>{}</td></tr>")
    first = Markup("<tr><td>{}</td><td>verdict</td><td></td><td>{}</td></tr>")
    return [
        first.format(where, verdicts_said(line.verdicts)),
        *(numbers.format(each.quantity, each.what, _drawn(each), said_of(each.values)) for each in line.courses),
    ]


def said_of(values: Sequence[float | None]) -> str:
    """Values over the records; a single one where all are the same."""
    shown = ["–" if value is None else number(value) for value in values]
    return shown[0] if len(set(values)) == 1 else " → ".join(shown)


def verdicts_said(verdicts: Sequence[Verdict | None]) -> str:
    """Verdicts over the records; a single one where all are the same."""
    shown = ["–" if verdict is None else str(verdict) for verdict in verdicts]
    return shown[0] if len(set(shown)) == 1 else " → ".join(shown)


def _drawn(course: Course) -> Markup:
    """The values as a line from left to right, its lowest and highest at the margins; a gap where one is missing."""
    present = [value for value in course.values if value is not None]
    if not present:
        return Markup("")
    low, span = min(present), (max(present) - min(present)) or 1.0
    step = (WIDTH - 2 * EDGE) / max(1, len(course.values) - 1)
    runs: list[list[str]] = [[]]
    dots = []
    for place, value in enumerate(course.values):
        if value is None:
            runs.append([])
            continue
        x, y = EDGE + place * step, HEIGHT - EDGE - (value - low) / span * (HEIGHT - 2 * EDGE)
        runs[-1].append(f"{x:.1f},{y:.1f}")
        dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.8"/>')
    lines = "".join(f'<polyline points="{" ".join(run)}"/>' for run in runs if len(run) > 1)
    return Markup('<svg role="img" aria-label="{}" width="{}" height="{}">{}</svg>').format(
        f"{course.quantity}, {course.what}: {said_of(course.values)}", f"{WIDTH:g}", f"{HEIGHT:g}",
        Markup(lines + "".join(dots)),
    )  # fmt: skip
