"""Which law a sample's shape allows: the exact one of Gaussian samples, or one that assumes less and is named.

A total variance without that law is compared as if it had fewer degrees of freedom: as many as give a chi-square
variable the scatter that the squared lengths have, counted twice and corrected for their skewness to first order. The
means of calls are compared in the metric of their own covariance.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from spec.exact import Vector
from verify.evidence.model import STANDS_FOR, Law, WeakLaw
from verify.evidence.samples.laws import chi2_upper, f_upper, normal_upper
from verify.evidence.samples.moments import Moments, Scatter
from verify.evidence.samples.shapes import BATCH, NEIGHBOURS, SHARE, Shape

COUNTED = 2.0
"""How often a scatter that is itself estimated is counted: it makes up for tails that a sample has not shown yet."""
_WEAKER: dict[Law, WeakLaw] = {law: weak for weak, law in STANDS_FOR.items() if law != "mean (bets)"}  # type: ignore[misc]  # keys are those of the literal


@dataclass(frozen=True)
class Taken:
    """A law with what was checked of the samples.

    ``worth`` is how many Gaussian samples one of these is worth; ``covariance`` that of the mean, shape (n, n), with
    its degrees of freedom, where the mean is compared in its metric; ``broken`` an assumption it cannot do without.
    """

    law: Law | WeakLaw
    checked: str | None
    worth: float = 1.0
    broken: str | None = None
    covariance: Vector | None = None
    freedom: float = inf

    def reach(self, moments: Moments, errors: tuple[float, float], rounding: float) -> tuple[float, float]:
        """Distance of the means refuted in the direction seen, and detectable in any, for both errors."""
        error, missed = errors
        n, f, S = len(moments.mean), self.freedom, self.covariance
        if S is None or f <= n:
            return inf, inf
        values, vectors = np.linalg.eigh(S + rounding**2 * np.eye(n))
        values = np.maximum(values, rounding**2)  # what is 0 along a direction may come out below
        widest, distance = sqrt(float(values[-1])), float(np.linalg.norm(moments.mean))
        # Skewed samples leave a self-normalised mean a longer tail, to first order by this much.
        skewed = 1 + moments.shape.skewness[0] * normal_upper(error / 2) / (3 * sqrt(moments.count))
        limit = skewed * sqrt(n * f / (f - n + 1) * f_upper(float(n), f - n + 1, error))
        length = sqrt(float((((vectors.T @ moments.mean) ** 2) / values).sum()))
        tolerance = limit * (distance / length if length > 0 else widest)
        scale = sqrt(chi2_upper(f, missed / 2) / f)
        return tolerance, widest * (limit * scale + normal_upper(missed / 2))


def law_of_variance(moments: Moments, error: float, base: Law = "variance (chi-square)") -> Taken:
    """For the sum of squares of such samples, of which an error may be spent on this decision."""
    shape = moments.shape
    if shape.is_gaussian:
        return Taken(base, seen_of(shape))
    least = 2 / shape.width
    worth = min(1.0, least / max(_counted(moments, error) * shape.relative_variance, least))
    return Taken(_WEAKER[base], seen_of(shape), worth, rare(shape))


def law_of_directions(moments: Scatter, error: float) -> Taken:
    """For the sums of squares along axes and diagonals."""
    shape, kurtosis = moments.shape, moments.kurtosis
    seen = seen_of(shape, kurtosis)
    law: Law = "variances along directions (chi-square)"
    if shape.is_silent or (kurtosis - 3 <= NEIGHBOURS * sqrt(24 / moments.count) and not shape.is_correlated):
        return Taken(law, seen)
    scatter = (kurtosis - 1) * max(1.0, shape.grouping[0])
    return Taken(_WEAKER[law], seen, min(1.0, 2 / _counted(moments, error) / scatter), rare(shape))


def shared(moments: Moments, rounding: float) -> str | None:
    """That estimates of one call share noise, in words, where the means of calls scatter too much for them not to."""
    # What neighbours share inside a batch is no matter between calls, nor is rounding.
    batches = 0.0 if moments.shape.is_silent else BATCH * float(np.trace(moments.shape.batch_covariance))
    ratio, allowed = moments.calls.scatter(max(rounding**2, batches))
    return f"means of calls scatter {ratio:.3g} times as much as their estimates let them" if ratio > allowed else None


def correlated(shape: Shape) -> str | None:
    """That neighbours deviate alike, in words; what leans the other way only makes a mean surer."""
    alike = shape.is_correlated and shape.correlation[0] > 0
    return f"estimates of one call are correlated ({_correlation(shape)})" if alike else None


def law_of_calls(means: Moments, noise: str | None) -> Taken:
    """For the mean of calls' means, each of them one sample; what estimates of one call share is no matter then."""
    covariance = means.shape.products / (means.count - 1) / means.count
    seen = f"{means.count} calls"
    checked = f"{seen}: {noise}" if noise else seen
    return Taken("mean (Hotelling, calls)", checked, covariance=covariance, freedom=float(means.count - 1))


def _counted(moments: Moments, error: float) -> float:
    """How often the scatter of squares counts, its skewness included."""
    skewed = moments.shape.skewness_of_squares * normal_upper(error / 2) / (3 * sqrt(moments.count))
    return float(COUNTED * (1 + skewed) ** 2)


def rare(shape: Shape) -> str | None:
    """That the scatter is no scatter, where it is not."""
    return _too_large(shape.largest_share)


def _too_large(share: float) -> str | None:
    if share <= SHARE:
        return None
    return (
        f"one batch of {BATCH} estimates makes {share:.0%} of the scatter of squares: "
        "the law of the variance needs a fourth moment that the samples show"
    )


def seen_of(shape: Shape, kurtosis: float | None = None) -> str | None:
    """What was checked, in words."""
    if shape.is_silent:
        return None
    own, allowed = shape.kurtosis
    words = [f"kurtosis {own if kurtosis is None else kurtosis:.2f} ± {allowed:.2g}", _correlation(shape)]
    if not shape.is_isotropic:
        words.append("not isotropic")
    skewness, passes = shape.skewness
    if skewness > passes:
        words.append(f"skewness {skewness:.2f}")
    if shape.grouping[0] - 1 > shape.grouping[1]:
        words.append("squares of neighbours correlated")
    return ", ".join(words)


def _correlation(shape: Shape) -> str:
    value, allowed, lag = shape.correlation
    return f"lag {lag} correlation {value:.3f} ± {allowed:.2g}"
