"""The exponents that checks fit, each as something to run on power laws right or wrong by a known amount.

Every law here is a power of N_g that should be -1; a right subject's may be off by as much as a verdict leaves open,
and is then as hard to tell from a wrong one as a right subject can be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from spec.exact import Vector
from verify.campaign.calibration.comparisons import BLOCK, ComparisonKind, bent_setting
from verify.checks.measuring.case import Case
from verify.checks.measuring.estimates.samples import sampled_rates
from verify.checks.measuring.runs.iteration_runs import slope_of
from verify.evidence.budget import Share
from verify.evidence.intervals import (
    EmpiricalBernstein,
    mean_square_interval,
    median_interval,
    quantile_interval,
    sub_gaussian_interval,
)
from verify.evidence.model import ComparisonEvidence, Law, RateEvidence
from verify.evidence.rates.orders import bent
from verify.evidence.rates.rates import RESOLVED, SweepEstimate, fit_power_law, invert
from verify.evidence.samples.moments import Moments

BATCHES = (1, 2, 4, 8, 16)
SAMPLES = 2048
FEW_SAMPLES = 512
FEW_BATCHES = (1, 4, 16)
FIRST_LOOK = 64
"""Samples a point at the first of several looks."""
HITS = 1 << 16
"""Trials behind a rate of rare hits."""
SLOPE_SAMPLES = 4096


def exponent_kinds() -> tuple[ComparisonKind, ...]:
    """All ways in which checks arrive at an exponent."""
    return (
        ComparisonKind("exponent (log chi-square)", "one look", _chi_square, RESOLVED),
        ComparisonKind("exponent (log chi-square)", "several looks", _several_looks, RESOLVED),
        ComparisonKind("exponent (log chi-square)", "slope against none", _slope),
        ComparisonKind("exponent (mean squares)", "pooled", _mean_squares(isotropic=True), RESOLVED),
        ComparisonKind("exponent (mean squares)", "by component, read backwards", _backwards, -RESOLVED, sign=-1),
        ComparisonKind("exponent (order statistics)", "ninth deciles", _deciles, RESOLVED),
        ComparisonKind("exponent (order statistics)", "medians, two variables", _two_variables, RESOLVED),
        ComparisonKind("exponent (empirical Bernstein)", "", _hits, RESOLVED),
        ComparisonKind("exponent (sub-Gaussian)", "", _sub_gaussian, RESOLVED),
    )


def _level(N_g: int, bend: float) -> float:
    return float(N_g ** (-1 + bend))


def _fitted(
    batches: Sequence[int], share: Share, law: Law, measure: Callable[[int, float], tuple[float, float, float, int]]
) -> RateEvidence:
    """The exponent of what is measured at each N_g to an error: value, ends of its interval, samples."""
    # All intervals together spend half the share.
    error = share.error / 2 / len(batches)
    measured = [(N_g, measure(N_g, error)) for N_g in batches]
    estimates = [
        SweepEstimate({"N_g": float(N_g)}, value, None, low, high, samples, law=law)
        for N_g, (value, low, high, samples) in measured
    ]
    return bent(fit_power_law(estimates, share, quantity="quantity")["N_g"])


def _chi_square(case: Case, share: Share, bend: float) -> RateEvidence:
    estimates = []
    for N_g in BATCHES:
        setting = bent_setting(case, factor=lambda N: N ** (bend / 2), N_g=N_g)
        moments = setting.sampler(block=BLOCK).reach(FEW_SAMPLES)
        dof = float(len(case.x) * (moments.count - 1))
        estimates.append(SweepEstimate({"N_g": float(N_g)}, moments.variance, dof, samples=moments.count))
    return bent(fit_power_law(estimates, share, quantity="variance")["N_g"])


def _several_looks(case: Case, share: Share, bend: float) -> RateEvidence:
    settings = []
    for N_g in FEW_BATCHES:
        setting = bent_setting(case, factor=lambda N: N ** (bend / 2), N_g=N_g)
        settings.append(({"N_g": float(N_g)}, setting.sampler(block=4 * FIRST_LOOK), 0.0))
    return sampled_rates(case, settings, quantity="variance", deciding="N_g", looks=(FIRST_LOOK, share))["N_g"]


def _slope(case: Case, share: Share, bend: float) -> ComparisonEvidence:
    ratios = []
    for steps in FEW_BATCHES:
        rows = case.rng.standard_normal(SLOPE_SAMPLES) * steps ** (bend / 2)
        ratios.append(SweepEstimate({"steps": float(steps)}, float(rows @ rows) / len(rows), float(len(rows))))
    return slope_of(ratios, share)


def _rows(case: Case, N_g: int, bend: float, spread: tuple[float, float], count: int) -> Vector:
    """Gaussian vectors off their centre, their mean square the power law."""
    scale = _level(N_g, bend) ** 0.5
    return np.asarray(scale * (np.array([0.5, 0.0]) + np.array(spread) * case.rng.standard_normal((count, 2))))


def _mean_squares(*, isotropic: bool, samples: int = SAMPLES) -> Callable[[Case, Share, float], RateEvidence]:
    def run(case: Case, share: Share, bend: float) -> RateEvidence:
        def measure(N_g: int, error: float) -> tuple[float, float, float, int]:
            moments = Moments(np.zeros(2))
            moments.add(_rows(case, N_g, bend, (1.0, 1.0) if isotropic else (1.0, 0.3), samples))
            return moments.mean_square, *mean_square_interval(moments, error, isotropic=isotropic), samples

        return _fitted(BATCHES, share, "exponent (mean squares)", measure)

    return run


def _backwards(case: Case, share: Share, bend: float) -> RateEvidence:
    """N_g against the mean square: the exponent's inverse, which is -1 as well where the exponent is.

    Read backwards, a power that is too strong is harder to tell.
    """
    squares = _mean_squares(isotropic=False, samples=32 * SAMPLES)(case, share, 1 - 1 / (1 - bend))
    return invert(squares, quantity="samples", variable="N_g")


def _deciles(case: Case, share: Share, bend: float) -> RateEvidence:
    def measure(N_g: int, error: float) -> tuple[float, float, float, int]:
        values = _level(N_g, bend) * case.rng.exponential(size=SAMPLES)
        return *quantile_interval(values, 0.9, error), SAMPLES

    return _fitted(FEW_BATCHES, share, "exponent (order statistics)", measure)


def _two_variables(case: Case, share: Share, bend: float) -> RateEvidence:
    estimates = []
    settings = ((1, 0.1), (4, 0.1), (16, 0.1), (4, 0.05), (4, 0.025))
    for N_g, alpha in settings:
        values = _level(N_g, bend) * alpha**-1.0 * case.rng.lognormal(sigma=0.3, size=SAMPLES // 4)
        low, high = median_interval(values, share.error / 2 / len(settings))
        estimates.append(
            SweepEstimate({"N_g": float(N_g), "alpha": alpha}, float(np.median(values)), None, low, high, len(values),
                     law="exponent (order statistics)")
        )  # fmt: skip
    return bent(fit_power_law(estimates, share, quantity="median")["N_g"])


def _hits(case: Case, share: Share, bend: float) -> RateEvidence:
    """Rates of hits, such as jumps seen between two near points."""

    def measure(N_g: int, error: float) -> tuple[float, float, float, int]:
        sequence = EmpiricalBernstein(error, HITS * N_g)
        sequence.add((case.rng.random(HITS * N_g) < 0.5 * _level(N_g, bend)).astype(np.float64))
        return sequence.mean, *sequence.interval(), sequence.count

    return _fitted(FEW_BATCHES, share, "exponent (empirical Bernstein)", measure)


def _sub_gaussian(case: Case, share: Share, bend: float) -> RateEvidence:
    def measure(N_g: int, error: float) -> tuple[float, float, float, int]:
        level = _level(N_g, bend)
        values = level * (1 + case.rng.standard_normal(SAMPLES))
        return float(values.mean()), *sub_gaussian_interval(values, level, error), SAMPLES

    return _fitted(BATCHES, share, "exponent (sub-Gaussian)", measure)
