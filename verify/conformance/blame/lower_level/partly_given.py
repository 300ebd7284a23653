"""Lower levels that give most answers that are off but not all: told with what is left, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from verify.conformance.blame.explanations.explanation import Blame, Explanation
from verify.conformance.blame.explanations.holding_out import (
    FEWEST,
    HELD_OUT,
    LISTED,
    HeldOutTrial,
    Limits,
    allowed_to,
    simplest,
)
from verify.conformance.blame.lower_level.lower_places import drawn_problems
from verify.conformance.blame.lower_level.lower_search import LowerSearch
from verify.conformance.probes.answers import StageAnswer

MOST = 0.75
"""Least share of answers that are off that an explanation must give to be told."""
LISTS = 5
"""Lists of a search that are looked through, those found most cheaply."""
FEWEST_OFF = 4
"""Answers that are off, among those that an explanation is found on."""


@dataclass(frozen=True)
class _Tally:
    """Answers that are off, or said to be: those that an explanation gives, and those it does not."""

    given: tuple[StageAnswer, ...]
    missed: tuple[StageAnswer, ...]

    @property
    def is_most(self) -> bool:
        return len(self.given) >= MOST * (len(self.given) + len(self.missed))


def partly_given(trial: HeldOutTrial, seen: Sequence[StageAnswer], accuracy: float) -> Blame | None:
    """The simplest lower levels that give most answers, of those asked for afterwards too.

    Args:
        trial: What was asked, of which nothing gives all.
        seen: Answers that were judged.
        accuracy: How exact the subject's answers are.

    Returns:
        ``None`` where none gives three quarters of what is off, seen and asked for afterwards each. ``left`` are those
        not given that were not judged.
    """
    drawn = [answer for answer in trial.answers if not any(answer is one for one in seen)]
    rivals = list(dict.fromkeys(chain(*_lists(drawn, trial.limits, accuracy))))
    rivals = [one for one in rivals if _tally(one, [*drawn, *seen], trial.limits).is_most]
    probes = [probe for probe in trial.pool if probe in drawn_problems()][:HELD_OUT]
    if not rivals or len(probes) < FEWEST:
        return None
    held = trial.ask(probes)
    programs = [one for one in rivals if (t := _tally(one, held, trial.limits)).is_most and len(t.given) >= FEWEST]
    if not programs:
        return None
    everything = [*seen, *drawn, *held]
    best = max(len(_tally(one, everything, trial.limits).given) for one in programs)
    programs = [one for one in programs if len(_tally(one, everything, trial.limits).given) == best]
    programs = simplest(programs, [answer.probe for answer in everything], trial.limits)[:LISTED]
    tally = _tally(programs[0], everything, trial.limits)
    left = tuple(a for a in tally.missed if not any(a is one for one in seen))
    apart = max(_off(programs[0], answer, trial.limits) for answer in tally.given)
    return Blame(
        trial.stage, tuple(programs), best, len(_tally(programs[0], held, trial.limits).given), apart, left=left
    )


def _lists(drawn: Sequence[StageAnswer], limits: Limits, accuracy: float) -> Iterator[Sequence[Explanation]]:
    """What gives all that was drawn, or all of a half of it."""
    half = len(drawn) // 2
    for part in (drawn, drawn[:half], drawn[half:]):
        if sum(_is_off(answer, limits) for answer in part) >= FEWEST_OFF:
            yield from islice(LowerSearch(part, limits, accuracy).lists(), LISTS)


def _tally(explanation: Explanation, answers: Sequence[StageAnswer], limits: Limits) -> _Tally:
    given, missed = [], []
    for answer in answers:
        fits, is_off = _off(explanation, answer, limits) <= 1, _is_off(answer, limits)
        if is_off and fits:
            given.append(answer)
        elif not fits and (is_off or explanation.answer(answer.probe) is not None):
            missed.append(answer)
    return _Tally(tuple(given), tuple(missed))


def _is_off(answer: StageAnswer, limits: Limits) -> bool:
    return not (np.abs(answer.got - answer.probe.expected) <= allowed_to(answer, limits)).all()


def _off(explanation: Explanation, answer: StageAnswer, limits: Limits) -> float:
    prediction = explanation.answer(answer.probe)
    if prediction is None or not np.isfinite(prediction).all():
        return float("inf")
    return float(np.max(np.abs(prediction - answer.got) / allowed_to(answer, limits), initial=0.0))
