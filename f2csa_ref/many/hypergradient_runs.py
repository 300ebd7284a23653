"""Many oracle calls at once by the formulas of Algorithm 1: line 6 again and again, or complete runs, a row each."""

from __future__ import annotations

import math

import numpy as np

from f2csa_ref.activation import activation_weights
from f2csa_ref.algorithm_1 import OracleCall, oracle
from f2csa_ref.lower_level.primal_dual import pairs_of_runs, seen_by_runs
from f2csa_ref.many.penalty_runs import descend
from f2csa_ref.objectives import Objectives, as_vector, double_range, objectives_of
from f2csa_ref.penalty import PenaltyLagrangian, penalty_parameters
from f2csa_ref.sampling import (
    Draws,
    draw_shapes,
    noise_x_f,
    require_rng,
    sample_draws,
    sample_noise,
    sample_rows,
    scattered,
)
from f2csa_ref.shared_sample import price
from spec.errors import InvalidInputError
from spec.exact import FloatArray, Matrix, Vector
from spec.problem import Problem

REDUCTION = 1e12
"""Factor by which the penalty minimiser's steps reduce its error: the lower level's noise is what is studied."""
CACHED = 1 << 15
"""Normals held at once (256 KiB) by many calls: they stay in the cache. Results do not depend on it."""
ROWS = 1 << 12
"""Samples of one large batch summed at once; unlike the caches this one shows in the last digits."""


def hypergradient_runs(
    problem: Problem | Objectives,
    x: Vector,
    call: OracleCall,
    *,
    rng: np.random.Generator,
    replications: int = 1,
) -> tuple[Matrix, int]:
    """Run Algorithm 1 independently many times with the noisy primal-dual lower level.

    Args:
        problem: Problem or objectives; noise additive or matrix.
        x: Upper variable, shape (n,).
        call: Its ``alpha``, ``reading`` and ``parameters``. Solver ``shared-sample`` draws one batch of
            ``shared_samples`` a run and uses it in lines 3, 5 and 6; the other solvers draw afresh in line 3 and
            average N_g samples in line 6.
        rng: Source of the noise.
        replications: Number of runs R, >= 1.

    Returns:
        Estimates, shape (R, n), and the gradient samples each run has used.

    Raises:
        InvalidInputError: If an argument breaks its rule, or for jump noise.

    Source: Algorithm 1. Differs from the paper: line 5 takes preconditioned gradient steps free of fresh noise.
    """
    base, reading, parameters = objectives_of(problem), call.reading, call.parameters
    if base.noise.model == "jump":
        raise InvalidInputError("noise.model", "must be additive or matrix", "jump")
    x = as_vector(x, base.n, "x")
    q = seen_by_runs(base, replications, reading, parameters, rng)
    with double_range(base):
        weights = penalty_parameters(call.alpha)
        y_star, lam = pairs_of_runs(q, x, replications, reading, parameters, rng)
        h_width = parameters.h_width(reading, weights.inner_tol, q.B_norm)
        rho = activation_weights(q.h(x, y_star), lam, h_width=h_width, lam_width=parameters.lam_width)
        L = PenaltyLagrangian(q, x, weights, y_star, lam, rho)
        w, steps = descend(L, REDUCTION)
        estimates = L.grad_x(w, reading.dual_term)
        # A mean of Gaussian samples is drawn directly.
        draws = sample_draws(q, replications, reading.noise_pairing, rng)
        for noise, weight in sample_noise(L, w, reading.noise_pairing, draws):
            if noise is not None:
                estimates = estimates + weight / math.sqrt(parameters.N_g) * noise
    shared = q.noise.model == "none" and base.noise.model != "none"
    samples = parameters.shared_samples if shared else parameters.N_g
    return estimates, (parameters.lower_level_steps + 2 * (steps + 1)) * price(q) + 3 * samples


def hypergradient_samples(
    problem: Problem | Objectives,
    x: Vector,
    call: OracleCall,
    *,
    rng: np.random.Generator | None = None,
    replications: int = 1,
) -> Matrix:
    """Repeat line 6 of Algorithm 1 independently, conditional on one set of stage values.

    Args:
        problem: Problem or objectives.
        x: Upper variable, shape (n,).
        call: As for :func:`hypergradient`; each replication averages N_g samples. Stages that are not given are
            computed once and then held fixed.
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
        once = oracle(q, x, call, rng, noisy=False)
    if q.noise.model == "none" or not np.isfinite(once.hypergradient).all():
        return np.tile(once.hypergradient, (replications, 1))
    L = PenaltyLagrangian(q, x, penalty_parameters(call.alpha), once.y_star, once.lam, once.rho)
    N_g, reading = call.parameters.N_g, call.reading
    shapes = draw_shapes(q, 1, reading.noise_pairing)
    width = sum(shape[1] for shape in shapes.values())
    at_once = max(1, CACHED // max(1, width))
    if N_g == 1 and list(shapes) == ["f_x"]:
        # One normal a component: the estimates are where they are drawn.
        estimates = np.empty((replications, q.n))
        of_one = noise_x_f(q, x, once.y_star + once.shift, Draws(f_x=np.ones((1, 1))))
        scale = 0.0 if of_one is None else float(of_one[0, 0])
        scattered(require_rng(rng), estimates, scale, once.hypergradient)
        return estimates
    estimates = np.tile(once.hypergradient, (replications, 1))
    if N_g > at_once:
        for row in estimates:
            row += _mean_of_rows(L, once.shift, call, require_rng(rng))
        return estimates
    memory = np.empty(min(at_once, replications * N_g) * width)
    for first in range(0, replications, at_once // N_g):
        rows = estimates[first : first + at_once // N_g]
        draws = sample_rows(q, len(rows) * N_g, reading.noise_pairing, require_rng(rng), memory)
        for noise, weight in sample_noise(L, once.shift, reading.noise_pairing, draws):
            if noise is not None:
                k = noise.shape[1]
                means = noise if N_g == 1 else _means(noise.reshape(len(rows), N_g, k))
                if weight != 1.0:
                    means *= weight
                rows[:, :k] += means
    return estimates


def _means(samples: FloatArray) -> Matrix:
    """Means over the middle axis, shape (R, k): ``samples.mean(axis=1)``, which is slow where its rows are short."""
    R, N, k = samples.shape
    if k == 1:
        return np.asarray(samples.mean(axis=1))
    long = np.ascontiguousarray(samples.swapaxes(0, 1)).reshape(N, R * k)
    return np.asarray(long.sum(axis=0).reshape(R, k) / N)


def _mean_of_rows(L: PenaltyLagrangian, w: Vector, call: OracleCall, rng: np.random.Generator) -> Vector:
    """Mean noise of one large batch, shape (n,), summed a few thousand samples at a time."""
    q, samples = L.objectives, call.parameters.N_g
    total_noise = np.zeros(q.n)
    for first in range(0, samples, ROWS):
        draws = sample_rows(q, min(ROWS, samples - first), call.reading.noise_pairing, rng)
        for noise, weight in sample_noise(L, w, call.reading.noise_pairing, draws):
            if noise is not None:
                total_noise[: noise.shape[1]] += weight * noise.sum(axis=0)
    return total_noise / samples
