"""How exactly a subject says that its solvers work, and what is allowed to them for it."""

from __future__ import annotations

from numbers import Real
from typing import Any

from spec import InvalidInputError

COARSEST = 1e-3
"""Accuracies beyond this are refused: an answer wrong by a thousandth is wrong."""
FACTOR = 10.0
"""Errors of so many times the accuracy are allowed to a single system that is solved."""


def stated_accuracy(subject: Any) -> float | None:
    """A subject's attribute ``accuracy``, relative; ``None`` where it says nothing.

    Raises:
        InvalidInputError: If that is no number from 0 to 0.001.
    """
    value = getattr(subject, "accuracy", None)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= COARSEST:
        raise InvalidInputError("accuracy", f"must be a number from 0 to {COARSEST:g}", value)
    return float(value)


def solved_to(subject: Any, usual: float) -> float:
    """Relative error allowed to a system that a subject solves: the usual one, or what follows from its accuracy."""
    return max(usual, FACTOR * (stated_accuracy(subject) or 0.0))
