"""Functions with kinks whose Goldstein distance is known, and noisy oracles of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spec.exact import Vector


@dataclass(frozen=True)
class WeightedAbsolute:
    """F(x) = sum of c_i |x_i|, c_i > 0, one or two: the atlas instances ``absolute-fixed`` and ``absolute-moving``."""

    c: tuple[float, ...]

    @property
    def lipschitz(self) -> float:
        """L_F, the length of c."""
        return float(np.linalg.norm(self.c))

    def value(self, x: Vector) -> Vector:
        """F, over the last axis."""
        return np.asarray(np.abs(x) @ np.array(self.c))

    def gradient(self, x: Vector) -> Vector:
        """A gradient; on an axis, that of the positive side."""
        return np.asarray(np.where(x >= 0, 1.0, -1.0) * np.array(self.c))

    def distance(self, x: Vector, radius: float) -> Vector:
        """dist(0, ∂_δF(x)) with the closed ball, over the last axis, in closed form.

        An axis that the ball meets frees its component. Two axes met free both, even if their crossing lies outside:
        then three quadrants are met, two of them opposite, and the segment between their gradients passes 0.
        """
        near = np.abs(x) <= radius
        return np.asarray(np.sqrt((np.where(near, 0.0, np.array(self.c)) ** 2).sum(axis=-1)))


@dataclass(frozen=True)
class SyntheticOracle:
    """The gradient of a function, a bias of stated length, and isotropic Gaussian noise of stated total variance.

    The bias points along the gradient, where it adds to the second moment.
    """

    function: WeightedAbsolute
    bias: float
    variance: float
    rng: np.random.Generator

    @cached_property
    def _slopes(self) -> tuple[Vector, Vector, float]:
        up = np.array(self.function.c) * (1.0 + self.bias / self.function.lipschitz)
        return up, -up, math.sqrt(self.variance / len(up))

    def mean(self, z: Vector) -> Vector:
        """E[g | z], shape of z."""
        up, down, _ = self._slopes
        return np.where(z >= 0, up, down)

    def __call__(self, z: Vector) -> Vector:
        answer = self.mean(z)
        if self.variance > 0:
            answer += self._slopes[2] * self.rng.standard_normal(z.shape)
        return answer
