"""The board's times problem by problem: what its page, its CSV and docs/experiments.md show alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from verify.experiments.answers.race import FRESH, WALKING
from verify.experiments.curves import by
from verify.experiments.model import Row

SHOWN = (
    ("F2CSA", 1e-2), ("F2CSA", 1e-6), ("F2CSA, first-order", 1e-2), ("F2CSA, first-order", 1e-6),
    ("implicit gradient, iterative", 1e-2), ("implicit gradient, iterative", 1e-6), ("F2CSA, page", 1e-2),
    ("implicit gradient, page", 1e-2),
)  # fmt: skip
"""Entrants and relative errors that have a column."""
FROM = 100
"""Dimension from which a problem has a row: below it all is the cost of calls."""
PROBLEM = "time, walk and fresh points"


def by_problem(rows: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """A row a problem: times over the unit's along the walk and at fresh points, medians; why where there is none."""
    for (kind, d, condition), group in by(rows, "rows", "d", "condition").items():
        if int(d) < FROM:
            continue
        row: Row = {PROBLEM: f"{kind}, d = {d}, condition {float(condition):g}"}
        for entrant, wanted in SHOWN:
            error = f"{wanted:.0e}".replace("e-0", "e-")
            row[f"{entrant} at {error}"] = _told([r for r in group if r["entrant"] == entrant], wanted)
        yield row


def _told(rows: Sequence[Mapping[str, Any]], wanted: float) -> str:
    # Who is left out of a whole problem has no error in its row.
    there = [row for row in rows if row.get("wanted") in (wanted, None)]
    times = {str(row["points"]): float(row["time over the unit's"]) for row in there if row.get("points")}
    if WALKING in times and FRESH in times:
        return f"{as_times(times[WALKING])}, {as_times(times[FRESH])}"
    return str(there[0]["status"]).split(":")[0] if there else ""


def as_times(ratio: float) -> str:
    """A ratio of times or bytes to three digits at most."""
    return f"{ratio:.2f}" if ratio < 1.995 else f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"


def markdown(rows: Sequence[Row]) -> str:
    """Rows of one shape as a Markdown table, ended by a line break."""
    names = list(rows[0])
    lines = [names, ["---"] * len(names), *([str(row[name]) for name in names] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
