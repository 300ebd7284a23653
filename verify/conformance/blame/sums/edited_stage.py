"""Line 6, or the penalty minimiser, with edits: an explanation that can be run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.questions import kept_by_reading
from verify.conformance.blame.sums.answer_changes import AnswerChange
from verify.conformance.blame.sums.call_points import CallPoint, point_of
from verify.conformance.blame.sums.edit_words import exchanged_words, sentence_of
from verify.conformance.blame.sums.exchanges import Exchange
from verify.conformance.blame.sums.right_sums import RIGHT_PARTS, RightPart, Space, right_minimiser, right_sum
from verify.conformance.blame.sums.sparse_sums import SumEdit
from verify.conformance.blame.whole_calls import play
from verify.conformance.probes.probes import Probe

EditedName = Literal["hypergradient", "penalty_minimiser"]
STAGE_OF: dict[Space, EditedName] = {"x": "hypergradient", "y": "penalty_minimiser"}
NEWTON_STEPS = 12
"""Most steps to the zero of a piecewise linear gradient."""
SETTLED = 1e-13
"""Relative size of a step that ends them."""
CORRECTIONS = 5
"""Most steps with one slope to the zero of an affine gradient: the first one, and what rounding takes back."""
CLOSE_BY = 1e-6
"""Relative distance over which slopes are taken once a piece is chosen."""


@dataclass(frozen=True)
class ScopedExchange:
    """One thing taken for another in one group of the formula, or in all of it."""

    exchange: Exchange
    group: str = ""

    @property
    def cost(self) -> float:
        """How unlikely such a mistake is."""
        return 1.0 + self.exchange.cost + (0.2 if self.group else 0.0)


@dataclass(frozen=True)
class EditedStage:
    """A stage with exchanged things, dropped and added summands, and a change of its answer, each where there is one.

    ``also`` says the same in other words.
    In the space of y the sums are those of the penalty Lagrangian's gradient, and the answer is its zero.
    """

    space: Space
    exchanged: tuple[ScopedExchange, ...] = ()
    summed: SumEdit = field(default=SumEdit("x"))
    changed: AnswerChange | None = None
    also: str = ""

    @property
    def sentence(self) -> str:
        """What differs, as a formula where it is one, and in other words where there are any."""
        return self._plainly() + (f", that is, {self.also}" if self.also else "")

    @property
    def words(self) -> str:
        """What is exchanged, in words alone."""
        return exchanged_words(self.space, [(e.exchange.name, e.group) for e in self.exchanged])

    def _plainly(self) -> str:
        exchanged = [(e.exchange.name, e.group) for e in self.exchanged]
        return sentence_of(self.space, exchanged, self.summed, None if self.changed is None else self.changed.name)

    @property
    def edits(self) -> int:
        """Single changes."""
        return max(1, len(self.exchanged) + self.summed.edits + (self.changed is not None))

    @property
    def cost(self) -> float:
        """How unlikely such a mistake is; smaller ones are named first."""
        change = 0.0 if self.changed is None else 1.0 + self.changed.cost
        return sum(e.cost for e in self.exchanged) + (self.summed.cost if self.summed.edits else 0.0) + change

    def total(self, c: CallPoint) -> Vector | None:
        """The sum at a point, before it is solved or changed."""
        total, dropped = np.zeros(len(c.x) if self.space == "x" else len(c.y)), self.summed.dropped
        for group, at in self._points(c):
            if at is None:
                return None
            for j, part in _members(self.space)[group]:
                if j not in dropped:
                    total = total + part.at(at)
        for added in self.summed.added:
            value = added.value(c)
            if value is None:
                return None
            total = total + value
        return total if self.space == "y" else total + self.moved(c).noise_x

    def moved(self, c: CallPoint) -> CallPoint:
        """A point with all that is exchanged everywhere, where that can be."""
        at: CallPoint | None = c
        for scoped in self.exchanged:
            at = scoped.exchange.at(at) if at is not None and not scoped.group else at
        return c if at is None else at

    def _points(self, c: CallPoint) -> Iterator[tuple[str, CallPoint | None]]:
        for group in _members(self.space):
            at: CallPoint | None = c
            for scoped in self.exchanged:
                if at is not None and scoped.group in ("", group):
                    at = scoped.exchange.at(at)
            yield group, at

    def value(self, c: CallPoint) -> Vector | None:
        """What the stage answers at a point, in doubles."""
        value = self.total(c) if self.space == "x" else self._zero(c)
        return value if value is None or self.changed is None else self.changed.change(value, c)

    def _zero(self, c: CallPoint) -> Vector | None:
        if not (self.exchanged or self.summed.edits):
            return right_minimiser(c)
        return zero_of(lambda y: self.total(c.at(y)), c.y_star)

    def answer(self, probe: Probe) -> Vector | None:
        """What such a stage, or an oracle call made of it, answers; other stages are right."""
        if probe.stage not in ("hypergradient", "penalty_minimiser"):
            return None
        if probe.stage == "penalty_minimiser" and self.space == "x":
            return probe.expected
        if probe.stage == "hypergradient" and (self.space == "y" or probe.given != "all"):
            return play(probe, {STAGE_OF[self.space]: self})
        c = point_of(probe)
        return None if c is None else self.beside(c, probe.expected)

    def beside(self, c: CallPoint, expected: Vector) -> Vector | None:
        """Its answer from the right one, by the difference of the two: what both round alike drops out."""
        value = expected
        if self.exchanged or self.summed.edits:
            plain = self.total(c) if self.space == "x" else self._zero(c)
            if plain is None:
                return None
            right = right_sum("x", c) if self.space == "x" else right_minimiser(c)
            value = expected + (plain - right)
        value = value if self.changed is None else self.changed.change(value, c)
        return value if np.isfinite(value).all() else None


@kept_by_reading(4)
def _members(space: Space) -> dict[str, list[tuple[int, RightPart]]]:
    """The right formula's summands with their numbers, by group."""
    parts = [*enumerate(RIGHT_PARTS[space])]
    return {
        group: [(j, part) for j, part in parts if part.group == group]
        for group in dict.fromkeys(part.group for _, part in parts)
    }


