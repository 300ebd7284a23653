r"""Minimise the penalty Lagrangian from noisy gradients, many independent runs at once.

Three ways, by the reading's ``inner_solver``:

* ``shared-sample``: SVRG on the finite sum :math:`\frac1N \sum_j L(x, y; \xi_j)`, whose full gradient can be formed;
* ``constant-step``: the same steps on the expectation, where each anchor gradient is the mean of a fresh batch of N;
* ``averaged``: fresh samples, steps :math:`2/(\mu (t + t_0))`, iterates averaged with weights growing like t.

Steps are preconditioned by the known rows, as in the noise-free minimiser.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from f2csa_ref.objectives.model import Objectives, double_range, objectives_of
from f2csa_ref.objectives.vectors import as_vector
from f2csa_ref.penalty import penalty_parameters
from f2csa_ref.sampling.batches import SampleBatch, batch_of
from f2csa_ref.sampling.draws import DEFAULTS
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.parameters import OracleParameters, PenaltyParameters
from spec.problem import Problem
from spec.reading import REPAIRED, Reading

SVRG_STEP = 0.1
"""Inner step of SVRG in units of 1 / smoothness, as Johnson and Zhang recommend."""
SVRG_LENGTH = 20.0
"""Inner steps of an epoch in units of the preconditioned condition number: each epoch about halves the error."""


@dataclass(frozen=True, eq=False)
class PenaltyRuns:
    """The smooth part of L and its rows, one row a run.

    Args:
        batch: The objectives with their noise.
        alpha: Accuracy parameter with its weights.
        y_star: Lower-level points, shape (R, m).
        lam: Multipliers, shape (R, p).
        rho: Activation weights, shape (R, p).
    """

    batch: SampleBatch
    alpha: PenaltyParameters
    y_star: Matrix
    lam: Matrix
    rho: Matrix

    def gradient(self, y: Matrix) -> Matrix:
        """grad_y L at y, shape (R, m), shared noise included."""
        q, weights = self.batch.objectives, self.alpha
        h = (q.A @ self.batch.x - q.b) - y @ q.B.T
        lower = self.batch.grad_y_g(y) - self.lam @ q.B
        made: Matrix = self.batch.grad_y_f(y) + weights.alpha_1 * lower - weights.alpha_2 * (self.rho * h) @ q.B
        return made

    def noise(self, y: Matrix, rng: np.random.Generator) -> Matrix:
        """Fresh noise of one sample of grad_y L a run, shape (R, m)."""
        return self.batch.noise_y_f(y, rng) + self.alpha.alpha_1 * self.batch.noise_y_g(y, rng)

    @property
    def curvature(self) -> tuple[float, float]:
        """Bounds of the curvature of f + alpha_1 g in y."""
        q, alpha_1 = self.batch.objectives, self.alpha.alpha_1
        low = alpha_1 * q.mu_g - q.C_f
        return (low if low > 0 else 0.5 * alpha_1 * q.mu_g), alpha_1 * q.C_g + q.C_f

    def preconditioner(self) -> Matrix:
        """Inverse of s I + alpha_2 B' rho B a run, s the upper curvature, shape (R, m, m)."""
        q, s = self.batch.objectives, self.curvature[1]
        if (self.rho == self.rho[:1]).all():
            return np.linalg.inv(s * np.eye(q.m) + self.alpha.alpha_2 * (q.B.T * self.rho[0]) @ q.B)[None]
        rows = np.einsum("pi,rp,pj->rij", q.B, self.rho, q.B)
        made: Matrix = np.linalg.inv(s * np.eye(q.m) + self.alpha.alpha_2 * rows)
        return made


def descend(runs: PenaltyRuns, steps: int) -> Matrix:
    """Plain preconditioned gradient steps from y_star on the gradients as they are, shape (R, m)."""
    P, y = runs.preconditioner(), runs.y_star.copy()
    for _ in range(steps):
        y -= _apply(P, runs.gradient(y))
    return y


def descent_steps(runs: PenaltyRuns, reduction: float) -> int:
    """Steps after which :func:`descend` has reduced the error by a factor."""
    low, high = runs.curvature
    return max(1, math.ceil(math.log(reduction) * high / low))


