"""One protocol for both numbers of every method, on problems kept for tuning, with as many trials for each.

First every length of one grid is run with the default of the further number; then the further number's three other
trials at the best length, or at one longer by so many steps of the grid where a law that decays needs it; then the two
neighbours of the best pair. The pair with the least mean score over the tuning problems is taken. One whose length is
the least or the largest tried with its further number is flagged, for the best may lie beyond.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from verify.experiments.bench import Bench, Cell
from verify.experiments.budgeted_run import Unit
from verify.experiments.contenders import (
    DESCENT,
    DSBLO,
    DSBLO_2,
    F2CSA,
    LITERAL,
    PARENT,
    PIGD,
    SSIGD,
    ZEROTH,
    Contender,
)  # fmt: skip
from verify.experiments.courses import Course
from verify.experiments.model import Row, Size

WHOLE = tuple(round(10 ** (0.5 - j / 2), 9) for j in range(7))
LENGTHS: dict[Size, tuple[float, ...]] = {"quick": WHOLE[:5], "whole": WHOLE}
"""Lengths of the first step, two a decade, units of x."""
_SWING = ((0.316, 0.0), (10.0, 0.0), (100.0, 0.0))
_MEMORY = ((0.5, 0.0), (0.9, 0.0), (0.97, 0.0))
_DECAY = ((0.5, 1.0), (0.5, 2.0), (1.0, 3.0))
FURTHER: dict[str, tuple[tuple[float, float], ...]] = {
    F2CSA: _SWING, LITERAL: _SWING, PARENT: _SWING, ZEROTH: _SWING, DSBLO: _MEMORY, DSBLO_2: _MEMORY,
    SSIGD: _DECAY, DESCENT: _DECAY, PIGD: ((0.3, 0.0), (0.1, 0.0), (0.01, 0.0)),
}  # fmt: skip
"""Three further trials a method: a value of its further number, and by how many steps of the grid it starts longer.

