r"""Derivatives of the lower-level solution with given rows held as equations.

.. math:: G J - B_S^T \Lambda = -g_{xy}^T, \quad B_S J = A_S.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq_mat

from verify.truth.algebra.rationals import Number, RationalBlocks, Vector, beside, column, fractions, select


def differentiate(rows: RationalBlocks, S: tuple[int, ...]) -> tuple[fmpq_mat, fmpq_mat]:
    """J and Lambda with the rows S held as equations."""
    m = rows.g_yy.nrows()
    B_S, A_S = select(rows.B, S), select(rows.A, S)
    solved = rows.g_yy.solve(beside(B_S.transpose(), rows.g_xy.transpose()))
    Z, J_0 = select(solved, range(m), range(len(S))), -1 * select(solved, range(m), range(len(S), solved.ncols()))
    if not S:
        return J_0, fmpq_mat(0, J_0.ncols())
    Lam = (B_S * Z).solve(A_S - B_S * J_0)
    return J_0 + Z * Lam, Lam


def project(rows: RationalBlocks, S: tuple[int, ...], right: fmpq_mat) -> fmpq_mat:
    """Minimise ½vᵀGv - rightᵀv over B_S v = 0, column by column."""
    B_S = select(rows.B, S)
    solved = rows.g_yy.solve(beside(B_S.transpose(), right))
    m = rows.g_yy.nrows()
    Z, free = select(solved, range(m), range(len(S))), select(solved, range(m), range(len(S), solved.ncols()))
    return free - Z * (B_S * Z).solve(B_S * free) if S else free


def carries_multipliers(rows: RationalBlocks, x: Sequence[Number], y_star: Vector, chosen: tuple[int, ...]) -> bool:
    """Whether the optimality conditions hold with multipliers on the chosen rows alone."""
    at, y = column(x), column(y_star)
    residual = rows.g_y + rows.g_xy.transpose() * at + rows.g_yy * y
    if not chosen:
        return all(value == 0 for value in residual.entries())
    B_c = select(rows.B, chosen)
    lam = (B_c * B_c.transpose()).solve(B_c * residual)
    return B_c.transpose() * lam == residual and all(value >= 0 for value in lam.entries())


def piece_gradient(rows: RationalBlocks, x: Sequence[Number], y_star: Vector, S: tuple[int, ...]) -> Vector:
    """Gradient of the selection of F that holds the rows S as equations."""
    at, y = column(x), column(y_star)
    J, _ = differentiate(rows, S)
    grad_x_f = rows.f_x + rows.f_xx * at + rows.f_xy * y
    grad_y_f = rows.f_y + rows.f_xy.transpose() * at + rows.f_yy * y
    return fractions(grad_x_f + J.transpose() * grad_y_f)
