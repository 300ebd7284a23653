"""What runs of Algorithm 2 that are made together share, where each by itself is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.algorithm_2.loop_rule import LoopRule, Part
from verify.conformance.blame.algorithm_2.loop_trials import HELD_OUT
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.comparison.runs_together import Group, compare_together, watch_together
from verify.conformance.outer import (
    ALIKE,
    RIGHT,
    LoopComparison,
    RecordedLoop,
    WrongNumberOfCallsError,
    along,
    compare_lines,
)
from verify.conformance.probes.probes import Probe
from verify.subjects.protocol import OuterRun, StageCalls

SPREAD = 0.75
"""Of uniform draws, tens of them, the largest and the least are further apart than this."""
SEED = 7000
"""Of the runs that are held out; others follow it."""


@dataclass(frozen=True)
class SharedByRuns:
    """Something that runs made together have in common; ``excess`` says how far they are from that, in tolerances."""

    part: Part
    sentence: str
    excess: Callable[[Sequence[Group]], float]
    edits: int = 1

    def answer(self, probe: Probe) -> Vector | None:  # noqa: ARG002  # as every explanation
        """None: a line of Algorithm 2 answers no probe of a stage."""
        return None


def explain_together(stages: StageCalls, groups: Sequence[Group]) -> tuple[Blame, ...]:
    """Name what runs made together have in common that they must not, a line of Algorithm 2 each.

    Args:
        stages: The subject, asked for more runs to confirm what is found.
        groups: The runs that were compared.
    """
    off = [line for line in compare_together(groups) if line.excess > 1]
    fresh: tuple[Group, ...] = ()
    if off:
        with suppress(WrongNumberOfCallsError):
            fresh = watch_together(stages, HELD_OUT[:2], SEED)
    return tuple(_blame(line, groups, fresh) for line in off)


def beside_single_runs(alone: Sequence[Blame], stages: StageCalls, groups: Sequence[Group]) -> tuple[Blame, ...]:
    """What single runs have, and where runs made together have more: then what these share stands in its place."""
    together = [one for group in groups for one in group]
    rules = [rule for blame in alone for rule in blame.explanations if isinstance(rule, LoopRule)]
    if all(rule.predicts(together) for rule in rules):
        return tuple(alone)
    shared = explain_together(stages, groups)
    parts = {rule.part for blame in shared for rule in blame.explanations if isinstance(rule, SharedByRuns)}
    others = [b for b in alone if not any(isinstance(r, LoopRule) and r.part in parts for r in b.explanations)]
    return (*others, *(blame for blame in shared if blame.explanations or not parts))


def _blame(line: LoopComparison, groups: Sequence[Group], fresh: Sequence[Group]) -> Blame:
    size = line.difference if not line.is_law else max(float(np.abs(one.steps).max()) for g in groups for one in g)
    for rule in SHARED if fresh else ():
        if rule.part == line.part and max(rule.excess(groups), rule.excess(fresh)) <= 1:
            count, held = (sum(len(one.z) for group in some for one in group) for some in (groups, fresh))
            return Blame("optimise", [rule], count + held, held, rule.excess(fresh), size)
    return Blame("optimise", effect=size, described=f"Runs made together are off in no way known here: {line.said}.")


def joined(group: Group) -> RecordedLoop:
    """The runs as one, of as many variables as all have."""
    runs, trial = [one.run for one in group], group[0].trial
    wide = replace(
        trial, x0=sum((one.trial.x0 for one in group), ()), slopes=trial.slopes * len(group),
        curvature=tuple(np.broadcast_to(trial.curvature, len(trial.x0)).tolist()) * len(group),
    )  # fmt: skip
    run = OuterRun(
        np.concatenate([run.x_out for run in runs]),
        np.concatenate([run.x_bar for run in runs], axis=1),
        np.concatenate([run.path for run in runs], axis=1),
    )
    z, g = (np.concatenate([getattr(one, name) for one in group], axis=1) for name in ("z", "g"))
    return RecordedLoop(wide, run, z, g)


def component(group: Group, j: int) -> RecordedLoop:
    """One component of all runs as a run, of as many variables as there are runs."""
    trial = group[0].trial
    every = ([one.run.path for one in group], [one.z for one in group], [one.g for one in group])
    path, z, g = (np.stack([rows[:, j] for rows in of_runs], axis=1) for of_runs in every)
    x_bar = np.stack([one.run.x_bar[:, j] for one in group], axis=1)
    curvature = (float(np.broadcast_to(trial.curvature, len(trial.x0))[j]),) * len(group)
    starts = tuple(one.trial.x0[j] for one in group)
    across = replace(trial, x0=starts, slopes=(trial.slopes[j],) * len(group), curvature=curvature)
    return RecordedLoop(across, OuterRun(x_bar[0], x_bar, path), z, g)


def _apart(group: Group) -> float:
    """How far the runs' places on their segments are from those of the first, in what two equal draws may differ.

    Infinite where the first's are not spread as uniform ones are: then it is not that they are shared.
    """
    places = [along(one) for one in group]
    (first, long), others = places[0], places[1:]
    if not float(np.ptp(first[long]) if long.any() else 0.0) > SPREAD:
        return math.inf
    return max(
        float(np.abs(s - first)[long & off].max(initial=0.0)) / (100 * ALIKE) if (long & off).any() else np.inf
        for s, off in others
    )


SHARED = (
    SharedByRuns(
        "steps",
        "in runs made together Δ_{t+1} is clipped by the length of all runs' steps together where each run's own "
        "length belongs, that line of a single run being right",
        lambda groups: compare_lines([joined(group) for group in groups], RIGHT)[0].excess,
    ),
    SharedByRuns(
        "steps",
        "Δ_{t+1} is clipped component by component, by its length over all runs made together, where each run's own "
        "length over its components belongs; of a single run every component is cut by itself",
        lambda groups: (
            compare_lines([component(group, j) for group in groups for j in range(len(group[0].trial.x0))], RIGHT)[
                0
            ].excess
        ),
    ),
    SharedByRuns(
        "queries",
        "runs made together have the same s_t where each run must draw its own, that line of a single run being right",
        lambda groups: max(map(_apart, groups)),
    ),
)
"""What programs that make runs together have in common of them by mistake."""
