r"""Estimates that repeat: whether any two differ at all, and whether more are equal than chance makes equal.

That answers never differ says nothing of a law whose values are nearly always one: :math:`Z \ge 0` is positive with
probability at least :math:`(EZ)^2/EZ^2` (Paley and Zygmund), so how often a law may look silent hangs on its fourth
moment alone. How many estimates repeat others by chance hangs on the law alone, and those of other generators have the
same: where all are independent, which of them came from where is a lot drawn.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import ceil, inf, log, log1p
from typing import Any, TypeAlias

import numpy as np
import scipy

from spec.exact import Vector
from verify.evidence.budget import Share
from verify.evidence.model import ComparisonEvidence

Counts: TypeAlias = np.ndarray[Any, np.dtype[np.signedinteger]]
KURTOSIS = 100.0
"""Largest E‖d‖⁴/(E‖d‖²)² of noise that is told from none: values that one estimate in a hundred has."""
SLOPES = np.geomspace(1e-7, 30.0, 120)
"""Slopes tried in a tail bound: each gives a valid one."""
MOST = 1 << 12
"""Repeats too many that are looked for at most."""


def answers_needed(error: float) -> int:
    """Equal estimates that noise of at most :data:`KURTOSIS` brings forth with probability at most ``error``."""
    return 1 + ceil(log(error) / log1p(-1 / KURTOSIS))


def different_answers(rows: Vector, share: Share, quantity: str, **context: float | str) -> ComparisonEvidence:
    """How many different estimates are among as many as :func:`answers_needed`, shape (N, n); one would be no noise.

    Error: that noise of kurtosis at most :data:`KURTOSIS` around any of its values shows one value only.
    """
    return ComparisonEvidence(
        quantity=quantity, measured=float(len(np.unique(rows, axis=0))), relation=">=", predicted=2.0,
        context=context, rung="statistical", error_rate=share.error, detectable=1.0, power=1 - share.missed,
        samples=len(rows), law="different answers (fourth moment)",
    )  # fmt: skip


def repeats(here: Vector, there: Vector, share: Share, quantity: str) -> ComparisonEvidence:
    """Estimates of one generator, shape (k, n), that repeat one before them, beside those that lots would draw.

    The lots: k of all rows, those of other generators, shape (l, n), included. How many of one value they hold are
    hypergeometric counts, negatively associated (Joag-Dev and Proschan 1983), so that the moment generating function of
    the repeats is at most the product of theirs. The bound is exact, whatever the law of the estimates.
    """
    both = np.unique(np.vstack([here, there]), axis=0, return_inverse=True)[1].ravel()
    own = np.bincount(both[: len(here)], minlength=both.max() + 1)
    lots = Lots.of(np.bincount(both), len(here))
    measured, expected = float(np.maximum(own - 1, 0).sum()), lots.expected
    error = share.single.error
    # A dependence adds repeats to those by chance, of which there may be fewer than usual.
    few = lots.at_least(share.missed)
    more = bisect_left(range(MOST), x=True, lo=1, key=lambda m: few + m > lots.and_pairs(m).at_most(error))
    return ComparisonEvidence(
        quantity=quantity, measured=measured, relation="<=", predicted=expected,
        tolerance=max(0.0, lots.at_most(error) - expected), rung="statistical", error_rate=share.error,
        detectable=float(more) if more < MOST else inf, power=1 - share.missed, samples=len(both), law="repeats (lots)",
    )  # fmt: skip


@dataclass(frozen=True)
class Lots:
    """Repeats among ``drawn`` of ``total`` things, of which ``times[j]`` values come ``counts[j]`` times."""

    counts: tuple[int, ...]
    times: tuple[int, ...]
    drawn: int
    total: int

    @classmethod
    def of(cls, multiplicities: Counts, drawn: int) -> Lots:
        """Of how often each value comes, shape (values,)."""
        counts, times = np.unique(multiplicities[multiplicities > 1], return_counts=True)
        return cls(tuple(counts.tolist()), tuple(times.tolist()), drawn, int(multiplicities.sum()))

    def and_pairs(self, more: int) -> Lots:
        """The same with so many further values, each drawn twice."""
        known = dict(self._values)
        known[2] = known.get(2, 0) + more
        return Lots(tuple(known), tuple(known.values()), self.drawn + 2 * more, self.total + 2 * more)

    @property
    def expected(self) -> float:
        """Repeats that lots draw on average: of each value as many as are drawn, less one where any is."""
        whole = _log_comb(self.total, self.drawn)
        none = (n * np.exp(_log_comb(self.total - c, self.drawn) - whole) for c, n in self._values)
        return float(sum(n * (c * self.drawn / self.total - 1) for c, n in self._values) + sum(none))

    @property
    def _values(self) -> list[tuple[int, int]]:
        return list(zip(self.counts, self.times, strict=True))

    def at_most(self, error: float) -> float:
        """A number of repeats that lots exceed with probability at most ``error``."""
        if not self.counts:
            return 0.0
        return float(np.min((self._log_mgf(SLOPES) - log(error)) / SLOPES))

    def at_least(self, error: float) -> float:
        """A number of repeats that lots undercut with probability at most ``error``."""
        if not self.counts:
            return 0.0
        return max(0.0, float(np.max((log(error) - self._log_mgf(-SLOPES)) / SLOPES)))

    def _log_mgf(self, t: Vector) -> Vector:
        log_mgf: Vector = np.zeros_like(t)
        out, whole = self.drawn, _log_comb(self.total, self.drawn)
        for count, times in self._values:
            left = self.total - count
            # Hypergeometric: that lots hold k of a value that comes so many times.
            k = np.arange(max(0, out - left), min(count, out) + 1)
            logs = _log_comb(count, k) + _log_comb(left, out - k) - whole
            terms = logs + t[:, None] * np.maximum(k - 1, 0)
            most = terms.max(axis=1)
            log_mgf += times * (most + np.log(np.exp(terms - most[:, None]).sum(axis=1)))
        return log_mgf


def _log_comb(n: int, k: Counts | int) -> Vector:
    gammaln = scipy.special.gammaln
    return np.asarray(gammaln(n + 1) - gammaln(np.asarray(k) + 1.0) - gammaln(n - np.asarray(k) + 1.0))
