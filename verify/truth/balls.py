r"""Enclosures by ball arithmetic, for data too large for exact rationals.

Every number is a ball: a midpoint with a radius within which the true value provably lies. The active set is
guessed in doubles and accepted only if the balls prove every sign (multipliers positive, other rows negative);
then the enclosures are of the true solution. Where a ball straddles zero the result says *undecided*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from flint import arb, arb_mat, ctx, fmpz_mat

from spec import ExactArray, InvalidInputError, Quadratic
from spec.exact import FloatArray
from verify.truth.algebra.linear_systems import VerifiedSystem, proves_positive_definite, upper
from verify.truth.algebra.rationals import Blocks, Number, Vector, column, matrix, point
from verify.truth.lower_level import guess_working_rows

PRECISION = 128
"""Working precision in bits; doubled once where the balls come out too wide."""

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class BallVector:
    """A vector enclosed entry by entry: the truth lies within ``mid +- radius``, rounding to doubles included."""

    mid: FloatArray
    radius: FloatArray

    @classmethod
    def of(cls, values: arb_mat) -> Self:
        """Enclosure in doubles of a column of balls."""
        mid = np.array([float(value.mid()) for value in values.entries()])
        # arb's own subtraction accounts for rounding the midpoint to a double.
        radius = np.array(
            [upper(value - arb(centre)) for value, centre in zip(values.entries(), mid.tolist(), strict=True)]
        )
        return cls(mid, radius)

    @property
    def error(self) -> float:
        """Largest radius."""
        return float(self.radius.max(initial=0.0))


@dataclass(frozen=True)
class BallLowerLevel:
    """Enclosures of the lower-level solution and of the exact gradient of F.

    ``active`` rows are held as equations, each proven to carry a positive multiplier; off them ``lam`` is exactly 0.
    Where the balls cannot prove the sign of ``undecided`` rows, all is that of the guessed active set, unproven.
    """

    y_star: BallVector
    lam: BallVector
    hypergradient: BallVector
    active: tuple[int, ...]
    undecided: tuple[int, ...]

    @property
    def decided(self) -> bool:
        """Whether the enclosures are proven."""
        return not self.undecided


def solve(problem: Quadratic, x: Sequence[Number], precision: int = PRECISION) -> BallLowerLevel:
    """Enclose y*(x), its multipliers and the gradient of F.

    Args:
        problem: Any quadratic problem; m and p to a few hundred.
        x: Upper-level point, shape (n,).
        precision: Bits; doubled once if the active set stays undecided.

    Source:
        Eq. (constrainedbilevel). Differs from the paper: nothing; the numbers carry proven radii.
    """
    at = point(x, problem.n, "x")
    with ctx.workprec(precision):
        found = _solve(problem, at)
    if found.decided:
        return found
    with ctx.workprec(2 * precision):
        return _solve(problem, at)


def _solve(problem: Quadratic, at: Vector) -> BallLowerLevel:
    """Solve with the guessed rows S as equations; list every row whose sign the balls do not prove."""
    r, x, m = Blocks.of(problem, _ball_matrix), arb_mat(column(at)), problem.m
    S = guess_working_rows(problem, at)
    system = _saddle(problem, r, S)
    slope = r.g_y + r.g_xy.transpose() * x
    offset = r.A * x - r.b
    y, minus_lam = _split(system.solve(_stacked(-1 * slope, _rows(offset, S))), m)
    lam = arb_mat(problem.p, 1)
    for k, i in enumerate(S):
        lam[i, 0] = -minus_lam[k, 0]
    h = offset - r.B * y
    # The gradient by its adjoint system, one right-hand side instead of n.
    grad_y_f = r.f_y + r.f_xy.transpose() * x + r.f_yy * y
    w, nu = _split(system.solve(_stacked(-1 * grad_y_f, arb_mat(len(S), 1))), m)
    gradient = r.f_x + r.f_xx * x + r.f_xy * y
    gradient = gradient + r.g_xy * w - _rows(r.A, S).transpose() * nu
    return BallLowerLevel(
        y_star=BallVector.of(y),
        lam=BallVector.of(lam),
        hypergradient=BallVector.of(gradient),
        active=S,
        undecided=tuple(i for i in range(problem.p) if not (lam[i, 0] > 0 if i in S else h[i, 0] < 0)),
    )


def _saddle(problem: Quadratic, balls: Blocks[arb_mat], rows: Sequence[int]) -> VerifiedSystem:
    """The matrix [[g_yy, B_rows'], [B_rows, 0]]."""
    a, m, k = problem.arrays, problem.m, len(rows)
    approximate = np.zeros((m + k, m + k))
    approximate[:m, :m] = a.g_yy
    approximate[m:, :m] = a.B[list(rows)]
    approximate[:m, m:] = approximate[m:, :m].T
    slack = _EPS * np.abs(approximate)
    slack[:m, :m] += 4 * _EPS * np.abs(a.g_yy)
    if not proves_positive_definite(approximate[:m, :m], float(np.linalg.norm(slack[:m, :m]))):
        raise InvalidInputError("g.yy", "must be positive definite with room to prove it")
    B = _rows(balls.B, rows)
    listed = [u + v for u, v in zip(balls.g_yy.tolist(), B.transpose().tolist() if k else [[]] * m, strict=True)]
    listed += [row + [arb(0)] * k for row in (B.tolist() if k else [])]
    return VerifiedSystem(arb_mat(listed), approximate, slack)


def _ball_matrix(array: ExactArray) -> arb_mat:
    integers = [[value for value in row if type(value) is int] for row in array.rows]
    if array.ndim == 2 and all(len(row) == array.shape[1] for row in integers):
        return arb_mat(fmpz_mat(integers))
    return arb_mat(matrix(array))


def _rows(values: arb_mat, kept: Sequence[int]) -> arb_mat:
    return arb_mat(len(kept), values.ncols(), [values[i, j] for i in kept for j in range(values.ncols())])


def _stacked(top: arb_mat, bottom: arb_mat) -> arb_mat:
    return arb_mat(top.nrows() + bottom.nrows(), 1, top.entries() + bottom.entries())


def _split(values: arb_mat, m: int) -> tuple[arb_mat, arb_mat]:
    entries = values.entries()
    return arb_mat(m, 1, entries[:m]), arb_mat(len(entries) - m, 1, entries[m:])
