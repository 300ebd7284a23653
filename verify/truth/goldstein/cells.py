r"""The pieces of F near a point: polyhedral cells on which F is one quadratic, exact.

With the rows S held as equations, :math:`W = B G^{-1} B^T` and :math:`h_0(z)` the row values at the unconstrained
lower-level minimum, the multipliers and the other rows are affine in z:

.. math:: \lambda_S(z) = W_{SS}^{-1} h_{0,S}(z), \qquad h_R(z) = h_{0,R}(z) - W_{RS} \lambda_S(z).

The cell of S is where the first are nonnegative and the second nonpositive, and there :math:`\nabla F(z) = Hz + c`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat

from spec import InvalidInputError, Quadratic
from spec.exact import FloatArray
from verify.truth.algebra.rationals import RationalBlocks, Vector, blocks, column, fraction, fractions, select
from verify.truth.lower_level import complementarity
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError

MAX_HALVINGS = 200
MAX_ROW_SETS = 20_000
"""Most independent row sets enumerated, a few seconds of exact algebra."""


class TooManyCellsError(InvalidInputError):
    """More row sets than can be enumerated; the caller may go on without a certificate."""


@dataclass(frozen=True)
class PieceCell:
    """One piece of F that meets the ball and has an interior: ``M z <= q``, where the gradient is ``H z + c``.

    No row of M vanishes.

    ``nearest`` is its point nearest to the ball's centre; if the ball ``touches``, they meet there only. ``inside``
    lies in the interior of cell and ball: the nearest point where the ball only touches, ``None`` where none could be
    proven.
    """

    rows: tuple[int, ...]
    M: fmpq_mat
    q: fmpq_mat
    H: fmpq_mat
    c: fmpq_mat
    nearest: Vector
    touches: bool
    inside: Vector | None

    def gradient(self, z: Vector) -> Vector:
        """Gradient of the piece at z, shape (n,)."""
        return fractions(self.H * column(z) + self.c)

    def contains(self, z: Vector) -> bool:
        """Whether z lies in the closed cell."""
        slack = self.q - self.M * column(z)
        return all(value >= 0 for value in slack.entries())

    @cached_property
    def arrays(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """M, q, H and c as doubles."""
        M, q, H, c = (as_array(block) for block in (self.M, self.q, self.H, self.c))
        return M, q[:, 0], H, c[:, 0]


def cells_in_ball(problem: Quadratic, x: Vector, radius: Fraction) -> list[PieceCell]:
    """All cells with an interior that meet the closed ball, touching ones included.

    Refused if the lower level is infeasible at x or elsewhere in the ball, or there are too many independent row sets.
    """
    maps = _Maps(blocks(problem))
    centre = column(x)
    try:
        complementarity.solve(maps.W, maps.slope * centre + maps.offset)
    except InfeasibleLowerLevelError as error:
        raise InvalidInputError(error.argument, error.rule, ", ".join(map(str, x))) from None
    cells: dict[tuple[fmpq, ...], PieceCell] = {}
    for count, S in enumerate(_independent_row_sets(maps, centre, radius)):
        if count >= MAX_ROW_SETS:
            raise TooManyCellsError("problem", f"must have at most {MAX_ROW_SETS} independent row sets", problem.p)
        cell = _cell(maps, S, centre, radius)
        if cell is not None:
            # Dependent rows name one piece several times.
            key = tuple(cell.H.entries()) + tuple(cell.c.entries()) + tuple(cell.M.entries())
            cells.setdefault(key, cell)
    return list(cells.values())


class _Maps:
    """What the cells share: rows and unconstrained minimum as affine maps of z."""

    def __init__(self, rows: RationalBlocks) -> None:
        self.rows = rows
        n = rows.g_xy.nrows()
        self.Z = rows.g_yy.solve(rows.B.transpose())
        self.W = rows.B * self.Z
        self.Y = -1 * rows.g_yy.solve(rows.g_xy.transpose()) if n else rows.g_xy.transpose()
        self.y_0 = -1 * rows.g_yy.solve(rows.g_y)
        self.slope = rows.A - rows.B * self.Y
        self.offset = -1 * (rows.B * self.y_0) - rows.b


def _independent_row_sets(maps: _Maps, centre: fmpq_mat, radius: Fraction) -> Iterator[tuple[int, ...]]:
    """Row sets with independent rows of B, small ones first on every branch; dependent ones bound the domain."""
    p, m = maps.W.nrows(), maps.rows.B.ncols()
    moving = any(value != 0 for value in maps.rows.A.entries())
    stack: list[tuple[int, ...]] = [()]
    while stack:
        S = stack.pop()
        yield S
        for i in range(S[-1] + 1 if S else 0, p):
            extended = (*S, i)
            if len(extended) <= m and select(maps.W, extended, extended).det() != 0:
                stack.append(extended)
        if moving:
            _require_feasible(maps, S, centre, radius)


def _require_feasible(maps: _Maps, S: tuple[int, ...], centre: fmpq_mat, radius: Fraction) -> None:
    """Check each dependency w >= 0, B'w = 0 of one more row on S: its combination of the rows must stay <= 0."""
    rows = maps.rows
    B_S = select(rows.B, S)
    for i in range(rows.B.nrows()):
        if i in S:
            continue
        B_i = select(rows.B, [i]).transpose()
        v = (B_S * B_S.transpose()).solve(B_S * B_i) if S else fmpq_mat(0, 1)
        if B_S.transpose() * v != B_i if S else any(value != 0 for value in B_i.entries()):
            continue
        weights = [-value for value in v.entries()]
        if any(value < 0 for value in weights):
            continue
        A_w = select(rows.A, [i]).transpose()
        b_w = rows.b[i, 0]
        for value, j in zip(weights, S, strict=True):
            A_w = A_w + value * select(rows.A, [j]).transpose()
            b_w += value * rows.b[j, 0]
        here = (A_w.transpose() * centre)[0, 0] - b_w
        steep = fraction((A_w.transpose() * A_w)[0, 0])
        if here > 0 or steep * radius**2 > fraction(here) ** 2:
            rule = f"must keep the ball where the lower level is feasible (rows {sorted((*S, i))} conflict)"
            raise InvalidInputError("radius", rule, radius)


