"""Rows that a lower level holds again because an earlier call held them, and what it asks of them before that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal

import numpy as np

from spec import Quadratic
from spec.exact import Vector
from verify.conformance.blame.lower_level.lower import RIGHT_LOWER
from verify.conformance.blame.lower_level.programs import UNCLEAR, Pair, QuadraticProgram, clearly_held, holding
from verify.conformance.blame.memory.state_rules import AskedState, StateRule
from verify.method.lines import Stage

Asked = Literal["feasible", "signs"]
ASKED: dict[Asked, str] = {
    "feasible": "where y then violates no row: whether a λ is negative is not looked at",
    "signs": "where no λ is then negative: whether y violates another row is not looked at",
}
"""What rows must pass to be held again, in words."""
OWNERS: dict[str, str] = {
    "problem": "this problem", "matrices": "these f_yy, g_yy and B", "rows": "these A, B and b",
    "sizes": "these n, m and p", "": "any problem",
}  # fmt: skip
"""Whose rows they are, by what tells questions apart."""
FEWEST = 3
"""Answers that are off, without which nothing is told."""


def warm_rules(stage: Stage, walked: Sequence[AskedState]) -> Iterator[StateRule]:
    """Every way to hold the rows of an earlier call again; whether it fits is for the caller to see.

    Args:
        stage: A stage; of oracle calls those are meant that compute the pair themselves.
        walked: What was asked and answered.
    """
    if stage not in ("lower_level", "hypergradient") or sum(not one.stands_alone for one in walked) < FEWEST:
        return
    for owner, condition, anew in product(OWNERS, ASKED, (True, False)):
        first = "found" if anew else "of the first call"
        words = (
            f"the rows {first} for {OWNERS[owner]} are held again at another x {ASKED[condition]}; else it is solved"
        )
        yield StateRule(f"{words} anew", WarmRows(owner, condition, anew), parts=1, near=True)


@dataclass(eq=False)
class WarmRows:
    """Answers of a lower level that keeps rows: those of the first call, or of the last one that was solved anew."""

    owner: str
    condition: Asked
    anew: bool
    sequence: Sequence[AskedState] = ()
    answers: list[Vector | None] = field(default_factory=list)
    rows: dict[Any, list[int]] = field(default_factory=dict)

    def __call__(self, sequence: Sequence[AskedState], i: int) -> Vector | None:
        """The answer at a place of a sequence."""
        if self.sequence is not sequence:
            self.sequence, self.answers, self.rows = sequence, [], {}
        while len(self.answers) <= i:
            self.answers.append(self._next(sequence[len(self.answers)]))
        return self.answers[i]

    @np.errstate(all="ignore")
    def _next(self, one: AskedState) -> Vector | None:
        probe = one.question.probe
        if not isinstance(probe.problem, Quadratic) or (probe.stage == "hypergradient" and probe.call.lam is not None):
            return one.own
        program, key = RIGHT_LOWER.program(probe.problem.arrays, probe.x), one.question.told.get(self.owner)
        rows = self.rows.get(key)
        again = None if rows is None or max(rows, default=0) >= len(program.r) else holding(program, rows)
        if again is not None and self._passes(program, again):
            return _answer(one, again)
        pair = RIGHT_LOWER.found(probe.problem, probe.x)
        held = None if pair is None else clearly_held(program, pair)
        if held is not None and (self.anew or rows is None):
            self.rows[key] = held
        return one.own

    def _passes(self, program: QuadraticProgram, pair: Pair) -> bool:
        y, lam = pair
        return bool((program.violated(y) <= UNCLEAR).all() if self.condition == "feasible" else (lam >= -UNCLEAR).all())


def _answer(one: AskedState, pair: Pair) -> Vector | None:
    probe = one.question.probe
    if probe.stage == "lower_level":
        return np.concatenate(pair)
    return one.alone.ask(replace(probe, call=replace(probe.call, y_star=pair[0], lam=pair[1])).ask)
