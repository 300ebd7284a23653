"""The true y*, multipliers and gradient of F in doubles with a proven error, by whichever exact method fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from spec import Quadratic
from spec.exact import FloatArray
from verify.exact import balls, lower_level
from verify.exact.penalty import as_float
from verify.exact.rationals import Number, Vector, point

MAX_RATIONAL = 40
"""Largest n + m + p solved in rationals first: some 30 ms there, growing with the fourth power."""


@dataclass(frozen=True)
class GroundTruth:
    """True values in doubles.

    Args:
        y_star: Lower-level minimiser, shape (m,).
        lam: Multipliers, shape (p,).
        hypergradient: Gradient of F, shape (n,); ``None`` at a kink.
        kink_gradients: At a kink, the gradients of the adjoining pieces.
        strictly_active: Rows with a positive multiplier.
        weakly_active: Active rows without one.
        licq: Whether the active rows are linearly independent.
        error: Every entry above is within this of the truth, rounding included.
        method: ``rational`` or ``balls``.
    """

    y_star: FloatArray
    lam: FloatArray
    hypergradient: FloatArray | None
    kink_gradients: tuple[FloatArray, ...]
    strictly_active: tuple[int, ...]
    weakly_active: tuple[int, ...]
    licq: bool
    error: float
    method: Literal["rational", "balls"]


def solve_any(problem: Quadratic, x: Sequence[Number]) -> GroundTruth:
    """Solve the lower level and differentiate F with a proven error.

    Small problems are solved in rationals; larger ones in balls, and in rationals after all where the balls
    leave a row undecided (a weakly active row is exactly zero, which no ball can prove).

    Args:
        problem: Any quadratic problem.
        x: Upper-level point, shape (n,).

    Returns:
        True values and their error.

    Raises:
        InvalidInputError: If x does not fit.
        InfeasibleLowerLevelError: If no y satisfies the rows.

    Source:
        Eq. (constrainedbilevel). Differs from the paper: kinks are reported, not assumed away.
    """
    at = point(x, problem.n, "x")
    if problem.n + problem.m + problem.p > MAX_RATIONAL:
        found = balls.solve(problem, at)
        if found.decided:
            return _from_balls(found)
    return _from_rationals(problem, at)


def _from_balls(found: balls.BallLowerLevel) -> GroundTruth:
    parts = (found.y_star, found.lam, found.hypergradient)
    return GroundTruth(
        y_star=found.y_star.mid,
        lam=found.lam.mid,
        hypergradient=found.hypergradient.mid,
        kink_gradients=(),
        strictly_active=found.active,
        weakly_active=(),
        # The saddle system was solved rigorously, so it is regular, so the rows held as equations are independent.
        licq=True,
        error=max(part.error for part in parts),
        method="balls",
    )


def _from_rationals(problem: Quadratic, x: Vector) -> GroundTruth:
    lower = lower_level.solve(problem, x)
    gradient: Vector | None = None
    kinks: tuple[Vector, ...] = ()
    try:
        gradient = lower_level.hypergradient(problem, x)
    except lower_level.DegenerateLowerLevelError as error:
        kinks = error.gradients
    values = [*lower.y_star, *lower.lam, *(gradient or ()), *(value for kink in kinks for value in kink)]
    return GroundTruth(
        y_star=as_float(lower.y_star),
        lam=as_float(lower.lam),
        hypergradient=None if gradient is None else as_float(gradient),
        kink_gradients=tuple(as_float(kink) for kink in kinks),
        strictly_active=lower.strictly_active,
        weakly_active=lower.weakly_active,
        licq=lower.licq,
        error=_rounding(values),
        method="rational",
    )


def _rounding(values: Sequence[Fraction]) -> float:
    """Half a unit in the last place of the largest value."""
    return float(np.spacing(max((abs(float(value)) for value in values), default=0.0)))
