r"""Wealth of bets against a hypothesis: what may be looked at after any sample, and gone on from at any time.

An *e-process* against a hypothesis starts at 1 and is worth at most 1 on average at every time, whatever law of the
hypothesis draws the samples; it reaches 1/a with probability at most a, ever (Ville 1939). Here each is an average over
bets of products whose factors have conditional means of at most 1, and depends on sums alone, so that looking costs
nothing and the interval of all values that are not refuted is had by bisection.

====================  ===============================  ==============================================================
refuted               premises                         factor of one sample; source
====================  ===============================  ==============================================================
E X <= v              X >= 0, nothing else             1 - b + b X/v, 0 <= b <= 1; Waudby-Smith and Ramdas 2024
E X = m               E‖X - EX‖² <= v                  exp(b·Y - (b·Y)²/6 - ‖b‖² v/3), Y = X - m, by Delyon 2009:
                                                       exp(y - y²/6) <= 1 + y + y²/3; averaged over a normal b
E X >= m              X = ‖d‖², d isotropic Gaussian   exp(-b X/m) (1 + 2b/n)^(n/2)
E X >= m              X >= 0, E X² <= k (E X)²         exp(-b X/m)/(1 - b + k b²/2), by exp(-z) <= 1 - z + z²/2
X is N(0, I)          none: the law is what is refuted any density over its own; 1 + b(f(X) - E f), -1 <= b <= 1
====================  ===============================  ==============================================================

Nothing refutes "E X >= m" without a class of laws: no e-value against it ever exceeds 1 (Bahadur and Savage 1956;
Larsson, Ramdas and Ruf 2025). A refuted and a supported bound of a variance therefore stand on different premises.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, log, log1p, sqrt
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import scipy

from spec.errors import InvalidInputError
from spec.exact import Vector
from verify.evidence.samples.laws import log_sum
from verify.evidence.samples.moments import Moments

UNIT = 8
"""Rows behind one unbiased variance: pairs would cost twice the samples, more of them blunt the best bets."""
SPREAD = 4.0 ** np.arange(-4, 5)
"""Bets beside the one that is best for the wanted violation, in units of it; they share half of the wealth."""
NARROW = 1e-10
"""Relative width to which the edge of what is refuted is known, from the side that is."""
GAUSSIAN_NAME, SECOND_MOMENT = "gaussian", "second-moment"
CLASSES = f"must be {GAUSSIAN_NAME}, kurtosis<=K, bounded<=B or {SECOND_MOMENT}, K and B numbers >= 1"
NUMBER = re.compile(r"[0-9]{1,9}([.][0-9]{1,9})?")
"""Of a class of noise that a project states."""
STEEPEST = 1 - 1e-9
"""Largest bet: all but nothing of the wealth."""

T = TypeVar("T", float, Vector)
Seen = TypeVar("Seen", covariant=True)


@dataclass
class VarianceBets:
    """Bets that variances of units of rows are larger than a level says, kept for all levels at once.

    A bet c > 0 against the level v puts a share c v/(1 + c v) of its wealth on X/v: its factor is (1 + c X)/(1 + c v).
    ``bets`` and ``log_weights`` have shape (k,); ``gains`` are the sums of log(1 + c X), ``count`` and ``total`` those
    of the units. Rows of one block that do not fill a unit are left out.
    """

    bets: Vector
    log_weights: Vector
    count: int = 0
    total: float = 0.0
    gains: Vector = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def against(cls, level: float, width: float, wanted: float) -> Self:
        """With half of the wealth on the bet that is best where Gaussian vectors have 1 + wanted times the level."""
        scatter = 1 + 2 / (width * (UNIT - 1))
        best = wanted / (scatter * (1 + wanted) ** 2 - 2 * wanted - 1)
        shares = np.minimum(np.concatenate([[best], best * SPREAD]), STEEPEST)
        weights = np.concatenate([[0.5], np.full(len(SPREAD), 0.5 / len(SPREAD))])
        return cls(shares / (1 - shares) / level, np.log(weights), gains=np.zeros(len(shares)))

    def add(self, rows: Vector) -> None:
        """Take in a block, shape (k, n): the unbiased total variances of its units."""
        units = len(rows) // UNIT
        parts = rows[: units * UNIT].reshape(units, UNIT, -1)
        around = parts - parts.mean(axis=1, keepdims=True)
        self.units(np.einsum("ijk,ijk->i", around, around) / (UNIT - 1))

    def units(self, variances: Vector) -> None:
        """Take in values >= 0 whose mean is the variance, shape (k,)."""
        self.gains = self.gains + np.log1p(variances[:, None] * self.bets).sum(axis=0)
        self.count, self.total = self.count + len(variances), self.total + float(variances.sum())

    @property
    def mean(self) -> float:
        """Of the units, an unbiased variance."""
        return self.total / self.count

    def log_wealth(self, level: float) -> float:
        """Against "at most this level"."""
        return log_sum(self.gains - self.count * np.log1p(self.bets * level) + self.log_weights)

    def least(self, error: float) -> float:
        """The level below which all are refuted at this error: the variance is at least that."""
        return _edge(self.log_wealth, 0.0, self.mean, -log(error)) if self.mean > 0 else 0.0

    def state(self) -> dict[str, Any]:
        """Everything that samples change, as plain data."""
        return {"count": self.count, "total": self.total, "gains": self.gains.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.count, self.total, self.gains = state["count"], state["total"], np.array(state["gains"])


class Sums(Protocol[Seen]):
    """Number and total of units, this a number or one for each direction."""

    count: int

    @property
    def total(self) -> Seen:
        """Summed variances of the units."""


@dataclass(frozen=True)
class NoiseClass:
    """Laws within which samples may support a bound of a variance.

    ``kurtosis`` is the largest E‖d‖⁴/(E‖d‖²)²; none is that of Gaussian vectors, ``inf`` of any with a second moment.
    ``top`` is the largest ‖d‖²/E‖d‖², where lengths are bounded.
    """

    name: str
    kurtosis: float | None = None
    top: float | None = None

    @classmethod
    def named(cls, text: str) -> NoiseClass:
        """The class that a project states.

        Raises:
            InvalidInputError: If it is none of these.
        """
        if text in (plain := {GAUSSIAN_NAME: GAUSSIAN, SECOND_MOMENT: cls("a second moment alone", inf)}):
            return plain[text]
        kind, _, given = text.partition("<=")
        value = float(given) if NUMBER.fullmatch(given) else 0.0
        if kind == "kurtosis" and value >= 1:
            return cls(f"kurtosis at most {value:g}", value)
        if kind == "bounded" and value >= 1:
            return cls(f"squared lengths at most {value:g} times their mean", top=value)
        raise InvalidInputError("noise", CLASSES, text)

    @property
    def is_gaussian(self) -> bool:
        """Whether it is that of Gaussian vectors."""
        return self.kurtosis is None and self.top is None

    def most(self, bets: Sums[T], squares: tuple[T, float], width: int, bet: float, error: float) -> T | float:
        """The variance beyond which all are refuted at this error, within the class; ``inf`` where none is.

        ``squares`` are a total and its degrees of freedom over the width: of Gaussian ones all that there are. Totals
        may be arrays, and so is what is returned then.
        """
        if self.is_gaussian:
            total, freedom = squares
            price = width / 2 * float(np.log1p(2 * bet / width)) * freedom
        elif self.kurtosis == inf:
            return inf
        else:
            total, price = bets.total, -bets.count * float(self._log_mgf(np.array(bet)))
        left = price + log(error)
        return bet * total / left if left > 0 else inf

    def bet(self, width: int, wanted: float) -> float:
        """The best one where the variance is as claimed and a violation of the wanted size is to be refuted."""
        if self.is_gaussian:
            return width * wanted / 2
        if self.kurtosis == inf:
            return 0.0
        tried = np.geomspace(1e-6, 1.0, 2000)
        return float(tried[np.argmin(tried / (1 + wanted) + self._log_mgf(tried))])

    def _log_mgf(self, bets: Vector) -> Vector:
        """A bound of log E exp(-b Z) for the unbiased variance of a unit over the variance."""
        if self.top is not None:
            # The chord of exp(-bz) over all that Z may be: a sum of squared deviations is at most that of squares.
            most = self.top * UNIT / (UNIT - 1)
            return np.asarray(np.log1p(np.expm1(-bets * most) / most))
        unit = 1 + ((self.kurtosis or 1.0) - 1) / UNIT + 2 / (UNIT * (UNIT - 1))
        return np.asarray(np.log1p(-bets + bets * bets * unit / 2))


GAUSSIAN = NoiseClass("Gaussian")
"""What problem files state."""
BOUNDED_KURTOSIS = 10.0
HEAVIER = NoiseClass(f"kurtosis at most {BOUNDED_KURTOSIS:g}", BOUNDED_KURTOSIS)
"""What takes its place where samples are not Gaussian; fixed before any is drawn."""


@dataclass(frozen=True)
class MeanBets:
    """Bets that the mean of n-vectors is another, against every mean at once, given E‖X - EX‖² <= second_moment.

    ``count``, ``away`` (n,) and ``products`` (n, n) are the samples' number, their mean less the predicted one, and
    their summed products of deviations from their own mean; b is averaged over N(0, 1/rho). Against a mean that lies
    off the samples' by r all hangs on :math:`q = r^T B^{-1} r`, B a third of the products plus rho and 2 N v/3.
    """

    second_moment: float
    rho: float
    count: int
    away: Vector
    products: Vector

    @classmethod
    def of(cls, moments: Moments, second_moment: float, wanted: float) -> MeanBets:
        """Tuned to a shift of ``wanted`` roots of the second moment, evenly spread noise granted."""
        n = len(moments.mean)
        # Best where what a sample adds to the exponent's price times their needed number is twice the log of 1/error.
        rho = second_moment * ((1 + 2 * n) / (3 * n) / wanted) ** 2
        return cls(second_moment, rho, moments.count, moments.mean, moments.cross)

    @cached_property
    def _price(self) -> tuple[Vector, Vector]:
        """Eigenvalues and eigenvectors of B."""
        values, vectors = np.linalg.eigh(self.products / 3)
        return np.maximum(values, 0.0) + 2 * self.count * self.second_moment / 3 + self.rho, vectors

    def _log_wealth(self, q: float) -> float:
        pulled, fixed = self.count * q / 3, float(np.log(self._price[0] / self.rho).sum())
        return self.count**2 * q / (2 * (1 + pulled)) - (fixed + log1p(pulled)) / 2

    @property
    def _pull(self) -> float:
        values, vectors = self._price
        return float((((vectors.T @ self.away) ** 2) / values).sum())

    @property
    def log_wealth(self) -> float:
        """Against the predicted mean."""
        return self._log_wealth(self._pull)

    def limits(self, errors: tuple[float, float]) -> tuple[float, float]:
        """The distance from the predicted mean, in the direction seen, that is refuted; the largest that is not.

        For an error each. Means beyond some e^N standard deviations off would pass again, and are left aside.
        """
        widest, size, pull = float(np.sqrt(self._price[0][-1])), float(np.linalg.norm(self.away)), self._pull
        own, other = (self._edge(error) for error in errors)
        per_root = size / sqrt(pull) if pull > 0 else widest
        return sqrt(own) * per_root, size + sqrt(other) * widest

    def _edge(self, error: float) -> float:
        """The q beyond which a mean is refuted."""
        far = 6 * (1 - log(error) + float(np.log(self._price[0] / self.rho).sum())) / self.count
        most = max(far, 1e3) / self.count if self.count else inf
        if not self.count or self._log_wealth(most) < -log(error):
            return inf
        return _edge(self._log_wealth, most, 0.0, -log(error))


def _edge(wealth: Callable[[float], float], refuted: float, unrefuted: float, limit: float) -> float:
    """Where a wealth that rises from ``unrefuted`` to ``refuted`` passes the limit; ``refuted`` if it does not."""
    if wealth(refuted) < limit:
        return refuted
    while abs(refuted - unrefuted) > NARROW * max(refuted, unrefuted):
        middle = (refuted + unrefuted) / 2
        refuted, unrefuted = (middle, unrefuted) if wealth(middle) >= limit else (refuted, middle)
    return refuted


RARE = tuple((share, size) for share in (1e-1, 1e-2, 1e-3, 1e-4) for size in (3.0, 10.0, 30.0, 100.0))
"""Outliers that are bet on: their share, and how many times as long they are."""
FREEDOM = np.array([2.5, 5.0, 10.0])
"""Of Student's t, brought to variance 1."""
WAVES, SWINGS = np.repeat([0.5, 1.0, 2.0, 4.0], 2), np.tile([0.5, -0.5], 4)
"""Of bets on the mean of cos(t z): frequencies t, and stakes."""
FARTHEST = 1e3
"""Deviations that no double shows a normal number to have."""


