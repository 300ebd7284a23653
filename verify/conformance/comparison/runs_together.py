"""Runs of Algorithm 2 made together: each of them must be a run of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from spec import InvalidInputError, OuterParameters
from spec.exact import Vector
from verify.conformance.outer import (
    RIGHT,
    TRIALS,
    LoopComparison,
    LoopTrial,
    RecordedLoop,
    WrongNumberOfCallsError,
    compare_lines,
)
from verify.subjects.protocol import OuterRun, StageCalls, Subject, offers

SCALES = (1.0, 0.6, -1.3)
"""The starts of the runs, in units of their trial's."""
TOGETHER = (TRIALS[0], TRIALS[2])
"""Short steps, and clipped ones in two dimensions."""
SEED = 3000

Group: TypeAlias = tuple[RecordedLoop, ...]
"""The runs of one trial that were made together."""


@dataclass
class OneByOne:
    """A subject that makes runs together alone, asked for one; a block is drawn here, for it says no output."""

    subject: Subject
    name: str = "one run of those made together"

    def optimise(self, oracle: Any, x0: Vector, parameters: OuterParameters, rng: np.random.Generator) -> OuterRun:
        """Algorithm 2 from one start."""

        def of_rows(z: Any) -> Vector:
            rows = np.asarray(z)
            return np.reshape(oracle(rows.reshape(rows.shape[-1:])), rows.shape)

        stages = StageCalls(self.subject)
        x_bar, path = stages.optimise_runs(of_rows, x0[None], parameters, rng, keep_path=True)
        assert path is not None  # asked for
        return OuterRun(x_bar[rng.integers(parameters.K), 0], x_bar[:, 0], path[:, 0])


def one_by_one(stages: StageCalls) -> StageCalls:
    """Single runs of a subject, be it one that makes runs together alone."""
    return stages if stages.offers("optimise") else StageCalls(OneByOne(stages.subject))


def starts_of(trial: LoopTrial) -> Vector:
    """Where the runs of a trial start, shape (R, n)."""
    return np.asarray(np.array(SCALES)[:, None] * np.array(trial.x0))


def record_together(stages: StageCalls, trial: LoopTrial, seed: int) -> Group:
    """Make the runs of a trial at once on an oracle that remembers.

    Raises:
        WrongNumberOfCallsError: If the oracle is not asked for T gradients of each.
    """
    starts, queries = starts_of(trial), list[Vector]()

    def remembering(z: Vector) -> Vector:
        at = np.array(z, dtype=np.float64)
        if at.ndim > 2 or at.shape[-1:] != starts.shape[1:] or not np.isfinite(at).all():
            raise InvalidInputError("z", f"must be finite and of shape (R, {starts.shape[1]})", at.tolist())
        queries.append(at)
        return trial.oracle(at)

    x_bar, path = stages.optimise_runs(
        remembering, starts.copy(), trial.parameters, np.random.default_rng(seed), keep_path=True
    )
    assert path is not None  # asked for
    z = arranged(queries, starts, trial.parameters.T)
    R = len(starts)
    return tuple(
        RecordedLoop(
            replace(trial, id=f"{trial.id}, run {r + 1} of {R} made together", x0=tuple(starts[r].tolist())),
            OuterRun(x_bar[0, r], x_bar[:, r], path[:, r]), z[:, r], trial.oracle(z[:, r]),
        )
        for r in range(R)
    )  # fmt: skip


def arranged(queries: Sequence[Vector], starts: Vector, T: int) -> Vector:
    """The points asked about by step and run, shape (T, R, n): all runs at once, step by step, or some after others.

    Raises:
        WrongNumberOfCallsError: If they are not T for each run.
    """
    asked_at, R = [np.atleast_2d(at) for at in queries], len(starts)
    sizes, rows = [len(at) for at in asked_at], np.concatenate([*asked_at, starts[:0]])
    if len(rows) == R * T and (sizes == [R] * T or np.allclose(rows[:R], starts)):
        # Δ_0 is 0: the first step asks at the starts.
        return rows.reshape(T, R, -1)
    parts = [asked_at[k : k + T] for k in range(0, len(asked_at), T)]
    if len(rows) != R * T or any(len({*map(len, part)}) != 1 or len(part) != T for part in parts):
        asked_for = f"{R} runs at once ask the oracle {len(queries)} times for {len(rows)} gradients"
        raise WrongNumberOfCallsError(f"{asked_for} instead of T = KM = {T} times for {R * T}")
    return np.concatenate([np.array(part) for part in parts], axis=1)


def watch_together(stages: StageCalls, trials: Sequence[LoopTrial] = TOGETHER, seed: int = SEED) -> tuple[Group, ...]:
    """The runs of every trial; none where the subject makes single runs alone."""
    if not offers(stages.subject, "optimise_runs"):
        return ()
    return tuple(record_together(stages, trial, seed + k) for k, trial in enumerate(trials))


def compare_together(groups: Sequence[Group]) -> list[LoopComparison]:
    """Steps, queried points and block means of all runs against Algorithm 2; none where there are no runs."""
    return compare_lines([one for group in groups for one in group], RIGHT) if groups else []
