"""Minimise the penalty Lagrangian in y with gradients only: preconditioned Nesterov steps with restarts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.objectives import double_range
from f2csa_ref.penalty import PenaltyLagrangian
from f2csa_ref.sampling import DEFAULTS
from f2csa_ref.shared_sample import price
from spec.errors import InvalidInputError
from spec.exact import Vector
from spec.parameters import OracleParameters
from spec.reading import REPAIRED, Reading

Status = Literal["tolerance", "floor", "budget"]
EPS = float(np.finfo(np.float64).eps)
STALL_WINDOW = 500
"""Steps without a smaller gradient after which it starts again from the best point; if none halves, rounding won."""
GROWTH_LIMIT = 1e8
"""Growth of the gradient norm over its smallest value that no convergent run shows."""


@dataclass(frozen=True)
class PenaltySolution:
    """What the penalty minimiser found, and how well.

    ``shift`` is ``y - y_star``, shape (m,), before rounding to y: it carries the digits that matter in h. ``floor`` is
    the estimated rounding error of grad_y L; nothing below it can be reached in doubles. ``status``: ``tolerance``
    reached, rounding ``floor`` reached first, or ``budget`` spent. ``gradient_samples`` are those of grad_y f, and as
    many of grad_y g.
    """

    y: Vector
    shift: Vector
    gradient_norm: float
    tol: float
    floor: float
    iterations: int
    status: Status
    gradient_samples: int

    @property
    def converged(self) -> bool:
        """Whether the gradient norm asked for was reached."""
        return self.status == "tolerance"

    @property
    def evaluations(self) -> int:
        """Evaluations of grad_y L."""
        return self.iterations + 1

    @property
    def counts(self) -> dict[str, int]:
        """Calls it took, as :class:`f2csa_ref.Hypergradient` names them."""
        samples = self.gradient_samples
        return {"grad_y_f": samples, "grad_y_g": samples, "row_products": 2 * self.evaluations}


def penalty_minimiser(
    lagrangian: PenaltyLagrangian,
    *,
    reading: Reading = REPAIRED,
    parameters: OracleParameters = DEFAULTS,
    tol: float | None = None,
) -> PenaltySolution:
    r"""Minimise L(x, .) from y_star to the accuracy the reading asks for.

    Stops where :math:`\|\nabla_y L\|` is at most alpha (``inner_stop`` gradient) or mu * inner_tol (distance;
    mu = alpha_1 mu_g - C_f bounds the curvature, so the distance is then at most inner_tol), never below
    the rounding error of the gradient itself.

    Args:
        lagrangian: L, e.g. by :meth:`PenaltyLagrangian.at`.
        reading: Its ``inner_stop`` decides the tolerance.
        parameters: Step budget, preconditioner.
        tol: Gradient norm to reach instead, >= 0; 0 asks for the rounding floor.

    Raises:
        InvalidInputError: If input breaks a rule, if L turns out not to be convex, or if the stated constants
            are too small for the steps to converge.

    Source: Algorithm 1, line 5. Differs from the paper: exact gradients, and Nesterov's method in place of SGD;
    the paper's cost claim is counted on steps.
    """
    if tol is None:
        tol = stopping_tolerance(lagrangian, reading)
    if not (0 <= tol < math.inf):
        raise InvalidInputError("tol", "must be >= 0 and finite", tol)
    if lagrangian.rho.min(initial=0.0) < 0:
        raise InvalidInputError("rho", "must be >= 0", float(lagrangian.rho.min()))
    with double_range(lagrangian.objectives):
        step = _row_steps(lagrangian) if parameters.preconditioner == "rows" else _plain_steps(lagrangian)
        return _nesterov(lagrangian, step, tol, parameters.penalty_steps)


def curvature(lagrangian: PenaltyLagrangian) -> float:
    """Lower bound alpha_1 mu_g - C_f on the curvature of L in y; may be negative."""
    return lagrangian.alpha.alpha_1 * lagrangian.objectives.mu_g - lagrangian.objectives.C_f


def stopping_tolerance(lagrangian: PenaltyLagrangian, reading: Reading) -> float:
    """The gradient norm at which the reading lets the minimiser stop."""
    alpha = lagrangian.alpha
    if reading.inner_stop == "gradient":
        return alpha.alpha
    return usable_curvature(lagrangian) * alpha.inner_tol


def usable_curvature(lagrangian: PenaltyLagrangian) -> float:
    """The same bound where it says something, else half of alpha_1 mu_g, on which the paper counts: L may be convex."""
    mu = curvature(lagrangian)
    return mu if mu > 0 else 0.5 * lagrangian.alpha.alpha_1 * lagrangian.objectives.mu_g


Step = Callable[[Vector], Vector]


def _plain_steps(lagrangian: PenaltyLagrangian) -> Step:
    """1 / L times the gradient, L the Lipschitz constant of grad_y L."""
    q, alpha = lagrangian.objectives, lagrangian.alpha
    weighted = np.sqrt(lagrangian.rho)[:, None] * q.B
    gram = weighted @ weighted.T if q.p <= q.m else weighted.T @ weighted
    row_norm = max(0.0, float(sp.eigvalsh(gram)[-1]))
    lipschitz = q.C_f + alpha.alpha_1 * q.C_g + alpha.alpha_2 * row_norm
    return lambda grad: grad / lipschitz


def _row_steps(lagrangian: PenaltyLagrangian) -> Step:
    """Solve with P = s I + alpha_2 B' rho B, s = C_f + alpha_1 C_g, which bounds the Hessian from above.

    Only the known rows are factorised (by Woodbury, one row and column per row with rho > 0), never f or g.
    """
    q, alpha = lagrangian.objectives, lagrangian.alpha
    s = q.C_f + alpha.alpha_1 * q.C_g
    used = lagrangian.rho > 0
    if not used.any():
        return lambda grad: grad / s
    R = np.sqrt(lagrangian.rho[used])[:, None] * q.B[used]
    gram = R @ R.T
    gram.flat[:: len(gram) + 1] += s / alpha.alpha_2 + EPS * gram.trace()
    # What cho_factor and cho_solve call: they take less than their wrapping.
    factor, failed = sp.dpotrf(gram, clean=False)
    if failed:
        raise np.linalg.LinAlgError("the rows' part of the Hessian is not positive definite")

    potrs, scale = sp.dpotrs, np.array(s)

    def step(grad: Vector) -> Vector:
        moved: Vector = grad - potrs(factor, R.dot(grad))[0].dot(R)
        moved /= scale
        return moved

    return step


def _rounding_floor(lagrangian: PenaltyLagrangian) -> Callable[[float], float]:
    """Size of the rounding error of grad_y L at a shift, from the sizes of what is added up."""
    q, alpha = lagrangian.objectives, lagrangian.alpha
    weight = math.sqrt(float(lagrangian.rho.max(initial=0.0)))
    rows = alpha.alpha_2 * weight * q.B_norm
    fixed = rows * weight * _norm(lagrangian.rho * lagrangian.h_star) + alpha.alpha_1 * _norm(lagrangian.stationarity)
    per_shift = rows * weight * q.B_norm + alpha.alpha_1 * q.C_g
    f_size = _norm(q.grad_y_f(lagrangian.x, lagrangian.y_star)) + q.C_f * _norm(lagrangian.y_star)
    return lambda size: EPS * (fixed + per_shift * size + f_size + q.C_f * size)


def _nesterov(lagrangian: PenaltyLagrangian, step: Step, tol: float, budget: int) -> PenaltySolution:
    """Iterate w ← v - P⁻¹∇L(v), v ← w + momentum, momentum dropped whenever it points uphill."""
    m = len(lagrangian.y_star)
    floor_at = _rounding_floor(lagrangian)
    proven_convex = curvature(lagrangian) > 0
    # Not known to be convex: start off the stationary point, so that a direction of descent can show.
    start = 0.0 if proven_convex else lagrangian.alpha.inner_tol / math.sqrt(m)
    w = v = np.full(m, start)
    momentum, since_best = 1.0, 0
    best, best_norm, restarted_at = v, math.inf, math.nan

    def stopped(w: Vector, norm: float, floor: float, steps: int, status: Status) -> PenaltySolution:
        samples = (steps + 1) * price(lagrangian.objectives)
        return PenaltySolution(lagrangian.y_star + w, w, norm, tol, floor, steps, status, samples)

    previous: tuple[Vector, Vector] | None = None
    gradient = lagrangian.grad_y_here
    for iteration in range(budget + 1):
        grad = gradient(v)
        norm = _norm(grad)
        floor = floor_at(_norm(v))
        if previous is not None and not proven_convex:
            _require_convex(lagrangian, v - previous[0], grad - previous[1], floor)
        previous = (v, grad)
        since_best += 1
        if norm < best_norm:
            best, best_norm, since_best = v, norm, 0
        if norm <= tol:
            return stopped(v, norm, floor, iteration, "tolerance")
        stalled = since_best > STALL_WINDOW and best_norm <= 1e4 * floor
        if norm <= floor or (stalled and best_norm > 0.5 * restarted_at):
            return stopped(best, best_norm, max(floor, best_norm), iteration, "floor")
        if stalled and iteration < budget:
            # Momentum, not rounding, may keep it from a smaller gradient: once more from the best point, without.
            w = v = best
            momentum, since_best, restarted_at, previous = 1.0, 0, best_norm, None
            continue
        if not norm <= GROWTH_LIMIT * max(best_norm, floor):
            _refuse_constants(lagrangian)
        if iteration == budget:
            break
        w_next = v - step(grad)
        along = w_next - w
        v, momentum = accelerated(w_next, along, momentum, uphill=grad.dot(along) > 0)
        w = w_next
    return stopped(best, best_norm, floor, budget, "budget")


def accelerated(w_next: Vector, along: Vector, momentum: float, *, uphill: bool) -> tuple[Vector, float]:
    """Where Nesterov's method looks next, and with what momentum; ``along`` is the step to w_next from the last w."""
    if uphill:
        return w_next, 1.0
    momentum_next = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum))
    ahead = ((momentum - 1.0) / momentum_next) * along
    ahead += w_next
    return ahead, momentum_next


def _require_convex(lagrangian: PenaltyLagrangian, moved: Vector, changed: Vector, floor: float) -> None:
    if moved @ changed < -floor * _norm(moved):
        q = lagrangian.objectives
        bound = math.sqrt(q.mu_g / (2 * q.C_f))
        rule = f"must make the penalty Lagrangian strongly convex: alpha <= sqrt(mu_g / (2 C_f)) = {bound:.6g}"
        raise InvalidInputError("alpha", rule, lagrangian.alpha.alpha)


def _refuse_constants(lagrangian: PenaltyLagrangian) -> None:
    q = lagrangian.objectives
    rule = "must bound the curvature of f and g in y; with these constants the penalty minimiser diverges"
    raise InvalidInputError("C_f, C_g", rule, (q.C_f, q.C_g))


def _norm(vector: Vector) -> float:
    return math.sqrt(vector.dot(vector))