@dataclass
class DrawsBets:
    """Bets that vectors, shape (k, n), are not independent N(0, scale² I): the law that a problem file states.

    A simple hypothesis, so that any density over its own may be bet on: other scales of the whole vector, half on
    those ``wanted`` away, rare outliers, Student's t of each component, and characteristic functions, which tell any
    two symmetric laws apart at some frequency. ``logs`` are the bets' own wealths, shape (bets,).
    """

    width: int
    scale: float
    wanted: float
    count: int = 0
    logs: Vector = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not self.logs.size:
            self.logs = np.zeros(len(self._log_weights))

    def add(self, rows: Vector) -> None:
        """Take in a block, deviations from the exact mean."""
        z = np.clip(rows / self.scale, -FARTHEST, FARTHEST)
        self.logs = self.logs + self._gains(z)
        self.count += len(z)

    @property
    def log_wealth(self) -> float:
        """Against the stated law."""
        return log_sum(self.logs + self._log_weights)

    @cached_property
    def _scales(self) -> Vector:
        larger = 1 + self.wanted * np.concatenate([[1.0], SPREAD])
        return np.asarray(np.concatenate([larger, 1 / larger]))

    @cached_property
    def _log_weights(self) -> Vector:
        rest = 2 * len(SPREAD) + len(RARE) + len(FREEDOM) + len(WAVES)
        scales = np.concatenate([[0.25], np.full(len(SPREAD), 0.5 / rest)])
        return np.asarray(np.log(np.concatenate([scales, scales, np.full(rest - 2 * len(SPREAD), 0.5 / rest)])))

    def _gains(self, z: Vector) -> Vector:
        """The logarithm of every bet's factor, summed over the rows, shape (bets,)."""
        n, lengths = self.width, np.einsum("ij,ij->i", z, z)

        def scaled(s: float) -> Vector:
            return np.asarray(-n / 2 * log(s) - lengths / 2 * (1 / s - 1))

        by_scale = [-n / 2 * log(s) * len(z) - float(lengths.sum()) / 2 * (1 / s - 1) for s in self._scales.tolist()]
        outliers = [float(np.logaddexp(log1p(-e), log(e) + scaled(s * s)).sum()) for e, s in RARE]
        unit, gammaln = 1 - 2 / FREEDOM, scipy.special.gammaln
        constant = gammaln((FREEDOM + 1) / 2) - gammaln(FREEDOM / 2) - np.log(FREEDOM * unit / 2) / 2
        own = z.size * constant + float(lengths.sum()) / 2
        tails = [o - (f + 1) / 2 * float(np.log1p(z * z / (f * u)).sum())
                 for o, f, u in zip(own.tolist(), FREEDOM.tolist(), unit.tolist(), strict=True)]  # fmt: skip
        waved = []
        for wave in dict.fromkeys(WAVES.tolist()):
            seen = np.cos(wave * z).mean(axis=1) - np.exp(-(wave**2) / 2)
            waved += [float(np.log1p(swing * seen).sum()) for swing in SWINGS[wave == WAVES].tolist()]
        return np.array([*by_scale, *outliers, *tails, *waved])

    def state(self) -> dict[str, Any]:
        """Everything that samples change, as plain data."""
        return {"count": self.count, "logs": self.logs.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.count, self.logs = state["count"], np.array(state["logs"])
