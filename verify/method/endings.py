"""Rules that end an iteration too soon: the plainest number with which one ends where answers are."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from spec.exact import Vector
from verify.method.factors import DIGITS
from verify.method.player import FUNCTIONS, compiled

STOPS: dict[str, dict[str, str]] = tomllib.loads(
    (resources.files("verify.method") / "stop_edits.toml").read_text("utf-8")
)
"""What iterations are stopped by, by stage and name."""


_OF_ROWS = FUNCTIONS | {
    "norm": lambda rows: np.linalg.norm(rows, axis=1),
    "norm_max": lambda rows: np.abs(rows).max(axis=1, initial=0.0),
    "dot": lambda rows, others: (rows * others).sum(axis=1),
}


def looked_at(formula: str, space: Mapping[str, Any]) -> Vector:
    """What a rule sees after every step, of what it looks at in as many rows, or in one for all."""
    return np.asarray(eval(compiled(formula), _OF_ROWS, dict(space)), float)


class Met(NamedTuple):
    """The steps, from 1, at which an iteration is first and last at an answer, and what a rule saw at every step."""

    first: int
    last: int
    seen: Callable[[str], Vector]


def met_everywhere(outcomes: Iterable[Met | None]) -> list[Met]:
    """Where an iteration meets all answers; empty from the first that it does not meet."""
    met: list[Met] = []
    for one in outcomes:
        if one is None:
            return []
        met.append(one)
    return met


def same_step(met: Sequence[Met]) -> int | None:
    """The step at which all are met, if there is one."""
    low, high = max(one.first for one in met), min(one.last for one in met)
    return low if low <= high else None


WIDE, NARROW = 3.0, 1.2
"""Ratios of the most to the least up to which a power of ten between them, and any other number, is taken for it."""


def ends(met: Sequence[Met], rule: str) -> tuple[float, float] | None:
    """The least number with which a rule stops every iteration where it was met, and that from which on it does not."""
    least, most = 0.0, np.inf
    for one in met:
        seen = one.seen(rule)
        least = max(least, float(seen[one.first - 1 : one.last].min()))
        most = min(most, float(seen[: one.first - 1].min(initial=np.inf)))
        if not 0.0 < least < most:
            return None
    return (least, most) if most < np.inf else None


def plainest(met: Sequence[Met], rule: str) -> float | None:
    """The plainest number with which a rule stops every iteration where it was met; ``None`` where that is open."""
    bounds = ends(met, rule)
    if bounds is None or bounds[1] > WIDE * bounds[0]:
        return None
    least, most = bounds
    ten = float(f"{10.0 ** np.floor(np.log10(most)):.0e}")
    if least <= ten < most:
        return ten
    if most > NARROW * least:
        return None
    for digits in range(1, DIGITS + 1):
        unit = 10.0 ** (np.floor(np.log10(least)) - digits + 1)
        value = float(f"{np.ceil(least / unit) * unit:.{digits - 1}e}")
        if least <= value < most:
            return value
    return least


def plainest_between(low: float, high: float) -> float:
    """The number of fewest digits from low to high, both positive; a power of ten where there is one."""
    ten = float(f"{10.0 ** np.floor(np.log10(high)):.0e}")
    if low <= ten <= high:
        return ten
    for digits in range(1, DIGITS + 1):
        unit = 10.0 ** (np.floor(np.log10(high)) - digits + 1)
        value = float(f"{np.floor(high / unit * (1 + 1e-12)) * unit:.{digits - 1}e}")
        if low <= value <= high:
            return value
    return float(np.sqrt(low * high))
