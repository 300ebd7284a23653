r"""For which alpha the penalty Lagrangian is convex in y, decided exactly.

:math:`\alpha^4\,\nabla^2_{yy}L = P(u) = u^2 f_{yy} + u\,(g_{yy} - cI) + B^TRB` with :math:`u = \alpha^2` and c = 0,
or c > 0 to ask for strong convexity with modulus :math:`c\,\alpha^{-2}`. It is positive definite on an interval if it
is so at one point and its determinant has no root there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import TypeAlias

from flint import fmpq, fmpq_mat, fmpq_poly

from spec import InvalidInputError, Quadratic
from verify.truth.algebra import roots
from verify.truth.algebra.rational_functions import interpolate
from verify.truth.algebra.rationals import (
    Number,
    RationalBlocks,
    blocks,
    diagonal,
    fraction,
    is_positive_definite,
    point,
    rational,
    select,
)

_PRECISION = Fraction(1, 10**12)


@dataclass(frozen=True)
class AlphaHypotheses:
    """Where the two readings of the strong-convexity hypothesis put alpha.

    Args:
        C_f: Enclosure of the smoothness constant of f, the spectral norm of its Hessian.
        mu_g: Enclosure of the strong-convexity constant of g in y.
        at_least: Enclosure of 2 C_f / mu_g: as written alpha must be at least this.
        at_most: Enclosure of sqrt(mu_g / (2 C_f)): repaired alpha must be at most this; ``None`` if C_f = 0.
    """

    C_f: Interval
    mu_g: Interval
    at_least: Interval
    at_most: Interval | None


def alpha_hypotheses(problem: Quadratic) -> AlphaHypotheses:
    """Compute both hypotheses' thresholds exactly, to about 1e-12 relative.

    Args:
        problem: Any quadratic problem.

    Source:
        Lemma "Solution Error", hypothesis. Differs from the paper: the repaired threshold besides the written one.
    """
    rows = blocks(problem)
    n, size = problem.n, problem.n + problem.m
    H = fmpq_mat(size, size)
    for i in range(size):
        for j in range(size):
            if i < n:
                H[i, j] = rows.f_xx[i, j] if j < n else rows.f_xy[i, j - n]
            else:
                H[i, j] = rows.f_xy[j, i - n] if j < n else rows.f_yy[i - n, j - n]
    mu_g = positive_eigenvalue(rows.g_yy, last=False)
    if all(value == fmpq(0) for value in H.entries()):
        zero = (Fraction(0), Fraction(0))
        return AlphaHypotheses(zero, mu_g, zero, None)
    low, high = positive_eigenvalue(H * H, last=True)
    C_f = root_below(low, _PRECISION), root_below(high, _PRECISION) * (1 + _PRECISION)
    squares = mu_g[0] / (2 * C_f[1]), mu_g[1] / (2 * C_f[0])
    return AlphaHypotheses(
        C_f=C_f,
        mu_g=mu_g,
        at_least=(2 * C_f[0] / mu_g[1], 2 * C_f[1] / mu_g[0]),
        at_most=(root_below(squares[0], _PRECISION), root_below(squares[1], _PRECISION) * (1 + _PRECISION)),
    )


def determinant(problem: Quadratic, rho: Sequence[Number], modulus: Number = 0) -> fmpq_poly:
    """The determinant of P as a polynomial in u = alpha**2.

    Args:
        problem: Any quadratic problem.
        rho: Activation weights, shape (p,), >= 0.
        modulus: The c above.
    """
    rows, R = blocks(problem), diagonal(_weights(problem, rho))
    points = list(range(-problem.m, problem.m + 1))
    return interpolate(points, [[_scaled_hessian(rows, R, modulus, Fraction(at)).det()] for at in points])[0]


def holds(problem: Quadratic, rho: Sequence[Number], alpha_0: Fraction, modulus: Number = 0) -> bool:
    """Whether P is positive definite for every alpha in ``(0, alpha_0]``.

    Args:
        problem: Any quadratic problem.
        rho: Activation weights, shape (p,), >= 0.
        alpha_0: Right end, > 0, included.
        modulus: The c above.

    Source:
        Lemma "Solution Error", hypothesis; Lemma "Hypergradient Bias Bound", ``mu >= c_mu alpha**-2``.
    """
    end = alpha_0**2
    rows, R = blocks(problem), diagonal(_weights(problem, rho))
    if not is_positive_definite(_scaled_hessian(rows, R, modulus, end)):
        return False
    return roots.count(determinant(problem, rho, modulus), Fraction(0), end) == 0


def largest_alpha(
    problem: Quadratic,
    rho: Sequence[Number],
    modulus: Number = 0,
    *,
    limit: Fraction = Fraction(1),
    precision: Fraction = Fraction(1, 10**6),
) -> Fraction:
    """The largest alpha_0 <= limit for which :func:`holds`, to a relative precision from below; 0 if none.

    Args:
        problem: Any quadratic problem.
        rho: Activation weights, shape (p,), >= 0.
        modulus: The c above.
        limit: Search no further, > 0.
        precision: Relative precision, > 0.
    """
    if holds(problem, rho, limit, modulus):
        return limit
    polynomial = determinant(problem, rho, modulus)
    if polynomial.is_zero():
        return Fraction(0)
    end = limit**2
    inside = roots.isolate(polynomial, Fraction(0), end)
    low, high = roots.refine_relative(polynomial, inside[0], precision) if inside else (end, end)
    # A root met exactly, or the end itself, bounds an open interval; stay below it.
    low = low if low < high else low * (1 - precision)
    found = root_below(low, precision)
    return found if holds(problem, rho, found, modulus) else Fraction(0)


def root_below(square: Fraction, precision: Fraction) -> Fraction:
    """A rational just below the square root of a positive number, by at most the relative precision."""
    scale = 1
    while True:
        found = Fraction(isqrt(square.numerator * scale**2 // square.denominator), scale)
        if found > 0 and square - found**2 <= precision * square:
            return found
        scale *= 10


def _scaled_hessian(rows: RationalBlocks, R: fmpq_mat, modulus: Number, u: Fraction) -> fmpq_mat:
    at, m = rational(u), rows.g_yy.nrows()
    shifted = rows.g_yy - diagonal([modulus] * m)
    return rows.f_yy * at**2 + shifted * at + rows.B.transpose() * R * rows.B


def _weights(problem: Quadratic, rho: Sequence[Number]) -> tuple[Fraction, ...]:
    weights = point(rho, problem.p, "rho")
    if any(weight < 0 for weight in weights):
        raise InvalidInputError("rho", "must be >= 0", [str(weight) for weight in weights])
    return weights


__all__ = ["AlphaHypotheses", "alpha_hypotheses", "determinant", "holds", "largest_alpha", "root_below"]


Interval: TypeAlias = tuple[Fraction, Fraction]
"""Rational bounds, equal where the number is rational and was met exactly."""

RELATIVE_WIDTH = Fraction(1, 10**12)


@dataclass(frozen=True)
class Conditioning:
    """Leading behaviour of the extreme eigenvalues and of the condition number.

    Args:
        largest_exponent: Power of alpha of the largest eigenvalue.
        largest: Enclosure of its coefficient.
        smallest_exponent: Power of alpha of the smallest eigenvalue.
        smallest: Enclosure of its coefficient.
    """

    largest_exponent: int
    largest: Interval
    smallest_exponent: int
    smallest: Interval

    @property
    def exponent(self) -> int:
        """Power of alpha of the condition number."""
        return self.largest_exponent - self.smallest_exponent

    @property
    def coefficient(self) -> Interval:
        """Enclosure of the condition number's coefficient."""
        return self.largest[0] / self.smallest[1], self.largest[1] / self.smallest[0]


