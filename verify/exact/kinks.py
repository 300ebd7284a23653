"""One-sided derivatives of the lower-level solution, which exist also where F has a kink."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq_mat

from spec import InvalidInputError, Quadratic
from verify.exact import complementarity, lower_level
from verify.exact.differentiation import differentiate, project
from verify.exact.rationals import Number, Vector, blocks, column, fractions, point, select


def directional_derivative(problem: Quadratic, x: Sequence[Number], direction: Sequence[Number]) -> Vector:
    """The exact one-sided derivative of y* at x along a direction, also at kinks.

    Args:
        problem: Any quadratic problem.
        x: Upper-level point, shape (n,).
        direction: Direction, shape (n,).

    Returns:
        Derivative of y*, shape (m,): the minimiser of a quadratic program in which strictly active rows are
        equations and weakly active ones inequalities.

    Raises:
        InvalidInputError: As :func:`verify.exact.lower_level.solve`; also if the active rows are dependent, where
            one-sided derivatives depend on which multiplier is meant.
    """
    lower = lower_level.solve(problem, x)
    if not lower.licq:
        raise InvalidInputError("x", "must have linearly independent active rows", lower.active)
    d = column(point(direction, problem.n, "direction"))
    rows = blocks(problem)
    J, _ = differentiate(rows, lower.strictly_active)
    weak = lower.weakly_active
    if not weak:
        return fractions(J * d)
    # On the null space of the equations the weakly active rows form a complementarity problem of their own.
    B_w, A_w = select(rows.B, weak), select(rows.A, weak)
    Z_w = project(rows, lower.strictly_active, B_w.transpose())
    along = J * d
    found = complementarity.solve(B_w * Z_w, A_w * d - B_w * along)
    return fractions(along + Z_w * fmpq_mat(len(weak), 1, found.lam))
