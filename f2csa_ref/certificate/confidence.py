"""How far the noise of line 6 may throw an estimate, at a level of confidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.penalty import PenaltyLagrangian
from f2csa_ref.sampling import Pairing
from spec.exact import Vector

Law = Literal["none", "gaussian", "chebyshev"]


@dataclass(frozen=True)
class NoiseRadius:
    """With probability >= ``level`` the mean noise, given the stages, is at most ``radius`` long, by the ``law`` named.

    ``gaussian``: exact, by the chi distribution. ``chebyshev``: any law of this variance, ``radius`` squared times
    ``1 - level`` is the variance of the mean.
    """

    radius: float = 0.0
    level: float = 1.0
    law: Law = "none"


def noise_radius(
    L: PenaltyLagrangian, w: Vector, pairing: Pairing, samples: int, level: float, variance: float | None = None
) -> NoiseRadius:
    """Bound the mean of the samples' noise at ``y_star + w``.

    Args:
        L: Its objectives' noise model is believed; where that is none, there is no noise unless ``variance`` says so.
        w: Shift from the lower-level solution, shape (m,).
        pairing: Whether both gradients of g see one draw.
        samples: N_g, independent of each other and of the stages.
        level: Probability, in (0, 1).
        variance: Trace of the covariance of one sample of the estimate, believed instead of the model; >= 0.
    """
    if variance is not None:
        return _chebyshev(variance, samples, level)
    everywhere, first = _variances(L, w, pairing)
    n = L.objectives.n
    if first > 0:
        return _chebyshev(n * everywhere + first, samples, level)
    if everywhere == 0:
        return NoiseRadius()
    return NoiseRadius(math.sqrt(everywhere * float(sp.chdtri(n, 1 - level)) / samples), level, "gaussian")


def _chebyshev(variance: float, samples: int, level: float) -> NoiseRadius:
    return NoiseRadius(math.sqrt(variance / (samples * (1 - level))), level, "chebyshev")


def _variances(L: PenaltyLagrangian, w: Vector, pairing: Pairing) -> tuple[float, float]:
    """Variance of one sample in every component, Gaussian, and on the first alone, of jumps."""
    noise, x, star = L.objectives.noise, L.x, L.y_star
    y, common = star + w, pairing == "common"
    of_f, of_g = noise.scale("f.x") ** 2, (L.alpha.alpha_1 * noise.scale("g.x")) ** 2
    if noise.model == "matrix":
        square = float(x @ x)
        here, there = square + float(y @ y), square + float(star @ star)
        return of_f * here + of_g * (float(w @ w) if common else here + there), 0.0
    if noise.model == "jump":
        p, p_star = (float(sp.ndtr(at[0])) for at in (y, star))
        apart = abs(p - p_star)
        return of_f, of_g * (apart * (1 - apart) if common else p * (1 - p) + p_star * (1 - p_star))
    return of_f + (0.0 if common else 2 * of_g), 0.0