def penalty_conditioning(problem: Quadratic, rho: Sequence[Number]) -> Conditioning:
    """Leading term of the condition number of the penalty Lagrangian in y.

    Args:
        problem: Any quadratic problem.
        rho: Activation weights, shape (p,), >= 0.

    Returns:
        Exponents, and enclosures of the coefficients to 1e-12 relative.

    Source:
        Lemma "Inner-loop Oracle Complexity" and remark "Inner Loop Complexity". Differs from the paper, whose
        remark uses the condition number of g.
    """
    weights = point(rho, problem.p, "rho")
    rows = blocks(problem)
    S = [i for i, weight in enumerate(weights) if weight > 0]
    if not S or select(rows.B, S).rank() == 0:
        return Conditioning(
            -2, positive_eigenvalue(rows.g_yy, last=True), -2, positive_eigenvalue(rows.g_yy, last=False)
        )
    B_S = select(rows.B, S)
    K = B_S.transpose() * diagonal([weights[i] for i in S]) * B_S
    largest = positive_eigenvalue(K, last=True)
    Z = _null_space(B_S)
    if Z.ncols() == 0:
        return Conditioning(-4, largest, -4, positive_eigenvalue(K, last=False))
    # The eigenvalues of g_yy on the null space, Z not being orthonormal.
    reduced = (Z.transpose() * Z).solve(Z.transpose() * rows.g_yy * Z)
    return Conditioning(-4, largest, -2, positive_eigenvalue(reduced, last=False))


def positive_eigenvalue(matrix: fmpq_mat, *, last: bool) -> Interval:
    """Enclose the largest or smallest positive eigenvalue of a matrix with real eigenvalues >= 0, not all 0.

    Args:
        matrix: Square; symmetric, or similar to a symmetric matrix.
        last: The largest instead of the smallest.

    Returns:
        Bounds to 1e-12 relative.
    """
    polynomial: fmpq_poly = matrix.charpoly()
    trace = sum((fraction(matrix[i, i]) for i in range(matrix.nrows())), Fraction(0))
    found = roots.isolate(polynomial, Fraction(0), 2 * trace)
    chosen = found[-1] if last else found[0]
    return roots.refine_relative(polynomial, chosen, RELATIVE_WIDTH)


def _null_space(matrix: fmpq_mat) -> fmpq_mat:
    """A rational basis of the null space, as columns."""
    reduced, rank = matrix.rref()
    size = matrix.ncols()
    pivots = [next(j for j in range(size) if reduced[i, j] != 0) for i in range(rank)]
    free = [j for j in range(size) if j not in pivots]
    basis = fmpq_mat(size, len(free))
    for k, j in enumerate(free):
        basis[j, k] = fmpq(1)
        for i, pivot in enumerate(pivots):
            basis[pivot, k] = -reduced[i, j]
    return basis
