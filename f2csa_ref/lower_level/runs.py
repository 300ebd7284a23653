"""Many independent runs of the primal-dual iteration at once."""

from __future__ import annotations

import numpy as np

from f2csa_ref.lower_level.primal_dual import DECAY, require_rng
from f2csa_ref.objectives.model import Objectives, double_range, objectives_of
from f2csa_ref.objectives.vectors import as_vector
from f2csa_ref.sampling.batches import SampleBatch, batch_of, share_each
from f2csa_ref.sampling.draws import DEFAULTS
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.parameters import OracleParameters
from spec.problem import Problem
from spec.reading import REPAIRED, Reading

LARGEST = 1e100
"""Runs stop growing here: what diverges stays a number, and a very large one."""


def lower_level_runs(
    problem: Problem | Objectives,
    x: Vector,
    *,
    reading: Reading = REPAIRED,
    parameters: OracleParameters = DEFAULTS,
    rng: np.random.Generator | None = None,
    replications: int = 1,
) -> tuple[Matrix, Matrix]:
    r"""Run :func:`primal_dual` independently many times, one row a run.

    Args:
        problem: Problem or objectives.
        x: Upper variable, shape (n,).
        reading: Its ``primal_dual_sign`` and ``inner_solver``.
        parameters: ``lower_level_steps``, ``eta_y``, ``eta_lam``, ``shared_samples``.
        rng: Source of the noise; needed where the lower level's gradient is noisy.
        replications: Number of runs R, >= 1.

    Returns:
        Final pairs, shapes (R, m) and (R, p). A run that diverges is stopped at 1e100 a component.

    Raises:
        InvalidInputError: If an argument breaks its rule.

    Source: Lemma "Inner-loop Oracle Complexity", proof, step C1. Differs from the paper: as :func:`primal_dual`.
    """
    if replications < 1:
        raise InvalidInputError("replications", "must be >= 1", replications)
    q = objectives_of(problem)
    x = as_vector(x, q.n, "x")
    if q.noise.scale("g.y") > 0:
        require_rng(rng)
    batch = batch_of(q, x, replications)
    if reading.inner_solver == "shared-sample" and q.noise.model != "none":
        batch = share_each(batch, parameters.shared_samples, require_rng(rng))
    with double_range(q):
        return iterate(batch, reading, parameters, rng)


def iterate(
    batch: SampleBatch, reading: Reading, parameters: OracleParameters, rng: np.random.Generator | None
) -> tuple[Matrix, Matrix]:
    """The iteration on a batch that is already set up."""
    q, steps = batch.objectives, parameters.lower_level_steps
    eta_y = parameters.eta_y if parameters.eta_y is not None else 1.0 / (q.C_g + q.B_norm**2)
    eta_lam = parameters.eta_lam if parameters.eta_lam is not None else eta_y
    sign = 1.0 if reading.primal_dual_sign == "plus" else -1.0
    averaged = reading.inner_solver == "averaged"
    noisy = q.noise.scale("g.y") > 0 and not batch.shared
    B, r = q.B, q.A @ batch.x - q.b
    y, lam = np.zeros((batch.runs, q.m)), np.zeros((batch.runs, q.p))
    y_sum, lam_sum, tail = np.zeros_like(y), np.zeros_like(lam), 0
    for t in range(steps):
        grad = batch.grad_y_g(y)
        if noisy:
            grad += batch.noise_y_g(y, require_rng(rng))
        shrink = (1.0 + t / 10.0) ** -DECAY if averaged else 1.0
        y -= shrink * eta_y * (grad + sign * (lam @ B))
        lam = np.maximum(0.0, lam + shrink * eta_lam * (r - y @ B.T))
        if sign > 0:
            # Only the literal sign runs away.
            np.clip(y, -LARGEST, LARGEST, out=y)
            np.minimum(lam, LARGEST, out=lam)
        if averaged and 2 * (t + 1) > steps:
            y_sum, lam_sum, tail = y_sum + y, lam_sum + lam, tail + 1
    return (y_sum / tail, lam_sum / tail) if averaged else (y, lam)
