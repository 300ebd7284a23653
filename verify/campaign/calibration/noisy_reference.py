"""The reference with noise of another law in every stochastic stage: laws the paper allows, and some it forbids.

Each is a class of this module by its name, made when it is asked for:
``verify.campaign.calibration.noisy_reference:Laplace``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from spec import Problem
from spec.exact import Vector
from verify.campaign.calibration.noise_laws import NOISE_LAWS, Noise
from verify.subjects import Call, ReferenceSubject


def at_most(rng: np.random.Generator, k: int, n: int) -> Vector:
    """Never more variance than stated, and less on the whole."""
    return np.asarray(rng.standard_normal((k, n)) * rng.uniform(0.5, 0.9, (k, 1)))


def _twice(rng: np.random.Generator, k: int, n: int) -> Vector:
    return np.asarray(2**0.5 * rng.standard_normal((k, n)))


def _biased(rng: np.random.Generator, k: int, n: int) -> Vector:
    """Three hundredths of the deviation off."""
    return 0.03 + rng.standard_normal((k, n))


def _slightly_biased(rng: np.random.Generator, k: int, n: int) -> Vector:
    """One hundredth of the deviation off."""
    return 0.01 + rng.standard_normal((k, n))


def _neighbours(rng: np.random.Generator, k: int, n: int) -> Vector:
    """Each draw shares half of itself with the one before."""
    steps = rng.standard_normal((k + 1, n))
    return np.asarray((steps[1:] + steps[:-1]) / 2**0.5)


def _reused(rng: np.random.Generator, k: int, n: int) -> Vector:
    """One draw for all that is asked for at once."""
    return np.tile(rng.standard_normal((1, n)), (k, 1))


def _endless(rng: np.random.Generator, k: int, n: int) -> Vector:
    """Student's law with two degrees of freedom has no variance."""
    return rng.standard_t(2, (k, n))


ALLOWED: dict[str, Noise] = {
    "Laplace": NOISE_LAWS["Laplace"],
    "Rademacher": NOISE_LAWS["Rademacher"],
    "Student5": NOISE_LAWS["t5"],
    "FiniteSum": NOISE_LAWS["finite sum"],
    "Lognormal": NOISE_LAWS["lognormal"],
    "AtMost": at_most,
}
"""Independent draws of mean zero and a variance of at most 1."""
FORBIDDEN: dict[str, Noise] = {
    "TwiceTheVariance": _twice,
    "Biased": _biased,
    "SlightlyBiased": _slightly_biased,
    "Correlated": _neighbours,
    "Endless": _endless,
    "OneDrawReused": _reused,
}
"""Draws that break the assumption."""


class _Redrawn:
    """A generator whose normals come from a law, vectors of ``width`` components where only a length is asked for."""

    def __init__(self, rng: np.random.Generator, law: Noise, width: int) -> None:
        self._rng, self._law, self._width = rng, law, width

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rng, name)

    def standard_normal(self, size: int | tuple[int, ...] | None = None, *, out: Vector | None = None) -> Any:
        """As numpy's, of the law."""
        if out is not None:
            out[...] = self.standard_normal(out.shape)
            return out
        if size is None:
            return float(self._law(self._rng, 1, 1)[0, 0])
        shape = (size,) if isinstance(size, int) else size
        flat = len(shape) == 1
        count, n = int(np.prod(shape)), self._width if flat else shape[-1]
        # A flat piece may end within a vector.
        return self._law(self._rng, -(-count // n), n).ravel()[:count].reshape(shape)


class NoisyReference(ReferenceSubject):
    """The reference, its normals redrawn; jumps keep the thresholds of their law."""

    name = "noisy-reference"
    law: Noise = staticmethod(NOISE_LAWS["Gauss"])

    def _redrawn(self, problem: Problem, rng: Any, width: int) -> Any:
        noise = getattr(problem, "noise", None)
        keeps = rng is None or getattr(noise, "model", "jump") == "jump"
        return rng if keeps else _Redrawn(rng, self.law, width)

    def hypergradient(self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator | None) -> Vector:
        """Algorithm 1."""
        return super().hypergradient(problem, x, call, self._redrawn(problem, rng, len(x)))

    def hypergradient_samples(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> Vector:
        """Averages of N_g draws of the law."""
        return super().hypergradient_samples(problem, x, call, self._redrawn(problem, rng, len(x)), replications)

    def lower_level_runs(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> tuple[Vector, Vector]:
        """Primal-dual iterations with such gradients."""
        return super().lower_level_runs(problem, x, call, self._redrawn(problem, rng, len(x)), replications)

    def penalty_runs(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> tuple[Vector, float]:
        """SVRG or averaged SGD with such gradients."""
        return super().penalty_runs(problem, x, call, self._redrawn(problem, rng, len(x)), replications)

    def hypergradient_runs(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> tuple[Vector, float]:
        """Algorithm 1 with noisy inner solvers, their gradients alike."""
        return super().hypergradient_runs(problem, x, call, self._redrawn(problem, rng, len(x)), replications)


@cache
def subject_under(name: str) -> type[NoisyReference]:
    """The class of that name."""
    law = {**ALLOWED, **FORBIDDEN}[name]
    return type(name, (NoisyReference,), {"name": name, "law": staticmethod(law), "__module__": __name__})


def __getattr__(name: str) -> type[NoisyReference]:
    if name not in ALLOWED and name not in FORBIDDEN:
        raise AttributeError(name)
    return subject_under(name)
