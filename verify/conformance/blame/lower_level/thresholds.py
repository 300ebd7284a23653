"""Numbers at which a lower level's answers jump, found by asking for multipliers on both sides of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.explanations.holding_out import HeldOutTrial, distance
from verify.conformance.blame.lower_level.by_parts import ByParts
from verify.conformance.blame.lower_level.lower import LowerProgram
from verify.conformance.blame.lower_level.lower_outputs import OUTPUTS
from verify.conformance.blame.lower_level.lower_places import ladder
from verify.method.endings import plainest_between

TOP = 3.0
"""The largest multiplier of a problem that is asked, so that what counts relative to it tells itself apart."""
ROWS = 10
"""Multipliers between both ends of what a number may be, and as many relative to the largest."""
ROUNDS = 6
ASKED = "between"
"""How names of problems begin that are asked to narrow a number."""
NARROW = 1.002
"""Ratio of both ends that tells a number to three digits."""
REACH = 1e3
"""By how much, at most, a number may be another."""
HALVINGS = 40
TRIED = 100
"""Numbers that are tried between both ends where the plainest does not do."""


def sharpened(explanations: Sequence[LowerProgram | ByParts], trial: HeldOutTrial) -> list[LowerProgram | ByParts]:
    """Explanations whose thresholds are the plainest numbers that further answers leave; those refuted are left out."""
    numbers: list[float] = []
    return [told for one in explanations if (told := _sharpened(one, trial, numbers)) is not None]


def _sharpened(
    program: LowerProgram | ByParts, trial: HeldOutTrial, numbers: list[float]
) -> LowerProgram | ByParts | None:
    """One of them; ``numbers`` are those of others before it, whose questions may have left little room for its own."""
    at = _threshold(program)
    if at is None or not isinstance(program, LowerProgram):
        return program
    low, high = (program.outputs[at][1] * by for by in (1 / REACH, REACH))
    for _ in range(ROUNDS):
        ends = _ends(program, at, trial, (low, high), numbers)
        if ends is None:
            return None
        low, high = ends
        program = _with(program, at, plainest_between(low, high))
        if high <= NARROW * low:
            break
        between = np.geomspace(low, high, ROWS + 2)[1:-1]
        question = ladder(f"{ASKED}-{low!r}-{high!r}", [TOP, *between, *(TOP * between[between < 1])])
        trial.pool.append(question)
        if not trial.ask([question]):
            break
    numbers.append(program.outputs[at][1])
    return program if distance(program, trial.answers, trial.limits) <= 1 else None


def _threshold(program: LowerProgram | ByParts) -> int | None:
    """Which of the changes of what comes out has a measured number at which it jumps."""
    outputs = program.outputs if isinstance(program, LowerProgram) else ()
    return next((i for i, (name, _) in enumerate(outputs) if OUTPUTS[name].jumps and not OUTPUTS[name].numbers), None)


def _with(program: LowerProgram, at: int, value: float) -> LowerProgram:
    outputs = [*program.outputs]
    outputs[at] = (outputs[at][0], value)
    return replace(program, outputs=tuple(outputs))


def _ends(
    program: LowerProgram, at: int, trial: HeldOutTrial, within: tuple[float, float], numbers: Sequence[float]
) -> tuple[float, float] | None:
    """The smallest and the largest number that give every answer, within what earlier answers left."""
    ladders = [answer for answer in trial.answers if answer.probe.id.startswith(f"lower-level/{ASKED}")]

    def suits(value: float) -> bool:
        told = _with(program, at, value)
        # At one of the multipliers that were asked for nothing is said.
        says = all(told.answer(answer.probe) is not None for answer in ladders)
        return says and distance(told, trial.answers, trial.limits) <= 1

    tried: Vector = np.array([program.outputs[at][1], *numbers, *np.geomspace(*within, TRIED)])
    start = next((float(value) for value in tried if suits(float(value))), None)
    if start is None:
        return None
    low, high = within
    return _edge(suits, start, low), _edge(suits, start, high)


def _edge(suits: Callable[[float], bool], inside: float, outside: float) -> float:
    """How far a number may go towards another that need not suit."""
    if suits(outside):
        return outside
    for _ in range(HALVINGS):
        middle = float(np.sqrt(inside * outside))
        inside, outside = (middle, outside) if suits(middle) else (inside, middle)
    return inside
