"""The paper's primal-dual iteration for the lower level, under every reading of it."""

from __future__ import annotations

import math

import numpy as np

from f2csa_ref.lower_level.solution import LowerLevelSolution, describe, sizes
from f2csa_ref.objectives.model import Objectives
from f2csa_ref.sampling.draws import DEFAULTS, draw_width, noise_y_g
from f2csa_ref.sampling.shared_sample import SampledObjectives, share
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.parameters import OracleParameters
from spec.reading import REPAIRED, Reading

DIVERGED = 1e12
"""An iterate this many times larger than the start's data has left every neighbourhood of the solution."""
DECAY = 2.0 / 3.0
"""Power at which the step decreases: between 1/2 and 1, as averaging needs."""
_BLOCK = 256
"""Steps whose noise is drawn at once."""


def primal_dual(
    objectives: Objectives,
    x: Vector,
    *,
    reading: Reading = REPAIRED,
    parameters: OracleParameters = DEFAULTS,
    rng: np.random.Generator | None = None,
    draws: Matrix | None = None,
    start: tuple[Vector, Vector] | None = None,
    trajectory: bool = False,
) -> LowerLevelSolution:
    r"""Alternate noisy primal and projected dual steps for a fixed number of steps.

    :math:`y_{t+1} = y_t - \eta_y(\nabla_y \tilde g(x, y_t) \pm B^T\lambda_t)`,
    :math:`\lambda_{t+1} = \max\{0, \lambda_t + \eta_\lambda h(x, y_{t+1})\}`; minus is the gradient of the
    Lagrangian, plus the literal text. Solver ``constant-step`` returns the last pair. ``averaged`` lets both
    steps fall like (1 + t/10)^(-2/3) and returns the mean of the last half. ``shared-sample`` draws one batch,
    keeps it for all steps, and returns the last pair: deterministic given the batch.

    Args:
        objectives: Gradients, rows and noise.
        x: Upper variable, shape (n,).
        reading: Its ``primal_dual_sign`` and ``inner_solver``.
        parameters: ``lower_level_steps``, ``eta_y``, ``eta_lam``, ``shared_samples``.
        rng: Source of the noise; needed where the oracle is noisy and no draws are given.
        draws: Standard normals, one row a step: shape (steps, m), or (steps, 1) for the jump model. Not for
            ``shared-sample``.
        start: The pair (y_0, lam_0); zeros if left out.
        trajectory: Keep all iterates.

    Returns:
        The pair, with status ``diverged`` where the iterates leave all bounds; never an exception for that.

    Raises:
        InvalidInputError: If noise is asked for without a source, or draws have the wrong shape.

    Source: Lemma "Inner-loop Oracle Complexity", proof, step C1. Differs from the paper: the sign and the
    solver are choices of the reading; step sizes, which it leaves open, default to 1 / (C_g + ||B||^2).
    """
    steps, q = parameters.lower_level_steps, objectives
    noisy = q.noise.scale("g.y") > 0
    if noisy and reading.inner_solver == "shared-sample":
        q, noisy = share(q, parameters.shared_samples, require_rng(rng)), False
    price = q.batch if isinstance(q, SampledObjectives) else 1
    if noisy and draws is None:
        require_rng(rng)
    width = draw_width(q.noise, q.m)
    if noisy and draws is not None and draws.shape != (steps, width):
        raise InvalidInputError("draws.g_y", f"must have shape ({steps}, {width})", draws.shape)

    eta_y = parameters.eta_y if parameters.eta_y is not None else 1.0 / (q.C_g + q.B_norm**2)
    eta_lam = parameters.eta_lam if parameters.eta_lam is not None else eta_y
    sign = 1.0 if reading.primal_dual_sign == "plus" else -1.0
    averaged = reading.inner_solver == "averaged"
    B, r = q.B, q.A @ x - q.b
    y, lam = start if start is not None else (np.zeros(q.m), np.zeros(q.p))
    bound = DIVERGED * (1.0 + _size(y, lam) + _size(q.grad_y_g(x, y) / q.C_g, r))
    path = (np.full((steps + 1, q.m), np.nan), np.full((steps + 1, q.p), np.nan)) if trajectory else None
    y_sum, lam_sum, tail = np.zeros(q.m), np.zeros(q.p), 0
    diverged = False
    taken = 0
    block = np.zeros((0, width))
    if path is not None:
        path[0][0], path[1][0] = y, lam
    for t in range(steps):
        grad = q.grad_y_g(x, y)
        if noisy:
            if draws is None and t % _BLOCK == 0 and rng is not None:
                block = rng.standard_normal((min(_BLOCK, steps - t), width))
            z = block[t % _BLOCK] if draws is None else draws[t]
            grad = grad + noise_y_g(q, x, y, z)
        shrink = (1.0 + t / 10.0) ** -DECAY if averaged else 1.0
        y = y - shrink * eta_y * (grad + sign * (lam @ B))
        lam = np.maximum(0.0, lam + shrink * eta_lam * (r - B @ y))
        taken = t + 1
        if path is not None:
            path[0][taken], path[1][taken] = y, lam
        if not _size(y, lam) <= bound:
            diverged = True
            break
        if averaged and 2 * taken > steps:
            y_sum, lam_sum, tail = y_sum + y, lam_sum + lam, tail + 1
    if averaged and not diverged:
        y, lam = y_sum / tail, lam_sum / tail
    if path is not None:
        path = (path[0][: taken + 1], path[1][: taken + 1])
    if diverged:
        nothing = np.zeros(q.p, dtype=bool)
        return LowerLevelSolution(y, lam, math.nan, nothing, nothing, math.inf, "primal-dual", "diverged",
                                  taken, taken * price, path)  # fmt: skip
    measure = sizes(q, x, y, lam, float(np.linalg.norm(q.grad_y_g(x, y))) + q.C_g * float(np.linalg.norm(y)))
    return describe(q, x, y, lam, measure, method="primal-dual", status="budget", steps=taken,
                    gradient_samples=taken * price, trajectory=path)  # fmt: skip


def require_rng(rng: np.random.Generator | None) -> np.random.Generator:
    """The generator, or a clear refusal.

    Raises:
        InvalidInputError: If there is none.
    """
    if rng is None:
        raise InvalidInputError("rng", "must be given (or draws), since the problem's gradients are noisy")
    return rng


def _size(y: Vector, lam: Vector) -> float:
    return math.sqrt(float(y @ y) + float(lam @ lam))
