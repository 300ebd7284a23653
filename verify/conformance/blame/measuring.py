"""Numbers measured: where a distance that depends on one number is least, over many orders of magnitude."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

COARSE = 3
"""Points tried for each power of ten."""
GOLDEN = (np.sqrt(5) - 1) / 2
FIRST_STEPS, STEPS = 10, 72
"""Steps of the golden section before a number is given up, and those that find it to rounding."""
PROMISING = 0.7
"""Part of the distance without the change below which a number is worth finding to the last digit."""


def fitted(
    off: Callable[[float], float],
    low: float,
    high: float,
    *,
    without: float,
    signed: bool = False,
    enough: float = 0.0,
) -> float | None:
    """The number, from low to high, whose distance is least; a plain one where it does as well.

    ``None`` where no number is much better than none at all, which is ``without`` off.
    """
    count = max(8, int(COARSE * np.log10(high / low)))
    grid = np.geomspace(low, high, count)
    minima = []
    for sign in (1.0, -1.0) if signed else (1.0,):
        values = np.array([off(sign * float(c)) for c in grid])
        k = int(np.argmin(values))
        minima.append((float(values[k]), sign, k))
    _, sign, k = min(minima)
    if k in (0, count - 1):
        return None

    def along(t: float) -> float:
        return off(sign * float(np.exp(t)))

    a, b = _golden(along, np.log(grid[max(k - 1, 0)]), np.log(grid[min(k + 1, count - 1)]), FIRST_STEPS)
    if not min(along(a), along(b)) < PROMISING * without:
        return None
    a, b = _golden(along, a, b, STEPS)
    best = sign * float(np.exp(a if along(a) < along(b) else b))
    return plain(best, off, max(enough, 1.01 * off(best)))


def _golden(off: Callable[[float], float], a: float, b: float, steps: int) -> tuple[float, float]:
    """The golden section: an interval about the least value."""
    c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    at_c, at_d = off(c), off(d)
    for _ in range(steps):
        if b - a < 1e-15 * max(1.0, abs(a)):
            break
        if at_c < at_d:
            b, d, at_d = d, c, at_c
            c = b - GOLDEN * (b - a)
            at_c = off(c)
        else:
            a, c, at_c = c, d, at_d
            d = a + GOLDEN * (b - a)
            at_d = off(d)
    return a, b


def plain(value: float, off: Callable[[float], float], allowed: float) -> float:
    """The number of fewest digits near a value that does as well."""
    for digits in range(1, 8):
        rounded = float(f"{value:.{digits}g}")
        if abs(rounded - value) <= 1e-3 * abs(value) and off(rounded) <= allowed:
            return rounded
    return value
