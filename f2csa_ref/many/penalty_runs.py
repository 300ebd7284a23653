r"""Minimise the penalty Lagrangian from noisy gradients, many independent runs at once.

Three ways, by the reading's ``inner_solver``:

* ``shared-sample``: SVRG on the finite sum :math:`\frac1N \sum_j L(x, y; \xi_j)`, whose full gradient can be formed;
* ``constant-step``: the same steps on the expectation, where each anchor gradient is the mean of a fresh batch of N;
* ``averaged``: fresh samples, steps :math:`2/(\mu (t + t_0))`, iterates averaged with weights growing like t.

Steps are preconditioned by the known rows, as in the noise-free minimiser. Points are shifts w = y - y*_hat, one row
a run, on a :class:`PenaltyLagrangian` whose ``y_star`` has as many rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from f2csa_ref.objectives import double_range
from f2csa_ref.penalty import PenaltyLagrangian
from f2csa_ref.penalty_minimiser import usable_curvature
from f2csa_ref.sampling import DEFAULTS, fresh_noise_y
from f2csa_ref.shared_sample import one_row_a_run
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.parameters import OracleParameters
from spec.reading import REPAIRED, Reading

SVRG_STEP = 0.1
"""Inner step of SVRG in units of 1 / smoothness, as Johnson and Zhang recommend."""
SVRG_LENGTH = 20.0
"""Inner steps of an epoch in units of the preconditioned condition number: each epoch about halves the error."""


def penalty_runs(
    lagrangian: PenaltyLagrangian,
    *,
    reading: Reading = REPAIRED,
    parameters: OracleParameters = DEFAULTS,
    rng: np.random.Generator,
    replications: int = 1,
) -> tuple[Matrix, int]:
    """Minimise L(x, .) from noisy gradients, independently many times.

    Args:
        lagrangian: L of one run, e.g. by :meth:`PenaltyLagrangian.at`; all runs start at its ``y_star``.
        reading: Its ``inner_solver`` decides the way.
        parameters: ``penalty_steps`` is the number of SVRG epochs, or of averaged steps; ``shared_samples`` the N
            of the finite sum or the anchor batch.
        rng: Source of the noise.
        replications: Number of runs R, >= 1.

    Returns:
        Final points, shape (R, m), and the gradient samples each run has used.

    Raises:
        InvalidInputError: If an argument breaks its rule.

    Source: Lemma "Inner-loop Oracle Complexity", proof, step C2 (SVRG: Johnson and Zhang, 2013). Differs from the
    paper: it asks for SVRG on an expectation, where the anchor gradient can only be estimated.
    """
    if replications < 1:
        raise InvalidInputError("replications", "must be >= 1", replications)
    y_star, lam, rho = (np.tile(v, (replications, 1)) for v in (lagrangian.y_star, lagrangian.lam, lagrangian.rho))
    q = lagrangian.objectives
    L = replace(lagrangian, objectives=one_row_a_run(q), y_star=y_star, lam=lam, rho=rho)
    with double_range(q):
        if reading.inner_solver == "averaged":
            w, calls = _averaged(L, parameters.penalty_steps, rng)
        else:
            fixed = reading.inner_solver == "shared-sample"
            w, calls = _svrg(L, parameters.penalty_steps, parameters.shared_samples, rng, fixed=fixed)
    return y_star + w, calls


def descend(L: PenaltyLagrangian, reduction: float) -> tuple[Matrix, int]:
    """Plain preconditioned steps until the error is reduced by a factor: the shifts, shape (R, m), and their number."""
    steps = max(1, math.ceil(math.log(reduction) * smoothness(L) / usable_curvature(L)))
    P, w, gradient = preconditioner(L), np.zeros_like(L.y_star), L.grad_y_here
    for _ in range(steps):
        w -= _apply(P, gradient(w))
    return w, steps


def smoothness(L: PenaltyLagrangian) -> float:
    """Upper bound of the curvature of f + alpha_1 g in y."""
    return L.alpha.alpha_1 * L.objectives.C_g + L.objectives.C_f


def preconditioner(L: PenaltyLagrangian) -> Matrix:
    """Inverse of s I + alpha_2 B' rho B a run, s the smoothness: (R, m, m), or (1, m, m) where all runs share rho."""
    B, rho = L.objectives.B, L.rho[:1] if (L.rho == L.rho[:1]).all() else L.rho
    rows = np.einsum("pi,rp,pj->rij", B, rho, B)
    return np.asarray(np.linalg.inv(smoothness(L) * np.eye(B.shape[1]) + L.alpha.alpha_2 * rows))


