"""Functions with kinks whose Goldstein distance is known, and noisy oracles of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
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
        slopes, falling = self._slopes
        return np.asarray(np.where(x >= 0, slopes, falling))

    @cached_property
    def _slopes(self) -> tuple[Vector, Vector]:
        return np.array(self.c), -np.array(self.c)

    def distance(self, x: Vector, radius: float) -> Vector:
        """dist(0, ∂_δF(x)) with the closed ball, over the last axis, in closed form.

        An axis that the ball meets frees its component. Two axes met free both, even if their crossing lies outside:
        then three quadrants are met, two of them opposite, and the segment between their gradients passes 0.
        """
        near = np.abs(x) <= radius
        return np.asarray(np.sqrt((np.where(near, 0.0, np.array(self.c)) ** 2).sum(axis=-1)))


class ShrinkingWaves:
    r"""F(x, y) = 2⁻ᵏ w(2ᵏ y) at \|x\| = 2⁻ᵏ, k >= 0, linear in \|x\| between, w a triangle wave of slopes 1 and -1.

    Its slopes are at most 3 in x and 1 in y; it is 0 on the axis x = 0, and its slope in y 1 and -1 however near: ∂F
    holds slopes along the axis that F does not have. See Daniilidis and Drusvyatskiy, "Pathological subgradient
    dynamics", SIAM J. Optim. 30 (2020): of a Lipschitz function nothing better can be said. Exact.
    """

    formula = "2⁻ᵏ w(2ᵏ x₂) at |x₁| = 2⁻ᵏ, k ≥ 0, linear in |x₁| between, w(x₂) beyond; w(u) = u to ±1, of slope ±1"
    """In the letters of x."""

    def value(self, x: Fraction, y: Fraction) -> Fraction:
        """F at a point."""
        if x == 0 or abs(x) >= 1:
            return self._wave(0, y)[0] if x else Fraction(0)
        k, share = self._between(x)
        return share * self._wave(k, y)[0] + (1 - share) * self._wave(k + 1, y)[0]

    def gradient(self, x: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
        """∇F where F is differentiable: off the axis, off x = ±2⁻ᵏ, off the waves' ends."""
        if abs(x) >= 1:
            return Fraction(0), self._wave(0, y)[1]
        k, share = self._between(x)
        (coarse, up), (fine, finer_up) = self._wave(k, y), self._wave(k + 1, y)
        across = (coarse - fine) * 2 ** (k + 1) * (1 if x > 0 else -1)
        return across, share * up + (1 - share) * finer_up

    def beside_axis(self, y: Fraction, k: int) -> tuple[Fraction, Fraction]:
        """A point within 4 · 2⁻ᵏ of (0, y) at which F is differentiable, in the middle of rising waves."""
        return Fraction(3, 4) / 2**k, Fraction(4 * round(y * 2**k / 4), 2**k)

    def clarke_on_axis(self, y: Fraction, scales: range = range(8, 40)) -> tuple[Fraction, Fraction]:
        """A member of ∂F(0, y): the gradient that F has at points ever nearer to (0, y).

        Raises:
            ArithmeticError: If gradients there differ, so that they show no limit.
        """
        gradients = {self.gradient(*self.beside_axis(y, k)) for k in scales}
        if len(gradients) != 1:
            raise ArithmeticError(f"gradients beside (0, {y}) differ")
        return gradients.pop()

    @staticmethod
    def _between(x: Fraction) -> tuple[int, Fraction]:
        """The k with 2⁻ᵏ⁻¹ <= |x| < 2⁻ᵏ, and how near it is to 2⁻ᵏ, from 0 to 1."""
        k = next(k for k in range(4096) if abs(x) * 2 ** (k + 1) >= 1)
        return k, abs(x) * 2 ** (k + 1) - 1

    @staticmethod
    def _wave(k: int, y: Fraction) -> tuple[Fraction, Fraction]:
        """2⁻ᵏ w(2ᵏ y) and its slope."""
        u = (y * 2**k + 1) % 4
        return (u - 1 if u < 2 else 3 - u) / 2**k, Fraction(1 if u < 2 else -1)


@dataclass(frozen=True)
class Texture:
    r"""F(x) = c x₁ φ(x₂) + l w(x₂) for \|x₁\| <= R: φ a ramp from -1 to 1 of half-width ``ramp``, w a fine zigzag.

    The zigzag's slopes are 1 and -1, its period is at most 2r: within r of any point both occur, so that ∂_r F(x) holds
    every (c φ, c x₁ φ′ + v) with \|v\| <= l, but for c r / ramp beside the ramp's ends. For x₁ beyond R, F goes on as
    at R. Needs l >= c R / ramp.
    """

    c: float
    ramp: float
    zigzag: float
    R: float

    def trend(self, x: Vector) -> Vector:
        """Gradient of F without its zigzag, a Lipschitz function of its own, over the last axis."""
        inside = np.abs(x[..., 0]) <= self.R
        first = self.c * np.clip(x[..., 1] / self.ramp, -1.0, 1.0) * inside
        slope = np.where(np.abs(x[..., 1]) < self.ramp, self.c / self.ramp, 0.0)
        return np.stack([first, slope * np.clip(x[..., 0], -self.R, self.R)], axis=-1)

    def distance(self, x: Vector, radius: float) -> Vector:
        """dist(0, ∂_δF(x)), over the last axis, in closed form for radii above the zigzag's period.

        All gradients in the ball have c φ as their first component, and the zigzag frees the second; beyond R the
        first is 0.
        """
        nearest = np.maximum(np.abs(x[..., 1]) - radius, 0.0)
        inside = np.abs(x[..., 0]) + radius <= self.R
        return np.asarray(self.c * np.minimum(nearest / self.ramp, 1.0) * inside)


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
