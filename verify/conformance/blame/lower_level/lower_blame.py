"""What a lower level computes instead of the right pair, found and confirmed on isolated probes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from spec import Quadratic
from spec.exact import Vector
from verify.conformance.blame.accuracy.accuracy import EXACT, DeclaredAccuracy, widened
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.blame.explanations.holding_out import HeldOutTrial
from verify.conformance.blame.lower_level.broken_conditions import broken_conditions, exchanged_multipliers
from verify.conformance.blame.lower_level.lower_places import LOWER_MEASURING, drawn_ladders, drawn_problems
from verify.conformance.blame.lower_level.lower_search import LowerSearch
from verify.conformance.blame.lower_level.negative_multipliers import negative_multipliers
from verify.conformance.blame.lower_level.partly_given import partly_given
from verify.conformance.blame.lower_level.thresholds import sharpened
from verify.conformance.comparison.stage_comparison import ask
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import Probe
from verify.subjects.protocol import StageCalls

NO_BLAME = Blame("lower_level")
COARSER = (1e-6, 1e-5, 1e-4)
"""Accuracies that are allowed for where nothing explains a subject's answers exactly."""
ROUNDS = 2
"""Searches; each one after the first knows what refuted the last."""


def explain_lower(stages: StageCalls, answers: Sequence[StageAnswer] = (), accuracy: DeclaredAccuracy = EXACT) -> Blame:
    """Find the program that a subject solves in place of the lower level, if the method knows one.

    Asks at most some 60 further calls. Answers that do not depend on the problem, or that change when the same is asked
    again, have no name.

    Args:
        stages: The subject.
        answers: Answers to lower-level probes seen so far.
        accuracy: How exact its answers are.

    Returns:
        The programs that foresaw every answer that was held out; where there are none, those that give most answers.
    """
    seen = [answer for answer in answers if isinstance(answer.probe.problem, Quadratic)]
    pool = [*drawn_problems(), *drawn_ladders()]
    trial = HeldOutTrial("lower_level", stages, [*seen], pool, partial(_limit, accuracy))
    drawn = trial.ask(trial.pool[:LOWER_MEASURING])
    if not drawn or not any(not answer.excess <= 1 for answer in trial.answers):
        return NO_BLAME
    values = np.concatenate([answer.got for answer in trial.answers])
    if np.ptp(values) == 0 or not _answers_alike(stages, drawn):
        return NO_BLAME
    for coarser in (accuracy.value, *(value for value in COARSER if value > accuracy.value)):
        trial.limits = partial(_limit, DeclaredAccuracy(coarser))
        if not any((np.abs(a.got - a.probe.expected) > trial.limits(a.probe)).any() for a in trial.answers):
            if coarser == accuracy.value:
                return NO_BLAME
            break
        blame = _searched_programs(trial, coarser)
        if blame is not None:
            return blame
    trial.limits = partial(_limit, accuracy)
    return partly_given(trial, seen, accuracy.value) or _described(trial)


def _described(trial: HeldOutTrial) -> Blame:
    """What answers show by themselves where no program gives them."""
    # Ladders have so many rows that those who try all sets of them would take minutes.
    seen, left = [*trial.answers], [probe for probe in trial.pool if probe in drawn_problems()]
    later = trial.ask(left)
    every = [*seen, *later]
    words = negative_multipliers(seen, later) or exchanged_multipliers(every) or broken_conditions(every)
    return replace(NO_BLAME, described=words)


def _searched_programs(trial: HeldOutTrial, accuracy: float) -> Blame | None:
    """A few searches, each of them after what refuted the last."""
    for _ in range(ROUNDS):
        count = len(trial.answers)
        for programs in LowerSearch(trial.answers, trial.limits, accuracy).lists():
            fitting = sharpened(trial.fit(programs), trial)
            blame = trial.confirm(fitting) if fitting else None
            if blame is not None:
                return blame
            if len(trial.answers) > count:
                break
        else:
            break
    return None


@lru_cache(maxsize=2000)
def _limit(accuracy: DeclaredAccuracy, probe: Probe) -> Vector:
    return widened(probe, accuracy).tolerance


def _answers_alike(stages: StageCalls, drawn: Sequence[StageAnswer]) -> bool:
    """Whether the first question gets the same answer again."""
    again = ask(stages, [drawn[0].probe]).answers
    return bool(again) and bool((np.abs(again[0].got - drawn[0].got) <= drawn[0].probe.tolerance).all())
