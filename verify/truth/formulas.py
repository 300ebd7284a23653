r"""The penalty Lagrangian's minimiser and the estimator at a rational alpha, exactly.

With :math:`w = y - \tilde y^*`, :math:`r = \nabla_y g(x,\tilde y^*) - B^T\tilde\lambda` and
:math:`\tilde h = h(x,\tilde y^*)`, stationarity in y is the linear system

.. math:: (f_{yy} + \alpha_1 g_{yy} + \alpha_2 B^T R B)\, w
          = -\nabla_y f(x,\tilde y^*) - \alpha_1 r + \alpha_2 B^T R \tilde h, \qquad R = \mathrm{diag}(\rho).

Solving for w rather than y keeps the entries short: y and ỹ* agree to O(alpha^2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from spec import InvalidInputError, Quadratic
from spec.exact import FloatArray
from verify.truth.algebra.rationals import (
    Number,
    Vector,
    blocks,
    column,
    diagonal,
    fraction_rows,
    fractions,
    is_positive_definite,
    number,
    point,
    rational,
)
from verify.truth.scenario import DualTerm


@dataclass(frozen=True)
class ExactMatrix:
    """An exact matrix with its correctly rounded doubles."""

    rows: tuple[Vector, ...]

    @property
    def array(self) -> FloatArray:
        """Correctly rounded doubles."""
        return np.array([[float(value) for value in row] for row in self.rows])


def minimiser(
    problem: Quadratic,
    x: Sequence[Number],
    alpha: Number,
    y_star: Sequence[Number],
    lam: Sequence[Number],
    rho: Sequence[Number],
) -> Vector:
    """The exact minimiser of the penalty Lagrangian in y.

    Args:
        problem: Any quadratic problem.
        x: Upper-level point, shape (n,).
        alpha: Accuracy parameter, > 0.
        y_star: The lower-level solution the Lagrangian is built on, exact or not, shape (m,).
        lam: Its multipliers, shape (p,).
        rho: Activation weights, shape (p,), >= 0.

    Returns:
        Minimiser, shape (m,).

    Raises:
        InvalidInputError: If an argument does not fit, or the Lagrangian is not strictly convex in y at this
            alpha, where it has no minimiser.

    Source:
        Eq. (penaltylagrangian); Algorithm 1, line 5. Differs from the paper: exact instead of by SGD.
    """
    a, at, y, dual, R = _given(problem, x, alpha, y_star, lam, rho)
    rows = blocks(problem)
    hessian = rows.f_yy + a**-2 * rows.g_yy + a**-4 * rows.B.transpose() * R * rows.B
    if not is_positive_definite(hessian):
        raise InvalidInputError("alpha", "must leave the penalty Lagrangian strictly convex in y", str(Fraction(alpha)))
    grad_y_f = rows.f_y + rows.f_xy.transpose() * at + rows.f_yy * y
    residual = rows.g_y + rows.g_xy.transpose() * at + rows.g_yy * y - rows.B.transpose() * dual
    h = rows.A * at - rows.B * y - rows.b
    w = hessian.solve(a**-4 * (rows.B.transpose() * (R * h)) - grad_y_f - a**-2 * residual)
    return fractions(y + w)


def estimator(
    problem: Quadratic,
    x: Sequence[Number],
    alpha: Number,
    y: Sequence[Number],
    y_star: Sequence[Number],
    lam: Sequence[Number],
    rho: Sequence[Number],
    dual_term: DualTerm = "cancelled",
) -> Vector:
    """The noise-free hypergradient estimate, exactly.

    ``grad_x f(x,y) + alpha_1 (grad_x g(x,y) - grad_x g(x,y_star)) + alpha_2 A'(rho * h(x,y))``, plus
    ``alpha_1 A' lam`` if the dual term is frozen.

    Args:
        problem: Any quadratic problem.
        x: Upper-level point, shape (n,).
        alpha: Accuracy parameter, > 0.
        y: Where the estimator is evaluated, shape (m,).
        y_star: The lower-level solution the Lagrangian is built on, shape (m,).
        lam: Its multipliers, shape (p,).
        rho: Activation weights, shape (p,), >= 0.
        dual_term: Whether ``alpha_1 A' lam`` stays in the estimator.

    Returns:
        Estimate, shape (n,).

    Raises:
        InvalidInputError: If an argument does not fit.

    Source:
        Algorithm 1, line 6, in expectation.
    """
    a, at, star, dual, R = _given(problem, x, alpha, y_star, lam, rho)
    rows = blocks(problem)
    at_y = column(point(y, problem.m, "y"))
    h = rows.A * at - rows.B * at_y - rows.b
    made = rows.f_x + rows.f_xx * at + rows.f_xy * at_y
    made += a**-2 * (rows.g_xy * (at_y - star)) + a**-4 * (rows.A.transpose() * (R * h))
    if dual_term == "frozen":
        made += a**-2 * (rows.A.transpose() * dual)
    return fractions(made)


def derivative_in_y(problem: Quadratic, alpha: Number, rho: Sequence[Number]) -> ExactMatrix:
    """The estimator's exact Jacobian in y, ``f_xy + alpha_1 g_xy - alpha_2 A' diag(rho) B``.

    Its norm is the paper's L_{H,y}.

    Args:
        problem: Any quadratic problem.
        alpha: Accuracy parameter, > 0.
        rho: Activation weights, shape (p,), >= 0.

    Returns:
        Shape (n, m), exact and as doubles.

    Raises:
        InvalidInputError: If an argument does not fit.

    Source:
        Lemma "Hypergradient Bias Bound". Differs from the paper: the dependence on alpha is spelt out.
    """
    a, R = _positive(alpha), _weights(problem, rho)
    rows = blocks(problem)
    return ExactMatrix(fraction_rows(rows.f_xy + a**-2 * rows.g_xy - a**-4 * rows.A.transpose() * R * rows.B))


def hessian_in_y(problem: Quadratic, alpha: Number, rho: Sequence[Number]) -> ExactMatrix:
    """The penalty Lagrangian's exact Hessian in y, ``f_yy + alpha_1 g_yy + alpha_2 B' diag(rho) B``.

    Args:
        problem: Any quadratic problem.
        alpha: Accuracy parameter, > 0.
        rho: Activation weights, shape (p,), >= 0.

    Returns:
        Shape (m, m), exact and as doubles.

    Raises:
        InvalidInputError: If an argument does not fit.

    Source:
        Eq. (penaltylagrangian).
    """
    a, R = _positive(alpha), _weights(problem, rho)
    rows = blocks(problem)
    return ExactMatrix(fraction_rows(rows.f_yy + a**-2 * rows.g_yy + a**-4 * rows.B.transpose() * R * rows.B))


def as_float(values: Sequence[Fraction]) -> FloatArray:
    """Correctly rounded doubles of an exact vector."""
    return np.array([float(value) for value in values])


def _given(
    problem: Quadratic,
    x: Sequence[Number],
    alpha: Number,
    y_star: Sequence[Number],
    lam: Sequence[Number],
    rho: Sequence[Number],
) -> tuple[fmpq, fmpq_mat, fmpq_mat, fmpq_mat, fmpq_mat]:
    return (
        _positive(alpha),
        column(point(x, problem.n, "x")),
        column(point(y_star, problem.m, "y_star")),
        column(point(lam, problem.p, "lam")),
        _weights(problem, rho),
    )


def _positive(alpha: Number) -> fmpq:
    value = number(alpha, "alpha")
    if value <= 0:
        raise InvalidInputError("alpha", "must be > 0", str(value))
    return rational(value)


def _weights(problem: Quadratic, rho: Sequence[Number]) -> fmpq_mat:
    weights = point(rho, problem.p, "rho")
    for i, weight in enumerate(weights):
        if weight < 0:
            raise InvalidInputError(f"rho[{i}]", "must be >= 0", str(weight))
    return diagonal(weights)


__all__ = [
    "DualTerm",
    "ExactMatrix",
    "as_float",
    "derivative_in_y",
    "estimator",
    "hessian_in_y",
    "minimiser",
]
