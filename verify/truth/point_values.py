"""Values and first derivatives of the objectives and rows at single points, and derivatives of maps, all exact.

Nothing here knows a formula of the algorithm: what is said of a formula is held against differences of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import fmpq_mat

from spec import InvalidInputError, Quadratic
from spec.blocks.quadratic import QuadraticForm
from verify.truth.algebra.rationals import Number, Vector, column, fraction, fractions, matrix, point
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.lower_level import ExactLowerLevel

STENCIL = ((-3, Fraction(-1, 60)), (-2, Fraction(3, 20)), (-1, Fraction(-3, 4)),
           (1, Fraction(3, 4)), (2, Fraction(-3, 20)), (3, Fraction(1, 60)))  # fmt: skip
"""Central difference over seven points: exact for polynomials of degree six and less."""
MOST_HALVINGS = 60


@dataclass(frozen=True)
class PointValues:
    """A quadratic problem's f, g and h at rational points, with their gradients; x has shape (n,), y (m,)."""

    problem: Quadratic

    @cached_property
    def _forms(self) -> dict[str, tuple[fmpq_mat, ...]]:
        return {"f": _blocks(self.problem.f), "g": _blocks(self.problem.g)}

    def value(self, name: str, x: Sequence[Number], y: Sequence[Number]) -> Fraction:
        """Value of f or g at a point."""
        xx, xy, yy, x_1, y_1 = self._forms[name]
        u, v = column(x), column(y)
        half = (u.transpose() * xx * u + v.transpose() * yy * v)[0, 0] / 2
        return fraction(half + (u.transpose() * xy * v + x_1.transpose() * u + y_1.transpose() * v)[0, 0])

    def grad_x(self, name: str, x: Sequence[Number], y: Sequence[Number]) -> Vector:
        """Partial gradient in x of f or g, shape (n,)."""
        xx, xy, _, x_1, _ = self._forms[name]
        return fractions(xx * column(x) + xy * column(y) + x_1)

    def grad_y(self, name: str, x: Sequence[Number], y: Sequence[Number]) -> Vector:
        """Partial gradient in y of f or g, shape (m,)."""
        _, xy, yy, _, y_1 = self._forms[name]
        return fractions(xy.transpose() * column(x) + yy * column(y) + y_1)

    def gradient(self, name: str, x: Sequence[Number], y: Sequence[Number]) -> Vector:
        """Gradient in (x, y) of f or g, shape (n + m,)."""
        return (*self.grad_x(name, x, y), *self.grad_y(name, x, y))

    def rows(self, x: Sequence[Number], y: Sequence[Number]) -> Vector:
        """``A x - B y - b``, shape (p,)."""
        rows = self.problem.constraints
        return fractions(matrix(rows.A) * column(x) - matrix(rows.B) * column(y) - matrix(rows.b))


def _blocks(form: QuadraticForm) -> tuple[fmpq_mat, ...]:
    return tuple(matrix(block) for block in (form.xx, form.xy, form.yy, form.x, form.y))


def derivative(value: Callable[[Vector], Fraction], x: Vector, step: Fraction) -> Vector:
    """Gradient at x of what is a polynomial of degree at most six along every axis within three steps, shape (n,)."""
    return tuple(
        sum((weight * value(moved(x, i, k * step)) for k, weight in STENCIL), Fraction(0)) / step for i in range(len(x))
    )


def moved(x: Vector, i: int, by: Fraction) -> Vector:
    """A point with its i-th entry moved."""
    return (*x[:i], x[i] + by, *x[i + 1 :])


def quiet_step(problem: Quadratic, x: Sequence[Number], start: Fraction = Fraction(1, 64)) -> Fraction:
    """A step within three of which, along every axis, the same rows are strictly active and the others slack.

    Refused where there is none: on a kink.
    """
    at = point(x, problem.n, "x")
    here, step = _signs(lower_level.solve(problem, at)), start
    for _ in range(MOST_HALVINGS):
        places = [moved(at, i, k * step) for i in range(problem.n) for k in (-3, 3)]
        if here is not None and all(_signs_or_none(problem, place) == here for place in places):
            return step
        step /= 2
    raise InvalidInputError("x", "must have the same active rows all around", [str(value) for value in at])


def _signs(lower: ExactLowerLevel) -> tuple[int, ...] | None:
    return None if lower.weakly_active else lower.strictly_active


def _signs_or_none(problem: Quadratic, x: Vector) -> tuple[int, ...] | None:
    try:
        return _signs(lower_level.solve(problem, x))
    except InvalidInputError:
        return None


def multiplier_slope(problem: Quadratic, x: Sequence[Number]) -> tuple[Vector, ...]:
    r"""Exact derivative of the multipliers, row by row (p, n), the strictly active rows held as equations.

    :math:`D\lambda_S = (B_S G^{-1} B_S^T)^{-1}(A_S + B_S G^{-1} g_{xy}^T)`; refused as
    :func:`verify.truth.lower_level.lower_level.jacobian`.
    """
    J = lower_level.jacobian(problem, x)
    lower, rows = lower_level.solve(problem, x), problem.constraints
    S, zero = lower.strictly_active, (Fraction(0),) * problem.n
    if not S:
        return (zero,) * problem.p
    B = matrix(rows.B)
    B_S = fmpq_mat(len(S), problem.m, [B[i, j] for i in S for j in range(problem.m)])
    pull = matrix(problem.g.yy) * fmpq_mat([[column([v])[0, 0] for v in row] for row in J])
    pull = pull + matrix(problem.g.xy).transpose()
    solved = (B_S * B_S.transpose()).solve(B_S * pull)
    slopes = {i: tuple(fraction(value) for value in row) for i, row in zip(S, solved.tolist(), strict=True)}
    return tuple(slopes.get(i, zero) for i in range(problem.p))
