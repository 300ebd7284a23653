"""What is read off measured curves: powers with their intervals, and where two curves cross."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


class Power(NamedTuple):
    """A slope in logarithms, with the interval that least squares give it at 95 % where three points or more do."""

    exponent: float
    low: float
    high: float


def power(at: Sequence[float], measured: Sequence[float]) -> Power:
    """The power of ``at`` that positive values follow, by least squares on logarithms; two points or more."""
    fit = stats.linregress(np.log(at), np.log(measured))
    free = len(at) - 2
    half = float(fit.stderr * stats.t.ppf((1 + CONFIDENCE) / 2, free)) if free else math.inf
    return Power(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half)


def crossing(at: Sequence[float], first: Sequence[float], second: Sequence[float]) -> float:
    """Where the first curve falls below the second, both straight between points in logarithms.

    The last such place; beyond the ends the outermost two points are followed. Infinite where the first stays above,
    0 where it stays below.
    """
    logs, gaps = np.log(at), np.log(first) - np.log(second)
    for i in range(len(logs) - 1, 0, -1):
        if gaps[i] <= 0 < gaps[i - 1]:
            return float(np.exp(logs[i] - gaps[i] * (logs[i] - logs[i - 1]) / (gaps[i] - gaps[i - 1])))
    below = gaps[-1] <= 0
    i, j = (1, 0) if below else (-2, -1)
    slope = (gaps[i] - gaps[j]) / (logs[i] - logs[j])
    if slope >= 0:
        return 0.0 if below else math.inf
    place = logs[j] - gaps[j] / slope
    return float(np.exp(place)) if place < math.log(1e12) else math.inf


def by(rows: Sequence[Mapping[str, Any]], *names: str) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    """Rows by the values of some columns, in the order of first meeting."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def middle(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, least and largest."""
    return float(np.median(values)), min(values), max(values)
