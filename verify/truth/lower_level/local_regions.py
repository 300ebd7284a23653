r"""Where the pieces of F lie near one point: which row sets own a region there, and whether F is defined all around.

Near x the row set S is active where its multipliers are nonnegative and the other rows nonpositive. Of these only the
ones that are zero at x decide, and only by their slopes

.. math:: \Lambda_S = W_{SS}^{-1} (A - BY)_S, \quad (A - BY)_R - W_{RS} \Lambda_S, \qquad
          W = B G^{-1} B^T, \quad Y = -G^{-1} g_{xy}^T.

A strict system :math:`M d < 0` has a solution iff :math:`M d \le -1` has one, which the exact complementarity solver
decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq, fmpq_mat

from verify.truth.algebra.rationals import RationalBlocks, select
from verify.truth.lower_level import complementarity
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError


def owns_region(rows: RationalBlocks, chosen: Sequence[int], lam: Sequence[fmpq], active: Sequence[int]) -> bool:
    """Whether some open set arbitrarily near x has the independent rows ``chosen`` as its active ones.

    ``lam`` are their multipliers at x, nonnegative; ``active`` all rows that are zero there. A slope that vanishes
    keeps its value, zero, and cuts nothing off.
    """
    others = [i for i in active if i not in chosen]
    Z, Y = rows.g_yy.solve(rows.B.transpose()), -1 * rows.g_yy.solve(rows.g_xy.transpose())
    W, slope = rows.B * Z, rows.A - rows.B * Y
    reduced_slope = select(slope, others)
    signs: list[list[fmpq]] = []
    if chosen:
        growth = select(W, chosen, chosen).solve(select(slope, chosen))
        reduced_slope = reduced_slope - select(W, others, chosen) * growth
        signs = [row for row, value in zip((-1 * growth).tolist(), lam, strict=True) if value == 0]
    moving = [row for row in [*signs, *reduced_slope.tolist()] if any(value != 0 for value in row)]
    if not moving:
        return True
    M = fmpq_mat(moving)
    return _has_solution(M * M.transpose(), fmpq_mat(len(moving), 1, [fmpq(1)] * len(moving)))


def defined_around(rows: RationalBlocks, active: Sequence[int]) -> bool:
    """Whether the lower level is feasible in every direction from x, so that F is defined on a whole ball.

    The directions d with ``A d <= B v`` on the active rows for some v form a convex cone: it is everything iff it holds
    every coordinate direction and its opposite.
    """
    if not active:
        return True
    A, B = select(rows.A, active), select(rows.B, active)
    S = B * B.transpose()
    columns = [select(A, range(len(active)), [j]) for j in range(A.ncols())]
    return all(_has_solution(S, sign * column) for column in columns for sign in (1, -1))


def _has_solution(S: fmpq_mat, h_0: fmpq_mat) -> bool:
    try:
        complementarity.solve(S, h_0)
    except InfeasibleLowerLevelError:
        return False
    return True
