"""The lower level, exact up to rounding: a quadratic program, polished; projected steps where g is only smooth."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.lower_level.active_set import prepared_daqp
from f2csa_ref.lower_level.pivoting import solve_box
from f2csa_ref.lower_level.proximal import PROXIMAL_FROM, installed, proximal_program
from f2csa_ref.lower_level.solution import (
    ACCEPTED_RESIDUAL,
    SMALL,
    Candidate,
    LowerLevelError,
    LowerLevelSolution,
    Mask,
    length,
    row_lengths,
    sizes,
)
from f2csa_ref.objectives import EXTENDED_LIMIT, Objectives, QuadraticObjectives
from f2csa_ref.penalty_minimiser import accelerated
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector

ROUNDED = 1e-14
"""Residual up to which a polished pair is taken whatever it was before."""
REFINEMENTS = 2
"""Steps of iterative refinement; the first already reaches rounding unless the KKT system is very ill-conditioned."""


def solve_quadratic(objectives: QuadraticObjectives, x: Vector) -> LowerLevelSolution:
    """Solve min ½ yᵀGy + cᵀy over B y >= A x - b, with multipliers, or say that no y or no good pair was found.

    Many bounds on single coordinates, and nothing else, go to block pivoting.

    Source: Algorithm 1, line 3. Differs from the paper: solved to rounding instead of by SGD.
    """
    q = objectives
    if q.m > SMALL and q.bounds is not None:
        return solve_box(q, q.bounds, x)
    c = x @ q.g_xy + q.g_y
    r = q.A @ x - q.b
    size = length(c) / q.C_g + distance_to_rows(q, r)
    size = size if size > 0 else 1.0
    try:
        y, lam = _scaled(q).solve(c / q.C_g, r, size=size, x=x)
    except LowerLevelError:
        if q.bounds is None:
            raise
        return solve_box(q, q.bounds, x)
    lam = lam * q.C_g

    parts = length(x @ q.g_xy) + length(q.g_y) + q.C_g * length(y)
    candidate = Candidate(q, x, y, lam, sizes(q, x, y, lam, parts))
    candidate = _polished(candidate, (c, r), lam > 0)
    if not candidate.residual <= ACCEPTED_RESIDUAL:
        # A row many orders smaller than the program is lost in its rounding: where it is broken it works, too.
        candidate = _polished(candidate, (c, r), (candidate.lam > 0) | (candidate.h > 0))
    if not candidate.residual <= ACCEPTED_RESIDUAL:
        raise LowerLevelError(f"lower-level KKT residual {candidate.residual:.1e} exceeds {ACCEPTED_RESIDUAL:.0e}")
    return candidate.solution("quadratic-program")


def _polished(candidate: Candidate, program: tuple[Vector, Vector], working: Mask) -> Candidate:
    """The pair solved anew on the working rows of ``program``, its c and r, if that is a better one."""
    q = candidate.objectives
    assert isinstance(q, QuadraticObjectives)  # what is polished here
    polished = _polish(q, *program, working)
    if polished is None:
        return candidate
    y, lam = polished
    better = Candidate(q, candidate.x, y, lam, candidate.sizes)
    if better.residual > ROUNDED and better.residual > candidate.residual:
        return candidate
    return better if (lam >= 0).all() else replace(candidate, y=y, lam=np.maximum(lam, 0.0))


def distance_to_rows(q: Objectives, r: Vector) -> float:
    """Largest distance of a row B_i y = r_i from the origin."""
    lengths = row_lengths(q)[1]
    if lengths.all():
        return float((np.abs(r) / lengths).max())
    return float(np.divide(np.abs(r), lengths, out=np.zeros_like(r), where=lengths > 0).max())


def _polish(q: QuadraticObjectives, c: Vector, r: Vector, working: Mask) -> tuple[Vector, Vector] | None:
    """Solve [G -Wᵀ; W 0] [y; λ] = [-c; r_W] on the working rows W, residuals in extended precision."""
    W, target = q.B[working], r[working]
    known, key = _systems.setdefault(q, {}), working.tobytes()
    if key not in known:
        if len(known) == KEPT:
            known.clear()
        known[key] = _factored(q, W)
    system = known[key]
    if system is None:
        return None
    spread, R, G_wide, W_wide = system
    potrs, (factor, lower) = sp.dpotrs, q.g_yy_factor

    y, lam = np.zeros(len(c), dtype=G_wide.dtype), np.zeros(len(target), dtype=G_wide.dtype)
    top, bottom = 0.0 - c, target
    for refined in range(1 + REFINEMENTS):
        if refined:
            # The method, and not @: it sums in registers what @ sums in memory.
            top = (lam.dot(W_wide) - c - G_wide.dot(y)).astype(np.float64)
            bottom = (target - W_wide.dot(y)).astype(np.float64)
        # What cho_solve calls: it takes less than its wrapping.
        y_free, _ = potrs(factor, top, lower=lower)
        if not len(W):
            y = y + y_free
            continue
        change, _ = potrs(R, bottom - W.dot(y_free), lower=False)
        y, lam = y + y_free + spread.dot(change), lam + change
    multipliers = np.zeros(len(r))
    multipliers[working] = lam.astype(np.float64)
    return y.astype(np.float64), multipliers


KEPT = 32
"""Sets of working rows whose factors are kept of a problem: neighbouring points share theirs."""
_System: TypeAlias = tuple[Matrix, Matrix, Any, Any]
_systems: WeakKeyDictionary[QuadraticObjectives, dict[bytes, _System | None]] = WeakKeyDictionary()
_extended: WeakKeyDictionary[QuadraticObjectives, Any] = WeakKeyDictionary()
"""g_yy in extended precision."""


def _factored(q: QuadraticObjectives, W: Matrix) -> _System | None:
    """G⁻¹Wᵀ, R with RᵀR = W G⁻¹ Wᵀ, and G and W in extended precision; nothing where the rows are dependent."""
    half = sp.solve_triangular(q.g_yy_factor[0], W.T, lower=True, check_finite=False)
    spread = sp.solve_triangular(q.g_yy_factor[0], half, lower=True, trans=1, check_finite=False)
    # Forming the product first would square the condition number of nearly dependent rows.
    R = sp.qr(half, mode="r", check_finite=False)[0][: len(W)]
    if len(R) < len(W) or not np.diag(R).all():
        return None
    if W.size + q.g_yy.size > EXTENDED_LIMIT:
        return np.asarray(spread), np.asarray(R), q.g_yy, W
    if q not in _extended:
        _extended[q] = q.g_yy.astype(np.longdouble)
    return np.asarray(spread), np.asarray(R), _extended[q], W.astype(np.longdouble)


_OPTIMAL, _INFEASIBLE = 1, -1


class ScaledProgram:
    """½ yᵀHy + cᵀy over B y >= r for one H, positive definite, of norm about 1, and one B, scaled to unit rows.

    ``condition`` is given where many programs with this H follow: it bounds H's.
    """

    def __init__(self, H: Matrix, B: Matrix, *, condition: float = math.inf) -> None:
        lengths = np.linalg.norm(B, axis=1)
        self.H, self.empty = H, lengths == 0
        self.some_empty = bool(self.empty.any())
        self.scale = np.where(self.empty, 1.0, lengths)
        self.rows = -B / self.scale[:, None]
        self._daqp = prepared_daqp(H, self.rows, condition)

    def solve(self, c: Vector, r: Vector, *, size: float, x: Vector) -> tuple[Vector, Vector]:
        """As :func:`solve_program`."""
        rows, scale = self.rows, self.scale
        upper = -r / (scale * size)
        if self.some_empty:
            if (self.empty & (r > 0)).any():
                raise _infeasible(x)
            upper[self.empty] = 1.0
        if len(c) >= PROXIMAL_FROM and installed():
            solution = proximal_program(self.H, c / size, rows, upper)
            if solution is not None:
                return solution[0] * size, solution[1] * size / scale
        y, lam, flag, iterations = self._daqp(c / size, upper)
        if flag == _INFEASIBLE:
            if not allowed(rows, upper):
                raise _infeasible(x)
            raise LowerLevelError(
                "daqp took the rows for infeasible, which they are not: g or the rows are too ill-conditioned for it"
            )
        if flag != _OPTIMAL:
            raise LowerLevelError(f"daqp stopped with exit flag {flag} after {iterations} iterations{_hint(len(c))}")
        return y * size, lam * size / scale


def solve_program(H: Matrix, c: Vector, B: Matrix, r: Vector, *, size: float, x: Vector) -> tuple[Vector, Vector]:
    """Minimise ½ yᵀHy + cᵀy over B y >= r: y, and multipliers with H y + c = Bᵀ lam.

    H is positive definite, of norm about 1; the problem is scaled by ``size`` > 0, expected of y. By daqp, or from
    ``PROXIMAL_FROM`` on by proxsuite where it is installed and says that it solved the problem. Where no y satisfies
    the rows x is refused; where daqp gives up that is a :class:`LowerLevelError`.
    """
    return ScaledProgram(H, B).solve(c, r, size=size, x=x)


_programs: WeakKeyDictionary[QuadraticObjectives, ScaledProgram] = WeakKeyDictionary()


def _scaled(q: QuadraticObjectives) -> ScaledProgram:
    """The program of the lower level in units of C_g, kept of a problem."""
    known = _programs.get(q)
    if known is None:
        known = _programs[q] = ScaledProgram(q.g_yy / q.C_g, q.B, condition=q.C_g / q.mu_g)
    return known


def allowed(rows: Matrix, upper: Vector) -> bool:
    """Whether some y has rows y <= upper, up to the tolerance of a linear program: the second opinion on emptiness."""
    from scipy.optimize import linprog  # most problems never ask

    outcome = linprog(np.zeros(rows.shape[1]), rows, upper, bounds=(None, None), method="highs")
    return bool(outcome.status == 0)


def _hint(m: int) -> str:
    return "; the extra `proxsuite` brings a solver for large ones" if m >= PROXIMAL_FROM and not installed() else ""


def _infeasible(x: Vector) -> InvalidInputError:
    rule = "lower-level problem is infeasible here: no y satisfies A x - B y - b <= 0"
    return InvalidInputError("x", rule, x.tolist())


TARGET_RESIDUAL = 1e-12
ACCEPTED_SMOOTH_RESIDUAL = 1e-9
"""Scaled KKT residual that is aimed at, and the largest that counts as solved where rounding forbids the aim."""
STALL_WINDOW = 100
"""Steps without a smaller residual after which the best pair is judged."""


def solve_smooth(objectives: Objectives, x: Vector, *, steps: int) -> LowerLevelSolution:
    """Minimise g(x, .) over the rows; multipliers come from the last projection.

    y ← proj(v - ∇g(v) / C_g) with Nesterov's momentum, dropped whenever it points uphill.
    A budget or progress that ends at a KKT residual above 1e-9 is a :class:`LowerLevelError`.

    Source: Algorithm 1, line 3. Differs from the paper: deterministic, solved to rounding instead of by SGD.
    """
    q = objectives
    r = q.A @ x - q.b
    projection = ScaledProgram(np.eye(q.m), q.B, condition=1.0)
    reach = distance_to_rows(q, r)
    y = v = np.zeros(q.m)
    momentum, since_best = 1.0, 0
    best: Candidate | None = None
    taken = 0
    while taken < steps:
        taken += 1
        grad = q.grad_y_g(x, v)
        free = v - grad / q.C_g
        size = float(np.linalg.norm(free)) + reach
        y_next, multipliers = projection.solve(-free, r, size=size if size > 0 else 1.0, x=x)
        lam = q.C_g * multipliers
        here = Candidate(q, x, y_next, lam, sizes(q, x, y_next, lam))
        since_best += 1
        if best is None or here.residual < best.residual:
            best, since_best = here, 0
        if here.residual <= TARGET_RESIDUAL or since_best > STALL_WINDOW or not math.isfinite(here.residual):
            break
        along = y_next - y
        v, momentum = accelerated(y_next, along, momentum, uphill=bool((v - y_next) @ along > 0))
        y = y_next
    if best is None or not best.residual <= ACCEPTED_SMOOTH_RESIDUAL:
        reached = math.inf if best is None else best.residual
        rule = "check that C_g bounds the curvature of g(x, .), or raise lower_level_steps"
        raise LowerLevelError(f"projected gradients stopped at KKT residual {reached:.1e} after {taken} steps; {rule}")
    return best.solution("projected-gradient", steps=taken, gradient_samples=taken)
