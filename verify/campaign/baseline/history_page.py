"""A history as one page: the records, and a small line for each exponent and constant of what moved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup

from verify.campaign.baseline.history import History, HistoryLine, HistoryRecord, VerdictCourse
from verify.report.figures.spoken_text import heard
from verify.report.signs import look
from verify.report.site.frame import stylesheet_text
from verify.report.site.words.cell_numbers import drawn_mark, figure, word
from verify.report.wording import counted, number
from verify.verdict import Verdict

WIDTH, HEIGHT, EDGE = 120.0, 26.0, 4.0
"""Size of a small line and its margin, CSS pixels."""
_OWN = """
main { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1.1rem 4rem; }
.history { margin: 1.4rem 0 2rem; } .history td, .history th { padding: .3rem 1rem .3rem 0; overflow-wrap: anywhere; }
.history th[scope=row] { width: 36%; } .history .course th { padding-left: 1.2rem; color: var(--quiet); }
.history .course > * { border-top: 0 !important; padding-top: 0; } .history .m { margin-right: .2em; }
.history span.m { display: inline-block; text-align: center; }
.line polyline { fill: none; stroke: currentColor; stroke-width: 1.3; } .line circle { fill: currentColor; }
.history .line { display: block; max-width: 100%; overflow: visible; }
@media screen and (max-width: 50rem) {
  .history, .history :is(caption, tbody, tr, th, td) { display: block; width: auto !important; }
  .history thead { display: none; } .history tr { padding: .6rem 0; border-top: 1px solid var(--rule); }
  .history .course { border-top: 0; padding: 0 0 .6rem 1.2rem; } .history .course th { padding-left: 0; }
  .history th, .history td { border: 0 !important; padding: .1rem 0; } .history td:empty { display: none; }
  .history td[data-l]::before { content: attr(data-l) ": "; font-style: italic; color: var(--quiet); }
}
"""
ABSENT = "not there"
"""What the page says of a record without a result."""


def history_page(history: History) -> str:
    """The page, self-contained; the same history gives the same bytes."""
    records = Markup("").join(
        Markup('<tr><th scope="row">{}</th><td data-l="Of">{}</td><td data-l="Verdicts">{}</td>'
               '<td data-l="Against the last">{}</td></tr>').format(
            record.name, record.subject, _counts(record),
            f"{len(record.worse)} worse, {len(record.other)} other",
        ) for record in history.records
    )  # fmt: skip
    moved = Markup("").join(row for line in history.moved for row in _rows(line))
    lead = f"{counted(len(history.moved), 'result')} of {len(history.lines)} moved over {len(history.records)} records."
    table = Markup(
        '<table class="history"><caption>What moved, a mark or a point for each record, the last to the right</caption>'
        '<thead><tr><th scope="col">Result</th><th scope="col">Over the records</th><th scope="col">In words</th></tr>'
        "</thead><tbody>{}</tbody></table>"
    )
    return Markup(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="f2csa-verify">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><title>F2CSA: history</title>'
        "<style>{}{}</style></head><body><main><h1>History of recorded baselines</h1><p>{}</p>"
        '<table class="history"><caption>The records, in order</caption><thead><tr><th scope="col">Record</th>'
        '<th scope="col">Of</th><th scope="col">Verdicts</th><th scope="col">Against the last</th></tr></thead>'
        "<tbody>{}</tbody></table>{}</main></body></html>\n"
    ).format(
        Markup(stylesheet_text()), Markup(_OWN), lead, records, table.format(moved) if moved else ""
    )  # fmt: skip


def _counts(record: HistoryRecord) -> Markup:
    """How many results have each verdict, with its mark."""
    return Markup(", ").join(
        Markup("{} {}").format(figure(status, word(status)), count) for status, count in record.verdicts.items()
    )


def _rows(line: HistoryLine) -> list[Markup]:
    where = f"{line.claim} [{line.reading}] on {line.instance}"
    row = Markup('<tr{}><th scope="row">{}</th><td>{}</td><td>{}</td></tr>')
    drawn = Markup("").join(map(_mark, line.verdicts))
    return [
        row.format("", where, drawn, _in_words(line.verdicts)),
        *(row.format(Markup(' class="course"'), f"{each.quantity}, {each.what}", _drawn(each), said_of(each.values))
          for each in line.courses),
    ]  # fmt: skip


def _mark(verdict: Verdict | None) -> Markup:
    """A record's verdict as its mark alone; the words stand beside the row."""
    if verdict is None:
        return Markup('<span class="quiet m" aria-hidden="true">·</span>')
    return Markup('<span class="{}">{}</span>').format(look(verdict).look, drawn_mark(verdict))


def _in_words(verdicts: Sequence[Verdict | None]) -> str:
    """Verdicts over the records, those in a row that are the same once: ``holds → refuted``."""
    return " → ".join(ABSENT if verdict is None else word(verdict) for verdict, _ in groupby(verdicts))


def said_of(values: Sequence[float | None]) -> str:
    """Values over the records; a single one where all are the same."""
    shown = ["–" if value is None else number(value) for value in values]
    return shown[0] if len(set(values)) == 1 else " → ".join(shown)


def verdicts_said(verdicts: Sequence[Verdict | None]) -> str:
    """Verdicts over the records; a single one where all are the same."""
    shown = ["–" if verdict is None else str(verdict) for verdict in verdicts]
    return shown[0] if len(set(shown)) == 1 else " → ".join(shown)


def _drawn(course: VerdictCourse) -> Markup:
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
    box = f"0 0 {WIDTH:g} {HEIGHT:g}"
    opening = '<svg class="line" role="img" aria-label="{}" viewBox="{}" width="{:g}" height="{:g}">'
    return Markup(opening + "{}</svg>").format(
        heard(f"{course.quantity}, {course.what}: {said_of(course.values)}"), box, WIDTH, HEIGHT,
        Markup(lines + "".join(dots)),
    )  # fmt: skip
