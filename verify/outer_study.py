r"""Synthetic studies of Algorithm 2: functions whose Goldstein distance is known in closed form, oracles of stated bias
and variance, and runs with everything the subject asked and was told on record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from verify.subjects.protocol import OuterRun, Vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from spec import OuterParameters
    from verify.registry import Case

    Oracle = Callable[[Vector], Vector]


@dataclass(frozen=True)
class WeightedAbsolute:
    """F(x) = sum of c_i |x_i|, the function of the atlas instances ``absolute-fixed`` and ``absolute-moving``.

    Args:
        c: Weights, each > 0, one or two.
    """

    c: tuple[float, ...]

    @property
    def lipschitz(self) -> float:
        """L_F, the length of c."""
        return float(np.linalg.norm(self.c))

    def value(self, x: Vector) -> Vector:
        """F, over the last axis."""
        made: Vector = np.abs(x) @ np.array(self.c)
        return made

    def gradient(self, x: Vector) -> Vector:
        """A gradient; on an axis, that of the positive side."""
        made: Vector = np.where(x >= 0, 1.0, -1.0) * np.array(self.c)
        return made

    def distance(self, x: Vector, radius: float) -> Vector:
        """dist(0, ∂_δF(x)) with the closed ball, over the last axis, in closed form.

        An axis that the ball meets frees its component. Two axes met free both, even if their crossing lies outside:
        then three quadrants are met, two of them opposite, and the segment between their gradients passes 0.
        """
        near = np.abs(x) <= radius
        made: Vector = np.sqrt((np.where(near, 0.0, np.array(self.c)) ** 2).sum(axis=-1))
        return made


@dataclass(frozen=True)
class SyntheticOracle:
    """The gradient of a function, a bias of stated length along it, and isotropic Gaussian noise of stated variance.

    Args:
        function: The function.
        bias: Length of the bias, >= 0; it points along the gradient, where it adds to the second moment.
        variance: Total variance of an answer, >= 0.
        rng: Source of the noise.
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
        made = self.mean(z)
        if self.variance > 0:
            made += self._slopes[2] * self.rng.standard_normal(z.shape)
        return made


@dataclass(frozen=True)
class Recorded:
    """A run with all questions and answers.

    Args:
        run: What the subject came back with.
        z: Points asked about, shape (T, n).
        g: Answers, shape (T, n).
        parameters: Its parameters.
    """

    run: OuterRun
    z: Vector
    g: Vector
    parameters: OuterParameters

    @property
    def steps(self) -> Vector:
        """The steps Δ_1, ..., Δ_T, shape (T, n)."""
        made: Vector = np.diff(self.run.path, axis=0)
        return made

    def blocks(self, rows: Vector) -> Vector:
        """Rows grouped by block, shape (K, M, n)."""
        return rows.reshape(self.parameters.K, self.parameters.M, -1)


def record(case: Case, oracle: Oracle, x_0: Vector, parameters: OuterParameters) -> Recorded:
    """Run the subject's Algorithm 2 on an oracle that remembers.

    Raises:
        SubjectFaultError: If it does not ask T times.
    """
    from verify.subjects.protocol import SubjectFaultError

    asked: list[Vector] = []
    told: list[Vector] = []

    def remembering(z: Vector) -> Vector:
        answer = oracle(z)
        asked.append(np.array(z, dtype=np.float64))
        told.append(answer)
        return answer

    run = case.stages.optimise(remembering, x_0, parameters, case.rng)
    if len(asked) != parameters.T:
        raise SubjectFaultError(f"optimise asked the oracle {len(asked)} times instead of T = {parameters.T}")
    return Recorded(run, np.array(asked), np.array(told), parameters)
