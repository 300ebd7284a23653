r"""Independence and isotropy of Gaussian samples: correlations at every distance, variances along every direction.

For independent standard normal rows u_i, v_j and any pairing π of N different variables the sum
:math:`\sum_i u_{i,a} v_{\pi(i),b}` has log-moment generating function :math:`-\tfrac N2\log(1 - t^2)`. Pairs i, i + L
within one stream of R rows, R a power of two, form cycles of even length; their function is half the sum of
:math:`-\log(1 - 2t\cos\theta_k)` over equally spaced angles and, by concavity, at most
:math:`-\tfrac R8\log(1 - 4t^2)`. So every sum has a tail bound of its own, and all of them together a union bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import lru_cache
from math import inf, isfinite, log, sqrt
from typing import Any, TypeAlias

import numpy as np
import scipy

from spec.errors import InvalidInputError
from spec.exact import Vector
from verify.evidence.anytime import UNIT, VarianceBets
from verify.evidence.bets.betting import (
    LONGER,
    MUCH_LONGER,
    NOTHING,
    OFTEN,
    SEEN_CALLS,
    beyond,
    class_of,
    is_decided,
    is_tame,
)  # fmt: skip
from verify.evidence.budget import EFFORT_STEP
from verify.evidence.decisions import MOST, ROUNDING, SampledDecision, VarianceDecision
from verify.evidence.model import ComparisonEvidence
from verify.evidence.samples.laws import GRID, chernoff, chi2_lower, chi2_upper
from verify.evidence.samples.moments import Moments, Scatter, along_directions
from verify.evidence.samples.premises_of_laws import Taken, law_of_directions, seen_of, shared
from verify.evidence.samples.shapes import ALARM, NEIGHBOURS, Shape
from verify.evidence.streams import Sampler

HALVINGS = 40
"""Of the range of levels in which the edge of what is refuted lies."""
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
        largest = 0.0
        for a in range(n):
            for b in range(n):
                shifted, mirrored = _circular(one[:, a], other[:, b], R)
                largest = max(largest, float(np.abs(shifted).max()), float(np.abs(mirrored).max()))
        bound = shared * _pair_bound(float(R), error)
        seen = _detectable(bound, R, self.share.missed)
        return self._evidence(((largest, bound, R),), seen if told else inf, R, stated)

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
        variances = moments.along / (moments.count - 1)
        if self.relation == "==":
            return float(variances[np.argmax(np.abs(variances - self.level))])
        return float(variances.max() if self.relation == "<=" else variances.min())

    def taken(self, moments: Moments, error: float) -> Taken:
        """The law that this sample's shape along its directions allows."""
        return law_of_directions(moments, error) if isinstance(moments, Scatter) else super().taken(moments, error)

    def evidence(self, moments: Moments, error: float) -> ComparisonEvidence:
        """The furthest variance beside the level; all directions together err as often as promised."""
        together = {"error_rate": self.share.error * self.directions}
        return super().evidence(moments, error).model_copy(update=together)


