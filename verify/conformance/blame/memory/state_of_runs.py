"""Whether a run of Algorithm 2 takes over something from the run before it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import pairwise

import numpy as np

from verify.conformance.blame.algorithm_2.loop_rule import LoopRule
from verify.conformance.blame.algorithm_2.loop_trials import MORE
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.outer import TRIALS, RecordedLoop, listen
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls

Renew = Callable[[], AbstractContextManager[StageCalls]]
SAME_POINT = 1e-9
"""Distance below which two points are one."""
Link = Callable[[RecordedLoop, RecordedLoop], tuple[float, float]]
"""Of two runs in a row: how far the later one starts from what the earlier one left, and from what it must."""


def _same_place(first: RecordedLoop, second: RecordedLoop) -> tuple[float, float]:
    left, must = first.run.path[-1], np.array(second.trial.x0)
    return float(np.abs(second.run.path[0] - left).max()), float(np.abs(second.run.path[0] - must).max())


def _same_step(first: RecordedLoop, second: RecordedLoop) -> tuple[float, float]:
    return float(np.abs(second.steps[0] - first.steps[-1]).max()), float(np.abs(second.steps[0]).max())


LINKS: tuple[tuple[str, Link], ...] = (
    ("a run starts where the run before it ended, not at the x_0 it is given", _same_place),
    ("the first step of a run is the last one of the run before it: Δ survives, where Δ_1 must be 0", _same_step),
)


def _linked(runs: Sequence[RecordedLoop], link: Link) -> float:
    """How far consecutive runs are from being linked; infinite where they need not be."""
    distances = [link(a, b) for a, b in pairwise(runs) if len(a.trial.x0) == len(b.trial.x0)]
    still = any(float(np.ptp(one.run.path, axis=0).max()) <= SAME_POINT for one in runs)
    if still or not distances or min(away for _, away in distances) <= SAME_POINT:
        return math.inf
    return max(off for off, _ in distances) / SAME_POINT


def explain_runs_in_a_row(stages: StageCalls, renew: Renew | None) -> tuple[Blame, ...]:
    """Whether a run of Algorithm 2 starts where, or as, the run before it ended."""
    if not stages.offers("optimise"):
        return ()
    try:
        with renew() if renew is not None else nullcontext(stages) as copy:
            runs = [listen(copy, TRIALS[2], seed) for seed in range(3)]
            links = [(words, link) for words, link in LINKS if _linked(runs, link) <= 1]
            fresh = [listen(copy, MORE[0], seed) for seed in range(3)] if links else []
    except (SubjectFaultError, MissingCapabilityError):
        return ()
    rules = [LoopRule("first step", words, 1, partial(_linked, link=link)) for words, link in links]
    confirmed = [rule for rule in rules if rule.predicts(fresh)]
    effect = max((link(*pair)[1] for _, link in links for pair in pairwise(runs)), default=0.0)
    return (Blame("optimise", confirmed, len(runs) + len(fresh), len(fresh), 0.0, effect),) if confirmed else ()
