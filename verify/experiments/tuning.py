"""One protocol for all step sizes: every length of one grid is run by every method on problems kept for tuning.

The length with the least loss at the end of the budget is taken: the share of the fall to the lowest F known that is
still left, its mean over the tuning problems. One at an end of the grid is flagged, for the best may lie beyond.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from verify.experiments.bench import Bench, Cell
from verify.experiments.budgeted_run import Unit
from verify.experiments.contenders import Contender
from verify.experiments.courses import Course
from verify.experiments.model import Row, Size

WHOLE = tuple(round(10 ** (0.5 - j / 2), 9) for j in range(7))
LENGTHS: dict[Size, tuple[float, ...]] = {"quick": WHOLE[:5], "whole": WHOLE}
"""Lengths of the first step, two a decade, units of x."""
TUNING_SEED = 1000
"""Added to the seeds of problems and noise that serve tuning alone."""


@dataclass(frozen=True)
class Budget:
    """What every run may spend."""

    size: float
    unit: Unit = "products"


@dataclass(frozen=True)
class Tuned:
    """The length taken, the share of the fall left with it, and whether it is at an end of the grid."""

    length: float
    left: float
    at_end: bool


def lowest(bench: Bench, courses: Sequence[Course]) -> dict[Course, float]:
    """The lowest F known of each course, found without a method."""
    found = bench.perform("lowest", [Cell("budgeted_run:lowest_loss", {"course": at.plain}) for at in courses])
    return dict(zip(courses, map(float, found), strict=True))


def run_cell(at: Course, entrant: Contender, seed: int, budget: Budget, *, points: int = 1, distances: int = 0) -> Cell:
    """A run to a budget as a cell."""
    arguments = {"course": at.plain, "contender": asdict(entrant), "seed": seed}
    return Cell(
        "budgeted_run:run", arguments | {"budget": [budget.size, budget.unit], "points": points, "distances": distances}
    )


def left(record: Mapping[str, Any], low: float) -> float:
    """The share of the fall from the first F to the lowest known that is left at a run's end; infinite if it failed."""
    losses = record["loss"]
    if record["stopped"] or not math.isfinite(losses[-1]):
        return math.inf
    return share(losses[-1], losses[0], low)


def share(loss: float, first: float, low: float) -> float:
    """The share of the fall from ``first`` to ``low`` that is left at ``loss``; infinite where none can be made."""
    return (loss - low) / (first - low) if first > low else math.inf if loss > low else 0.0


def tuned(
    bench: Bench,
    variants: Mapping[str, Sequence[Course]],
    methods: Mapping[str, Sequence[str]],
    budget: Budget,
    lengths: Sequence[float],
) -> tuple[dict[tuple[str, str], Tuned], list[Row]]:
    """The length of every method on every variant, whose courses are those for tuning, and a row a length tried."""
    # Seeds of noise are the tuning problems' numbers, so that every method and length meets the same draws.
    asked = [
        (variant, name, length, at, k)
        for variant, courses in variants.items()
        for name in methods[variant]
        for length in lengths
        for k, at in enumerate(courses)
    ]
    lows = lowest(bench, [at for courses in variants.values() for at in courses])
    cells = [run_cell(at, Contender(name, length), TUNING_SEED + k, budget) for _, name, length, at, k in asked]
    records = bench.perform("tuning", cells)
    for (*_, at, _), record in zip(asked, records, strict=True):
        lows[at] = min(lows[at], *record["loss"])
    shares: dict[tuple[str, str], dict[float, list[float]]] = {}
    for (variant, name, length, at, _), record in zip(asked, records, strict=True):
        shares.setdefault((variant, name), {}).setdefault(length, []).append(left(record, lows[at]))
    taken: dict[tuple[str, str], Tuned] = {}
    rows: list[Row] = []
    for (variant, name), by_length in shares.items():
        means = {length: sum(values) / len(values) for length, values in by_length.items()}
        best = min(means, key=means.__getitem__)
        taken[variant, name] = Tuned(best, means[best], best in (lengths[0], lengths[-1]))
        rows += [
            {"problem": variant, "method": name, "length tried": length, "share of the fall left": means[length],
             "taken": length == best}
            for length in lengths
        ]  # fmt: skip
    return taken, rows
