"""How often Algorithm 2 asks its oracle: T = KM times; which calls are too many, and what is left without them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spec import OuterParameters
from verify.conformance.blame.algorithm_2.loop_rule import LoopRule
from verify.conformance.blame.algorithm_2.loop_trials import selected_calls
from verify.conformance.outer import RecordedLoop
from verify.method.loop_edits import EDITS, LineEdit


def counted(surplus: LineEdit, q: OuterParameters) -> tuple[int, Sequence[int] | None]:
    """How many calls there are, and which T of them steps are made of; ``None`` where some of these are missing."""
    names = {"T": q.T, "M": q.M, "K": q.K, "range": range,
             "but": lambda gone: [i for i in range(q.K * (q.M + 1)) if i % (q.M + 1) != gone]}  # fmt: skip
    count, indices = (eval(half, names) for half in surplus.halves)
    return count, indices


def search_calls(runs: Sequence[RecordedLoop]) -> list[LineEdit]:
    """Counts that are these runs'; those that leave T calls first."""
    counts = [c for c in EDITS["calls"] if not _off(runs, c)]
    return [c for c in counts if counted(c, runs[0].trial.parameters)[1] is not None] or counts


def aligned(runs: Sequence[RecordedLoop], surplus: LineEdit) -> list[RecordedLoop] | None:
    """The runs without the calls too many; ``None`` where some are missing."""
    indices = [counted(surplus, one.trial.parameters)[1] for one in runs]
    pairs = zip(runs, indices, strict=True)
    return None if None in indices else [selected_calls(one, list(calls)) for one, calls in pairs if calls is not None]


def _off(runs: Sequence[RecordedLoop], surplus: LineEdit) -> int:
    """Calls by which some run has another number of them."""
    return max((abs(len(one.z) - counted(surplus, one.trial.parameters)[0]) for one in runs), default=0)


def call_rule(surplus: LineEdit) -> LoopRule:
    """The count as an explanation."""
    sentence = f"it asks the oracle {surplus.shown} times instead of KM: {surplus.words}"
    return LoopRule("calls", sentence, 1, lambda runs: 2.0 * _off(runs, surplus))


def extra_points(one: RecordedLoop, surplus: LineEdit) -> str:
    """Where the calls too many were made, in words; empty where that is nowhere special."""
    indices = counted(surplus, one.trial.parameters)[1]
    extra = [] if indices is None else [k for k in range(len(one.z)) if k not in set(indices)]
    if len(extra) != 1:
        return ""
    z = one.z[extra[0]]
    for words, point in (("x_0", one.run.path[0]), ("x_T", one.run.path[-1]), ("the output", one.run.x_out)):
        if np.allclose(z, point, rtol=1e-9, atol=1e-12):
            return f", at {words}"
    return ""