def _cell(maps: _Maps, S: tuple[int, ...], centre: fmpq_mat, radius: Fraction) -> PieceCell | None:
    rows = maps.rows
    R = [i for i in range(maps.W.nrows()) if i not in S]
    if S:
        W_SS = select(maps.W, S, S)
        L, lift = W_SS.solve(select(maps.slope, S)), W_SS.solve(select(maps.offset, S))
        h_slope = select(maps.slope, R) - select(maps.W, R, S) * L
        h_offset = select(maps.offset, R) - select(maps.W, R, S) * lift
        Z_S = select(maps.Z, range(maps.Z.nrows()), S)
        J, r = maps.Y + Z_S * L, maps.y_0 + Z_S * lift
        M = fmpq_mat((-1 * L).tolist() + h_slope.tolist())
        q = fmpq_mat(lift.tolist() + (-1 * h_offset).tolist())
    else:
        M, q, J, r = maps.slope, -1 * maps.offset, maps.Y, maps.y_0
    if not _every_row_within(M, q, centre, radius):
        return None
    moving = [i for i in range(M.nrows()) if any(M[i, j] != 0 for j in range(M.ncols()))]
    M, q = select(M, moving), select(q, moving)
    try:
        lam, _ = complementarity.solve(M * M.transpose(), M * centre - q)
    except InfeasibleLowerLevelError:
        return None
    away = M.transpose() * fmpq_mat(len(moving), 1, lam)
    distance_2 = fraction((away.transpose() * away)[0, 0])
    if distance_2 > radius**2:
        return None
    nearest = fractions(centre - away)
    interior = interior_point(M, q, nearest, fractions(centre), radius)
    if interior.empty:
        return None
    touches = distance_2 == radius**2
    H = rows.f_xx + rows.f_xy * J + J.transpose() * rows.f_xy.transpose() + J.transpose() * rows.f_yy * J
    c = rows.f_x + rows.f_xy * r + J.transpose() * (rows.f_y + rows.f_yy * r)
    return PieceCell(S, M, q, H, c, nearest, touches, nearest if touches and interior.point else interior.point)