A step that decays like r^-p is as long as a constant one half-way only if its first is longer.
"""
OPEN_ENDS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys((F2CSA, LITERAL, PARENT, ZEROTH), (0.316, 100.0)), DSBLO: (0.97,), DSBLO_2: (0.97,), PIGD: (0.01,),
}  # fmt: skip
"""Values of the further number beyond which there are more of its kind."""
TUNING_SEED = 1000
"""Added to the seeds of problems and noise that serve tuning alone."""
Choice = tuple[float, float | None]
"""A length, and the further number, ``None`` for its default."""


@dataclass(frozen=True)
class Budget:
    """What every run may spend."""

    size: float
    unit: Unit = "products"


@dataclass(frozen=True)
class Tuned:
    """The pair taken, its score, whether its length is the least or largest tried, and how many pairs were."""

    length: float
    left: float
    at_end: bool
    further: float | None = None
    trials: int = 0

    def contender(self, name: str, **other: Any) -> Contender:
        """The method with its tuned pair."""
        return Contender(name, self.length, further=self.further, **other)


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


@dataclass(frozen=True)
class Judging:
    """How a trial run is scored, by ``score`` of its record and the lowest F known; less is better.

    ``points`` and ``distances`` are what the run records for it; ``further`` whether the further number is tuned too.
    """

    further: bool = True
    points: int = 1
    distances: int = 0
    score: Callable[[Mapping[str, Any], float], float] = left
    said: str = "share of the fall left"


LENGTH_ALONE = Judging(further=False)


def tuned(
    bench: Bench,
    variants: Mapping[str, Sequence[Course]],
    methods: Mapping[str, Sequence[str]],
    budget: Budget,
    lengths: Sequence[float],
    judging: Judging = LENGTH_ALONE,
) -> tuple[dict[tuple[str, str], Tuned], list[Row]]:
    """Both numbers of every method on every variant, whose courses are those for tuning, and a row a pair tried."""
    made = _Trials(bench, variants, budget, judging, lowest(bench, [at for group in variants.values() for at in group]))
    entries = [(variant, name) for variant in variants for name in methods[variant]]
    made.run("tuning, lengths", {entry: [(length, None) for length in lengths] for entry in entries})
    if judging.further:
        firsts = {entry: made.best(entry)[0] for entry in entries}
        made.run(
            "tuning, further number",
            {
                entry: [(stepped(firsts[entry], steps), value) for value, steps in FURTHER[entry[1]]]
                for entry in entries
            },
        )
        made.run("tuning, neighbours", {entry: list(made.neighbours(entry)) for entry in entries})
    return {entry: made.taken(entry) for entry in entries}, [row for e in entries for row in made.rows(e)]


def trials(lengths: Sequence[float]) -> int:
    """How many pairs are tried of every method where both numbers are tuned."""
    return len(lengths) + len(FURTHER[F2CSA]) + 2


def stepped(length: float, steps: float) -> float:
    """The length so many steps of the grid longer."""
    return float(f"{length * 10 ** (steps / 2):.9g}")


@dataclass
class _Trials:
    """The trial runs made so far, by method on a variant and by pair: a record a tuning problem."""

    bench: Bench
    variants: Mapping[str, Sequence[Course]]
    budget: Budget
    judging: Judging
    lows: dict[Course, float]
    made: dict[tuple[str, str], dict[Choice, list[Mapping[str, Any]]]] = field(default_factory=dict)

    def run(self, stage: str, asked: Mapping[tuple[str, str], Sequence[Choice]]) -> None:
        # Seeds of noise are the tuning problems' numbers, so that every method and pair meets the same draws.
        flat = [
            (entry, choice, at, k)
            for entry, choices in asked.items()
            for choice in choices
            for k, at in enumerate(self.variants[entry[0]])
        ]
        points, distances = self.judging.points, self.judging.distances
        cells = [
            run_cell(at, Contender(name, length, further=further), TUNING_SEED + k, self.budget,
                     points=points, distances=distances)
            for (_, name), (length, further), at, k in flat
        ]  # fmt: skip
        for (entry, choice, at, _), record in zip(flat, self.bench.perform(stage, cells), strict=True):
            self.lows[at] = min(self.lows[at], *record["loss"])
            self.made.setdefault(entry, {}).setdefault(choice, []).append(record)

    def score(self, entry: tuple[str, str], choice: Choice) -> float:
        records, courses = self.made[entry][choice], self.variants[entry[0]]
        scores = [self.judging.score(record, self.lows[at]) for record, at in zip(records, courses, strict=True)]
        return sum(scores) / len(scores)

    def best(self, entry: tuple[str, str]) -> Choice:
        return min(self.made[entry], key=lambda choice: self.score(entry, choice))

    def neighbours(self, entry: tuple[str, str]) -> Iterator[Choice]:
        """A step of the grid shorter and longer than the best, or half a step where that has been tried."""
        length, further = self.best(entry)
        for steps in (-1.0, 1.0):
            whole = (stepped(length, steps), further)
            near = any(math.isclose(whole[0], tried) and further == other for tried, other in self.made[entry])
            yield (stepped(length, steps / 2), further) if near else whole

    def taken(self, entry: tuple[str, str]) -> Tuned:
        length, further = best = self.best(entry)
        same = [tried for tried, other in self.made[entry] if other == further]
        at_end = length in (min(same), max(same))
        return Tuned(length, self.score(entry, best), at_end, further, len(self.made[entry]))

    def rows(self, entry: tuple[str, str]) -> Iterator[Row]:
        variant, name = entry
        best = self.best(entry)
        for choice in self.made[entry]:
            yield {
                "problem": variant, "method": name, "length tried": choice[0],
                "further number tried": Contender(name, choice[0], further=choice[1]).told,
                self.judging.said: self.score(entry, choice), "taken": choice == best,
            }  # fmt: skip
