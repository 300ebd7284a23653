r"""Enclosures by ball arithmetic, for data too large for exact rationals.

Every number is a ball: a midpoint with a radius within which the true value provably lies. The active set is
guessed in doubles and accepted only if the balls prove every sign (multipliers positive, other rows negative);
then the enclosures are of the true solution. Where a ball straddles zero the result says *undecided*.

Linear systems are refined with an inverse R in doubles and judged by exact residuals: if
:math:`\beta = \|I - RA\|_\infty < 1`, then for every approximate solution

.. math:: \|x - \tilde x\|_\infty \le \frac{\|R\,(b - A\tilde x)\|_\infty}{1 - \beta}.

R comes from numpy, beta from a floating-point bound that covers every order of summation, residuals from balls.
Source: S. M. Rump, "Verification methods", Acta Numerica 19 (2010), sections 10.1 and 10.8.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from flint import arb, arb_mat, ctx, fmpz_mat

from spec import ExactArray, InvalidInputError, Quadratic
from spec.exact import FloatArray
from verify.truth.algebra.rationals import Blocks, Number, Vector, column, matrix, point
from verify.truth.lower_level.lower_level import guess_working_rows

PRECISION = 128
"""Working precision in bits; doubled once where the balls come out too wide."""
_EPS = float(np.finfo(np.float64).eps)
_MAX_BETA = 0.5
_SWEEPS = 40
"""Refinement gains -log2(beta) bits a sweep, at least one; a sweep that gains nothing ends it."""


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
    """Enclose y*(x), its multipliers and the gradient of F; m and p to a few hundred.

    The precision, in bits, is doubled once if the active set stays undecided.

    Source:
        Eq. (constrainedbilevel). Differs from the paper: nothing; the numbers carry proven radii.
    """
    at = point(x, problem.n, "x")
    with ctx.workprec(precision):
        lower = _solve(problem, at)
    if lower.decided:
        return lower
    with ctx.workprec(2 * precision):
        return _solve(problem, at)


def _solve(problem: Quadratic, at: Vector) -> BallLowerLevel:
    """Solve with the guessed rows S as equations; list every row whose sign the balls do not prove."""
    r, x, m = Blocks.of(problem, ball_matrix), arb_mat(column(at)), problem.m
    S = guess_working_rows(problem, at)
    system = saddle_system(problem, r, S)
    slope = r.g_y + r.g_xy.transpose() * x
    offset = r.A * x - r.b
    y, minus_lam = split(system.solve(stacked(-1 * slope, row_block(offset, S))), m)
    lam = arb_mat(problem.p, 1)
    for k, i in enumerate(S):
        lam[i, 0] = -minus_lam[k, 0]
    h = offset - r.B * y
    # The gradient by its adjoint system, one right-hand side instead of n.
    grad_y_f = r.f_y + r.f_xy.transpose() * x + r.f_yy * y
    w, nu = split(system.solve(stacked(-1 * grad_y_f, arb_mat(len(S), 1))), m)
    gradient = r.f_x + r.f_xx * x + r.f_xy * y
    gradient = gradient + r.g_xy * w - row_block(r.A, S).transpose() * nu
    return BallLowerLevel(
        y_star=BallVector.of(y),
        lam=BallVector.of(lam),
        hypergradient=BallVector.of(gradient),
        active=S,
        undecided=tuple(i for i in range(problem.p) if not (lam[i, 0] > 0 if i in S else h[i, 0] < 0)),
    )


def saddle_system(problem: Quadratic, balls: Blocks[arb_mat], rows: Sequence[int]) -> VerifiedSystem:
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
    B = row_block(balls.B, rows)
    listed = [u + v for u, v in zip(balls.g_yy.tolist(), B.transpose().tolist() if k else [[]] * m, strict=True)]
    listed += [row + [arb(0)] * k for row in (B.tolist() if k else [])]
    return VerifiedSystem(arb_mat(listed), approximate, slack)


def ball_matrix(array: ExactArray) -> arb_mat:
    """Balls of an exact array."""
    integers = [[value for value in row if type(value) is int] for row in array.rows]
    if array.ndim == 2 and all(len(row) == array.shape[1] for row in integers):
        return arb_mat(fmpz_mat(integers))
    return arb_mat(matrix(array))


def row_block(values: arb_mat, rows: Sequence[int]) -> arb_mat:
    """The given rows."""
    return arb_mat(len(rows), values.ncols(), [values[i, j] for i in rows for j in range(values.ncols())])


def stacked(top: arb_mat, bottom: arb_mat) -> arb_mat:
    """One column of two."""
    return arb_mat(top.nrows() + bottom.nrows(), 1, top.entries() + bottom.entries())


def split(values: arb_mat, m: int) -> tuple[arb_mat, arb_mat]:
    """The first m entries of a column, and the others."""
    entries = values.entries()
    return arb_mat(m, 1, entries[:m]), arb_mat(len(entries) - m, 1, entries[m:])


class VerifiedSystem:
    """One square matrix within balls, factored once, solved for many right-hand sides.

    ``slack`` bounds the distance of its ``approximate`` in doubles, entry by entry.
    """

    def __init__(self, matrix: arb_mat, approximate: FloatArray, slack: FloatArray) -> None:
        self._matrix = matrix
        self._inverse: FloatArray | None = None
        self._beta = np.inf
        try:
            inverse = np.asarray(np.linalg.inv(approximate), dtype=np.float64)
        except np.linalg.LinAlgError:
            return
        size = len(approximate)
        rounding = np.abs(inverse) @ (np.abs(approximate) * (_EPS * (size + 4)) + slack)
        error = np.abs(np.eye(size) - inverse @ approximate) + rounding
        # The bound is itself computed in doubles; 1e-10 covers its own rounding for any size used here.
        beta = float(error.sum(axis=1).max(initial=0.0)) * (1 + 1e-10)
        if beta < _MAX_BETA:
            self._inverse, self._beta = inverse, beta

    def solve(self, right: arb_mat) -> arb_mat:
        """Enclose the solution of ``matrix @ v = right``, a column; refused if the matrix may be singular."""
        if self._inverse is None:
            return self._solve_in_balls(right)
        size = right.nrows()
        solution = arb_mat(size, 1)
        previous = np.inf
        target = 2.0 ** -(ctx.prec - 20)
        for _ in range(_SWEEPS):
            residual = (right - self._matrix * solution).entries()
            middle = np.array([float(value.mid()) for value in residual])
            step = self._inverse @ middle
            gained = float(np.abs(step).max(initial=0.0))
            if not gained < previous / 2:
                break
            solution = arb_mat(size, 1, [(v + s).mid() for v, s in zip(solution.entries(), step.tolist(), strict=True)])
            previous = gained
            if gained <= target:
                break
        residual = (right - self._matrix * solution).entries()
        bound = np.abs(self._inverse) @ np.array([upper(value) for value in residual])
        radius = arb(0, float(bound.max(initial=0.0)) * (1 + 1e-10) / (1 - self._beta) * (1 + 1e-10))
        return arb_mat(size, 1, [value + radius for value in solution.entries()])

    def _solve_in_balls(self, right: arb_mat) -> arb_mat:
        try:
            return self._matrix.solve(right, algorithm="precond")
        except ZeroDivisionError:
            raise InvalidInputError("problem", "must have linear systems that balls can tell from singular") from None


def proves_positive_definite(symmetric: FloatArray, slack: float) -> bool:
    """Whether a Cholesky factorisation in doubles proves every matrix within the spectral slack positive definite."""
    size = len(symmetric)
    shift = 2 * (size + 3) * _EPS * float(np.trace(symmetric)) + 2 * slack
    try:
        np.linalg.cholesky(symmetric - shift * np.eye(size))
    except np.linalg.LinAlgError:
        return False
    return True


def upper(value: arb) -> float:
    """A double at least as large as every |number| in the ball."""
    return 0.0 if value.is_zero() else float(np.nextafter(float(value.abs_upper()), np.inf))
