r"""Enclosures by ball arithmetic, for data too large for exact rationals.

Every number is a ball: a midpoint with a radius within which the true value provably lies. The active set is
guessed in doubles and accepted only if the balls prove every sign (multipliers positive, other rows negative);
then the enclosures are of the true solution. Where a ball straddles zero the result says *undecided*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpz_mat

from spec import ExactArray, InvalidInputError, Quadratic
from spec.exact import FloatArray
from verify.truth.algebra.linear_systems import VerifiedSystem, proves_positive_definite, upper
from verify.truth.algebra.rationals import Number, column, fraction, matrix, number, point, rational
from verify.truth.lower_level import guess_working_rows
from verify.truth.scenario import DualTerm

PRECISION = 128
"""Working precision in bits; doubled once where the balls come out too wide."""

_EPS = float(np.finfo(np.float64).eps)
_ZERO = fmpq(0)

T = TypeVar("T")


@dataclass(frozen=True)
class BallVector:
    """A vector enclosed entry by entry.

    Args:
        mid: Midpoints, shape (k,).
        radius: The true entry lies within ``mid +- radius``; shape (k,), rounding to doubles included.
    """

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

    Args:
        y_star: Minimiser, shape (m,).
        lam: Multipliers, shape (p,); exactly 0 off the active rows.
        hypergradient: Gradient of F, shape (n,).
        active: Rows held as equations; each proven to carry a positive multiplier.
        undecided: Rows whose sign the balls could not prove. Empty iff everything here is proven; else the
            values are those of the guessed active set, unproven.
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


@dataclass(frozen=True)
class _Solved:
    y: arb_mat
    lam: arb_mat
    h: arb_mat
    active: tuple[int, ...]
    undecided: tuple[int, ...]


@dataclass(frozen=True)
class _Balls:
    f_xx: arb_mat
    f_xy: arb_mat
    f_yy: arb_mat
    f_x: arb_mat
    f_y: arb_mat
    g_xy: arb_mat
    g_yy: arb_mat
    g_y: arb_mat
    A: arb_mat
    B: arb_mat
    b: arb_mat
    x: arb_mat


def solve(problem: Quadratic, x: Sequence[Number], precision: int = PRECISION) -> BallLowerLevel:
    """Enclose y*(x), its multipliers and the gradient of F.

    Args:
        problem: Any quadratic problem; m and p to a few hundred.
        x: Upper-level point, shape (n,).
        precision: Bits; doubled once if the active set stays undecided.

    Returns:
        Enclosures, with the rows the balls could not decide.

    Raises:
        InvalidInputError: If x does not fit.

    Source:
        Eq. (constrainedbilevel). Differs from the paper: nothing; the numbers carry proven radii.
    """
    at = point(x, problem.n, "x")
    return _with_precision(precision, lambda: _solve(problem, at), lambda found: found.decided)


def estimator(
    problem: Quadratic,
    x: Sequence[Number],
    alpha: Number,
    rho: Sequence[Number] | None = None,
    dual_term: DualTerm = "cancelled",
    precision: int = PRECISION,
) -> BallVector:
    """Enclose the noise-free estimator with exact stages: exact y*, multipliers and penalty minimiser.

    Args:
        problem: Any quadratic problem; m and p to a few hundred.
        x: Upper-level point, shape (n,).
        alpha: Accuracy parameter, > 0.
        rho: Activation weights, shape (p,), >= 0; by default 1 on active rows, 0 elsewhere.
        dual_term: Whether ``alpha_1 A' lam`` stays in the estimator.
        precision: Bits; doubled once if the active set stays undecided.

    Returns:
        Enclosure of the estimate, shape (n,).

    Raises:
        InvalidInputError: If an argument does not fit, or the active set stays undecided.

    Source:
        Algorithm 1, line 6, in expectation.
    """
    at = point(x, problem.n, "x")
    a = number(alpha, "alpha")
    if a <= 0:
        raise InvalidInputError("alpha", "must be > 0", str(a))
    weights = None if rho is None else point(rho, problem.p, "rho")

    def enclose() -> tuple[tuple[int, ...], BallVector]:
        balls = _blocks(problem, at)
        S = guess_working_rows(problem, at)
        found = _lower_level(balls, _saddle(problem, balls, S), S)
        chosen = [int(i in S) for i in range(problem.p)] if weights is None else weights
        made = _estimator(problem, balls, found, rational(a), [rational(value) for value in chosen], dual_term)
        return found.undecided, BallVector.of(made)

    undecided, made = _with_precision(precision, enclose, lambda pair: not pair[0])
    if undecided:
        raise InvalidInputError("x", "must leave the active rows decidable by balls; undecided", undecided)
    return made


def _with_precision(precision: int, enclose: Callable[[], T], good: Callable[[T], bool]) -> T:
    with ctx.workprec(precision):
        made = enclose()
        if good(made):
            return made
    with ctx.workprec(2 * precision):
        return enclose()


def _solve(problem: Quadratic, x: Sequence[Number]) -> BallLowerLevel:
    balls = _blocks(problem, x)
    S = guess_working_rows(problem, x)
    system = _saddle(problem, balls, S)
    found = _lower_level(balls, system, S)
    # The gradient by its adjoint system, one right-hand side instead of n.
    w, nu = _split(system.solve(_stacked(-1 * _grad_y_f(balls, found.y), arb_mat(len(S), 1))), problem.m)
    gradient = balls.f_x + balls.f_xx * balls.x + balls.f_xy * found.y
    gradient = gradient + balls.g_xy * w - _rows(balls.A, S).transpose() * nu
    return BallLowerLevel(
        y_star=BallVector.of(found.y),
        lam=BallVector.of(found.lam),
        hypergradient=BallVector.of(gradient),
        active=S,
        undecided=found.undecided,
    )


def _lower_level(balls: _Balls, system: VerifiedSystem, S: tuple[int, ...]) -> _Solved:
    """Solve with the rows S as equations, then list every row whose sign the balls do not prove."""
    slope = balls.g_y + balls.g_xy.transpose() * balls.x
    offset = balls.A * balls.x - balls.b
    y, minus_lam = _split(system.solve(_stacked(-1 * slope, _rows(offset, S))), balls.B.ncols())
    lam = arb_mat(balls.B.nrows(), 1)
    for k, i in enumerate(S):
        lam[i, 0] = -minus_lam[k, 0]
    h = offset - balls.B * y
    undecided = tuple(i for i in range(h.nrows()) if not (lam[i, 0] > 0 if i in S else h[i, 0] < 0))
    return _Solved(y, lam, h, S, undecided)


def _estimator(
    problem: Quadratic, balls: _Balls, found: _Solved, alpha: fmpq, rho: Sequence[fmpq], dual_term: DualTerm
) -> arb_mat:
    r"""The estimator through :math:`\omega = w/\alpha^2`, :math:`\nu = -\alpha_2\rho\circ h(x,y)`.

    The system in (omega, nu) tends to the lower level's own saddle system: nothing cancels as alpha tends to 0.
    """
    on = [i for i in range(problem.p) if rho[i] != 0]
    # Rows held as equations are exactly zero, proven; what their balls leave is not noise to be amplified.
    pull = arb_mat(len(on), 1, [arb(0) if i in found.active else found.h[i, 0] / alpha**2 for i in on])
    system = _saddle(problem, balls, on, alpha**2, [-(alpha**2) / rho[i] for i in on])
    omega, nu = _split(system.solve(_stacked(-1 * _grad_y_f(balls, found.y), pull)), problem.m)
    y = found.y + omega * arb(alpha**2)
    made = balls.f_x + balls.f_xx * balls.x + balls.f_xy * y + balls.g_xy * omega - _rows(balls.A, on).transpose() * nu
    if dual_term == "frozen":
        made = made + (balls.A.transpose() * found.lam) * arb(alpha**-2)
    return made


def _saddle(
    problem: Quadratic, balls: _Balls, rows: Sequence[int], upper_weight: fmpq = _ZERO, corner: Sequence[fmpq] = ()
) -> VerifiedSystem:
    """The matrix [[g_yy + weight f_yy, B_rows'], [B_rows, diag(corner)]]; corner zero if not given."""
    a, m, k = problem.arrays, problem.m, len(rows)
    weight = float(fraction(upper_weight))
    approximate = np.zeros((m + k, m + k))
    approximate[:m, :m] = a.g_yy + weight * a.f_yy
    approximate[m:, :m] = a.B[list(rows)]
    approximate[:m, m:] = approximate[m:, :m].T
    slack = _EPS * np.abs(approximate)
    slack[:m, :m] += 4 * _EPS * (np.abs(a.g_yy) + weight * np.abs(a.f_yy))
    B = _rows(balls.B, rows)
    top = balls.g_yy if weight == 0 else balls.g_yy + balls.f_yy * arb(upper_weight)
    listed = [u + v for u, v in zip(top.tolist(), B.transpose().tolist() if k else [[]] * m, strict=True)]
    listed += [row + [arb(0)] * k for row in (B.tolist() if k else [])]
    for i, value in enumerate(corner):
        listed[m + i][m + i] = arb(value)
        approximate[m + i, m + i] = float(fraction(value))
        slack[m + i, m + i] = _EPS * abs(approximate[m + i, m + i])
    if not proves_positive_definite(approximate[:m, :m], float(np.linalg.norm(slack[:m, :m]))):
        rule = "must leave the Lagrangian's Hessian in y positive definite with room to prove it"
        raise InvalidInputError("alpha" if weight else "g.yy", rule)
    return VerifiedSystem(arb_mat(listed), approximate, slack)


def _grad_y_f(balls: _Balls, y: arb_mat) -> arb_mat:
    return balls.f_y + balls.f_xy.transpose() * balls.x + balls.f_yy * y


def _blocks(problem: Quadratic, x: Sequence[Number]) -> _Balls:
    f, g, rows = problem.f, problem.g, problem.constraints
    arrays = (f.xx, f.xy, f.yy, f.x, f.y, g.xy, g.yy, g.y, rows.A, rows.B, rows.b)
    return _Balls(*[_ball_matrix(array) for array in arrays], *[arb_mat(column(x))])


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
