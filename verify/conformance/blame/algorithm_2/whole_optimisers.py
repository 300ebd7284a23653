"""Which rule for its steps an optimiser has that computes its hypergradients itself: its iterates show it.

It is run where F is linear, so that every answer is known wherever it asked; and with blocks of one step, whose means
are where it asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from spec import InvalidInputError, OuterParameters, parse_problem
from verify.conformance.blame.algorithm_2.loop_lines import STEP
from verify.conformance.blame.algorithm_2.loop_moves import RIGHT_STEP
from verify.conformance.blame.algorithm_2.loop_search import search
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.comparison.end_to_end import ALPHA, upper_problem
from verify.conformance.outer import LoopTrial, RecordedLoop
from verify.subjects.protocol import StageCalls

RIVALS = 3
"""Explanations that are listed where no run tells them apart."""


def _trial(
    id_: str,
    x0: tuple[float, ...],
    schedule: tuple[float, float, int, int],
    slopes: tuple[float, ...],
    curvature: float = 0.0,
) -> LoopTrial:
    D, eta, M, K = schedule
    parameters = OuterParameters(goldstein_radius=M * D, epsilon=0.03 * K + 0.02 * M, D=D, eta=eta, M=M, K=K)
    return LoopTrial(id_, x0, parameters, slopes, curvature)


FIRST = (
    _trial("one-dimension/free", (0.7,), (3.0, 0.01, 5, 6), (0.5,)),
    _trial("one-dimension/clipped", (0.4,), (0.02, 0.5, 10, 4), (1.0,)),
    _trial("two-dimensions/free", (0.9, -0.7), (4.3, 0.02, 5, 4), (1.0, -2.0)),
    _trial("two-dimensions/clipped", (0.5, 0.8), (0.03, 0.01, 7, 3), (1.0, 2.0)),
    _trial("two-dimensions/bent", (1.5, -0.8), (0.9, 0.04, 1, 24), (0.5, -1.0), 1.0),
    _trial("two-dimensions/bent-clipped", (0.9, 0.6), (0.05, 0.1, 1, 24), (0.25, -0.5), 0.5),
)
"""To find a rule on."""
HELD_OUT = (
    _trial("three-dimensions/free", (0.8, -0.5, 1.1), (5.7, 0.015, 4, 7), (0.5, -1.0, 2.0)),
    _trial("three-dimensions/clipped", (0.5, -0.9, 0.3), (0.03, 0.004, 6, 5), (-0.5, 0.25, 1.0)),
    _trial("one-dimension/long", (0.9,), (0.4, 0.006, 8, 9), (-0.75,)),
    _trial("three-dimensions/bent", (0.9, -0.6, 0.2), (0.3, 0.03, 1, 30), (0.5, 1.0, -0.25), 2.0),
)
"""Asked only after a rule was found."""


def explain_whole_optimiser(stages: StageCalls) -> tuple[Blame, ...]:
    """Name what such an optimiser makes of its answers where its steps are wrong; one entry at most.

    Args:
        stages: The subject, with ``end_to_end``.
    """
    runs = _recorded(stages, FIRST, 300)
    if not runs or RIGHT_STEP.excess(runs) <= 1:
        return ()
    effect = max(float(np.abs(RIGHT_STEP.made(one)[:-1] - one.steps[1:]).max(initial=0.0)) for one in runs)
    rules = search(STEP, runs)
    if not rules and any(one.trial.curvature for one in runs):
        # Where blocks of one step do not tell where it asked.
        runs = [one for one in runs if not one.trial.curvature]
        rules = search(STEP, runs)
    fresh = _recorded(stages, HELD_OUT, 400) if rules else []
    if not any(one.trial.curvature for one in runs):
        fresh = [one for one in fresh if not one.trial.curvature]
    named = [rule for rule in rules if fresh and rule.predicts(fresh)][:RIVALS]
    if not named:
        return (Blame("optimise", effect=effect),)
    new = sum(len(one.z) - 1 for one in fresh)
    return (Blame("optimise", named, new + sum(len(one.z) - 1 for one in runs), new, named[0].excess(fresh), effect),)


def _recorded(stages: StageCalls, trials: Sequence[LoopTrial], seed: int) -> list[RecordedLoop]:
    """Runs with the answer that it must have had at every step; without those where that does not show."""
    runs = []
    for k, trial in enumerate(trials):
        problem = parse_problem(upper_problem(trial.slopes, float(np.max(trial.curvature))))
        with suppress(InvalidInputError):
            run = stages.end_to_end(problem, np.array(trial.x0), trial.parameters, ALPHA,
                                    np.random.default_rng(seed + k))  # fmt: skip
            points = run.x_bar if trial.curvature else np.array(run.path[:-1])
            if len(points):
                runs.append(RecordedLoop(trial, run, points, np.array(trial.slopes) + trial.curvature * points))
    return runs
