"""What a diagnosis says, in sentences with their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.bugs.catalogue import find
from verify.conformance.found import Match
from verify.conformance.probes.answers import StageAnswer

SHOWN = 3
"""Nearest others that are named."""
NONE = "No catalogued deviation matches."
NEAR = 0.5
"""A deviation that leaves more than this share of the error unexplained is not worth naming."""
COUNTED = 1e5
"""Multiples of what chance allows beyond which their number says nothing."""


def by_terms(blame: Blame) -> str:
    """What a stage computes instead, and how well that is founded."""
    first, *rivals = blame.explanations
    if not blame.agrees:
        return f"{first.sentence}."
    seen = f"{blame.agrees} answers are as it says, to {blame.apart:.2g} of their tolerance"
    held_out = f", {blame.held_out} of them asked for after it was found" if blame.held_out else ""
    if not rivals:
        return f"{first.sentence} ({seen}{held_out})."
    either = "; or ".join(one.sentence for one in blame.explanations[:SHOWN])
    more = f"; or {len(rivals) + 1 - SHOWN} more" if len(rivals) >= SHOWN else ""
    return f"One of these, which no question asked tells apart: {either}{more} ({seen}{held_out})."


ONE_NUMBER = "Every entry of all"
"""How the sentence begins that a stage answers one number."""
ALIKE = 5
"""Answers from which on equal ones say that a stage does not listen."""


def always_alike(answers: Sequence[StageAnswer]) -> str | None:
    """That a stage answers one number whatever it is asked, where it does."""
    entries = np.concatenate([answer.got for answer in answers]) if answers else np.zeros(0)
    if len(answers) < ALIKE or np.ptp(entries) > 0:
        return None
    return f"{ONE_NUMBER} {len(answers)} answers is {entries[0]:g}, whatever it is asked."


def by_values(
    matches: Sequence[Match],
    others: Sequence[Match],
    answers: Sequence[StageAnswer],
    where: str,
    partial: Sequence[Match],
) -> str:
    """Where answers were compared number by number; ``partial`` explain the innermost calls that are off, ``where``."""
    calls, wrong = len(answers), [answer for answer in answers if not answer.excess <= 1]
    off = max(float(np.abs(answer.got - answer.probe.expected).max(initial=0.0)) for answer in wrong)
    right = f"from the right ones they differ by up to {off:.2g}"
    if matches:
        best = matches[0]
        if find(best.id).roundoff is not None:
            numbers = f"the errors of {calls} answers are {best.distance:.2f} of what that rounding allows"
        else:
            numbers = (
                f"{calls} answers differ from that one's by at most {best.difference:.2g}, which is within "
                f"tolerance; {right}"
            )
        next_one = f". The next, {_named(others[0])}, differs by {others[0].difference:.2g}" if _told(others) else ""
        return f"It matches {_names(matches)}: {numbers}{next_one}."
    if partial:
        return (
            f"No catalogued deviation explains everything, but {where.split(':')[0]} it matches {_names(partial)}: "
            f"{partial[0].compared} answers differ from that one's by at most {partial[0].difference:.2g}. Put that "
            "right and run again: something else is off too."
        )
    closest: Match | None = min((m for m in others if math.isfinite(_apart(m))), key=_apart, default=None)
    near = _told(others) and others[0].distance < NEAR * max(answer.excess for answer in wrong)
    least = closest
    if near and _apart(others[0]) < NEAR * off:
        closest = others[0]
    if closest is not None and _apart(closest) < NEAR * off:
        return (
            f"{NONE} The nearest is {_named(closest)}, whose {calls} answers differ from these by up to "
            f"{_apart(closest):.2g}; {right}."
        )
    beside = (
        "" if least is None else f", and from those of {_named(least)}, the least far, by up to {_apart(least):.2g}"
    )
    return f"{NONE} None comes near: {calls} answers differ from the right ones by up to {off:.2g}{beside}."


def by_rules(matches: Sequence[Match], others: Sequence[Match], runs: int) -> str:
    """Where each line of Algorithm 2 was compared."""
    if not matches:
        return NONE if not _told(others) else f"{NONE} The nearest is {_named(others[0])}: {_off(others[0])}."
    best = matches[0]
    numbers = f"the four lines of Algorithm 2 in {runs} runs are as that one has them"
    if best.difference is not None:
        numbers += f", to within {best.difference:.2g}"
    return f"It matches {_names(matches)}: {numbers}{_following(others)}."


def by_laws(matches: Sequence[Match], others: Sequence[Match], statistics: int, excess: float) -> str:
    """Where only statistics can be compared; ``excess`` is their difference from the right ones, as chance allows."""
    right = f"from the right ones by {_times(excess)} that"
    if not matches and _told(others) and others[0].distance < NEAR * excess:
        return f"{NONE} The nearest is {_named(others[0])}: {_off(others[0])}, {right}."
    if not matches:
        return f"{NONE} None comes near: {statistics} statistics differ {right.replace('that', 'what chance allows')}."
    numbers = (
        f"{statistics} statistics differ from that one's by at most {matches[0].distance:.2f} of what chance allows"
    )
    return f"It matches {_names(matches)}: {numbers}, {right}{_following(others)}."


def _apart(match: Match) -> float:
    """Largest difference of values; infinite where there is none."""
    return math.inf if match.difference is None else match.difference


def _told(others: Sequence[Match]) -> bool:
    """Whether there is another whose distance is a number."""
    return bool(others) and math.isfinite(others[0].distance)


def _following(others: Sequence[Match]) -> str:
    return f". The next is {_named(others[0])}: {_off(others[0])}" if _told(others) else ""


def _off(match: Match) -> str:
    if match.difference is not None and math.isfinite(match.difference):
        return f"it differs by {match.difference:.2g}"
    return f"it differs by {_times(match.distance)} what chance allows"


def _times(number: float) -> str:
    """A multiple in words; beyond counting where exact numbers differ, to which chance grants rounding alone."""
    return f"{number:.1f} times" if number < COUNTED else f"more than {COUNTED:,.0f} times"


def _names(matches: Sequence[Match]) -> str:
    names = ", ".join(_named(match) for match in matches)
    return names if len(matches) == 1 else f"{names} (these cannot be told apart here)"


def _named(match: Match) -> str:
    return f"`{match.id}`"
