"""One-sided comparisons of a mean or a median that assume no law: bounded values, or any continuous ones."""

from __future__ import annotations

import numpy as np

from spec.exact import Vector
from verify.evidence.budget import Share
from verify.evidence.intervals import mean_interval, median_interval
from verify.evidence.model import ComparisonEvidence, Law

Context = dict[str, float | str]


def mean_below(
    values: Vector, top: float, share: Share, *, quantity: str, predicted: float, wanted: float, context: Context
) -> ComparisonEvidence:
    """The mean of independent values in [0, top] against an upper bound.

    Args:
        values: The sample, shape (R,).
        top: Largest possible value.
        share: What the comparison may spend.
        quantity: What is compared, in words.
        predicted: The bound.
        wanted: Excess that must be caught.
        context: Where it was measured.
    """
    mean = float(values.mean())
    low, _ = mean_interval(values, top, share.single.error)
    # Missed if the sample's mean falls short of the true one by more than this leaves.
    short = mean_interval(values, top, share.missed)[1] - mean
    return _below(share, quantity, mean, mean - low, 2 * (mean - low) + short, predicted, wanted, len(values), context,
                  "bounded mean (Bernstein)")  # fmt: skip


def median_below(
    values: Vector,
    share: Share,
    *,
    quantity: str,
    predicted: float,
    wanted: float,
    context: Context,
    slack: float = 0.0,
) -> ComparisonEvidence:
    """The median of independent values against an upper bound, by order statistics.

    Args:
        values: The sample, shape (R,).
        share: What the comparison may spend.
        quantity: What is compared, in words.
        predicted: The bound.
        wanted: Excess that must be caught.
        context: Where it was measured.
        slack: Deterministic uncertainty of each value.
    """
    middle = float(np.median(values))
    low, high = median_interval(values, share.single.error)
    # A sample moved up by the interval's length has its lower end above the bound where its upper end exceeds the
    # true median; that it is as long in another sample is granted twice over.
    return _below(share, quantity, middle, middle - low + slack, 2 * (high - low) + 2 * slack, predicted, wanted,
                  len(values), context, "median (order statistics)")  # fmt: skip


def _below(
    share: Share,
    quantity: str,
    measured: float,
    tolerance: float,
    detectable: float,
    predicted: float,
    wanted: float,
    samples: int,
    context: Context,
    law: Law,
) -> ComparisonEvidence:
    return ComparisonEvidence(
        quantity=quantity, measured=measured, relation="<=", predicted=predicted, tolerance=tolerance, context=context,
        rung="statistical", error_rate=share.error, detectable=detectable, wanted=wanted, power=1 - share.missed,
        samples=samples, law=law,
    )  # fmt: skip
