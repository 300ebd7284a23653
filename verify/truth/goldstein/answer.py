"""What is known of the distance of 0 from a Goldstein subdifferential."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from verify.truth.algebra.rationals import Vector


@dataclass(frozen=True)
class GoldsteinDistance:
    """Bounds of dist(0, ∂_δF(x) + N_X(x)).

    Args:
        lower: Lower bound, rounded down.
        upper: Upper bound, rounded up.
        certified: Whether the lower bound is proven; the upper one always is, up to the method's rounding.
        method: ``interval`` (n = 1, exact), ``cells`` (n <= 4) or ``bundle`` (estimate).
        exact: The distance itself where it is known as a rational.
        points: Points of the ball whose gradients combine to the upper bound, each (n,), exact.
        gradients: Those gradients.
        weights: Their weights, nonnegative, adding to 1.
        direction: Direction along which the lower bound was proven, shape (n,).
        cells: Pieces of F that meet the ball (found, for ``bundle``).
    """

    lower: float
    upper: float
    certified: bool
    method: Literal["interval", "cells", "bundle"]
    exact: Fraction | None
    points: tuple[Vector, ...]
    gradients: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    direction: tuple[float, ...]
    cells: int
