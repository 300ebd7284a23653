"""Where noise is drawn to learn its law: one gradient noisy at a time, several alphas, batch sizes and scales."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from spec import Noise
from spec.exact import Vector
from verify.conformance.places.places import place_of
from verify.conformance.probes.probes import n_of, off_truth
from verify.conformance.random_stages import StageSetting, under_noise
from verify.subjects.protocol import StageCalls

ROWS = 400
"""Estimates a spot."""
LIKE = 0.5
"""Relative error up to which a noise-free answer is one of this stage at all."""
NOISELESS = 1e-9
"""Spread, relative to the answer and to the right spread, that counts as none."""


@dataclass(frozen=True)
class Spot:
    """One law to draw from, all stages given: standard deviations of the noise of f and of g, batch size, place."""

    alpha: float
    sigma_f: Fraction
    sigma_g: Fraction
    N_g: int
    place: str = "two-of-three"

    @cached_property
    def setting(self) -> StageSetting:
        """The call, with its right mean."""
        noise = Noise(model="additive", sigma_f=str(self.sigma_f), sigma_g=str(self.sigma_g))  # type: ignore[arg-type]  # exact spellings are parsed
        id_ = f"{self.place}/{self.sigma_f}/{self.sigma_g}/{self.alpha:g}/N_g={self.N_g}"
        return under_noise(id_, off_truth(place_of(self.place), self.alpha), noise, self.N_g)

    def draw(self, stages: StageCalls, rows: int = ROWS, stream: int = 0) -> DrawnSpot:
        """Estimates of a subject in one call, around its own answer without noise."""
        rng = np.random.default_rng([n_of(self.setting.id), stream])
        return DrawnSpot(self, self.setting.draw(stages, rows, rng), self.quiet(stages))

    def quiet(self, stages: StageCalls) -> Vector:
        """What a subject answers to the same call without noise."""
        problem = self.setting.problem.model_copy(update={"noise": Noise()})
        return stages.hypergradient(problem, self.setting.x, self.setting.call, np.random.default_rng(0))


@dataclass(frozen=True)
class DrawnSpot:
    """Estimates at a spot, shape (R, n), and the subject's answer without noise."""

    spot: Spot
    rows: Vector
    centre: Vector

    @cached_property
    def variance(self) -> float:
        """Of a component, the mean over all; 0 where there is nothing but rounding."""
        off = self.rows - self.rows.mean(axis=0)
        value = float((off**2).sum() / (len(off) - 1) / off.shape[1])
        return value if value > (NOISELESS * (1.0 + float(np.abs(self.centre).max()))) ** 2 else 0.0

    @property
    def log_error(self) -> float:
        """Standard error of the logarithm of the variance."""
        return float(np.sqrt(2.0 / (len(self.rows) * self.rows.shape[1])))

    @property
    def shift(self) -> Vector:
        """Mean less the answer without noise, shape (n,)."""
        return np.asarray(self.rows.mean(axis=0) - self.centre)

    @property
    def shift_error(self) -> float:
        """Standard error of a component of the mean, with rounding."""
        return float(np.sqrt(self.variance / len(self.rows))) + NOISELESS * (1.0 + float(np.abs(self.centre).max()))


def _spots(of_f: bool, *rows: tuple[float, str, int], place: str = "two-of-three") -> tuple[Spot, ...]:
    zero = Fraction(0)
    return tuple(
        Spot(alpha, Fraction(s) if of_f else zero, zero if of_f else Fraction(s), N_g, place) for alpha, s, N_g in rows
    )


OF_F = _spots(
    True, (0.1, "1/10", 1), (0.1, "1/10", 2), (0.1, "1/10", 4), (0.1, "1/10", 16), (0.05, "1/10", 1),
    (0.05, "1/10", 4), (0.1, "1/5", 4), (0.1, "1/10", 1024),
)  # fmt: skip
"""Only f is noisy."""
OF_G = _spots(False, (0.1, "1/10", 1), (0.1, "1/10", 4), (0.05, "1/10", 4), (0.1, "1/5", 1), (0.05, "1/10", 16))
"""Only g is noisy; under the repaired reading its noise cancels."""
HELD_OUT_F = _spots(
    True, (0.08, "3/20", 3), (0.06, "1/10", 9), (0.12, "1/4", 5), (0.08, "1/10", 1024), place="random-3x5x4"
)  # fmt: skip
HELD_OUT_G = _spots(False, (0.08, "3/20", 3), (0.06, "1/4", 6), (0.12, "1/10", 1), place="random-3x5x4")
"""Asked only after a law was found."""
COUNTS = (1, 2, 16, 64)
COUNTED_F, COUNTED_G = (
    _spots(of_f, *((0.1, "1/10", N_g) for N_g in COUNTS), place="random-3x5x4") for of_f in (True, False)
)
"""Where rules in N_g are told apart, by :data:`EXACTLY` estimates each, before one is named."""
EXACTLY = 20_000
BOTH = replace(OF_F[0], sigma_g=Fraction(1, 10))
"""Where draws are held against each other."""


def knows_the_stage(stages: StageCalls, *, is_explained: bool = False) -> bool:
    """Whether answers without noise are repeated, and are something like the right ones or else explained."""
    near = 0
    spots = (OF_F[0], OF_F[4], HELD_OUT_F[0])
    for spot in spots:
        first, second = spot.quiet(stages), spot.quiet(stages)
        if not np.array_equal(first, second):
            return False
        right: Any = spot.setting.mean
        near += bool(np.linalg.norm(first - right) <= LIKE * np.linalg.norm(right))
    return is_explained or near > len(spots) // 2
