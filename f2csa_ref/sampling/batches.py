"""One problem seen by many independent runs at once: gradients row by row, fresh or shared noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtr

from f2csa_ref.objectives.model import Objectives, QuadraticObjectives
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.noise import NoisyGradient


@dataclass(frozen=True, eq=False)
class SampleBatch:
    """R runs at one x; every method takes and returns one row a run.

    Args:
        objectives: The expected problem.
        x: Upper variable, shape (n,).
        runs: R.
        offsets: Shared additive noise by partial gradient, each (R, n) or (R, m).
        matrices: Shared noise matrices by partial gradient, each (R, n or m, n + m), acting on (x, y).
        batch: Samples behind the shared noise; 1 where noise is drawn afresh.
        shared: Whether the noise is part of the gradients.
    """

    objectives: Objectives
    x: Vector
    runs: int
    offsets: dict[NoisyGradient, Matrix] = field(default_factory=dict)
    matrices: dict[NoisyGradient, Matrix] = field(default_factory=dict)
    batch: int = 1
    shared: bool = False

    def grad_x_f(self, y: Matrix) -> Matrix:
        """Shape (R, n)."""
        q = self.objectives
        if isinstance(q, QuadraticObjectives):
            return y @ q.f_xy.T + (q.f_xx @ self.x + q.f_x) + self._shared("f.x", y)
        return _rows(q.grad_x_f, self.x, y) + self._shared("f.x", y)

    def grad_y_f(self, y: Matrix) -> Matrix:
        """Shape (R, m)."""
        q = self.objectives
        if isinstance(q, QuadraticObjectives):
            return y @ q.f_yy + (self.x @ q.f_xy + q.f_y) + self._shared("f.y", y)
        return _rows(q.grad_y_f, self.x, y) + self._shared("f.y", y)

    def grad_x_g_change(self, y: Matrix, w: Matrix) -> Matrix:
        """``grad_x_g(y + w) - grad_x_g(y)``, shape (R, n)."""
        q = self.objectives
        if isinstance(q, QuadraticObjectives):
            return w @ q.g_xy.T + self._shared_change("g.x", w)
        return _rows(q.grad_x_g, self.x, y + w) - _rows(q.grad_x_g, self.x, y) + self._shared_change("g.x", w)

    def grad_y_g(self, y: Matrix) -> Matrix:
        """Shape (R, m)."""
        q = self.objectives
        if isinstance(q, QuadraticObjectives):
            return y @ q.g_yy + (self.x @ q.g_xy + q.g_y) + self._shared("g.y", y)
        return _rows(q.grad_y_g, self.x, y) + self._shared("g.y", y)

    def noise_y_g(self, y: Matrix, rng: np.random.Generator) -> Matrix:
        """Fresh noise of one sample of grad_y g a run, shape (R, m)."""
        noise, scale = self.objectives.noise, self.objectives.noise.scale("g.y")
        return _fresh(noise.model, scale, self.x, y, rng, y.shape[1])

    def noise_y_f(self, y: Matrix, rng: np.random.Generator) -> Matrix:
        """Fresh noise of one sample of grad_y f a run, shape (R, m)."""
        noise, scale = self.objectives.noise, self.objectives.noise.scale("f.y")
        model = "additive" if noise.model == "jump" else noise.model
        return _fresh(model, scale, self.x, y, rng, y.shape[1])

    def _shared(self, gradient: NoisyGradient, y: Matrix) -> Matrix | float:
        if gradient in self.offsets:
            return self.offsets[gradient]
        if gradient in self.matrices:
            n = len(self.x)
            W = self.matrices[gradient]
            made: Matrix = W[:, :, :n] @ self.x + np.einsum("rij,rj->ri", W[:, :, n:], y)
            return made
        return 0.0

    def _shared_change(self, gradient: NoisyGradient, w: Matrix) -> Matrix | float:
        if gradient not in self.matrices:
            return 0.0
        made: Matrix = np.einsum("rij,rj->ri", self.matrices[gradient][:, :, len(self.x) :], w)
        return made


def batch_of(objectives: Objectives, x: Vector, runs: int) -> SampleBatch:
    """Runs with noise drawn afresh."""
    return SampleBatch(objectives, x, runs)


def share_each(batch: SampleBatch, samples: int, rng: np.random.Generator) -> SampleBatch:
    """Freeze the mean noise of ``samples`` draws into each run's gradients, independently of the other runs.

    Raises:
        InvalidInputError: For jump noise, whose empirical problem is not smooth.
    """
    q = batch.objectives
    if q.noise.model == "jump":
        raise InvalidInputError("noise.model", "must be additive or matrix for many shared-sample runs", "jump")
    made = replace(batch, offsets={}, matrices={}, batch=samples, shared=True)
    names: tuple[NoisyGradient, ...] = ("f.x", "f.y", "g.x", "g.y")
    for name in names:
        scale = q.noise.scale(name) / math.sqrt(samples)
        if scale == 0:
            continue
        size = q.n if name.endswith("x") else q.m
        if q.noise.model == "matrix":
            made.matrices[name] = scale * rng.standard_normal((batch.runs, size, q.n + q.m))
        else:
            made.offsets[name] = scale * rng.standard_normal((batch.runs, size))
    return made


def _fresh(model: str, scale: float, x: Vector, y: Matrix, rng: np.random.Generator, width: int) -> Matrix:
    if scale == 0:
        return np.zeros_like(y)
    if model == "jump":
        made = np.zeros_like(y)
        made[:, 0] = scale * ((y[:, 0] > rng.standard_normal(len(y))) - ndtr(y[:, 0]))
        return made
    z = rng.standard_normal((len(y), width))
    if model == "matrix":
        z *= np.sqrt(x @ x + np.einsum("ij,ij->i", y, y))[:, None]
    return scale * z


def _rows(gradient: object, x: Vector, y: Matrix) -> Matrix:
    return np.array([gradient(x, row) for row in y])  # type: ignore[operator]  # any gradient function of (x, y)