def zero_of(gradient: Callable[[Vector], Vector | None], start: Vector) -> Vector | None:
    """The zero of a piecewise linear gradient by Newton's method; ``None`` where there is none, or not one."""
    straight = _affine_zero(gradient, start)
    if straight is not None:
        return straight
    y, reach = start, 1.0
    for _ in range(NEWTON_STEPS):
        here, slope = gradient(y), _slope(gradient, y, reach)
        if here is None or slope is None or np.linalg.matrix_rank(slope) < len(y):
            return None
        step = np.linalg.solve(slope, here)
        y = y - step
        if np.abs(step).max() <= SETTLED * (1.0 + np.abs(y).max()):
            return y
        # From now on close by, so that a piece's own slope is seen.
        reach = CLOSE_BY * (1.0 + float(np.abs(y).max()))
    return y if np.abs(step).max() <= 1e3 * SETTLED * (1.0 + np.abs(y).max()) else None


def _affine_zero(gradient: Callable[[Vector], Vector | None], start: Vector) -> Vector | None:
    """The zero where the gradient is affine, which few values tell; ``None`` where it is not."""
    here = gradient(start)
    moved = [gradient(start + step) for step in np.eye(len(start))]
    if here is None or any(value is None for value in moved):
        return None
    slope = np.array([value - here for value in moved if value is not None]).T
    if not np.isfinite(slope).all() or np.linalg.matrix_rank(slope) < len(start):
        return None
    y = start
    for _ in range(CORRECTIONS):
        step = np.linalg.solve(slope, here)
        y = y - step
        if np.abs(step).max() <= SETTLED * (1.0 + np.abs(y).max()):
            return np.asarray(y)
        here = gradient(y)
        if here is None or not np.isfinite(here).all():
            return None
    return None


def _slope(gradient: Callable[[Vector], Vector | None], y: Vector, reach: float) -> Vector | None:
    columns = []
    for step in reach * np.eye(len(y)):
        above, below = gradient(y + step), gradient(y - step)
        if above is None or below is None:
            return None
        with np.errstate(invalid="ignore", over="ignore"):
            columns.append((above - below) / (2.0 * reach))
    slope = np.array(columns).T
    return slope if np.isfinite(slope).all() else None
