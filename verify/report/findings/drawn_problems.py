"""Statements on drawn problems, in words and tables."""

from __future__ import annotations

from verify.report.rows.draws_model import DrawnProblems, DrawRow
from verify.report.wording import counted, listing

OUTCOMES = {
    "SUPPORTED": "hold", "REFUTED": "fail", "INCONCLUSIVE": "are left open",
    "UNSETTLED": "end before their limit shows", "VACUOUS": "are vacuous", "NOT_APPLICABLE": "do not apply",
    "FAULT": "ended in a fault",
}  # fmt: skip
"""Outcomes in the order in which they are told."""
CLEAN = "Drawn problems alone were asked about: no fault, and no repaired statement refuted"
"""What a report says first where they are all it holds."""
READINGS = {"repaired": "Repaired", "as-written": "As written"}


def sentences(draws: DrawnProblems | None, *, alone: bool = False) -> list[str]:
    """What became of them, a sentence a reading; ``alone`` where nothing else was asked about."""
    if draws is None or not draws.rows:
        return []
    families = len({row.family for row in draws.rows})
    lines = [
        f"{'Instead of' if alone else 'Beside'} the atlas, {counted(draws.each, 'problem')} of each of "
        f"{counted(families, 'family', 'families')} were drawn."
    ]
    for reading, title in READINGS.items():
        counts = draws.counts(reading)
        if counts:
            results = listing(f"{counts[name]:,} {verb}" for name, verb in OUTCOMES.items() if name in counts)
            lines.append(f"{title}, of {sum(counts.values()):,} results on them {results}.")
    return lines


def coverage(draws: DrawnProblems) -> list[tuple[str, ...]]:
    """A table of strata: a head, then problems and outcomes of each."""
    shown = [name for name in OUTCOMES if any(name in row.verdicts for row in draws.strata)]
    head = ("stratum", "problems", *(name.lower().replace("_", " ") for name in shown))
    body = [
        (row.stratum, f"{row.problems:,}", *(f"{row.verdicts.get(name, 0):,}" for name in shown))
        for row in draws.strata
    ]
    return [head, *body]


def telling(draws: DrawnProblems) -> list[DrawRow]:
    """Rows of a repaired statement that is refuted, left open, unsettled or at fault on some draw."""
    odd = {"REFUTED", "INCONCLUSIVE", "UNSETTLED", "FAULT"}
    return [row for row in draws.rows if row.reading == "repaired" and not odd.isdisjoint(row.verdicts)]


def told(row: DrawRow) -> str:
    """One such row in a line: counts, and draws to run again."""
    counts = listing(f"{count:,} {OUTCOMES[name]}" for name, count in _ordered(row))
    named = [
        name for status, names in row.named.items() if status not in ("SUPPORTED", "NOT_APPLICABLE") for name in names
    ]
    return f"on {row.family}, {counts}: {', '.join(named)}"


def _ordered(row: DrawRow) -> list[tuple[str, int]]:
    return [(name, row.verdicts[name]) for name in OUTCOMES if name in row.verdicts]
