"""Line 8 of Algorithm 2, x_t = x_{t−1} + Δ_t: other ways to move x, behind which the steps Δ_t are read off."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.algorithm_2.loop_draws import shares
from verify.conformance.blame.algorithm_2.loop_lines import STEP
from verify.conformance.blame.algorithm_2.loop_rule import LoopRule, apart, row_by_row
from verify.conformance.blame.algorithm_2.loop_search import right_rule
from verify.conformance.outer import RIGHT, RecordedLoop, compare_lines
from verify.method.loop_edits import EDITS, LATE_MOVE, MOVES, SHOWN_BY_QUERIES, STRAIGHT, LineEdit
from verify.method.player import compiled
from verify.method.run_series import cut

RIGHT_STEP = right_rule(STEP)


@dataclass(frozen=True)
class Moved(RecordedLoop):
    """A run whose steps are not the differences of its iterates."""

    hidden: Vector

    @cached_property
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
    known = (*MOVES, LATE_MOVE, *SHOWN_BY_QUERIES)
    return [(move, LoopRule("steps", sentence(move), 1, partial(_off_moves, move=move)))
            for move in (*known, *_projections(runs)) if _off_moves(runs, move) <= 1]  # fmt: skip


def kept_once(runs: Sequence[RecordedLoop]) -> LoopRule | None:
    """The rule of a path that is one array, changed in place; ``None`` where iterates differ, or x never moves."""
    if not all(np.ptp(one.z, axis=0).any() for one in runs):
        return None
    for first, times in enumerate(("T + 1 times", "T times after x_0")):
        sentence = (
            f"the path is the last iterate {times}: one array is changed in place, where each iterate must be kept"
        )
        last = row_by_row(partial(_last_from, first), lambda one: one.run.path)
        rule = LoopRule("steps", sentence, 1, last)
        off = (apart(one, _played(one)[first : first + 1], one.run.path[first : first + 1]) for one in runs)
        if any(size > 1 for size in off) and rule.predicts(runs):
            return rule
    return None


def _last_from(first: int, one: RecordedLoop) -> Vector:
    """The path with its last row in the place of each from a number on."""
    path = one.run.path
    return np.vstack([path[:first], 0 * path[first:] + path[-1]])


def with_iterates(runs: Sequence[RecordedLoop]) -> list[RecordedLoop] | None:
    """Such runs with the iterates that line 7 makes of the answers; ``None`` where these end elsewhere."""
    shown = [replace(one, run=replace(one.run, path=_played(one))) for one in runs]
    ends = ((one.run.path[-1:], was.run.path[-1:]) for one, was in zip(shown, runs, strict=True))
    return shown if all(apart(one, *end) <= 1 for one, end in zip(shown, ends, strict=True)) else None


def _played(one: RecordedLoop) -> Vector:
    start = np.array([one.trial.x0])
    return np.vstack([start, start + np.cumsum(one.series.value("played(g)"), axis=0)])


def _projections(runs: Sequence[RecordedLoop]) -> Iterator[LineEdit]:
    """Moves after which x is put back, with the number that the farthest iterates show."""
    if not all(len(one.z) == one.trial.parameters.T for one in runs):
        return
    paths = [one.run.path[1:] for one in runs]
    moved = [one.run.path[1:] - one.run.path[0] for one in runs]
    reached = {
        float(f"{size(points):.10g}")
        for sizes in (paths, moved) for points in sizes
        for size in (_highest, _lowest, _length)
    } - {0.0}  # fmt: skip
    for put in EDITS["projections"]:
        for c in sorted(reached) if "c" in _names(put.formula) else [1.0]:
            words = (text.replace("{c}", f"{c:g}") for text in (put.shown, put.words))
            yield LineEdit(f"kept({put.formula!r}, {c!r})", *words)


def _highest(points: Vector) -> float:
    return abs(float(points.max()))


def _lowest(points: Vector) -> float:
    return abs(float(points.min()))


def _length(points: Vector) -> float:
    return float(np.linalg.norm(points, axis=1).max())


def _names(formula: str) -> set[str]:
    return set(compiled(formula).co_names)


def sentence(move: LineEdit) -> str:
    """The wrong line beside the right one."""
    return f"x_t = {move.shown} where x_t must be x_{{t−1}} + Δ_t: {move.words}"


def _off_moves(runs: Sequence[RecordedLoop], move: LineEdit) -> float:
    """How far the steps behind a move are from the right ones, in tolerances, the first one being 0."""
    if any(len(one.z) != one.trial.parameters.T for one in runs):
        return math.inf
    behind = moved_runs(runs, move)
    if any(np.isnan(one.steps).any() for one in behind):
        return math.inf
    if move is LATE_MOVE and any(shares(one, STRAIGHT) is None for one in behind):
        return math.inf
    first = max((apart(one, np.zeros_like(one.steps[:1]), one.steps[:1]) for one in behind), default=math.inf)
    off = max(first, RIGHT_STEP.excess(behind)) if first <= 1 else first
    return max(off, compare_lines(behind, RIGHT)[1].excess) if move in SHOWN_BY_QUERIES and off <= 1 else off
