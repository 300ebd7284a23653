"""How often Algorithm 2 asks its oracle: T = KM times; which calls are too many, and what is left without them."""
# ruff: noqa: ARG005  # every count is made of the schedule

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from spec import OuterParameters
from verify.conformance.blame.loop_rule import LoopRule
from verify.conformance.blame.loop_trials import selected_calls
from verify.conformance.outer import Recorded


class Surplus(NamedTuple):
    """A count of calls: its formula and words, and the T calls among them that steps are made of, if all are there."""

    formula: str
    words: str
    count: Callable[[OuterParameters], int]
    kept: Callable[[OuterParameters], Any] | None = None


def _but_one_a_block(q: OuterParameters, gone: int) -> list[int]:
    return [k * (q.M + 1) + j for k in range(q.K) for j in range(q.M + 1) if j != gone % (q.M + 1)]


COUNTS = (
    Surplus("KM + 1", "one call more before the first step", lambda q: q.T + 1, lambda q: range(1, q.T + 1)),
    Surplus("KM + 1", "one call more after the last step", lambda q: q.T + 1, lambda q: range(q.T)),
    Surplus("KM + 2", "one call more before the first step and one after the last", lambda q: q.T + 2,
            lambda q: range(1, q.T + 1)),
    Surplus("2KM", "two calls a step, of which the first counts", lambda q: 2 * q.T, lambda q: range(0, 2 * q.T, 2)),
    Surplus("2KM", "two calls a step, of which the second counts", lambda q: 2 * q.T, lambda q: range(1, 2 * q.T, 2)),
    Surplus("K(M + 1)", "one call more at the start of each block", lambda q: q.K * (q.M + 1),
            lambda q: _but_one_a_block(q, 0)),
    Surplus("K(M + 1)", "one call more at the end of each block", lambda q: q.K * (q.M + 1),
            lambda q: _but_one_a_block(q, -1)),
    Surplus("KM + K", "one call for each block after the last step", lambda q: q.T + q.K, lambda q: range(q.T)),
    Surplus("KM − 1", "one call too few", lambda q: q.T - 1),
    Surplus("K(M − 1)", "one call too few in each block", lambda q: q.K * (q.M - 1)),
    Surplus("(K − 1)M", "one block too few", lambda q: (q.K - 1) * q.M),
    Surplus("(K + 1)M", "one block too many", lambda q: (q.K + 1) * q.M, lambda q: range(q.T)),
    Surplus("K", "one call a block", lambda q: q.K),
    Surplus("M", "M calls, as if there were one block", lambda q: q.M),
    Surplus("0", "the oracle is never asked", lambda q: 0),
)  # fmt: skip


def search_calls(runs: Sequence[Recorded]) -> list[Surplus]:
    """Counts that are these runs'; those that leave T calls first."""
    found = [c for c in COUNTS if all(len(one.z) == c.count(one.trial.parameters) for one in runs)]
    return [c for c in found if c.kept is not None] or found


def aligned(runs: Sequence[Recorded], surplus: Surplus) -> list[Recorded] | None:
    """The runs without the calls too many; ``None`` where some are missing."""
    if surplus.kept is None:
        return None
    return [selected_calls(one, list(surplus.kept(one.trial.parameters))) for one in runs]


def call_rule(surplus: Surplus) -> LoopRule:
    """The count as an explanation."""

    def excess(runs: Sequence[Recorded]) -> float:
        return float(max((abs(len(one.z) - surplus.count(one.trial.parameters)) for one in runs), default=0)) * 2

    sentence = f"it asks the oracle {surplus.formula} times instead of KM: {surplus.words}"
    return LoopRule("calls", sentence, 1, excess)


def extra_points(one: Recorded, surplus: Surplus) -> str:
    """Where the calls too many were made, in words; empty where that is nowhere special."""
    if surplus.kept is None:
        return ""
    kept = set(surplus.kept(one.trial.parameters))
    extra = [k for k in range(len(one.z)) if k not in kept]
    if len(extra) != 1:
        return ""
    z = one.z[extra[0]]
    for words, point in (("x_0", one.run.path[0]), ("x_T", one.run.path[-1]), ("the output", one.run.x_out)):
        if np.allclose(z, point, rtol=1e-9, atol=1e-12):
            return f", at {words}"
    return ""
