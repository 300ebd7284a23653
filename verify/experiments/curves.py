"""What is read off measured curves: powers with their intervals, and where two curves cross."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class FittedPower(NamedTuple):
    """The slope in logarithms between the last two points, and the range of slopes between all neighbours.

    A law that still bends has a wide range.
    """

    exponent: float
    low: float
    high: float


def power(at: Sequence[float], measured: Sequence[float]) -> FittedPower:
    """The power of ``at``, increasing, that positive values follow towards the last; two points or more."""
    slopes = np.diff(np.log(measured)) / np.diff(np.log(at))
    return FittedPower(float(slopes[-1]), float(slopes.min()), float(slopes.max()))


def crossing(at: Sequence[float], first: Sequence[float], second: Sequence[float]) -> float:
    """Where the first curve falls below the second, both straight between points in logarithms.

    From there on it stays below; beyond the ends the outermost two points are followed. Infinite where the first stays
    above, 0 where it stays below.
    """
    logs, gaps = np.log(at), np.log(first) - np.log(second)
    below = gaps[-1] <= 0
    for i in range(len(logs) - 1, 0, -1) if below else ():
        if gaps[i - 1] > 0:
            return float(np.exp(logs[i] - gaps[i] * (logs[i] - logs[i - 1]) / (gaps[i] - gaps[i - 1])))
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
