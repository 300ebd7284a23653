"""Many independent complete runs of Algorithm 1, every stage drawn afresh in each."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from f2csa_ref.activation import activation_weights
from f2csa_ref.algorithm_1 import sample_noise
from f2csa_ref.lower_level.primal_dual import require_rng
from f2csa_ref.lower_level.runs import iterate
from f2csa_ref.many.penalty_runs import PenaltyRuns, descend, descent_steps
from f2csa_ref.objectives.model import Objectives, double_range, objectives_of
from f2csa_ref.objectives.vectors import as_vector
from f2csa_ref.penalty import PenaltyLagrangian, penalty_parameters
from f2csa_ref.sampling.batches import SampleBatch, batch_of, share_each
from f2csa_ref.sampling.draws import (
    DEFAULTS,
    draw_shapes,
    sample_rows,
)
from f2csa_ref.stages import NOTHING_GIVEN, Stages, compute_stages
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.parameters import OracleParameters
from spec.problem import Problem
from spec.reading import REPAIRED, Reading

REDUCTION = 1e12
"""Factor by which the penalty minimiser's steps reduce its error: the lower level's noise is what is studied."""


def hypergradient_runs(
    problem: Problem | Objectives,
    x: Vector,
    *,
    alpha: float,
    reading: Reading = REPAIRED,
    parameters: OracleParameters = DEFAULTS,
    rng: np.random.Generator,
    replications: int = 1,
) -> tuple[Matrix, int]:
    """Run Algorithm 1 independently many times with the noisy primal-dual lower level.

    Args:
        problem: Problem or objectives; noise additive or matrix.
        x: Upper variable, shape (n,).
        alpha: Accuracy parameter, > 0.
        reading: Resolution of the paper's open choices. ``shared-sample`` draws one batch of ``shared_samples`` a
            run and uses it in lines 3, 5 and 6; the other solvers draw afresh in line 3 and average N_g samples in
            line 6.
        parameters: ``lower_level_steps``, ``eta_y``, ``eta_lam``, ``N_g``, ``shared_samples``, ramp widths.
        rng: Source of the noise.
        replications: Number of runs R, >= 1.

    Returns:
        Estimates, shape (R, n), and the gradient samples each run has used.

    Raises:
        InvalidInputError: If an argument breaks its rule, or for jump noise.

    Source: Algorithm 1. Differs from the paper: line 5 takes preconditioned gradient steps free of fresh noise.
    """
    if replications < 1:
        raise InvalidInputError("replications", "must be >= 1", replications)
    q = objectives_of(problem)
    if q.noise.model == "jump":
        raise InvalidInputError("noise.model", "must be additive or matrix", "jump")
    x = as_vector(x, q.n, "x")
    batch = batch_of(q, x, replications)
    shared = reading.inner_solver == "shared-sample" and q.noise.model != "none"
    if shared:
        batch = share_each(batch, parameters.shared_samples, require_rng(rng))
    weights = penalty_parameters(alpha)
    with double_range(q):
        y_star, lam = iterate(batch, reading, parameters, rng)
        h = (q.A @ x - q.b) - y_star @ q.B.T
        h_width = parameters.h_width(reading, weights.inner_tol, q.B_norm)
        rho = activation_weights(h, lam, h_width=h_width, lam_width=parameters.lam_width)
        runs = PenaltyRuns(batch, weights, y_star, lam, rho)
        steps = descent_steps(runs, REDUCTION)
        y = descend(runs, steps)
        estimates = _estimates(runs, y, reading)
        if not shared and q.noise.model != "none":
            estimates += _noise(batch, y_star, y, weights.alpha_1, reading, parameters.N_g, rng)
    samples = parameters.shared_samples if shared else parameters.N_g
    price = parameters.shared_samples if shared else 1
    calls = (parameters.lower_level_steps + 2 * (steps + 1)) * price + 3 * samples
    return estimates, calls


def _estimates(runs: PenaltyRuns, y: Matrix, reading: Reading) -> Matrix:
    q, weights, w = runs.batch.objectives, runs.alpha, y - runs.y_star
    h = (q.A @ runs.batch.x - q.b) - y @ q.B.T
    made: Matrix = runs.batch.grad_x_f(y) + weights.alpha_1 * runs.batch.grad_x_g_change(runs.y_star, w)
    made = made + weights.alpha_2 * (runs.rho * h) @ q.A
    return made + weights.alpha_1 * runs.lam @ q.A if reading.dual_term == "frozen" else made


def _noise(
    batch: SampleBatch,
    y_star: Matrix,
    y: Matrix,
    alpha_1: float,
    reading: Reading,
    N_g: int,
    rng: np.random.Generator,
) -> Matrix:
    """Mean noise of line 6 over N_g samples, shape (R, n): a mean of Gaussian samples is drawn directly."""
    noise, n = batch.objectives.noise, batch.objectives.n
    s_f, s_g = noise.scale("f.x") / math.sqrt(N_g), alpha_1 * noise.scale("g.x") / math.sqrt(N_g)
    matrix, independent = noise.model == "matrix", reading.noise_pairing == "independent"
    upper = _lengths(batch.x, y) if matrix else 1.0
    made = s_f * upper * rng.standard_normal((batch.runs, n))
    if independent:
        for point in (y, y_star):
            made += s_g * (_lengths(batch.x, point) if matrix else 1.0) * rng.standard_normal((batch.runs, n))
    elif matrix:
        made += s_g * _lengths(0 * batch.x, y - y_star) * rng.standard_normal((batch.runs, n))
    return made


def _lengths(x: Vector, y: Matrix) -> Matrix:
    made: Matrix = np.sqrt(x @ x + np.einsum("ij,ij->i", y, y))[:, None]
    return made


CACHED = 1 << 16
"""Normals held at once (512 KiB) by many calls: they stay in the cache. Results do not depend on it."""

ROWS = 1 << 12
"""Samples of one large batch summed at once; unlike the caches this one shows in the last digits."""


def hypergradient_samples(
    problem: Problem | Objectives,
    x: Vector,
    *,
    alpha: float,
    reading: Reading = REPAIRED,
    parameters: OracleParameters = DEFAULTS,
    given: Stages = NOTHING_GIVEN,
    rng: np.random.Generator | None = None,
    replications: int = 1,
) -> Matrix:
    """Repeat line 6 of Algorithm 1 independently, conditional on one set of stage values.

    Args:
        problem: Problem or objectives.
        x: Upper variable, shape (n,).
        alpha: Accuracy parameter, > 0.
        reading: Resolution of the paper's open choices.
        parameters: As for :func:`hypergradient`; each replication averages N_g samples.
        given: Stage values; what is left out is computed once and then held fixed.
        rng: Source of noise.
        replications: Number of independent estimates, >= 1.

    Returns:
        One estimate a row, shape (replications, n).

    Raises:
        InvalidInputError: If an argument breaks its rule.

    Source: Algorithm 1, line 6; Lemma "Variance Bound", which conditions on x, lam_hat and y_hat.
    """
    if replications < 1:
        raise InvalidInputError("replications", "must be >= 1", replications)
    q = objectives_of(problem)
    x = as_vector(x, q.n, "x")
    with double_range(q):
        stages = compute_stages(q, x, alpha, reading, parameters, given, rng, None, None, Counter())
    if stages.lagrangian is None:
        return np.full((replications, q.n), np.nan)
    lagrangian, w = stages.lagrangian, stages.shift
    mean = lagrangian.grad_x(w, reading.dual_term)
    estimates = np.empty((replications, q.n))
    if q.noise.model == "none":
        estimates[:] = mean
        return estimates
    N_g, alpha_1 = parameters.N_g, lagrangian.alpha.alpha_1
    width = sum(shape[1] for shape in draw_shapes(q, 1, reading.noise_pairing).values())
    at_once = max(1, CACHED // max(1, width))
    if N_g > at_once:
        for row in estimates:
            row[:] = mean + _mean_of_rows(lagrangian, w, reading, N_g, require_rng(rng))
        return estimates
    for first in range(0, replications, at_once // N_g):
        rows = estimates[first : first + at_once // N_g]
        rows[:] = mean
        draws = sample_rows(q, len(rows) * N_g, reading.noise_pairing, require_rng(rng))
        for noise, weight in zip(sample_noise(lagrangian, w, reading, draws), (1.0, alpha_1), strict=True):
            if noise is not None:
                k = noise.shape[1]
                means = noise if N_g == 1 else noise.reshape(len(rows), N_g, k).mean(axis=1)
                if weight != 1.0:
                    means *= weight
                rows[:, :k] += means
    return estimates


def _mean_of_rows(
    lagrangian: PenaltyLagrangian, w: Vector, reading: Reading, samples: int, rng: np.random.Generator
) -> Vector:
    """Mean noise of one large batch, shape (n,), summed a few thousand samples at a time."""
    q = lagrangian.objectives
    total_noise = np.zeros(q.n)
    for first in range(0, samples, ROWS):
        used = sample_rows(q, min(ROWS, samples - first), reading.noise_pairing, rng)
        for noise, weight in zip(
            sample_noise(lagrangian, w, reading, used), (1.0, lagrangian.alpha.alpha_1), strict=True
        ):
            if noise is not None:
                total_noise[: noise.shape[1]] += weight * noise.sum(axis=0)
    return total_noise / samples
