r"""Step C1, its rate: the best factor of the printed primal-dual iteration, in exact arithmetic.

For :math:`g = \tfrac12\lVert y\rVert^2` and rows with singular values b, a step acts on each b alone, as a 2 by 2
matrix with determinant :math:`d = 1 - \eta_y` and trace :math:`1 + d - c b^2`, :math:`c = \eta_y\eta_\lambda`. Both its
eigenvalues lie within q of 0 iff (Schur and Cohn) :math:`|d| \le q^2` and :math:`|1 + d - c b^2| \le q + d/q`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, sqrt

import numpy as np

from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.formula_evidence import brought
from verify.evidence.model import Point
from verify.evidence.rates.rates import fit_rate
from verify.truth.iterations import LinearIteration

SMALLEST = tuple(Fraction(1, 2**k) for k in range(1, 11))
"""Smallest singular values of the rows, the largest being 1."""
TRIED = tuple(Fraction(k, 64) for k in range(1, 160, 9))
"""Step sizes tried besides the best ones."""
SPAN = 6
"""Steps over which a factor is read, in units of 1/s."""


def largest_modulus(trace: Fraction, determinant: Fraction) -> float:
    """Of the two eigenvalues of a real 2 by 2 matrix."""
    discriminant = trace * trace - 4 * determinant
    if discriminant <= 0:
        return sqrt(determinant)
    return (abs(float(trace)) + sqrt(discriminant)) / 2


def factor(c: Fraction, d: Fraction, values: Sequence[Fraction]) -> float:
    """Contraction factor of a step with these products of step sizes, on rows with these singular values."""
    return max(largest_modulus(1 + d - c * b * b, d) for b in values)


def window(q: Fraction, d: Fraction, s: Fraction) -> Fraction:
    """How wide the range of c is in which rows 1 and s are both within q: largest less smallest, linear in d."""
    return (1 + q) * (1 + d / q) - (1 - q) * (1 - d / q) / (s * s)


def best_factor(s: Fraction) -> Fraction | None:
    """The candidate (1 - s)/(1 + s) if it is proven the best factor for rows with singular values from s to 1.

    It is reached at d = q², and no factor q is if for every d with |d| < q² the range of c is empty; the range's width
    being linear in d, its two ends say so.
    """
    q = (1 - s) / (1 + s)
    d, c = q * q, (1 + q) ** 2
    reached = all((1 + d - c * b * b) ** 2 <= 4 * d for b in (s, (1 + s) / 2, Fraction(1)))
    # At the ends the width is 0 and below: inside it is below 0, and so is any smaller factor's.
    empty = window(q, d, s) == 0 and window(q, -d, s) < 0
    return q if reached and empty else None


@check("inner-cost/best-factor", instances=("toy1",))
def proven_best(case: Case) -> Measurement:
    """The best factor at κ_g = 1 against 1 - 1/κ_g = 0 as written, (1 - s)/(1 + s) repaired; step sizes tried."""
    proven = {s: best_factor(s) for s in SMALLEST}
    # Without a proof the factor may be 1; κ_g is 1 throughout.
    pairs = [(Fraction(1) if q is None else q, Fraction(1) if case.as_written else s) for s, q in proven.items()]
    same = brought(case, *pairs)
    values: dict[str, float | str] = {f"best factor at s = {s}": str(proven[s]) for s in SMALLEST[:3]}
    if case.as_written:
        return Measurement(same, values)
    tried = [(s, factor(eta * tau, 1 - eta, (s, Fraction(1)))) for s in SMALLEST[::3] for eta in TRIED for tau in TRIED]
    below = min(one - float((1 - s) / (1 + s)) for s, one in tried)
    none = compare("least excess of other step sizes' factors over it", below, ">=", 0.0, 1e-12)
    return Measurement((*same, none), values)


@check("inner-cost/dual-rate", instances=("toy1",))
def dual_rate(case: Case) -> Measurement:  # noqa: ARG001  # every check is given its case
    """Gap of the multiplier's own factor, read off its errors at the best step sizes, as the smallest row shrinks."""
    points = []
    for s in SMALLEST:
        q = (1 - s) / (1 + s)
        sizes = float(1 - q * q), float((1 + q) ** 2 / (1 - q * q))
        iteration = LinearIteration(np.eye(2), np.diag([1.0, float(s)]), *sizes, 0.0, np.ones(4))
        points.append(Point(at=float(s), measured=1 - _multiplier_factor(iteration, ceil(SPAN / s))))
    rate = fit_rate(points, quantity="1 - best factor of ‖λ_t - λ*‖", variable="sigma_min_B")
    return Measurement((rate,), values_at("gap at s", points), "κ_g = 1 throughout; rows with singular values 1 and s.")


def _multiplier_factor(iteration: LinearIteration, steps: int) -> float:
    """Mean factor a step of the multiplier's error over the second half of the steps."""
    half = np.linalg.matrix_power(iteration.step()[0], steps)
    early, late = half @ iteration.start, half @ half @ iteration.start
    return float((np.linalg.norm(late[iteration.m :]) / np.linalg.norm(early[iteration.m :])) ** (1 / steps))
