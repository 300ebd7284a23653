"""Line 8 of Algorithm 2, x_t = x_{t−1} + Δ_t: other ways to move x, behind which the steps Δ_t are read off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.algorithm_2.loop_draws import shares
from verify.conformance.blame.algorithm_2.loop_lines import STEP
from verify.conformance.blame.algorithm_2.loop_rule import LoopRule, apart
from verify.conformance.blame.algorithm_2.loop_search import right_rule
from verify.conformance.outer import RIGHT, RecordedLoop, compare_lines
from verify.method.loop_edits import LATE_MOVE, MOVES, SHOWN_BY_QUERIES, STRAIGHT, LineEdit
from verify.method.run_series import cut

RIGHT_STEP = right_rule(STEP)


@dataclass(frozen=True)
class Moved(RecordedLoop):
    """A run whose steps are not the differences of its iterates."""

    hidden: Vector

    @property
    def steps(self) -> Vector:
        """Δ_1, ..., Δ_T, shape (T, n)."""
        return self.hidden


def _behind(one: RecordedLoop, move: LineEdit) -> Moved:
    """A run with the steps that lie behind its iterates; a last one that never shows is taken to be the right one."""
    S, q = np.array(one.series.value(move.formula)), one.trial.parameters
    if move is LATE_MOVE and len(S) > 1:
        S[-1:] = cut(S[-2:-1] - q.eta * one.g[-2:-1], q.D)
    return Moved(one.trial, one.run, one.z, one.g, S)


def moved_runs(runs: Sequence[RecordedLoop], move: LineEdit) -> list[RecordedLoop]:
    """Runs with the steps that lie behind their iterates."""
    return [_behind(one, move) for one in runs]


def search_moves(runs: Sequence[RecordedLoop]) -> list[tuple[LineEdit, LoopRule]]:
    """Moves behind which every step of these runs is right, though the iterates' differences are not."""
    if RIGHT_STEP.excess(runs) <= 1:
        return []
    return [(move, LoopRule("steps", sentence(move), 1, partial(_off_moves, move=move)))
            for move in (*MOVES, LATE_MOVE, *SHOWN_BY_QUERIES) if _off_moves(runs, move) <= 1]  # fmt: skip


def sentence(move: LineEdit) -> str:
    """The wrong line beside the right one."""
    return f"x_t = {move.shown} where x_t must be x_{{t−1}} + Δ_t: {move.words}"


def _off_moves(runs: Sequence[RecordedLoop], move: LineEdit) -> float:
    """How far the steps behind a move are from the right ones, in tolerances, the first one being 0."""
    if any(len(one.z) != one.trial.parameters.T for one in runs):
        return math.inf
    behind = moved_runs(runs, move)
    if move is LATE_MOVE and any(shares(one, STRAIGHT) is None for one in behind):
        return math.inf
    first = max((apart(one, np.zeros_like(one.steps[:1]), one.steps[:1]) for one in behind), default=math.inf)
    off = max(first, RIGHT_STEP.excess(behind)) if first <= 1 else first
    return max(off, compare_lines(behind, RIGHT)[1].excess) if move in SHOWN_BY_QUERIES and off <= 1 else off
