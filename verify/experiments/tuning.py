"""One protocol for both numbers of every method, on problems kept for tuning, with as many trials for each.

First every length of one grid is run with the default of the further number; then the further number's three other
trials at the best length, or at one longer by so many steps of the grid where a law that decays needs it; then the two
neighbours of the best pair. The pair with the least mean score over the tuning problems is taken. One whose length is
the least or the largest tried with its further number is flagged, for the best may lie beyond.

Where a method's own numbers are tuned too (``rounds``), four trials of these follow the further number's, and then as
many single trials for every method, each where the best stands at an end of what was tried: a step beyond that end; or
else between its neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from verify.experiments.benchmark_problems import Course
from verify.experiments.budgeted_run import Unit
from verify.experiments.compared_methods import (
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
from verify.experiments.model import Row, Size
from verify.experiments.work_cells import Bench, Cell

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
_TILT = tuple(("perturbation", value) for value in (1e-6, 1e-5, 1e-3, 1e-2))
_SAMPLED_TILT = (("samples", 4.0), *(_TILT[k] for k in (1, 2, 3)))
_PENALTY = tuple(("alpha", value) for value in (0.5, 0.25, 0.05, 0.025))
_OURS = (("alpha", 0.3), ("alpha", 0.03), ("samples", 4.0), ("inner", 30.0))
OWN: dict[str, tuple[tuple[str, float], ...]] = {
    F2CSA: _OURS, LITERAL: _OURS, SSIGD: _SAMPLED_TILT, DSBLO: _TILT, DSBLO_2: _SAMPLED_TILT, PIGD: _PENALTY,
    PARENT: _PENALTY, ZEROTH: tuple(("smoothing", value) for value in (0.5, 0.2, 0.05, 0.02)),
}  # fmt: skip
"""Four trials a method of its own numbers: α, N_g and the inner residual (in units of the reading's) of F2CSA, the
scale of the perturbation and samples of those that have them, α of the penalty estimators, the sphere's radius."""
OWN_DEFAULTS = {"alpha": 0.1, "samples": 1.0, "inner": 1.0, "perturbation": 1e-4, "smoothing": 0.1}
OWN_STEP = {"alpha": 10**0.5, "samples": 4.0, "inner": 10.0, "perturbation": 10.0, "smoothing": 10**0.5}
"""The factor to the next value beyond an end."""
OPEN_ENDS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys((F2CSA, LITERAL, PARENT, ZEROTH), (0.316, 100.0)), DSBLO: (0.97,), DSBLO_2: (0.97,), PIGD: (0.01,),
}  # fmt: skip
"""Values of the further number beyond which there are more of its kind."""
TUNING_SEED = 1000
"""Added to the seeds of problems and noise that serve tuning alone."""
Own = tuple[tuple[str, float], ...]
Choice = tuple[float, float | None, Own]
"""A length, the further number, ``None`` for its default, and what of its own is not the default."""


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
    own: Own = ()
    ends: tuple[str, ...] = ()
    """Numbers that stand at an end of what was tried, in words."""

    def contender(self, name: str, **other: Any) -> Contender:
        """The method with its tuned numbers."""
        return Contender(name, self.length, further=self.further, own=self.own, **other)


