"""One search for every line of Algorithm 2: edits of its places and of the whole, cheapest first, factors by one law.

A line is what its places hold, each times a factor, put together; a rule says which edit each of them has. It must make
every row that was recorded from those recorded before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from spec import OuterParameters
from spec.exact import Vector
from verify.conformance.blame.algorithm_2.loop_rule import LoopRule, Part, apart
from verify.conformance.outer import LoopTrial, RecordedLoop
from verify.method.factors import Factor, FactorMoments
from verify.method.loop_edits import UPDATED_FIRST, LineEdit
from verify.subjects.protocol import OuterRun

MOST_EDITS = 3
MOST_STRUCTURAL = 2
"""Edits other than factors."""
UNKNOWN_ROWS = 1
"""Rows of a run that a rule may leave open: what was left over by the run before, or comes after the last step."""
ONE = Factor()
_RNG = np.random.default_rng(0)
ANY_RUN = RecordedLoop(
    LoopTrial(
        "any", (0.3, -0.2, 0.5), OuterParameters(goldstein_radius=2.0, epsilon=0.3, D=0.7, eta=0.3, M=4, K=3), (), 0.0
    ),
    OuterRun(*(_RNG.standard_normal(shape) for shape in (3, (3, 3), (13, 3)))),
    *_RNG.standard_normal((2, 12, 3)),
)
"""Numbers of a run's shapes that no algorithm makes."""
Choice = tuple[LineEdit, ...]
"""An edit for each place of a line."""
Numbers = tuple[int, ...]
"""The same by number."""
Scales = tuple[Factor, ...]
"""A factor for each place."""


@dataclass(frozen=True, eq=False)
class Line:
    """One line as places and a whole, each with its edits, the right one first.

    ``got`` is what a run recorded of it; ``scales`` finds the factors of its places that runs show, ``limits`` are what
    may multiply D, ``sentence`` says what a rule changes.
    """

    part: Part
    whole: Choice
    got: Callable[[RecordedLoop], Vector]
    sentence: Callable[[Rule], str]
    places: Mapping[str, Choice] = field(default_factory=dict)
    scales: Callable[[Sequence[RecordedLoop], Choice], Iterator[Scales]] = lambda runs, choice: iter(())  # noqa: ARG005  # none
    limits: Callable[[Sequence[RecordedLoop]], Sequence[Factor]] = lambda runs: ()  # noqa: ARG005  # none


@dataclass(frozen=True, eq=False)
class Rule:
    """One way to have a line."""

    line: Line
    choice: Choice
    whole: LineEdit
    scales: Scales
    limit: Factor = ONE

    @property
    def makes_first(self) -> bool:
        """Whether steps are made before x moves, the first one too."""
        return UPDATED_FIRST in self.choice

    def made(self, one: RecordedLoop) -> Vector:
        """What the line makes of a run."""
        q, S = one.trial.parameters, one.series
        at = one.moments
        more: dict[str, Any] = {"L": q.D if self.limit.is_one else _column(self.limit, at) * q.D}
        for name, edit, factor in zip(self.line.places, self.choice, self.scales, strict=True):
            value = S.value(edit.formula)
            if self.makes_first and name == "a":
                value = S.made("late(v)", {"v": value})
            more[name] = value if factor.is_one else _column(factor, at) * value
        if "b" in more:
            more["v"] = more["a"] - more["b"]
        values = S.made(self.whole.formula, more) if more.keys() - {"L"} else S.value(self.whole.formula)
        return np.asarray(values)

    def off(self, one: RecordedLoop) -> float:
        """How far a run is from it, in tolerances."""
        values, got = self.made(one), self.line.got(one)
        if self.line.part == "steps" and not self.makes_first:
            values, got = values[:-1], got[1:]
        open_rows = np.isnan(values)
        if open_rows.any() and (values.ndim < 2 or open_rows.any(axis=1).sum() > UNKNOWN_ROWS):
            return math.inf
        # Endless values are equal where both are.
        left_out = open_rows | ((values == got) & np.isinf(got))
        return apart(one, np.where(left_out, 0.0, values), np.where(left_out, 0.0, got))

    def excess(self, runs: Sequence[RecordedLoop]) -> float:
        """How far runs are from it, at worst; those after one that is off are not looked at."""
        worst = 0.0
        for one in runs:
            worst = max(worst, self.off(one))
            if worst > 1:
                break
        return worst


