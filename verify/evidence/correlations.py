r"""Independence and isotropy of Gaussian samples: correlations at every distance, variances along every direction.

For independent standard normal rows u_i, v_j and any pairing π of N different variables the sum
:math:`\sum_i u_{i,a} v_{\pi(i),b}` has log-moment generating function :math:`-\tfrac N2\log(1 - t^2)`. Pairs i, i + L
within one stream of R rows, R a power of two, form cycles of even length; their function is half the sum of
:math:`-\log(1 - 2t\cos\theta_k)` over equally spaced angles and, by concavity, at most
:math:`-\tfrac R8\log(1 - 4t^2)`. So every sum has a tail bound of its own, and all of them together a union bound.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from math import inf, isfinite, log, sqrt
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ndtri

from spec.errors import InvalidInputError
from spec.exact import Vector
from verify.evidence.decisions import ROUNDING, SampledDecision, VarianceDecision
from verify.evidence.laws import GRID, chernoff, chi2_lower, chi2_upper
from verify.evidence.model import ComparisonEvidence
from verify.evidence.moments import Moments, Scatter
from verify.evidence.premises_of_laws import Taken, law_of_directions, seen_of
from verify.evidence.shapes import ALARM, Shape

Spectrum: TypeAlias = np.ndarray[Any, np.dtype[np.complex128]]


ATOM = 0.75
"""Share of equal values beyond which nothing is supported: normal scores of so frequent a value, drawn by lot, lose
half of a correlation, and more beyond."""


@dataclass(frozen=True, kw_only=True)
class CorrelationDecision(SampledDecision):
    """The largest correlation, over all distances and in both orders, against zero.

    Every component is paired with every other at every distance around the circle (the 3rd row with the 8th, the
    4th with the 9th, ...) and mirrored (the 3rd with the 8th, the 4th with the 7th, ...). Two components of one row are
    no pair: how they vary together says nothing of two rows.

    The wanted violation is a correlation.
    """

    wanted: float = 0.25

    def within(self, rows: Vector) -> ComparisonEvidence:
        """Correlations among the rows of one stream of standard normals, shape (R, n), R a power of two."""
        R, n = rows.shape
        _require_power_of_two(R)
        told = not _mostly_one_value(rows)
        (rows,), stated = _as_normal(rows)
        tried = n * (3 * R // 2) + n * (n - 1) // 2 * 2 * R
        error = self.share.single.error / (2 * tried)
        spectra = np.fft.rfft(rows, axis=0)
        # Sums over R pairs, and over R/2 pairs that a sum over all rows counts twice.
        full, half = 0.0, 0.0
        for a in range(n):
            for b in range(a, n):
                shifted, mirrored = _circular(spectra[:, a], spectra[:, b], R)
                # Rows that are their own mirror image are no pair, nor are two components of one row.
                own = np.zeros(R)
                np.add.at(own, 2 * np.arange(R) % R, rows[:, a] * rows[:, b])
                if a == b:
                    full = max(full, float(np.abs(shifted[1 : R // 2]).max()))
                    half = max(half, abs(float(shifted[R // 2])) / 2, float(np.abs(mirrored - own).max()) / 2)
                else:
                    full = max(full, float(np.abs(shifted[1:]).max()), float(np.abs(mirrored - own).max()))
        bounds = (_cycle_bound(R, error), _pair_bound(R / 2, error))
        seen = max(_detectable(bounds[0], R, self.share.missed), _detectable(bounds[1], R // 2 - 1, self.share.missed))
        return self._evidence(((full, bounds[0], R), (half, bounds[1], R // 2)), seen if told else inf, R, stated)

    def between(self, rows: Vector, others: Vector) -> ComparisonEvidence:
        """Correlations between the rows of two streams of standard normals, shapes (R, n)."""
        R, n = rows.shape
        shared, told = _shared_memory(rows, others), not _mostly_one_value(rows, others)
        (rows, others), stated = _as_normal(rows, others)
        error = self.share.single.error / (2 * n * n * 2 * R)
        one, other = np.fft.rfft(rows, axis=0), np.fft.rfft(others, axis=0)
        found = 0.0
        for a in range(n):
            for b in range(n):
                shifted, mirrored = _circular(one[:, a], other[:, b], R)
                found = max(found, float(np.abs(shifted).max()), float(np.abs(mirrored).max()))
        bound = shared * _pair_bound(float(R), error)
        seen = _detectable(bound, R, self.share.missed)
        return self._evidence(((found, bound, R),), seen if told else inf, R, stated)

    def _evidence(
        self, sums: tuple[tuple[float, float, int], ...], detectable: float, samples: int, stated: dict[str, Any]
    ) -> ComparisonEvidence:
        worst, bound, pairs = max(sums, key=lambda one: one[0] / one[1])
        needed = int(samples * (detectable / self.wanted) ** 2) + 1 if isfinite(detectable) else None
        return self.compared(
            measured=worst / pairs, relation="==", predicted=0.0, tolerance=bound / pairs, detectable=detectable,
            wanted=self.wanted, samples=samples, samples_needed=needed, **stated,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class DirectionDecision(VarianceDecision):
    """Variance along every axis and every diagonal between two axes against one level; exact chi-square laws.

    These n² variances are the whole covariance: that of two components is half the difference along their diagonals.
    """

    directions: int = 1

    @classmethod
    def of(cls, whole: VarianceDecision) -> DirectionDecision:
        """The decision along all directions, for one about the total variance of a multiple of the identity."""
        n = whole.width
        given = {item.name: getattr(whole, item.name) for item in fields(VarianceDecision)}
        given |= {"level": whole.level / n, "width": 1, "share": whole.share.part(n**2)}
        return cls(**given, directions=n**2)

    def seen(self, moments: Moments) -> float:
        """The variance along the direction where it is furthest from the level, on the side that counts."""
        if not isinstance(moments, Scatter):
            raise InvalidInputError("moments", "must keep how components vary together")
        covariance = moments.products / (moments.count - 1)
        own = np.diag(covariance)
        first, second = np.triu_indices(len(own), 1)
        middle, apart = (own[first] + own[second]) / 2, covariance[first, second]
        found = np.concatenate([own, middle + apart, middle - apart])
        if self.relation == "==":
            return float(found[np.argmax(np.abs(found - self.level))])
        return float(found.max() if self.relation == "<=" else found.min())

    def taken(self, moments: Moments, error: float) -> Taken:
        """The law that this sample's shape along its directions allows."""
        return law_of_directions(moments, error) if isinstance(moments, Scatter) else super().taken(moments, error)

    def evidence(self, moments: Moments, error: float) -> ComparisonEvidence:
        """The furthest variance beside the level; all directions together err as often as promised."""
        together = {"error_rate": self.share.error * self.directions}
        return super().evidence(moments, error).model_copy(update=together)


