"""One shared sample: a noisy problem frozen into a deterministic one for a whole oracle call."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from f2csa_ref.objectives.model import Objectives
from spec.exact import Matrix, Vector
from spec.noise import Noise, NoisyGradient


@dataclass(frozen=True, eq=False)
class SampledObjectives:
    """Objectives whose gradients carry the mean noise of one fixed batch; noise-free from then on.

    Curvature constants are those of the expected problem.

    Args:
        base: The expected problem.
        offsets: Additive mean noise by partial gradient.
        matrices: Mean noise matrices by partial gradient, acting on (x, y).
        jumps: Jump scale and sorted thresholds by partial gradient.
        batch: Number of samples averaged, hence the price of one gradient.
    """

    base: Objectives
    offsets: dict[NoisyGradient, Vector]
    matrices: dict[NoisyGradient, Matrix]
    jumps: dict[NoisyGradient, tuple[float, Vector]]
    batch: int
    noise: Noise = field(default_factory=Noise)

    @property
    def n(self) -> int:
        return self.base.n

    @property
    def m(self) -> int:
        return self.base.m

    @property
    def p(self) -> int:
        return self.base.p

    @property
    def A(self) -> Matrix:  # noqa: N802  # the paper's letter
        return self.base.A

    @property
    def B(self) -> Matrix:  # noqa: N802  # the paper's letter
        return self.base.B

    @property
    def b(self) -> Vector:
        return self.base.b

    @property
    def mu_g(self) -> float:
        return self.base.mu_g

    @property
    def C_g(self) -> float:  # noqa: N802  # the paper's letter
        return self.base.C_g

    @property
    def C_f(self) -> float:  # noqa: N802  # the paper's letter
        return self.base.C_f

    @property
    def B_norm(self) -> float:  # noqa: N802  # the paper's letter
        return self.base.B_norm

    def h(self, x: Vector, y: Vector) -> Vector:
        return self.base.h(x, y)

    def f(self, x: Vector, y: Vector) -> float:
        """Value of the expected problem; the noise model is one of gradients only."""
        return self.base.f(x, y)

    def g(self, x: Vector, y: Vector) -> float:
        """Value of the expected problem; the noise model is one of gradients only."""
        return self.base.g(x, y)

    def grad_x_f(self, x: Vector, y: Vector) -> Vector:
        return self.base.grad_x_f(x, y) + self._noise("f.x", x, y)

    def grad_y_f(self, x: Vector, y: Vector) -> Vector:
        return self.base.grad_y_f(x, y) + self._noise("f.y", x, y)

    def grad_x_g(self, x: Vector, y: Vector) -> Vector:
        return self.base.grad_x_g(x, y) + self._noise("g.x", x, y)

    def grad_y_g(self, x: Vector, y: Vector) -> Vector:
        return self.base.grad_y_g(x, y) + self._noise("g.y", x, y)

    def grad_x_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        return self.base.grad_x_g_change(x, y, w) + self._noise_change("g.x", y, w)

    def grad_y_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        return self.base.grad_y_g_change(x, y, w) + self._noise_change("g.y", y, w)

    def _noise(self, gradient: NoisyGradient, x: Vector, y: Vector) -> Vector | float:
        if gradient in self.offsets:
            return self.offsets[gradient]
        if gradient in self.matrices:
            noise: Vector = self.matrices[gradient] @ np.concatenate([x, y])
            return noise
        return self._jump(gradient, y) if gradient in self.jumps else 0.0

    def _noise_change(self, gradient: NoisyGradient, y: Vector, w: Vector) -> Vector | float:
        if gradient in self.matrices:
            noise: Vector = self.matrices[gradient][:, self.n :] @ w
            return noise
        if gradient in self.jumps:
            return self._jump(gradient, y + w) - self._jump(gradient, y)
        return 0.0

    def _jump(self, gradient: NoisyGradient, y: Vector) -> Vector:
        scale, thresholds = self.jumps[gradient]
        made = np.zeros(self.n if gradient.endswith("x") else self.m)
        # Thresholds are sorted: as many lie below y_1 as its insertion point says.
        below = np.searchsorted(thresholds, y[0]) / len(thresholds)
        made[0] = scale * (below - float(ndtr(y[0])))
        return made


def share(objectives: Objectives, batch: int, rng: np.random.Generator) -> SampledObjectives:
    """Draw one batch and freeze its mean into the gradients.

    The mean of ``batch`` Gaussian samples is drawn directly, scaled by ``batch ** -0.5``; jump noise keeps its
    ``batch`` thresholds.

    Args:
        objectives: The noisy problem.
        batch: Number of samples shared, >= 1.
        rng: Source of the noise; partial gradients draw in the order f.x, f.y, g.x, g.y.

    Source: Lemma "Inner-loop Oracle Complexity", proof, steps C1 and C2, read so that the cited variance-reduced
    method has the finite sum it needs.
    """
    n, m = objectives.n, objectives.m
    made = SampledObjectives(objectives, {}, {}, {}, batch)
    names: tuple[NoisyGradient, ...] = ("f.x", "f.y", "g.x", "g.y")
    for name in names:
        scale = objectives.noise.scale(name)
        if scale == 0:
            continue
        size = n if name.endswith("x") else m
        if objectives.noise.model == "matrix":
            made.matrices[name] = scale / math.sqrt(batch) * rng.standard_normal((size, n + m))
        elif objectives.noise.model == "jump" and name.startswith("g"):
            made.jumps[name] = (scale, np.sort(rng.standard_normal(batch)))
        else:
            made.offsets[name] = scale / math.sqrt(batch) * rng.standard_normal(size)
    return made