def penalty_runs(
    problem: Problem | Objectives,
    x: Vector,
    *,
    alpha: float,
    y_star: Vector,
    lam: Vector,
    rho: Vector,
    reading: Reading = REPAIRED,
    parameters: OracleParameters = DEFAULTS,
    rng: np.random.Generator,
    replications: int = 1,
) -> tuple[Matrix, int]:
    """Minimise L(x, .) from noisy gradients, independently many times.

    Args:
        problem: Problem or objectives.
        x: Upper variable, shape (n,).
        alpha: Accuracy parameter, > 0.
        y_star: Lower-level solution, shape (m,); the start.
        lam: Multipliers, shape (p,).
        rho: Activation weights, shape (p,).
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
    q = objectives_of(problem)
    batch = batch_of(q, as_vector(x, q.n, "x"), replications)
    rows = [np.tile(as_vector(value, size, name), (replications, 1))
            for value, size, name in ((y_star, q.m, "y_star"), (lam, q.p, "lam"), (rho, q.p, "rho"))]  # fmt: skip
    runs = PenaltyRuns(batch, penalty_parameters(alpha), *rows)
    with double_range(q):
        if reading.inner_solver == "averaged":
            return _averaged(runs, parameters.penalty_steps, rng)
        fixed = reading.inner_solver == "shared-sample"
        return _svrg(runs, parameters.penalty_steps, parameters.shared_samples, rng, fixed=fixed)


def _averaged(runs: PenaltyRuns, steps: int, rng: np.random.Generator) -> tuple[Matrix, int]:
    """SGD with steps 2 / (mu (t + t_0)) and weights t + 1: the error's mean square falls like 1 / t."""
    low, high = runs.curvature
    P, y = runs.preconditioner(), runs.y_star.copy()
    start = 2 * high / low
    mean = np.zeros_like(y)
    for t in range(steps):
        # P is 1 / high on the free directions, hence the factor.
        y -= 2 * high / (low * (t + start)) * _apply(P, runs.gradient(y) + runs.noise(y, rng))
        mean += (y - mean) * (2.0 / (t + 2.0))
    return mean, steps


@dataclass(frozen=True, eq=False)
class _Terms:
    """N samples a run: the noise's mean offset (R, m), and how each term's noise turns with y (R, N, m, m) or none."""

    offset: Matrix
    matrix: Matrix | None = None


def _svrg(runs: PenaltyRuns, epochs: int, N: int, rng: np.random.Generator, *, fixed: bool) -> tuple[Matrix, int]:
    """SVRG; ``fixed`` keeps one set of N terms, else each epoch draws its own."""
    low, high = runs.curvature
    P, y = runs.preconditioner(), runs.y_star.copy()
    step, length = SVRG_STEP, math.ceil(SVRG_LENGTH * high / low)
    terms = _draw_terms(runs, N, rng) if fixed else None
    R = np.arange(runs.batch.runs)
    for _ in range(epochs):
        used = terms if terms is not None else _draw_terms(runs, N, rng)
        anchor = y.copy()
        full = runs.gradient(anchor) + used.offset
        if used.matrix is not None:
            full += np.einsum("rij,rj->ri", used.matrix.mean(axis=1), anchor)
        slope = runs.gradient(anchor)
        for _ in range(length):
            change = runs.gradient(y) - slope
            if used.matrix is not None:
                j = rng.integers(N, size=runs.batch.runs)
                change += np.einsum("rij,rj->ri", used.matrix[R, j], y - anchor)
            y -= step * _apply(P, full + change)
    return y, epochs * (N + 2 * length)


def _draw_terms(runs: PenaltyRuns, N: int, rng: np.random.Generator) -> _Terms:
    noise, batch = runs.batch.objectives.noise, runs.batch
    s_f, s_g = noise.scale("f.y"), runs.alpha.alpha_1 * noise.scale("g.y")
    if noise.model == "jump":
        raise InvalidInputError("noise.model", "must be additive or matrix for SVRG, which needs smooth terms", "jump")
    R, m = runs.y_star.shape
    scale = math.hypot(s_f, s_g)
    # Only the mean of the parts that stay put is ever used, and a mean of Gaussian numbers is drawn directly.
    still = scale / math.sqrt(N) * rng.standard_normal((R, m))
    if noise.model != "matrix":
        return _Terms(still)
    # W (x, y) = W_x x + W_y y; the first part does not move with y.
    length = math.sqrt(float(batch.x @ batch.x))
    return _Terms(length * still, scale * rng.standard_normal((R, N, m, m)))


def _apply(P: Matrix, gradient: Matrix) -> Matrix:
    made: Matrix = gradient @ P[0] if len(P) == 1 else np.einsum("rij,rj->ri", P, gradient)
    return made
