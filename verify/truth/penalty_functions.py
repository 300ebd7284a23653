r"""The estimator, its minimiser and its error as exact rational functions of alpha.

With :math:`u = \alpha^2`, rows with :math:`\rho_i > 0` collected in S, :math:`\omega = (y_\alpha - y^*)/u` and
:math:`\nu = -\alpha_2\,\rho\circ h(x, y_\alpha)` on S, stationarity of the penalty Lagrangian reads

.. math:: \begin{pmatrix} g_{yy} + u f_{yy} & B_S^T \\ B_S & -u R_S^{-1}\end{pmatrix}
          \begin{pmatrix}\omega\\ \nu\end{pmatrix}
          = \begin{pmatrix} -\nabla_y f(x,y^*) + B^T\Delta\lambda/u \\ h_S(x,y^*)/u\end{pmatrix}.

The matrix is linear in u and, where the rows in S are independent, regular at u = 0: its inverse is found by
evaluating at m + |S| + 1 integers and interpolating, and orders in alpha can be read off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat, fmpq_poly

from spec import InvalidInputError, Quadratic
from verify.truth import lower_level
from verify.truth.algebra.rational_functions import RationalVector, in_alpha, interpolate, monomial
from verify.truth.algebra.rationals import (
    Number,
    RationalBlocks,
    Vector,
    beside,
    blocks,
    column,
    diagonal,
    point,
    rational,
    select,
)
from verify.truth.lower_level import ExactLowerLevel
from verify.truth.scenario import Error, Scenario

_U = monomial(2)


@dataclass(frozen=True)
class Family:
    """A problem at a point, its lower level solved: what every function of alpha here starts from.

    Args:
        problem: The problem.
        x: The point, exact.
        lower: The lower level there.
        hypergradient: Exact gradient of F, or what stands in for it at a kink.
    """

    problem: Quadratic
    x: Vector
    lower: ExactLowerLevel
    hypergradient: Vector

    @classmethod
    def at(cls, problem: Quadratic, x: Sequence[Number], gradient: Sequence[Number] | None = None) -> Family:
        """Solve the lower level at x.

        Args:
            problem: Any quadratic problem.
            x: Upper-level point, shape (n,).
            gradient: What the estimator is held against, shape (n,); by default the gradient of F. At a kink,
                where there is none, one of :func:`verify.truth.lower_level.pieces`.

        Raises:
            InvalidInputError: As :func:`verify.truth.lower_level.solve`; at a kink of F if no gradient is given.
        """
        exact_x = point(x, problem.n, "x")
        lower = lower_level.solve(problem, exact_x)
        if gradient is None:
            return cls(problem, exact_x, lower, lower_level.hypergradient(problem, exact_x))
        return cls(problem, exact_x, lower, point(gradient, problem.n, "gradient"))

    def fitted(self, scenario: Scenario) -> Scenario:
        """The scenario with its activation spelt out for this problem."""
        return scenario.fitted(self.problem.m, self.problem.p, self.lower.active)

    @property
    def exact_stages(self) -> Scenario:
        """The scenario without errors and with the true activation, dual term cancelled."""
        return self.fitted(Scenario())


@dataclass(frozen=True)
class _Saddle:
    """omega (m) and nu (|S|) as polynomials in u over one determinant, for given right-hand sides."""

    solutions: list[list[fmpq_poly]]
    determinant: fmpq_poly


def minimiser(family: Family, scenario: Scenario) -> RationalVector:
    r"""The penalty minimiser :math:`y^*_{\tilde\lambda,\alpha}(x)` as a function of alpha, shape (m,).

    Where the Lagrangian is not convex it is the stationary point.

    Source: Eq. (penaltylagrangian).
    """
    return _point(family, family.fitted(scenario), inexact=False)


def sampled_point(family: Family, scenario: Scenario) -> RationalVector:
    """Where the estimator is sampled: the penalty minimiser with the scenario's errors of y and of its gradient."""
    return _point(family, family.fitted(scenario), inexact=True)


