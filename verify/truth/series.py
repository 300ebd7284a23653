r"""Leading terms in alpha: exponent and exact coefficient of everything the bias proof estimates.

The general formula for the penalty error with exact stages, derived in ``t3_coefficient``:

.. math:: T_3 = \alpha^2\big[(f_{xy} + J^T f_{yy})\,w + \Lambda^T R^{-1}\nu\big] + O(\alpha^4), \qquad
          \begin{pmatrix} g_{yy} & B_S^T\\ B_S & 0\end{pmatrix}\begin{pmatrix} w\\ \nu\end{pmatrix}
          = \begin{pmatrix} -\nabla_y f\\ 0\end{pmatrix}.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from spec import InvalidInputError
from spec.exact import FloatArray
from verify.truth import lower_level
from verify.truth.algebra.rational_functions import Leading, RationalVector
from verify.truth.algebra.rationals import (
    Vector,
    blocks,
    column,
    diagonal,
    fraction_rows,
    fractions,
    rational,
    select,
)
from verify.truth.penalty_functions import Family
from verify.truth.proof_steps import QUANTITIES, error
from verify.truth.scenario import Error, Quantity, Scenario, exact_error

_ERRORS = ("y_error", "gradient_error", "lam_error", "y_star_error")
_GRID = 10**8
"""Worst directions are rounded to this many steps a unit."""


@dataclass(frozen=True)
class LeadingMatrix:
    """The first term of a matrix expanded at alpha = 0.

    Args:
        exponent: Power of alpha; ``None`` if the matrix is identically zero.
        coefficient: Coefficient of that power, exact, row by row.
    """

    exponent: int | None
    coefficient: tuple[Vector, ...]

    @property
    def array(self) -> FloatArray:
        """The coefficient in doubles."""
        return np.array([[float(value) for value in row] for row in self.coefficient])


def leading_terms(family: Family, scenario: Scenario) -> dict[Quantity, Leading]:
    """Exponent and exact coefficient of every quantity of the proof.

    Args:
        family: The problem at its point.
        scenario: Dual term, activation and the errors spent on the stages.

    Returns:
        By quantity; an exponent ``None`` says identically zero.

    Source:
        Lemma "Hypergradient Bias Bound", Lemma "Solution Error".
    """
    return {quantity: error(family, scenario, quantity).leading() for quantity in QUANTITIES}


def t3_coefficient(family: Family, rho: Vector | None = None) -> Vector:
    r"""The alpha**2 coefficient of T3 (dual term cancelled), by the general formula instead of by expansion.

    Derivation: write :math:`y_\alpha - y^* = \alpha^2 w + \alpha^4 w_2 + \dots` and
    :math:`\alpha_2 R B_S (y_\alpha - y^*) = \nu + \alpha^2\nu_1 + \dots`. Order by order stationarity gives
    the system above for (w, nu), then :math:`G w_2 + B_S^T\nu_1 = -f_{yy}w` and :math:`B_S w_2 = R^{-1}\nu`. The
    estimator's alpha**2 term is :math:`f_{xy}w + g_{xy}w_2 - A_S^T\nu_1`; inserting
    :math:`g_{xy} = -J^TG + \Lambda^TB_S` and :math:`B_SJ = A_S` leaves the formula.

    Args:
        family: The problem at a point with strict complementarity and independent active rows.
        rho: Activation weights, shape (p,), > 0 exactly on the active rows; default 1 there.

    Returns:
        Shape (n,).

    Raises:
        InvalidInputError: If rho is not supported on exactly the active rows.
        DegenerateLowerLevelError: If the point is degenerate.

    Source:
        Lemma "Hypergradient Bias Bound", T3. Differs from the paper: O(alpha**2) with its constant, where the
        lemma quotes O(alpha).
    """
    S = family.lower.active
    weights = family.exact_stages.rho if rho is None else rho
    if weights is None or tuple(i for i, weight in enumerate(weights) if weight > 0) != S:
        raise InvalidInputError("rho", f"must be > 0 exactly on the active rows {S}", weights)
    derivatives = lower_level.sensitivity(family.problem, family.x)
    rows, m, k = blocks(family.problem), family.problem.m, len(S)
    y = column(family.lower.y_star)
    grad_y_f = rows.f_y + rows.f_xy.transpose() * column(family.x) + rows.f_yy * y
    system = _saddle(rows.g_yy, select(rows.B, S))
    solved = system.solve(fmpq_mat(m + k, 1, (-1 * grad_y_f).entries() + [fmpq(0)] * k))
    w, nu = select(solved, range(m)), select(solved, range(m, m + k))
    J = fmpq_mat([[rational(value) for value in row] for row in derivatives.J])
    made = rows.f_xy * w + J.transpose() * (rows.f_yy * w)
    if S:
        Lam = fmpq_mat([[rational(value) for value in derivatives.Lam[i]] for i in S])
        made += Lam.transpose() * (diagonal([1 / weights[i] for i in S]) * nu)
    return fractions(made)


def leading_derivative_in_y(family: Family, rho: Vector | None = None) -> LeadingMatrix:
    r"""Leading term of the estimator's Jacobian in y, whose norm is :math:`L_{H,y}`.

    ``f_xy + alpha**-2 g_xy - alpha**-4 A' diag(rho) B``: the first of the three that is not zero.

    Source: Lemma "Hypergradient Bias Bound". Differs from the paper, which treats its norm as a constant.
    """
    rows = blocks(family.problem)
    weights = family.exact_stages.rho if rho is None else rho
    penal = -1 * (rows.A.transpose() * diagonal(weights or ()) * rows.B)
    for exponent, coefficient in ((-4, penal), (-2, rows.g_xy), (0, rows.f_xy)):
        if any(value != 0 for value in coefficient.entries()):
            return LeadingMatrix(exponent, fraction_rows(coefficient))
    return LeadingMatrix(None, fraction_rows(rows.f_xy))


def leading_derivative_in_y_star(family: Family) -> LeadingMatrix:
    """Leading term of the estimator's derivative in the lower-level solution it is given: ``-alpha**-2 g_xy``.

    The penalty minimiser does not depend on it while the activation stays as it is.
    """
    g_xy = blocks(family.problem).g_xy
    zero = all(value == 0 for value in g_xy.entries())
    return LeadingMatrix(None if zero else -2, fraction_rows(-1 * g_xy))


def leading_derivative_in_lam(
    family: Family, scenario: Scenario, quantity: Quantity = "T2", rows: Sequence[int] | None = None
) -> LeadingMatrix:
    """Leading term of a quantity's derivative in the multipliers it is given, activation held.

    Args:
        family: The problem at its point.
        scenario: Dual term and activation; its errors are ignored.
        quantity: ``T2`` (the estimator) or ``solution-shift`` (the penalty minimiser).
        rows: Rows whose multiplier may be wrong; all by default. On active rows the penalty opposes the error, on
            others nothing does.

    Returns:
        Shape (n, p), or (m, p) for the shift; zero columns off ``rows``.

    Source:
        Lemma "Hypergradient Bias Bound", T2; Lemma "Solution Error".
    """
    p = family.problem.p
    plain = Scenario(dual_term=scenario.dual_term, rho=family.fitted(scenario).rho)
    reference = error(family, plain, quantity)
    columns = []
    for i in range(p):
        size = int(rows is None or i in rows)
        moved = plain.model_copy(update={"lam_error": (exact_error(0, [size * int(i == j) for j in range(p)]),)})
        columns.append(error(family, moved, quantity) - reference)
    return _leading_matrix(columns)


def leading_derivative_in_gradient(family: Family, scenario: Scenario) -> LeadingMatrix:
    """Leading term of the estimator's derivative in the gradient left where the penalty minimisation stops.

    It is L_{H,y} times the inverse Hessian: what a gradient stop is amplified by.

    Args:
        family: The problem at its point.
        scenario: Dual term and activation; its errors are ignored.

    Returns:
        Shape (n, m).

    Source:
        Lemma "Hypergradient Bias Bound", T1, under the repaired stopping rule.
    """
    m = family.problem.m
    plain = Scenario(dual_term=scenario.dual_term, rho=family.fitted(scenario).rho)
    columns = []
    for i in range(m):
        unit = exact_error(0, [int(i == j) for j in range(m)])
        columns.append(error(family, plain.model_copy(update={"gradient_error": (unit,)}), "T1"))
    return _leading_matrix(columns)


def worst_scenario(
    family: Family,
    scenario: Scenario,
    *,
    y_power: int | None = None,
    gradient_power: int | None = None,
    lam_power: int | None = None,
    y_star_power: int | None = None,
    rows: Sequence[int] | None = None,
) -> Scenario:
    """Spend the allowed errors in their worst directions, each of norm ``alpha**power``.

    Args:
        family: The problem at its point.
        scenario: Dual term and activation; its own errors are replaced.
        y_power: Power of the penalty minimiser's distance error, if any.
        gradient_power: Power of the gradient left at the penalty minimiser, if any.
        lam_power: Power of the multipliers' error, if any.
        y_star_power: Power of the lower-level solution's error, if any.
        rows: Rows whose multiplier may be wrong; all by default.

    Returns:
        The scenario with these errors, each worst for its own term, signs chosen so that their effects add up.

    Source:
        Algorithm 1, lines 3 and 5.
    """
    responses: list[tuple[str, int, LeadingMatrix]] = []
    if y_power is not None:
        responses.append(("y_error", y_power, leading_derivative_in_y(family, family.fitted(scenario).rho)))
    if gradient_power is not None:
        responses.append(("gradient_error", gradient_power, leading_derivative_in_gradient(family, scenario)))
    if lam_power is not None:
        responses.append(("lam_error", lam_power, leading_derivative_in_lam(family, scenario, rows=rows)))
    if y_star_power is not None:
        responses.append(("y_star_error", y_star_power, leading_derivative_in_y_star(family)))
    spent: dict[str, tuple[Error, ...]] = dict.fromkeys(_ERRORS, ())
    total = np.zeros(family.problem.n)
    for name, power, response in responses:
        direction = worst_direction(response.array)
        effect = response.array @ np.array([float(value) for value in direction])
        sign = -1 if float(effect @ total) < 0 else 1
        total = total + sign * effect
        spent[name] = (exact_error(power, [sign * value for value in direction]),)
    return scenario.model_copy(update=spent)


def worst_direction(response: FloatArray) -> tuple[Fraction, ...]:
    """A rational direction of norm at most 1 along which a linear map is largest, to about 1e-7 relative.

    Args:
        response: The map, shape (n, k).

    Returns:
        Shape (k,): the top right singular vector, rounded and shrunk so that its exact norm is at most 1; zero if the
        map is.
    """
    if not response.any():
        return tuple(Fraction(0) for _ in range(response.shape[1]))
    _, _, right = np.linalg.svd(response)
    top = right[0] * (1.0 if right[0][int(np.abs(right[0]).argmax())] > 0 else -1.0)
    rounded = [Fraction(round(float(value) * _GRID), _GRID) for value in top]
    norm_squared = sum((value * value for value in rounded), Fraction(0))
    if norm_squared > 1:
        # 1/s <= 1/sqrt(s) for s >= 1: dividing by the square is exact and costs no more than the rounding did.
        rounded = [value / norm_squared for value in rounded]
    return tuple(rounded)


def _leading_matrix(columns: list[RationalVector]) -> LeadingMatrix:
    leading = [made.leading() for made in columns]
    orders = [term.exponent for term in leading if term.exponent is not None]
    low = min(orders, default=None)
    kept = [t.coefficient if t.exponent == low else (Fraction(0),) * len(t.coefficient) for t in leading]
    return LeadingMatrix(low, tuple(zip(*kept, strict=True)))


def _saddle(G: fmpq_mat, B_S: fmpq_mat) -> fmpq_mat:
    m, k = G.nrows(), B_S.nrows()
    made = fmpq_mat(m + k, m + k)
    for i in range(m):
        for j in range(m):
            made[i, j] = G[i, j]
        for j in range(k):
            made[i, m + j] = made[m + j, i] = B_S[j, i]
    return made