def lowest(bench: Bench, courses: Sequence[Course]) -> dict[Course, float]:
    """The lowest F known of each course, found without a method."""
    losses = bench.perform("lowest", [Cell("budgeted_run:lowest_loss", {"course": at.plain}) for at in courses])
    return dict(zip(courses, map(float, losses), strict=True))


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

    ``points`` and ``distances`` are what the run records for it; ``further`` whether the further number is tuned too;
    ``rounds`` how many trials follow those of a method's own numbers, 0 where these stay at their defaults. ``fast``
    tunes methods at their best, else their pages; ``given`` are further and own numbers to keep, by variant and method.
    """

    further: bool = True
    rounds: int = 0
    fast: bool = False
    given: Mapping[tuple[str, str], Tuned] = field(default_factory=dict)
    points: int = 1
    distances: int = 0
    score: Callable[[Mapping[str, Any], float], float] = left
    label: str = "share of the fall left"


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
    search = _Trials(
        bench, variants, budget, judging, lowest(bench, [at for group in variants.values() for at in group])
    )
    entries = [(variant, name) for variant in variants for name in methods[variant]]
    starts = {entry: judging.given[entry] if entry in judging.given else Tuned(0.0, 0.0, False) for entry in entries}
    search.run(
        "tuning, lengths", {e: [(length, starts[e].further, starts[e].own) for length in lengths] for e in entries}
    )
    if judging.further:
        firsts = {entry: search.best(entry)[0] for entry in entries}
        search.run(
            "tuning, further number",
            {
                entry: [(stepped(firsts[entry], steps), value, ()) for value, steps in FURTHER[entry[1]]]
                for entry in entries
            },
        )
    if judging.rounds:
        own = {e: [(*search.best(e)[:2], (value,)) for value in OWN[e[1]]] for e in entries if e[1] in OWN}
        search.run("tuning, own numbers", own)
        for k in range(judging.rounds):
            search.run(f"tuning, round {k + 1}", {entry: [search.beyond(entry)] for entry in entries})
        # A method without numbers of its own has as many trials past an end or between.
        without = [entry for entry in entries if entry not in own]
        for k in range(len(_OURS) if without else 0):
            search.run(f"tuning, further round {k + 1}", {entry: [search.beyond(entry)] for entry in without})
    elif judging.further:
        search.run("tuning, neighbours", {entry: list(search.neighbours(entry)) for entry in entries})
    return {entry: search.taken(entry) for entry in entries}, [row for e in entries for row in search.rows(e)]


def trials(lengths: Sequence[float], rounds: int = 0) -> int:
    """How many trials every method has where all its numbers are tuned."""
    return len(lengths) + len(FURTHER[F2CSA]) + (len(_OURS) + rounds if rounds else 2)


def stepped(length: float, steps: float) -> float:
    """The length so many steps of the grid longer."""
    return float(f"{length * 10 ** (steps / 2):.9g}")


def _next_further(name: str, further: float | None, tried: Sequence[float | None]) -> Iterator[float]:
    """The next value of a further number past the last that was tried, where more of its kind exist."""
    if name not in OPEN_ENDS or further is None:
        return
    known = [value for value in tried if value is not None]
    if name in (DSBLO, DSBLO_2):
        if further == max(known):
            yield round(1 - (1 - further) / 3, 6)
    elif name == PIGD:
        if further == min(known):
            yield float(f"{further / 3:.3g}")
    elif further in (max(known), min(known)):
        yield float(f"{further * (10 if further == max(known) else 0.1):.3g}")


def _ends(name: str, best: Choice, tried: Sequence[Choice], *, at_end: bool) -> Iterator[str]:
    """What of the best stands at an end of what was tried with it."""
    length, further, own = best
    if at_end:
        yield f"length {length:.3g}"
    if any(True for _ in _next_further(name, further, [other[1] for other in tried])):
        yield Contender(name, length, further=further).told
    for which, value in own:
        values = [v for other in tried for n, v in other[2] if n == which] + [OWN_DEFAULTS[which]]
        if value in (max(values), min(values)) and not (which == "samples" and value == 1):
            yield f"{which} {value:g}"


@dataclass
class _Trials:
    """The trial runs made so far, by method on a variant and by pair: a record a tuning problem."""

    bench: Bench
    variants: Mapping[str, Sequence[Course]]
    budget: Budget
    judging: Judging
    lows: dict[Course, float]
    records: dict[tuple[str, str], dict[Choice, list[Mapping[str, Any]]]] = field(default_factory=dict)

    def run(self, stage: str, by_entry: Mapping[tuple[str, str], Sequence[Choice]]) -> None:
        # Seeds of noise are the tuning problems' numbers, so that every method and pair meets the same draws.
        flat = [
            (entry, choice, at, k)
            for entry, choices in by_entry.items()
            for choice in choices
            for k, at in enumerate(self.variants[entry[0]])
        ]
        points, distances = self.judging.points, self.judging.distances
        cells = [
            run_cell(at, Contender(name, length, further=further, own=own, fast=self.judging.fast), TUNING_SEED + k,
                     self.budget, points=points, distances=distances)
            for (_, name), (length, further, own), at, k in flat
        ]  # fmt: skip
        for (entry, choice, at, _), record in zip(flat, self.bench.perform(stage, cells), strict=True):
            self.lows[at] = min(self.lows[at], *record["loss"])
            self.records.setdefault(entry, {}).setdefault(choice, []).append(record)

    def score(self, entry: tuple[str, str], choice: Choice) -> float:
        records, courses = self.records[entry][choice], self.variants[entry[0]]
        scores = [self.judging.score(record, self.lows[at]) for record, at in zip(records, courses, strict=True)]
        return sum(scores) / len(scores)

    def best(self, entry: tuple[str, str]) -> Choice:
        return min(self.records[entry], key=lambda choice: self.score(entry, choice))

    def neighbours(self, entry: tuple[str, str]) -> Iterator[Choice]:
        """A step of the grid shorter and longer than the best, or half a step where that has been tried."""
        length, further, own = self.best(entry)
        for steps in (-1.0, 1.0):
            whole = (stepped(length, steps), further, own)
            yield (stepped(length, steps / 2), further, own) if self._tried(entry, whole) else whole

    def _tried(self, entry: tuple[str, str], choice: Choice) -> bool:
        return any(math.isclose(choice[0], tried[0]) and choice[1:] == tried[1:] for tried in self.records[entry])

    def beyond(self, entry: tuple[str, str]) -> Choice:
        """One more trial: past the end that the best stands at, or between it and its neighbours."""
        for choice in self._outward(entry):
            if not self._tried(entry, choice):
                return choice
        length, further, own = self.best(entry)
        steps = next(
            s
            for k in range(1, 9)
            for s in (2.0**-k, -(2.0**-k))
            if not self._tried(entry, (stepped(length, s), further, own))
        )
        return stepped(length, steps), further, own

    def _outward(self, entry: tuple[str, str]) -> Iterator[Choice]:
        length, further, own = self.best(entry)
        lengths = [tried[0] for tried in self.records[entry] if tried[1:] == (further, own)]
        if len(lengths) > 1:
            # A length that was tried once with these numbers has no end; its neighbours are tried below.
            if length == max(lengths):
                yield stepped(length, 1.0), further, own
            if length == min(lengths):
                yield stepped(length, -1.0), further, own
        for value in _next_further(entry[1], further, [tried[1] for tried in self.records[entry]]):
            yield length, value, own
        for name, value in own:
            values = [v for tried in self.records[entry] for n, v in tried[2] if n == name] + [OWN_DEFAULTS[name]]
            step = OWN_STEP[name]
            if value == max(values) and not (name == "smoothing" and value * step >= 1):  # a sphere within the radius
                yield length, further, ((name, float(f"{value * step:.6g}")),)
            if value == min(values) and name != "samples":
                yield length, further, ((name, float(f"{value / step:.6g}")),)

    def taken(self, entry: tuple[str, str]) -> Tuned:
        length, further, own = best = self.best(entry)
        same = [tried for tried, *others in self.records[entry] if (*others,) == (further, own)]
        at_end = length in (min(same), max(same)) and len(same) > 1
        ends = tuple(_ends(entry[1], best, list(self.records[entry]), at_end=at_end))
        return Tuned(length, self.score(entry, best), at_end, further, len(self.records[entry]), own, ends)

    def rows(self, entry: tuple[str, str]) -> Iterator[Row]:
        variant, name = entry
        best = self.best(entry)
        for choice in self.records[entry]:
            yield {
                "problem": variant, "method": name, "length tried": choice[0],
                "further number tried": Contender(name, choice[0], further=choice[1], own=choice[2]).told,
                self.judging.label: self.score(entry, choice), "taken": choice == best,
            }  # fmt: skip