def _point(family: Family, scenario: Scenario, *, inexact: bool) -> RationalVector:
    omega, _, determinant = _minimiser(family, scenario, inexact=inexact)
    # y = y* + alpha**2 omega, and omega comes with alpha**2 below the line.
    start = [fmpq_poly([rational(value)]) * determinant for value in family.lower.y_star]
    moved = [v * determinant for v in _errors(scenario.y_error if inexact else (), family.problem.m)]
    return RationalVector(tuple(_plus(start, omega, moved)), determinant).reduced()


def estimator(family: Family, scenario: Scenario) -> RationalVector:
    """The noise-free estimator as a function of alpha, shape (n,), the scenario's errors included.

    Source: Algorithm 1, line 6, in expectation.
    """
    return _estimator(family, family.fitted(scenario), inexact=True)


def estimator_at_minimiser(family: Family, scenario: Scenario) -> RationalVector:
    """The same without the errors of the penalty minimiser."""
    return _estimator(family, family.fitted(scenario), inexact=False)


def _estimator(family: Family, scenario: Scenario, *, inexact: bool) -> RationalVector:
    rows, S, p = blocks(family.problem), _support(scenario), family.problem.p
    omega, nu, determinant = _minimiser(family, scenario, inexact=inexact)
    y_error = _errors(scenario.y_error if inexact else (), family.problem.m)
    y_star_error = _errors(scenario.y_star_error, family.problem.m)
    base = rows.f_x + rows.f_xx * column(family.x) + rows.f_xy * column(family.lower.y_star)
    # Everything times alpha**4 det. omega and nu come with alpha**2 det below the line, the errors without.
    shift = [w + v * determinant for w, v in zip(omega, y_error, strict=True)]
    lift = [w - e * determinant for w, e in zip(shift, y_star_error, strict=True)]
    pull = _plus([_U * v for v in nu], _times(_weighted(rows, scenario), [v * determinant for v in y_error]))
    made = _plus(
        _times(base, [_U * _U * determinant]),
        _times(rows.f_xy, [_U * _U * v for v in shift]),
        _times(rows.g_xy, [_U * v for v in lift]),
        _times(-1 * select(rows.A, S).transpose(), pull),
    )
    if scenario.dual_term == "frozen":
        lam = [fmpq_poly([rational(v)]) for v in family.lower.lam]
        dual = [_U * v * determinant for v in _plus(lam, _errors(scenario.lam_error, p))]
        made = _plus(made, _times(rows.A.transpose(), dual))
    return RationalVector(tuple(made), _U * _U * determinant).reduced()


def _minimiser(
    family: Family, scenario: Scenario, *, inexact: bool
) -> tuple[list[fmpq_poly], list[fmpq_poly], fmpq_poly]:
    """Numerators of omega and of nu, both over ``alpha**2`` times the determinant, which comes last."""
    rows, S, m = blocks(family.problem), _support(scenario), family.problem.m
    at, y = column(family.x), column(family.lower.y_star)
    grad_y_f = rows.f_y + rows.f_xy.transpose() * at + rows.f_yy * y
    h_S = column([family.lower.h[i] for i in S]) if S else fmpq_mat(0, 1)
    sides = [_padded(-1 * grad_y_f, len(S))]
    factors = [_U]
    if any(value != 0 for value in h_S.entries()):
        sides.append(fmpq_mat(m + len(S), 1, [fmpq(0)] * m + h_S.entries()))
        factors.append(fmpq_poly([1]))
    for error in scenario.lam_error:
        sides.append(_padded(rows.B.transpose() * column(error.direction), len(S)))
        factors.append(monomial(error.power))
    for error in scenario.gradient_error if inexact else ():
        sides.append(_padded(column(error.direction), len(S)))
        factors.append(monomial(error.power + 2))
    saddle = _solve_saddle(rows, S, [_rho(scenario)[i] for i in S], beside(*sides))
    total = [fmpq_poly([]) for _ in range(m + len(S))]
    for solution, factor in zip(saddle.solutions, factors, strict=True):
        total = [a + in_alpha(b) * factor for a, b in zip(total, solution, strict=True)]
    return total[:m], total[m:], in_alpha(saddle.determinant)


