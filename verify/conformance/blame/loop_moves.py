"""Line 8 of Algorithm 2, x_t = x_{t−1} + Δ_t: other ways to move x, behind which the steps Δ_t are read off."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.loop_queries import LINES, shares
from verify.conformance.blame.loop_rule import LoopRule, apart
from verify.conformance.blame.loop_steps import StepRule, off_by
from verify.conformance.blame.loop_tables import cut
from verify.conformance.outer import Recorded


class Move(NamedTuple):
    """Another way to move x; ``of`` reads Δ_1, ..., Δ_T off a run, rows (T, n)."""

    formula: str
    words: str
    of: Callable[[Recorded], Vector]

    @property
    def sentence(self) -> str:
        """The wrong line beside the right one."""
        return f"x_t = {self.formula} where x_t must be x_{{t−1}} + Δ_t: {self.words}"


@dataclass(frozen=True)
class Moved(Recorded):
    """A run whose steps are not the differences of its iterates."""

    hidden: Vector

    @property
    def steps(self) -> Vector:
        """Δ_1, ..., Δ_T, shape (T, n)."""
        return self.hidden


def _from(one: Recorded, origin: Vector) -> Vector:
    return np.asarray(one.run.path[1:] - origin)


def _multiplied(one: Recorded, c: float) -> Vector:
    return _from(one, c * one.run.path[:-1])


def _before_last(one: Recorded) -> Vector:
    """From the iterate before; the first step, which may start from what an earlier run left, is taken to be 0."""
    return np.vstack([np.zeros_like(one.run.path[:1]), one.run.path[2:] - one.run.path[:-2]])


def _one_late(one: Recorded) -> Vector:
    """Moves are one step late; the last step never shows, and is taken to be the right one."""
    S, q = np.diff(one.run.path, axis=0), one.trial.parameters
    if len(S) < 2:
        return S
    return np.vstack([S[1:], cut(S[-1:] - q.eta * one.g[-2:-1], q.D)])


LATE = Move("x_{t−1} + Δ_{t−1}", "the step before is taken", _one_late)
"""Makes the iterates that a late g makes; where points are queried tells the two apart."""
MOVES = (
    Move("z_t + Δ_t", "x moves on from the queried point", lambda one: _from(one, one.z)),
    Move("Δ_t", "x_{t−1} is left out", lambda one: one.run.path[1:]),
    *(Move(f"{'−' if c == -1 else f'{c:g}·'}x_{{t−1}} + Δ_t", f"x_{{t−1}} is multiplied by {c:g}",
           partial(_multiplied, c=c)) for c in (2.0, 0.5, -1.0)),
    Move("x_{t−2} + Δ_t", "x moves on from the iterate before", _before_last),
    LATE,
)  # fmt: skip
"""All that are tried."""


def moved_runs(runs: Sequence[Recorded], move: Move) -> list[Moved]:
    """Runs with the steps that lie behind their iterates."""
    return [Moved(one.trial, one.run, one.z, one.g, move.of(one)) for one in runs]


def search_moves(runs: Sequence[Recorded]) -> list[tuple[Move, LoopRule]]:
    """Moves behind which every step of these runs is right, though the iterates' differences are not."""
    if off_by(runs, StepRule()) <= 1:
        return []
    return [(move, LoopRule("steps", move.sentence, 1, partial(_off_moves, move=move)))
            for move in MOVES if _off_moves(runs, move) <= 1]  # fmt: skip


def _off_moves(runs: Sequence[Recorded], move: Move) -> float:
    """How far the steps behind a move are from the right ones, in tolerances, the first one being 0."""
    behind = moved_runs([one for one in runs if len(one.z) == one.trial.parameters.T], move)
    if len(behind) < len(runs):
        return math.inf
    if move is LATE and any(shares(one, LINES[0]) is None for one in behind):
        return math.inf
    first = max((apart(one, np.zeros_like(one.hidden[:1]), one.hidden[:1]) for one in behind), default=math.inf)
    return max(first, off_by(behind, StepRule())) if first <= 1 else first