def _averaged(L: PenaltyLagrangian, steps: int, rng: np.random.Generator) -> tuple[Matrix, int]:
    """SGD with steps 2 / (mu (t + t_0)) and weights t + 1: the error's mean square falls like 1 / t."""
    low, high = usable_curvature(L), smoothness(L)
    P, w, gradient = preconditioner(L), np.zeros_like(L.y_star), L.grad_y_here
    start = 2 * high / low
    mean = np.zeros_like(w)
    for t in range(steps):
        # P is 1 / high on the free directions, hence the factor.
        w -= 2 * high / (low * (t + start)) * _apply(P, gradient(w) + _noise(L, w, rng))
        mean += (w - mean) * (2.0 / (t + 2.0))
    return mean, steps


def _noise(L: PenaltyLagrangian, w: Matrix, rng: np.random.Generator) -> Vector | float:
    """Fresh noise of one sample of grad_y L a run, shape (R, m)."""
    q, y = L.objectives, L.y_star + w
    return fresh_noise_y(q, "f.y", L.x, y, rng) + L.alpha.alpha_1 * fresh_noise_y(q, "g.y", L.x, y, rng)


@dataclass(frozen=True, eq=False)
class _Terms:
    """N samples a run: the noise's mean offset (R, m), and how each term's noise turns with y (R, N, m, m) or none."""

    offset: Matrix
    matrix: Matrix | None = None


def _svrg(L: PenaltyLagrangian, epochs: int, N: int, rng: np.random.Generator, *, fixed: bool) -> tuple[Matrix, int]:
    """SVRG; ``fixed`` keeps one set of N terms, else each epoch draws its own."""
    high = smoothness(L)
    P, w, gradient = preconditioner(L), np.zeros_like(L.y_star), L.grad_y_here
    length = math.ceil(SVRG_LENGTH * high / usable_curvature(L))
    terms = _draw_terms(L, N, rng) if fixed else None
    R = np.arange(len(w))
    for _ in range(epochs):
        used = terms if terms is not None else _draw_terms(L, N, rng)
        anchor = w.copy()
        slope = gradient(anchor)
        full = slope + used.offset
        if used.matrix is not None:
            full += np.einsum("rij,rj->ri", used.matrix.mean(axis=1), L.y_star + anchor)
        for _ in range(length):
            change = gradient(w) - slope
            if used.matrix is not None:
                j = rng.integers(N, size=len(w))
                change += np.einsum("rij,rj->ri", used.matrix[R, j], w - anchor)
            w -= SVRG_STEP * _apply(P, full + change)
    return w, epochs * (N + 2 * length)


def _draw_terms(L: PenaltyLagrangian, N: int, rng: np.random.Generator) -> _Terms:
    noise = L.objectives.noise
    if noise.model == "jump":
        raise InvalidInputError("noise.model", "must be additive or matrix for SVRG, which needs smooth terms", "jump")
    R, m = L.y_star.shape
    scale = math.hypot(noise.scale("f.y"), L.alpha.alpha_1 * noise.scale("g.y"))
    # Only the mean of the parts that stay put is ever used, and a mean of Gaussian numbers is drawn directly.
    still = scale / math.sqrt(N) * rng.standard_normal((R, m))
    if noise.model != "matrix":
        return _Terms(still)
    # W (x, y) = W_x x + W_y y; the first part does not move with y.
    return _Terms(math.sqrt(float(L.x @ L.x)) * still, scale * rng.standard_normal((R, N, m, m)))


def _apply(P: Matrix, gradient: Matrix) -> Matrix:
    return gradient @ P[0] if len(P) == 1 else np.asarray(np.einsum("rij,rj->ri", P, gradient))
