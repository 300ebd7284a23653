"""Line 3 solved exactly on one quadratic problem, again and again: what its solvers keep from call to call."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from f2csa_ref.bounds import Bounds, Indices
from f2csa_ref.fast.operators import Operator, Rows, Tally
from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.lower_level.exact import solve_quadratic
from f2csa_ref.lower_level.pivoting import BlockPivoting
from f2csa_ref.lower_level.solution import ACCEPTED_RESIDUAL, LowerLevelError, length, row_lengths
from f2csa_ref.objectives import QuadraticObjectives
from spec.exact import Matrix, Vector

DUAL_ROWS = 500
"""Number of dense rows up to which the lower level is solved for its multipliers, with g_yy factorised once."""


class Prepared(Protocol):
    """What an oracle has ready for its lower level."""

    q: QuadraticObjectives
    g_yy: Operator
    rows: Rows
    tally: Tally


class _Pivoting:
    """What block pivoting keeps."""

    pivoting: BlockPivoting

    def memory(self) -> dict[str, Any]:
        return self.pivoting.memory()

    def recall(self, memory: Mapping[str, Any]) -> None:
        self.pivoting.recall(memory)


class PivotingLower(_Pivoting):
    """Line 3 over bounds: the last call's active set is the guess."""

    first_order = False

    def __init__(self, oracle: Prepared) -> None:
        self.bounds: Bounds = oracle.rows.bounds
        self.g_yy, self.moves = oracle.g_yy, oracle.rows.A.multiple != 0.0
        self.tally, self.pivoting = oracle.tally, BlockPivoting(oracle.q.g_yy, oracle.g_yy.forth)

    def solve(self, x: Vector, c: Vector, r: Vector) -> tuple[Vector, Vector, int, Vector]:  # noqa: ARG002  # the protocol's
        pivoting, before = self.pivoting, (self.pivoting.factorisations, self.pivoting.doubles_read)
        y, z = pivoting.solve(c, *self.bounds.ends(r))
        self.tally.hessian_factorisations += pivoting.factorisations - before[0]
        self.tally.bytes_read += 8 * (pivoting.doubles_read - before[1])
        return y, self.bounds.multipliers(z), 0, z

    def adjoint(self, rows: Indices, right: Vector) -> tuple[Vector, Vector]:
        """u, (m,), and v of the active rows: g_yy u - B_rows' v = right, B_rows u = 0, by the solve's own factor.

        Of bounds that do not move with x no v is asked: it is 0 here.
        """
        column, pivoting = self.bounds.column[rows], self.pivoting
        free, before = np.ones(len(right), dtype=bool), (pivoting.factorisations, pivoting.doubles_read)
        free[column] = False
        u = np.zeros(len(right))
        if free.any():
            u[free] = pivoting.solved(free, right[free])
        self.tally.hessian_factorisations += pivoting.factorisations - before[0]
        self.tally.bytes_read += 8 * (pivoting.doubles_read - before[1])
        if not (self.moves and len(rows)):
            return u, np.zeros(len(rows))
        return u, (self.g_yy.forth(u) - right)[column] / self.bounds.entries[rows]


class DualLower(_Pivoting):
    """Line 3 over few dense rows: min ½ lamᵀ(B G⁻¹ Bᵀ)lam - lamᵀ(r - B y_free) over lam >= 0, G factorised once."""

    first_order = False

    def __init__(self, oracle: Prepared) -> None:
        q = oracle.q
        self.q, self.g_yy, self.tally = q, oracle.g_yy, oracle.tally
        self.factor = q.g_yy_factor
        oracle.tally.hessian_factorisations += 1
        self.spread = sp.cho_solve(self.factor, q.B.T, check_finite=False)
        gram = q.B @ self.spread
        self.pivoting = BlockPivoting((gram + gram.T) / 2)
        self.lengths = row_lengths(q)[1]
        self.zero, self.infinite = np.zeros(q.p), np.full(q.p, np.inf)

    def solve(self, x: Vector, c: Vector, r: Vector) -> tuple[Vector, Vector, int, Vector]:
        free, _ = sp.dpotrs(self.factor[0], -c, lower=1)
        self.tally.bytes_read += self.factor[0].nbytes
        with suppress(LowerLevelError):
            lam, _ = self.pivoting.solve(self.q.B @ free - r, self.zero, self.infinite)
            y = free + self.spread @ lam
            reached = self.q.B @ y
            # A Gram matrix that is singular but for rounding may pass for one that is not.
            if (r - reached <= ACCEPTED_RESIDUAL * (np.abs(r) + self.lengths * length(y))).all():
                return y, lam, 0, self.g_yy.forth(y) + c
        # Dependent rows: the general solver knows what to do, or to say.
        solved = solve_quadratic(self.q, x)
        return solved.y_star, solved.lam, 0, self.g_yy.forth(solved.y_star) + c

    def adjoint(self, rows: Indices, right: Vector) -> tuple[Vector, Vector]:
        """As :meth:`PivotingLower.adjoint`, by the factor of g_yy and that of the active rows' Gram matrix."""
        u, _ = sp.dpotrs(self.factor[0], right, lower=1)
        self.tally.bytes_read += self.factor[0].nbytes
        return holding(self, rows, u)


class Spread(Protocol):
    """A lower level over few dense rows that has g_yy⁻¹Bᵀ, (m, p), and the factors of B g_yy⁻¹Bᵀ."""

    q: QuadraticObjectives
    spread: Matrix
    pivoting: BlockPivoting


def holding(lower: Spread, rows: Indices, u: Vector) -> tuple[Vector, Vector]:
    """u, (m,), moved along g_yy⁻¹Bᵀ to where the given rows of B u are 0, and by how much of each row."""
    if not len(rows):
        return u, np.zeros(0)
    held = np.zeros(lower.q.p, dtype=bool)
    held[rows] = True
    v = -lower.pivoting.solved(held, lower.q.B[rows] @ u)
    return u + lower.spread[:, rows] @ v, v


class GeneralLower:
    """Line 3 over many dense rows, by the pages' solver."""

    first_order = False

    def __init__(self, oracle: Prepared) -> None:
        self.q, self.g_yy = oracle.q, oracle.g_yy

    def solve(self, x: Vector, c: Vector, r: Vector) -> tuple[Vector, Vector, int, Vector]:  # noqa: ARG002  # the protocol's
        solved = solve_quadratic(self.q, x)
        return solved.y_star, solved.lam, 0, self.g_yy.forth(solved.y_star) + c

    def memory(self) -> dict[str, Any]:
        return {}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Each call is by itself."""


def prepared_lower(oracle: Prepared) -> PivotingLower | DualLower | GeneralLower:
    """The exact lower level that suits the rows: bounds, few dense rows, or many."""
    if oracle.q.bounds is not None:
        return PivotingLower(oracle)
    return DualLower(oracle) if oracle.q.p <= min(DUAL_ROWS, oracle.q.m) else GeneralLower(oracle)