@dataclass
class DirectionBets:
    """Bets on the variance along every direction at once; ``gains`` have shape (directions, k)."""

    along: VarianceBets
    count: int = 0
    total: Vector = field(default_factory=lambda: np.zeros(0))
    gains: Vector = field(default_factory=lambda: np.zeros((0, 0)))

    def add(self, rows: Vector) -> None:
        """Take in a block, shape (k, n): the unbiased variances of its units along the directions."""
        units = len(rows) // UNIT
        parts = along_directions(rows[: units * UNIT]).reshape(units, UNIT, -1)
        around = parts - parts.mean(axis=1, keepdims=True)
        variances = np.einsum("ijk,ijk->ik", around, around) / (UNIT - 1)
        gains = np.array([np.log1p(variances * bet).sum(axis=0) for bet in self.along.bets]).T
        self.gains = self.gains + gains if self.gains.size else gains
        self.total = self.total + variances.sum(axis=0) if self.total.size else variances.sum(axis=0)
        self.count += units

    @property
    def mean(self) -> Vector:
        """Of the units, unbiased variances, shape (directions,)."""
        return np.asarray(self.total / self.count)

    def least(self, error: float) -> Vector:
        """The levels below which all are refuted at this error, a direction each."""
        refuted, unrefuted = np.zeros_like(self.total), self.mean
        won = self._log_wealth(refuted) >= -log(error)
        for _ in range(HALVINGS):
            middle = (refuted + unrefuted) / 2
            beyond = self._log_wealth(middle) >= -log(error)
            refuted, unrefuted = np.where(beyond, middle, refuted), np.where(beyond, unrefuted, middle)
        return np.where(won, refuted, 0.0)

    def _log_wealth(self, levels: Vector) -> Vector:
        priced = self.gains - self.count * np.log1p(self.along.bets * levels[:, None]) + self.along.log_weights
        most = priced.max(axis=1)
        return np.asarray(most + np.log(np.exp(priced - most[:, None]).sum(axis=1)))

    def state(self) -> dict[str, Any]:
        """Everything that samples change, as plain data."""
        return {"count": self.count, "total": self.total.tolist(), "gains": self.gains.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.count, self.total, self.gains = state["count"], np.array(state["total"]), np.array(state["gains"])


@dataclass(frozen=True, kw_only=True)
class DirectionBound(DirectionDecision):
    """The same by bets, looked at after every block: from above under the bound alone, from below within a class."""

    def run(self, sampler: Sampler) -> ComparisonEvidence:
        """Draw until decided, or until enough is drawn for this level of effort."""
        if not self.level:
            return super().run(sampler)
        bets = sampler.follow(DirectionBets(VarianceBets.against(self.level, 1, self.wanted)))
        while not sampler.look:
            moments = sampler.reach(max(2, sampler.moments.count))
            if not isinstance(moments, Scatter):
                raise InvalidInputError("moments", "must keep how components vary together")
            if moments.shape.is_dependent or shared(moments, 0.0):
                break
            evidence = self.looked(bets, moments)
            longer = LONGER if evidence.broken or is_tame(self.share, moments) else MUCH_LONGER
            enough = min(longer * min(self.needed, self.limit), MOST) * EFFORT_STEP**self.share.level
            if is_decided(evidence) or moments.count >= enough:
                return evidence
            sampler.reach(moments.count + 1 + moments.count // OFTEN)
        given = {item.name: getattr(self, item.name) for item in fields(DirectionDecision)}
        planned = DirectionDecision(**given | {"share": self.share.part(2)})
        return planned.run(sampler).model_copy(update={"error_rate": self.share.error * self.directions})

    def looked(self, bets: DirectionBets, moments: Scatter) -> ComparisonEvidence:
        """What the bets and the samples so far say, of the direction that is most at odds with the level."""
        kurtosis, sides = moments.kurtosis, 2 if self.relation == "==" else 1
        light = moments.shape.is_silent or kurtosis - 3 <= NEIGHBOURS * sqrt(24 / moments.count)
        within = class_of(self.share, light=light)
        error, missed = self.share.error / 2 / sides, self.share.unseen / sides
        squares = (moments.along, float(moments.count - 1))
        bet = within.bet(1, self.wanted)
        least, mean = bets.least(error), bets.mean
        up, down = mean - least, within.most(bets, squares, 1, bet, error) - mean
        room = np.where(mean > self.level, up, down)
        odds = np.abs(mean - self.level) / np.maximum(room, ROUNDING * self.level)
        counts = {"<=": mean > self.level, ">=": mean < self.level}.get(self.relation, np.full(len(mean), True))
        worst = int(np.argmax(np.where(counts, odds, -1.0)))
        from_above = self.relation == "<=" or (self.relation == "==" and bool(mean[worst] > self.level))
        slack = self.slack * self.level
        left = {"<=": float(np.max(within.most(bets, squares, 1, bet, missed))) - self.level,
                ">=": self.level - float(bets.least(missed).min())}  # fmt: skip
        broken = None
        if not (moments.shape.is_silent or (from_above and odds[worst] > 1)):
            broken = beyond(within, moments, kurtosis, self.share, light=moments.shape.is_light)
        unseen = broken is not None or moments.calls.count < SEEN_CALLS
        tolerance = float((up if from_above else down)[worst])
        return self.compared(
            measured=float(mean[worst]), relation=self.relation, predicted=self.level,
            tolerance=inf if broken else max(0.0, tolerance) + slack,
            detectable=inf if unseen else max(0.0, left.get(self.relation, max(left.values()))) + slack,
            wanted=self.level * self.wanted + slack, samples=moments.count, samples_needed=self.needed,
            law="variances along directions (bets)", checked=seen_of(moments.shape, kurtosis), broken=broken,
            refuted_under=NOTHING if from_above else within.name,
            supported_under=NOTHING if self.relation == ">=" else within.name,
        ).model_copy(update={"error_rate": self.share.error * self.directions})  # fmt: skip


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
    scores: Vector = np.zeros_like(along)
    for column in np.flatnonzero(values > ROUNDING * values.max()):
        order = np.lexsort((lot.random(len(rows)), along[:, column]))
        scores[order, column] = scipy.special.ndtri((np.arange(len(rows)) + 0.5) / len(rows))
    return scores


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
