"""What a lower level computes instead of the right pair, found and confirmed on isolated probes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spec import Quadratic
from verify.conformance.answers import Answer
from verify.conformance.blame.accuracy import EXACT, Accuracy, widened
from verify.conformance.blame.explanation import Blame
from verify.conformance.blame.holding_out import Trial
from verify.conformance.blame.lower_places import LOWER_MEASURING, drawn_problems
from verify.conformance.blame.lower_search import LowerSearch
from verify.conformance.stage_comparison import ask
from verify.subjects.protocol import Stages

NO_BLAME = Blame("lower_level")
ROUNDS = 2
"""Searches; each one after the first knows what refuted the last."""


def explain_lower(stages: Stages, answers: Sequence[Answer] = (), accuracy: Accuracy = EXACT) -> Blame:
    """Find the program that a subject solves in place of the lower level, if the method knows one.

    Asks at most some 60 further calls. Answers that do not depend on the problem, or that change when the same is asked
    again, have no name.

    Args:
        stages: The subject.
        answers: Answers to lower-level probes seen so far.
        accuracy: How exact its answers are.

    Returns:
        The programs that foresaw every answer that was held out.
    """
    pool = list(drawn_problems())
    seen = [answer for answer in answers if isinstance(answer.probe.problem, Quadratic)]
    limits = {probe.id: widened(probe, accuracy).tolerance for probe in (*pool, *(answer.probe for answer in seen))}
    trial = Trial("lower_level", stages, seen, pool, lambda probe: limits[probe.id])
    drawn = trial.ask(pool[:LOWER_MEASURING])
    if not drawn or not any(not answer.excess <= 1 for answer in trial.answers):
        return NO_BLAME
    values = np.concatenate([answer.got for answer in trial.answers])
    if np.ptp(values) == 0 or not _answers_alike(stages, drawn):
        return NO_BLAME
    for _ in range(ROUNDS):
        asked = len(trial.answers)
        for found in LowerSearch(trial.answers, trial.limits).lists():
            blame = trial.confirm(trial.fit(found)) if found else None
            if blame is not None:
                return blame
            if len(trial.answers) > asked:
                break
        else:
            break
    return NO_BLAME


def _answers_alike(stages: Stages, drawn: Sequence[Answer]) -> bool:
    """Whether the first question gets the same answer again."""
    again = ask(stages, [drawn[0].probe]).answers
    return bool(again) and bool((np.abs(again[0].got - drawn[0].got) <= drawn[0].probe.tolerance).all())
