r"""How the penalty Lagrangian's conditioning in y grows as alpha tends to 0, exactly.

:math:`\nabla^2_{yy}L = f_{yy} + \alpha^{-2}g_{yy} + \alpha^{-4}K` with :math:`K = B^TRB`. Its largest eigenvalue
follows :math:`\alpha^{-4}K`; its smallest follows :math:`\alpha^{-2}g_{yy}` on the null space of K, if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from flint import fmpq, fmpq_mat, fmpq_poly

from spec import Quadratic
from verify.exact import roots
from verify.exact.rationals import Number, blocks, diagonal, fraction, point, select

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
