"""How an answer follows the value of one expression: measured in a few runs where it is an affine function of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from spec.exact import Vector
from verify.conformance.trace.quantity_fits import Fit, is_same
from verify.conformance.trace.suspects import Put, Suspect, Traced, fit_of

AFFINE = 12
"""Entries of a value up to which its influence is measured."""
NEAR = 1e-7
"""Relative difference of a foreseen answer up to which it may be right."""


class AsksAgain(Protocol):
    """Who asks a question again with values put in the places of others."""

    def answer(self, traced: Traced, *puts: Put) -> Any:
        """What comes of it."""


@dataclass(frozen=True)
class Influence:
    """An expression, what it could be instead, and the answer as an affine function of it.

    Args:
        group: What it could be instead.
        moves: By how much each of these differs from what is computed, (N, entries).
        slope: What the answer changes by with each entry, (entries, answers).
        base: The answer as it is.
    """

    group: Sequence[Suspect]
    moves: Vector
    slope: Vector
    base: Vector

    @property
    def answers(self) -> Vector:
        """What each would give."""
        return np.asarray(self.base + self.moves @ self.slope)


def value_of(traced: Traced, suspect: Suspect) -> Any:
    """What is computed there, if once and not too large; ``None`` else."""
    seen = traced.values[suspect.k, suspect.caller]
    value = seen.values[0]
    once = len(seen.values) == 1 and not isinstance(value, tuple)
    return value if once and 1 <= np.size(value) <= AFFINE else None


def put(suspect: Suspect, value: Any) -> Put:
    """A value in the place of a suspect's."""
    return suspect, Fit(suspect.named, "", [value])


def influence_of(asking: AsksAgain, traced: Traced, group: Sequence[Suspect]) -> Influence | None:
    """The answer as an affine function of an expression's value; ``None`` where it is none."""
    value = value_of(traced, group[0])
    if value is None or traced.question.expected is None:
        return None
    size, shape = np.size(value), np.shape(value)

    def answer(move: Any) -> Any:
        return asking.answer(traced, put(group[0], value + np.reshape(move, shape)))

    base = answer(np.zeros(size))
    units = [answer(unit) for unit in np.eye(size)]
    away = [0.37 * np.linspace(1.0, 2.0, size)]
    chosen = (fit_of(group[at], traced) for at in (0, len(group) // 3, 2 * len(group) // 3, len(group) - 1))
    away += [np.ravel(fit.wants[0]) - np.ravel(value) for fit in chosen if fit is not None]
    checks = [answer(one) for one in away]
    if any(not isinstance(one, np.ndarray) for one in (base, *units, *checks)):
        return None
    slope = np.array([one - base for one in units])
    if not all(is_same(one, base + move @ slope) for one, move in zip(checks, away, strict=True)):
        return None
    moves = np.array([np.ravel(suspect.wants[0]) for suspect in group]) - np.ravel(value)
    return Influence(group, moves, slope, base)


def promising(asking: AsksAgain, traced: Traced, group: Sequence[Suspect]) -> list[Suspect]:
    """Those that could put the question right: all where that cannot be foreseen."""
    value = value_of(traced, group[0]) if group else None
    if value is None or len(group) <= 2 * np.size(value) + 2:
        return list(group)
    influence = influence_of(asking, traced, group)
    if influence is None:
        return list(group)
    if not influence.slope.any():
        return []  # nothing hangs on it
    expected, answers = np.asarray(traced.question.expected), influence.answers
    # To rounding of the measured slopes, which is not the subject's.
    limit = NEAR * (1 + np.abs(expected) + np.abs(influence.base) + np.abs(answers))
    return [group[int(i)] for i in np.flatnonzero((np.abs(answers - expected) <= limit).all(axis=1))]