def _column(factor: Factor, at: FactorMoments) -> Any:
    return np.reshape(factor.at(at), (-1, 1))


def right_rule(line: Line) -> Rule:
    """The line as it stands in Algorithm 2."""
    return Rule(line, tuple(edits[0] for edits in line.places.values()), line.whole[0], (ONE,) * len(line.places))


def search(line: Line, runs: Sequence[RecordedLoop]) -> list[LoopRule]:
    """All rules with the fewest edits that make everything these runs recorded of a line."""
    # What tells most apart comes first: several dimensions, cut steps.
    runs = sorted(runs, key=lambda one: (len(one.trial.x0) > 1, len(one.z)), reverse=True)
    limits, known = [ONE, *line.limits(runs)], dict[Numbers, list[Scales]]()
    line = replace(line, places={name: _telling(edits, runs) for name, edits in line.places.items()})
    for edits in range(1, MOST_EDITS + 1):
        rules = [rule for rule in _with_edits(line, runs, edits, (limits, known)) if rule.excess(runs) <= 1]
        told: list[tuple[str, Rule]] = []
        for words, rule in sorted(((line.sentence(rule), rule) for rule in rules), key=lambda pair: len(pair[0])):
            if not any(_is_same(rule, other) for _, other in told):
                told.append((words, rule))
        # A first value that is known says more than one left over.
        if pairs := [pair for pair in told if "left over" not in pair[0]] or told:
            return [LoopRule(line.part, words, edits, rule.excess, rule.makes_first) for words, rule in pairs]
    return []


def _is_same(rule: Rule, other: Rule) -> bool:
    """Whether two rules are one, written in two ways: they make the same of numbers that no run would."""
    return bool(np.allclose(rule.made(ANY_RUN), other.made(ANY_RUN), rtol=1e-9, atol=1e-12, equal_nan=True))


def _telling(edits: Choice, runs: Sequence[RecordedLoop]) -> Choice:
    """Edits of a place without those that leave nothing of it, but for the first one: no run tells them apart."""
    nothing = [edit for edit in edits if not any(np.any(one.series.value(edit.formula)) for one in runs)]
    return tuple(edit for edit in edits if edit not in nothing[1:])


def _with_edits(
    line: Line, runs: Sequence[RecordedLoop], edits: int, tables: tuple[Sequence[Factor], dict[Numbers, list[Scales]]]
) -> Iterator[Rule]:
    """All rules of so many edits; the tables are limits, and the factors found for what the places hold."""
    limits, known = tables
    for numbers in product(*(range(len(options)) for options in line.places.values())):
        structural = sum(number > 0 for number in numbers)
        if structural > min(edits, MOST_STRUCTURAL):
            continue
        choice = tuple(options[i] for options, i in zip(line.places.values(), numbers, strict=True))
        if structural < edits and numbers not in known:
            known[numbers] = [(ONE,) * len(choice), *line.scales(runs, choice)]
        for scales in known.get(numbers, [(ONE,) * len(choice)]):
            scaled = structural + sum(not factor.is_one for factor in scales)
            for (k, whole), (m, limit) in product(enumerate(line.whole), enumerate(limits)):
                if scaled + (k > 0) + (m > 0) == edits and structural + (k > 0) <= MOST_STRUCTURAL:
                    yield Rule(line, choice, whole, scales, limit)


def found_factors(rows: Sequence[tuple[FactorMoments, Vector, Vector]]) -> list[tuple[FactorMoments, Vector]]:
    """The factor of each row that makes ``whole`` of ``part``; none where one does not."""
    measured = []
    for at, part, whole in rows:
        squares = (part**2).sum(axis=1)
        there = squares > 1e-20 * max(float(squares.max(initial=0.0)), 1e-300)
        factor = (part * whole).sum(axis=1)[there] / squares[there]
        if np.abs(factor[:, None] * part[there] - whole[there]).max(initial=0.0) > ROUNDING * np.abs(whole).max():
            return []
        measured.append((FactorMoments(at.trial, at.t[there]), factor))
    return [m for m in measured if len(m[1])] if not any(math.isnan(m[1].sum()) for m in measured) else []


ROUNDING = 1e-7
"""Relative residual of a fitted factor."""
