"""Counted bounds of rounding: operations on the longest way to a result, times unit roundoff, times its terms' sizes.

Source: N. J. Higham, "Accuracy and Stability of Numerical Algorithms" (2nd ed., 2002), sections 3.1 and 10.1: k
operations are off by at most ``k u / (1 - k u)`` of the sum of their terms' sizes, in whatever order they are made, and
a Cholesky solve of size m is one with a matrix off by ``(3 m + 1) u`` times ``|L| |L'|``, whose norm is at most m times
the matrix's.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from spec.atlas import Instance
from spec.exact import Vector
from spec.reading import DualTerm
from verify.truth.geometry import EPS, Geometry, quadratic_of, spectral_norm

UNIT = EPS / 2
"""Unit roundoff."""
ENTRIES = 14
"""Operations on one term besides its sums: entries and stages read as doubles, powers of α, products, parts added."""


def _off(operations: int) -> float:
    """Largest relative change by that many roundings."""
    return operations * UNIT / (1 - operations * UNIT)


def rounding_of_estimate(at: Geometry, y: Vector, *, dual_term: DualTerm, h_width: float | None = None) -> float:
    """Bound of the rounding of one estimate at y, the last digit of y itself included.

    ``h_width``: width of the ramp of h, where the estimate's own weights may move by the rounding of h.
    """
    n, m, p = len(at.x), len(y), len(at.lam)
    larger = np.maximum(np.abs(y), np.abs(at.y_star))
    sizes = at.rounding(larger, dual_term=dual_term, h_width=h_width) / EPS
    return _off(n + 2 * m + p + ENTRIES) * sizes


def rows_are_exact(instance: Instance, y_star: Sequence[Fraction]) -> bool:
    """Whether doubles hold the rows' values at (x, y*) without any rounding, in whatever order they are summed."""
    rows = quadratic_of(instance.problem).constraints
    A, B, b = (getattr(rows, name).to_fractions() for name in ("A", "B", "b"))
    at = (*instance.x, *y_star, Fraction(1))
    listed = [(*across, *along, right) for across, along, right in zip(A, B, b[0], strict=True)]
    unit = max((v.denominator for line in listed for v in line), default=1) * max(v.denominator for v in at)
    largest = max((sum(abs(v * w) for v, w in zip(line, at, strict=True)) for line in listed), default=Fraction(0))
    dyadic = all(v.denominator & (v.denominator - 1) == 0 for v in (*at, *(v for line in listed for v in line)))
    return dyadic and largest * unit < 1 / UNIT


def gradient_left(at: Geometry, y: Vector) -> float:
    """Bound of the gradient in y that a direct solve in doubles may leave at its answer y, by rounding alone."""
    n, m, p = len(at.x), len(y), len(at.lam)
    s, w, x, larger = at.problem.sizes, at.weights, np.abs(at.x), np.maximum(np.abs(y), np.abs(at.y_star))
    rows = s.B.T @ (at.rho * (s.A @ x + 2 * s.B @ larger + s.b))
    lower = s.g_xy.T @ x + s.g_yy @ larger + s.g_y + s.B.T @ np.abs(at.lam)
    upper = s.f_xy.T @ x + s.f_yy @ larger + s.f_y
    terms = float(np.linalg.norm(w.alpha_2 * rows + w.alpha_1 * lower + upper))
    solved = m * _off(3 * m + 1) * spectral_norm(at.H) * float(np.linalg.norm(larger))
    return _off(n + 2 * m + p + ENTRIES) * terms + solved
