"""Sequences of looks at a growing sample whose error, over all looks together, stays what was promised."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from typing import Any

import numpy as np

from spec.errors import InvalidInputError
from spec.exact import Vector
from verify.evidence.budget import EFFORT_STEP


@dataclass(frozen=True)
class Looks:
    r"""Looks at sample sizes growing by :data:`EFFORT_STEP`; the k-th spends the error share :math:`1/(k(k+1))`.

    The shares sum to one over all k, so a sequence may stop at any look and be resumed for more precision later
    without spending more than its error. The first look has ``first`` samples, at least 2.
    """

    first: int
    error: float

    def __post_init__(self) -> None:
        if self.first < 2:
            raise InvalidInputError("first", "must be >= 2", self.first)

    def size(self, look: int) -> int:
        """Sample size of look 1, 2, ..."""
        return int(self.first * EFFORT_STEP ** (look - 1))

    def spends(self, look: int) -> float:
        """Error of look 1, 2, ..."""
        return self.error / (look * (look + 1))

    @classmethod
    def ending_at(cls, size: int, looks: int, error: float) -> Looks:
        """Looks whose last of a given number is at a given size."""
        return cls(max(2, -(-size // EFFORT_STEP ** (looks - 1))), error)


@dataclass
class EmpiricalBernstein:
    r"""Confidence sequence for the mean of variables in [0, 1], valid at all sample sizes at once.

    Predictable plug-in empirical-Bernstein (Waudby-Smith and Ramdas, "Estimating means of bounded random variables
    by betting", 2024, Theorem 2): with bets
    :math:`\lambda_i = \min(1/2, \sqrt{2\log(2/a) / (\hat\sigma_{i-1}^2 n)})`, the mean lies within
    :math:`(\log(2/a) + \sum v_i \psi(\lambda_i)) / \sum\lambda_i` of :math:`\sum\lambda_i X_i / \sum\lambda_i` for
    all sizes except with probability a; :math:`v_i = 4 (X_i - \hat\mu_{i-1})^2`,
    :math:`\psi(\lambda) = (-\log(1 - \lambda) - \lambda)/4`.

    The error is a, the horizon n: the sample size at which it shall be narrowest; any other is valid as well.
    """

    error: float
    horizon: int
    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    bets: float = 0.0
    weighted: float = 0.0
    price: float = 0.0

    def add(self, values: Vector) -> None:
        """Take in more variables in [0, 1], shape (k,), in order."""
        if values.size == 0:
            return
        if values.min() < 0 or values.max() > 1:
            raise InvalidInputError("values", "must lie in [0, 1]", (float(values.min()), float(values.max())))
        k = np.arange(self.count, self.count + len(values), dtype=np.float64)
        sums = self.total + np.cumsum(values)
        # Before each variable, then after: bets may use only the past.
        before = (0.5 + np.concatenate([[self.total], sums[:-1]])) / (k + 1)
        after = (0.5 + sums) / (k + 2)
        spread = self.squares + np.cumsum((values - after) ** 2)
        past = (0.25 + np.concatenate([[self.squares], spread[:-1]])) / (k + 1)
        bets = np.minimum(0.5, np.sqrt(2 * log(2 / self.error) / (past * self.horizon)))
        self.bets += float(bets.sum())
        self.weighted += float(bets @ values)
        self.price += float((values - before) ** 2 @ (-np.log1p(-bets) - bets))
        self.count += len(values)
        self.total, self.squares = float(sums[-1]), float(spread[-1])

    def interval(self) -> tuple[float, float]:
        """Bounds of the mean; (0, 1) before the first variable."""
        if self.bets == 0:
            return 0.0, 1.0
        centre, half = self.weighted / self.bets, (log(2 / self.error) + self.price) / self.bets
        return max(0.0, centre - half), min(1.0, centre + half)

    @property
    def mean(self) -> float:
        """Plain average so far."""
        return self.total / self.count if self.count else inf

    def state(self) -> dict[str, Any]:
        """Everything, as plain data; ``EmpiricalBernstein(**state)`` goes on from it."""
        return dict(vars(self))
