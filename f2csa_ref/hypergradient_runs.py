"""Many independent complete runs of Algorithm 1, every stage drawn afresh in each."""

from __future__ import annotations

import math

import numpy as np

from f2csa_ref.activation import activation_weights
from f2csa_ref.lower_level.primal_dual import require_rng
from f2csa_ref.lower_level.runs import iterate
from f2csa_ref.objectives import Objectives, double_range, objectives_of
from f2csa_ref.oracles import DEFAULTS
from f2csa_ref.penalty import penalty_parameters
from f2csa_ref.penalty_runs import PenaltyRuns, descend, descent_steps
from f2csa_ref.samples import SampleBatch, batch_of, share_each
from f2csa_ref.vectors import Matrix, Vector, as_vector
from spec.errors import InvalidInputError
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
