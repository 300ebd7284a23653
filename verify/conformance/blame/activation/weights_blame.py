"""What an activation computes instead of the right weights, found and confirmed on isolated probes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from verify.conformance.blame.accuracy.accuracy import EXACT, DeclaredAccuracy, widened
from verify.conformance.blame.activation.profiles import Scans, measured_profile, scan
from verify.conformance.blame.activation.ramp_search import searched_rules
from verify.conformance.blame.activation.weighed_rows import MEASURING, WeighedRows, drawn_rows
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.blame.explanations.holding_out import HeldOutTrial
from verify.conformance.comparison.stage_comparison import ask
from verify.conformance.probes.answers import StageAnswer
from verify.subjects.protocol import StageCalls

NONE = Blame("activation")
CLOSE_ENOUGH = 1e-6
"""Rules that are further off than this on some row are not looked at more closely."""
ROUNDS = 3
"""Searches; each one after the first knows what refuted the last."""


def explain_activation(
    stages: StageCalls, answers: Sequence[StageAnswer] = (), accuracy: DeclaredAccuracy = EXACT
) -> Blame:
    """Find the rule by which a subject weighs rows, if the method knows one.

    Asks at most some 60 further calls. Answers that do not depend on the rows at all, but weights of 1, have no name.

    Args:
        stages: The subject.
        answers: Answers to activation probes seen so far.
        accuracy: How exact its answers are.

    Returns:
        The rules that foresaw every answer that was held out; a measured profile where none did but the weights
        are a product of two; neither for weights that are no such thing.
    """
    pool = list(drawn_rows())
    trial = HeldOutTrial("activation", stages, list(answers), pool, lambda probe: widened(probe, accuracy).tolerance)
    trial.ask(pool[:MEASURING])
    if not trial.answers or not any(not answer.excess <= 1 for answer in trial.answers):
        return NONE
    rho = np.concatenate([answer.got for answer in trial.answers])
    if (np.ptp(rho) == 0 and rho[0] != 1) or not _repeats_itself(trial):
        return NONE
    scans = cache(lambda: scan(trial))
    for _ in range(ROUNDS):
        count = len(trial.answers)
        blame = _searched(trial, scans)
        if blame is not None:
            return blame
        if len(trial.answers) <= count + 2:
            break
    measured = scans()
    return NONE if measured is None else measured_profile(trial, measured) or NONE


def _searched(trial: HeldOutTrial, scans: Callable[[], Scans | None]) -> Blame | None:
    """One search; ``None`` where nothing fits, or something that the next questions refute."""
    rows = WeighedRows.of(trial.answers)
    for rules in searched_rules(rows, scans):
        fitting = trial.fit(rule for rule in rules if rows.off(rule).max() <= CLOSE_ENOUGH)
        if fitting:
            return trial.confirm(fitting)
    return None


def _repeats_itself(trial: HeldOutTrial) -> bool:
    """Whether the same question gets the same answer; what does not is no rule of the rows."""
    first = trial.answers[-1]
    again = ask(trial.stages, [first.probe]).answers
    return bool(again) and bool((np.abs(again[0].got - first.got) <= first.probe.tolerance).all())