def _every_row_within(M: fmpq_mat, q: fmpq_mat, centre: fmpq_mat, radius: Fraction) -> bool:
    """Whether no single row of the cell already keeps it off the ball."""
    excess = (M * centre - q).entries()
    for i, value in enumerate(excess):
        if value > 0:
            steep = sum((M[i, j] ** 2 for j in range(M.ncols())), fmpq(0))
            if fraction(value) ** 2 > radius**2 * fraction(steep):
                return False
    return True


def as_array(block: fmpq_mat) -> FloatArray:
    """Nearest doubles of a rational matrix."""
    listed = [[float(fraction(value)) for value in row] for row in block.tolist()]
    return np.array(listed, dtype=np.float64).reshape(block.nrows(), block.ncols())


@dataclass(frozen=True)
class Interior:
    """Whether the interior is proven empty; else a point of it, ``None`` where neither could be proven.

    The point is strictly inside the ball unless the ball only touches the polyhedron.
    """

    empty: bool
    point: Vector | None


def interior_point(M: fmpq_mat, q: fmpq_mat, nearest: Vector, centre: Vector, radius: Fraction) -> Interior:
    """Find an interior point of M z <= q near its point nearest to the centre, which lies in the closed ball.

    No row of M vanishes. The proof is a point with exactly positive slacks, or weights that combine the rows to "0 <= 0
    or less".
    """
    from scipy.optimize import linprog  # slow to import, rarely asked

    if not M.nrows():
        return Interior(empty=False, point=centre)
    slopes, slack = as_array(M), as_array(q - M * column(nearest))[:, 0]
    norms = np.linalg.norm(slopes, axis=1)
    # Largest margin t around nearest + radius d with |d| <= 2: the cell is convex, so its interior reaches there.
    n, unit = M.ncols(), float(radius)
    solution = linprog(
        np.r_[np.zeros(n), -1.0],
        A_ub=np.c_[slopes / norms[:, None], np.ones(len(slack))],
        b_ub=slack / norms / unit,
        bounds=[(-2.0, 2.0)] * n + [(None, 2.0)],
        method="highs",
    )
    if solution.x is not None:
        candidate = tuple(v + radius * Fraction(float(d)) for v, d in zip(nearest, solution.x[:n], strict=True))
        if all(value > 0 for value in (q - M * column(candidate)).entries()):
            return Interior(empty=False, point=_into_ball(candidate, nearest, centre, radius))
        if _proves_empty(M, q, -np.asarray(solution.ineqlin.marginals) / norms):
            return Interior(empty=True, point=None)
    return Interior(empty=False, point=None)


def _into_ball(candidate: Vector, nearest: Vector, centre: Vector, radius: Fraction) -> Vector:
    """Move an interior point towards the nearest one until it is strictly inside the ball."""
    share = Fraction(1)
    for _ in range(MAX_HALVINGS):
        z = tuple(a + share * (b - a) for a, b in zip(nearest, candidate, strict=True))
        if sum((v - w) ** 2 for v, w in zip(z, centre, strict=True)) < radius**2:
            return z
        share /= 2
    return nearest


def _proves_empty(M: fmpq_mat, q: fmpq_mat, weights: FloatArray) -> bool:
    """Whether the rows that carry weight combine exactly to M'w = 0 and q'w <= 0 with w >= 0, w != 0."""
    support = [i for i, w in enumerate(weights) if w > 1e-9 * max(1e-300, float(np.abs(weights).max()))]
    if not support:
        return False
    M_S, q_S = select(M, support), select(q, support)
    null, rank = _left_null(M_S)
    if len(support) - rank != 1:
        return False
    w = null if sum(1 for v in null if v > 0) >= sum(1 for v in null if v < 0) else [-v for v in null]
    if any(v < 0 for v in w):
        return False
    return sum((v * q_S[i, 0] for i, v in enumerate(w)), fmpq(0)) <= 0


def _left_null(M: fmpq_mat) -> tuple[list[fmpq], int]:
    """A vector w with w'M = 0 (the last one, from the reduced echelon form) and the rank of M."""
    reduced, rank = M.transpose().rref()
    k = M.nrows()
    pivots = [next(j for j in range(k) if reduced[i, j] != 0) for i in range(rank)]
    free = next((j for j in range(k) if j not in pivots), None)
    w = [fmpq(0)] * k
    if free is not None:
        w[free] = fmpq(1)
        for i, j in enumerate(pivots):
            w[j] = -reduced[i, free]
    return w, rank