def _solve_saddle(rows: RationalBlocks, S: Sequence[int], rho: Sequence[Fraction], sides: fmpq_mat) -> _Saddle:
    m, k = rows.g_yy.nrows(), len(S)
    B_S = select(rows.B, S)
    constant, slope = fmpq_mat(m + k, m + k), fmpq_mat(m + k, m + k)
    for i in range(m):
        for j in range(m):
            constant[i, j], slope[i, j] = rows.g_yy[i, j], rows.f_yy[i, j]
        for j in range(k):
            constant[i, m + j] = constant[m + j, i] = B_S[j, i]
    for j, weight in enumerate(rho):
        slope[m + j, m + j] = -1 / rational(weight)
    points: list[int] = []
    determinants: list[list[fmpq]] = []
    values: list[list[fmpq]] = []
    candidate = 0
    while len(points) < m + k + 1:
        # 0, 1, -1, 2, -2, ...: short entries.
        at = constant + slope * candidate
        determinant = at.det()
        determinants.append([determinant])
        points.append(candidate)
        values.append(_adjugate_times(at, determinant, sides))
        candidate = -candidate if candidate > 0 else 1 - candidate
    size = m + k
    found = interpolate(points, [d + v for d, v in zip(determinants, values, strict=True)])
    if found[0].is_zero():
        raise InvalidInputError("problem", "must give a penalty Lagrangian with a unique stationary point")
    return _Saddle([found[1 + size * j : 1 + size * (j + 1)] for j in range(sides.ncols())], found[0])


def _adjugate_times(at: fmpq_mat, determinant: fmpq, sides: fmpq_mat) -> list[fmpq]:
    """Entries of adj(at) * sides, column after column."""
    if determinant != 0:
        return (at.solve(sides) * determinant).transpose().entries()
    # A singular node (u = 0 with dependent rows): the adjugate by Faddeev and LeVerrier needs no inverse.
    size = at.nrows()
    identity = fmpq_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
    power, coefficient = fmpq_mat(size, size), fmpq(1)
    for step in range(1, size + 1):
        power = at * power + identity * coefficient
        product = at * power
        coefficient = -sum((product[i, i] for i in range(size)), fmpq(0)) / step
    adjugate = power if size % 2 else -1 * power
    return (adjugate * sides).transpose().entries()


def _support(scenario: Scenario) -> list[int]:
    return [i for i, weight in enumerate(_rho(scenario)) if weight > 0]


def _rho(scenario: Scenario) -> tuple[Fraction, ...]:
    assert scenario.rho is not None  # fitted
    return scenario.rho


def _weighted(rows: RationalBlocks, scenario: Scenario) -> fmpq_mat:
    """R_S B_S."""
    S = _support(scenario)
    return diagonal([_rho(scenario)[i] for i in S]) * select(rows.B, S) if S else select(rows.B, S)


def _errors(errors: Sequence[Error], size: int) -> list[fmpq_poly]:
    total = [fmpq_poly([]) for _ in range(size)]
    for error in errors:
        total = [a + monomial(error.power, v) for a, v in zip(total, error.direction, strict=True)]
    return total


def _padded(top: fmpq_mat, below: int) -> fmpq_mat:
    return fmpq_mat(top.nrows() + below, 1, top.entries() + [fmpq(0)] * below)


def _times(matrix: fmpq_mat, vector: Sequence[fmpq_poly]) -> list[fmpq_poly]:
    made = []
    for i in range(matrix.nrows()):
        terms = (v * matrix[i, j] for j, v in enumerate(vector) if matrix[i, j] != 0)
        made.append(sum(terms, fmpq_poly([])))
    return made


def _plus(*vectors: Sequence[fmpq_poly]) -> list[fmpq_poly]:
    return [sum(parts, fmpq_poly([])) for parts in zip(*vectors, strict=True)]
