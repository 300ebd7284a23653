r"""The lower level solved exactly, its solution differentiated exactly, and where that is not possible.

With :math:`S` the strictly active rows, differentiating the optimality conditions gives

.. math:: G J - B_S^T \Lambda = -g_{xy}^T, \quad B_S J = A_S, \qquad
          \nabla F = \nabla_x f + J^T \nabla_y f,

where :math:`J = dy^*/dx`, and :math:`\Lambda = d\lambda_S/dx` is eliminated.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import daqp
import numpy as np
from flint import fmpq, fmpq_mat

from spec import InvalidInputError, Quadratic
from spec.blocks.quadratic import QuadraticArrays
from spec.exact import FloatArray
from verify.truth.algebra.kept_answers import kept
from verify.truth.algebra.rationals import (
    Number,
    RationalBlocks,
    Vector,
    beside,
    blocks,
    column,
    fraction,
    fractions,
    is_positive_definite,
    point,
    select,
)
from verify.truth.lower_level import complementarity, local_regions

MAX_WEAKLY_ACTIVE = 12
"""Most degenerate rows whose 2**k pieces are enumerated."""


class DegenerateLowerLevelError(InvalidInputError):
    """No derivative at x: a kink, or the edge of where F is defined; ``gradients`` are those of the adjoining pieces.

    Raised where active rows are ``weakly_active``, without a positive multiplier, or dependent.
    """

    def __init__(
        self, weakly_active: tuple[int, ...], gradients: tuple[Vector, ...], rule: str = "must not lie on a kink of F"
    ) -> None:
        self.weakly_active = weakly_active
        self.gradients = gradients
        self.needed = rule
        listed = " or ".join("(" + ", ".join(map(str, gradient)) + ")" for gradient in gradients[:3])
        named = ", ".join(map(str, weakly_active)) or "none"
        super().__init__("x", f"{rule}; row(s) {named} weakly active, gradient {listed or 'none'}")

    @property
    def reason(self) -> str:
        """Why ∇F has no value there, with the gradients of the pieces that meet."""
        shown = [f"({', '.join(map(str, gradient))})" for gradient in self.gradients]
        if len(shown) > 1:
            return f"∇F has no value here: the adjoining pieces have gradients {', '.join(shown[:-1])} and {shown[-1]}"
        return f"∇F has no value here: x {self.needed}"


@dataclass(frozen=True)
class ExactLowerLevel:
    """The lower-level solution, exact and certified by exact signs.

    Rows with ``h = A @ x - B @ y_star - b`` zero are strictly active with a positive multiplier, else weakly; no h is
    positive. The multipliers are unique iff :attr:`licq`; ``licq_rank`` is the rank of the active rows of B.
    """

    y_star: Vector
    lam: Vector
    h: Vector
    strictly_active: tuple[int, ...]
    weakly_active: tuple[int, ...]
    inactive: tuple[int, ...]
    licq_rank: int

    @property
    def active(self) -> tuple[int, ...]:
        """Rows with ``h = 0``."""
        return tuple(sorted(self.strictly_active + self.weakly_active))

    @property
    def licq(self) -> bool:
        """Whether the active rows of B are linearly independent."""
        return self.licq_rank == len(self.active)

    @property
    def strict_complementarity(self) -> bool:
        """Whether every active row carries a positive multiplier."""
        return not self.weakly_active


def solve(problem: Quadratic, x: Sequence[Number]) -> ExactLowerLevel:
    """Solve the lower level in exact rational arithmetic.

    The rows that carry a multiplier are guessed in floating point, then certified by exact signs; a wrong
    guess costs time, never correctness. Meant for m and p up to about 50.

    Raises:
        InvalidInputError: If x does not fit or ``g.yy`` is not exactly positive definite.
        InfeasibleLowerLevelError: If no y satisfies the rows, with the weights that prove it.

    Source:
        Eq. (constrainedbilevel), Eq. (linearconstraints). Differs from the paper: multipliers need not be unique;
        whether they are is reported, not assumed.
    """
    return _solved(problem, point(x, problem.n, "x"))


KEPT_POINTS = 512
"""Points of one problem at which the answers are kept."""


@kept(KEPT_POINTS)
def _solved(problem: Quadratic, x: Vector) -> ExactLowerLevel:
    at = column(x)
    rows = blocks(problem)
    _require_convex(rows)
    p = problem.p
    slope = rows.g_y + rows.g_xy.transpose() * at
    solved = rows.g_yy.solve(beside(rows.B.transpose(), slope))
    Z, y_0 = select(solved, range(problem.m), range(p)), -1 * select(solved, range(problem.m), [p])
    h_0 = rows.A * at - rows.B * y_0 - rows.b
    lam = fmpq_mat(p, 1, complementarity.solve(rows.B * Z, h_0, guess_working_rows(problem, x))[0])
    y = y_0 + Z * lam
    h = rows.A * at - rows.B * y - rows.b
    active = [i for i in range(p) if h[i, 0] == 0]
    return ExactLowerLevel(
        y_star=fractions(y),
        lam=fractions(lam),
        h=fractions(h),
        strictly_active=tuple(i for i in active if lam[i, 0] > 0),
        weakly_active=tuple(i for i in active if lam[i, 0] == 0),
        inactive=tuple(i for i in range(p) if h[i, 0] < 0),
        licq_rank=select(rows.B, active).rank() if active else 0,
    )


def guess_working_rows(problem: Quadratic, x: Sequence[Number]) -> tuple[int, ...]:
    """Rows that seem to carry a multiplier, from a solve in doubles; an empty guess where that fails."""
    at = np.array([float(value) for value in x])
    try:
        return rows_in_doubles(problem.arrays, at) or ()
    except (ValueError, TypeError, ArithmeticError):
        return ()


def rows_in_doubles(a: QuadraticArrays, at: FloatArray) -> tuple[int, ...] | None:
    """Rows that carry a multiplier, as far as doubles can tell; ``None`` where they find no feasible y."""
    upper = a.b - a.A @ at
    _, _, flag, info = daqp.solve(a.g_yy.copy(), a.g_y + a.g_xy.T @ at, -a.B, upper, np.full(len(upper), -np.inf))
    if flag < 1:
        return None
    lam = np.asarray(info["lam"])[-len(upper) :]
    return tuple(int(i) for i in np.flatnonzero(lam > 1e-11 * max(1.0, float(np.abs(lam).max()))))


def jacobian(problem: Quadratic, x: Sequence[Number]) -> tuple[Vector, ...]:
    """The exact derivative of y*, row by row (m, n), as :func:`solution_maps` has it."""
    return solution_maps(problem, x)[0]


def solution_maps(problem: Quadratic, x: Sequence[Number]) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
    """The exact derivatives of y* (m, n) and of the multipliers (p, n), the strictly active rows held as equations.

    Refused as by :func:`solve`, or if an active row is only weakly active, or the active rows are dependent.

    Source:
        Implicit function theorem on the optimality conditions; used by Lemma "Hypergradient Bias Bound", T3.
    """
    lower = solve(problem, x)
    if not (lower.strict_complementarity and lower.licq):
        rule = "must be a point where all active rows are independent and carry multipliers"
        raise DegenerateLowerLevelError(lower.weakly_active, _distinct_gradients(problem, x, lower), rule)
    J, on_active = _slopes(blocks(problem), lower.strictly_active)
    of_rows = dict(zip(lower.strictly_active, on_active.tolist(), strict=True))
    nothing = [fmpq(0)] * problem.n
    of_lam = tuple(tuple(map(fraction, of_rows.get(i, nothing))) for i in range(problem.p))
    return tuple(tuple(map(fraction, row)) for row in J.tolist()), of_lam


def hypergradient(problem: Quadratic, x: Sequence[Number]) -> Vector:
    """The exact gradient of F(x) = f(x, y*(x)), shape (n,).

    Where rows are weakly active or dependent the solution map may have several adjoining pieces, each a polyhedron with
    an interior on which F is quadratic; near x they cover everything, so F is differentiable at x iff F is defined all
    around and every one of them has the same gradient there, which is returned.

    Raises:
        InvalidInputError: As :func:`solve`.
        DegenerateLowerLevelError: If F has a kink at x, or ends there, with the gradients of the adjoining pieces.

    Source:
        Section "Problem Formulation"; the chain rule through y*(x).
    """
    return _differentiated(problem, point(x, problem.n, "x"))


@kept(KEPT_POINTS)
def _differentiated(problem: Quadratic, x: Vector) -> Vector:
    lower = solve(problem, x)
    if lower.strict_complementarity and lower.licq:
        return piece_gradient(blocks(problem), x, lower.y_star, lower.strictly_active)
    gradients = _distinct_gradients(problem, x, lower)
    if not (lower.licq or local_regions.defined_around(blocks(problem), lower.active)):
        rule = "must lie inside the region where the lower level is feasible"
        raise DegenerateLowerLevelError(lower.weakly_active, gradients, rule)
    if len(gradients) != 1:
        raise DegenerateLowerLevelError(lower.weakly_active, gradients)
    return gradients[0]


def pieces(problem: Quadratic, x: Sequence[Number], lower: ExactLowerLevel) -> dict[tuple[int, ...], Vector]:
    """The gradient of every piece of F that adjoins x, solved there, keyed by the rows it holds as equations.

    Under strict complementarity and independent rows there is exactly one. Otherwise a choice of independent active
    rows counts if it can carry the multipliers and owns a region with an interior arbitrarily near x; with dependent
    rows one piece may come under several keys. Refused if more than 12 active rows are degenerate.
    """
    rows = blocks(problem)
    # Without independence the positive multipliers may move to other rows, so none is necessary.
    necessary = lower.strictly_active if lower.licq else ()
    optional = [i for i in lower.active if i not in necessary]
    if len(optional) > MAX_WEAKLY_ACTIVE:
        raise InvalidInputError("x", f"must have at most {MAX_WEAKLY_ACTIVE} degenerate active rows", len(optional))
    gradients: dict[tuple[int, ...], Vector] = {}
    for size in range(len(optional) + 1):
        for extra in itertools.combinations(optional, size):
            chosen = tuple(sorted((*necessary, *extra)))
            if chosen and select(rows.B, chosen).rank() < len(chosen):
                continue
            lam = _multipliers_on(rows, x, lower.y_star, chosen)
            if lam is not None and local_regions.owns_region(rows, chosen, lam, lower.active):
                gradients[chosen] = piece_gradient(rows, x, lower.y_star, chosen)
    return gradients


def _require_convex(rows: RationalBlocks) -> None:
    if not is_positive_definite(rows.g_yy):
        raise InvalidInputError("g.yy", "must be positive definite, also in exact arithmetic")


def _distinct_gradients(problem: Quadratic, x: Sequence[Number], lower: ExactLowerLevel) -> tuple[Vector, ...]:
    return tuple(dict.fromkeys(pieces(problem, x, lower).values()))


MOST_ROW_SETS = 1 << 16
"""Most sets of rows whose slopes are made."""


@kept(16)
def row_set_slopes(problem: Quadratic) -> tuple[tuple[Vector, ...], ...]:
    """The derivatives of y in x, (m, n) each, with any independent rows held as equations: y* has one on each piece.

    Raises:
        InvalidInputError: If there are too many sets of rows.
    """
    rows, p, most = blocks(problem), problem.p, min(problem.m, problem.p)
    count = sum(comb(p, size) for size in range(most + 1))
    if count > MOST_ROW_SETS:
        raise InvalidInputError("rows", f"must have at most {MOST_ROW_SETS} sets, to find L_y", count)
    sets = (S for size in range(most + 1) for S in itertools.combinations(range(p), size))
    slopes = (_slopes(rows, S)[0] for S in sets if not S or select(rows.B, S).rank() == len(S))
    return tuple(dict.fromkeys(tuple(tuple(map(fraction, row)) for row in J.tolist()) for J in slopes))


def _slopes(rows: RationalBlocks, S: tuple[int, ...]) -> tuple[fmpq_mat, fmpq_mat]:
    """Derivatives of y and of the multipliers of S, the rows S held as equations."""
    m, n = rows.g_yy.nrows(), rows.g_xy.nrows()
    B_S, A_S = select(rows.B, S), select(rows.A, S)
    solved = rows.g_yy.solve(beside(B_S.transpose(), rows.g_xy.transpose()))
    Z, J_0 = select(solved, range(m), range(len(S))), -1 * select(solved, range(m), range(len(S), solved.ncols()))
    if not S:
        return J_0, fmpq_mat(0, n)
    of_lam = (B_S * Z).solve(A_S - B_S * J_0)
    return J_0 + Z * of_lam, of_lam


def _multipliers_on(
    rows: RationalBlocks, x: Sequence[Number], y_star: Vector, chosen: tuple[int, ...]
) -> list[fmpq] | None:
    """Multipliers on the independent rows chosen that alone meet the optimality conditions; ``None`` without any."""
    at, y = column(x), column(y_star)
    residual = rows.g_y + rows.g_xy.transpose() * at + rows.g_yy * y
    if not chosen:
        return [] if all(value == 0 for value in residual.entries()) else None
    B_c = select(rows.B, chosen)
    lam = (B_c * B_c.transpose()).solve(B_c * residual)
    fits = B_c.transpose() * lam == residual and all(value >= 0 for value in lam.entries())
    return list(lam.entries()) if fits else None


def piece_gradient(rows: RationalBlocks, x: Sequence[Number], y_star: Vector, S: tuple[int, ...]) -> Vector:
    """Gradient of the selection of F that holds the rows S as equations."""
    at, y, J = column(x), column(y_star), _slopes(rows, S)[0]
    grad_x_f = rows.f_x + rows.f_xx * at + rows.f_xy * y
    grad_y_f = rows.f_y + rows.f_xy.transpose() * at + rows.f_yy * y
    return fractions(grad_x_f + J.transpose() * grad_y_f)