def _as_normal(*streams: Vector) -> tuple[list[Vector], dict[str, Any]]:
    """Streams of standard normals as they are; of any other rows, whitened, the normal scores of their ranks.

    Ranks of independent rows are in random order whatever the law; ties are broken by lot.
    """
    shapes = [Shape(rows.shape[1]) for rows in streams]
    for shape, rows in zip(shapes, streams, strict=True):
        shape.add(rows - rows.mean(axis=0))
    checked = seen_of(shapes[0])
    if all(map(_is_standard, shapes)):
        return list(streams), {"law": "correlations (bilinear)", "checked": checked}
    lot = np.random.default_rng(0)
    return [_scores(rows, lot) for rows in streams], {"law": "correlations (normal scores)", "checked": checked}


def _mostly_one_value(*streams: Vector) -> bool:
    """Whether a component has one value so often that ranks, drawn by lot among equal ones, hide what others say."""
    most = [np.unique(column, return_counts=True)[1].max() for rows in streams for column in rows.T]
    return bool(max(most) > ATOM * len(streams[0]))


def _shared_memory(*streams: Vector) -> float:
    """How much wider sums over two independent streams scatter where neighbours within each are correlated."""
    shapes = [Shape(rows.shape[1]) for rows in streams]
    for shape, rows in zip(shapes, streams, strict=True):
        shape.add(rows - rows.mean(axis=0))
    if not all(shape.is_correlated for shape in shapes):
        return 1.0
    one, other = (shape.correlations for shape in shapes)
    return sqrt(max(1.0, 1 + 2 * float(one @ other)))


def _is_standard(shape: Shape) -> bool:
    if shape.is_silent:
        return True
    n, N = shape.width, shape.count
    variance, (kurtosis, allowed) = shape.sizes[1] / N / n, shape.kurtosis
    skewness, passes = shape.skewness
    tame = kurtosis - 3 <= allowed and skewness <= passes and shape.is_isotropic
    return bool(tame and abs(variance - 1) <= ALARM * sqrt(2 / (n * N)))


def _scores(rows: Vector, lot: np.random.Generator) -> Vector:
    """Normal scores of the ranks of each principal component; what does not scatter stays 0."""
    deviations = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(deviations.T @ deviations)
    along = deviations @ vectors
    made: Vector = np.zeros_like(along)
    for column in np.flatnonzero(values > ROUNDING * values.max()):
        order = np.lexsort((lot.random(len(rows)), along[:, column]))
        made[order, column] = ndtri((np.arange(len(rows)) + 0.5) / len(rows))
    return made


def _circular(one: Spectrum, other: Spectrum, R: int) -> tuple[Vector, Vector]:
    """Sums of u_i v_(i+L) and of u_i v_(s-i) for all L and s, from the streams' spectra."""
    shifted: Vector = np.fft.irfft(np.conj(one) * other, R)
    mirrored: Vector = np.fft.irfft(one * other, R)
    return shifted, mirrored


@lru_cache(maxsize=256)
def _pair_bound(pairs: float, error: float) -> float:
    """A value that a sum over so many pairs exceeds with probability at most ``error``."""
    return chernoff(lambda t: -pairs / 2 * np.log1p(-t * t), np.geomspace(1e-6, 1 - 1e-9, GRID), log(error))


@lru_cache(maxsize=256)
def _cycle_bound(rows: int, error: float) -> float:
    """The same for neighbours at one distance on a circle."""
    return chernoff(lambda t: -rows / 8 * np.log1p(-4 * t * t), np.geomspace(1e-6, 1 - 1e-9, GRID) / 2, log(error))


def _detectable(bound: float, pairs: int, missed: float) -> float:
    """Smallest correlation of independent pairs whose sum passes the bound, except with probability ``missed``.

    Twice the sum is :math:`(1+r)X - (1-r)Y` with independent chi-square X and Y.
    """
    low, high = chi2_lower(float(pairs), missed / 2), chi2_upper(float(pairs), missed / 2)
    return (2 * bound + high - low) / (high + low)


def _require_power_of_two(R: int) -> None:
    if R < 4 or R & (R - 1):
        raise InvalidInputError("rows", "must be a power of two of them, at least 4", R)
