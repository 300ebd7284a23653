"""Problems drawn so that every term of the lower level shows in its solution, and nothing is near a kink."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice

import numpy as np

from spec import InvalidInputError, Quadratic, parse_problem
from spec.exact import Vector
from verify.conformance.places.places import JudgedPlace
from verify.conformance.probes.probes import Probe, lower_level_probe

LOWER_MEASURING, LOWER_RESERVE = 14, 34
"""Probes that explanations are found on, and probes that they are tried on afterwards."""
LADDERS, LADDER_ROWS = 8, 16
"""Problems whose multipliers are of all sizes, and multipliers of each."""
CLEAR = 1 / 16
"""Multipliers of binding rows and slacks of the others are at least this."""
_SEED = 16_20
_SIZES = ((3, 3, 3), (2, 2, 2), (2, 3, 4), (3, 2, 4), (2, 2, 3), (3, 3, 3), (1, 2, 3), (2, 4, 3), (4, 4, 4))
"""n, m and p in turn: some with square blocks, some with sizes that all differ."""
_EIGHTHS = 8


@lru_cache(maxsize=1)
def drawn_problems() -> tuple[Probe, ...]:
    """Lower-level probes, the same at each call."""
    return tuple(islice(_clear_ones(), LOWER_MEASURING + LOWER_RESERVE))


def _clear_ones() -> Iterator[Probe]:
    rng = np.random.default_rng(_SEED)
    for k in range(100 * (LOWER_MEASURING + LOWER_RESERVE)):
        place = _place(k, rng)
        if place is not None:
            yield lower_level_probe(place)


def ladder(name: str, values: Sequence[float]) -> Probe:
    """The pair of ½‖y‖² over y ≥ r, whose multipliers are r themselves: any sizes that are wanted, > 0."""
    r, p = [str(Fraction(value)) for value in values], len(values)
    unit = [[int(i == j) for j in range(p)] for i in range(p)]
    data = {"kind": "quadratic", "g": {"xy": [[0] * p], "yy": unit},
            "constraints": {"A": [[0]] * p, "B": unit, "b": [f"-{value}" for value in r]}}  # fmt: skip
    problem = parse_problem(data)
    assert isinstance(problem, Quadratic)  # by its kind
    return lower_level_probe(JudgedPlace(name, problem, (Fraction(0),)))


@lru_cache(maxsize=1)
def drawn_ladders() -> tuple[Probe, ...]:
    """Multipliers of all sizes, the same at each call."""
    rng = np.random.default_rng(_SEED + 1)
    drawn = (10.0 ** rng.uniform(-4.0, 0.5, LADDER_ROWS) for _ in range(LADDERS))
    return tuple(ladder(f"ladder-{k}", [float(f"{value:.4g}") for value in values]) for k, values in enumerate(drawn))


def _eighths(rng: np.random.Generator, *shape: int, low: int = -16, high: int = 16) -> Vector:
    """Numbers of three binary places, none of them 0."""
    numbers = rng.integers(low, high + 1, shape)
    return np.asarray(np.where(numbers == 0, 5, numbers) / _EIGHTHS)


def _place(k: int, rng: np.random.Generator) -> JudgedPlace | None:
    n, m, p = _SIZES[k % len(_SIZES)]
    root = _eighths(rng, m, m, low=-8, high=8)
    upper = _eighths(rng, m, m, low=-4, high=4)
    x, inside, slack = _eighths(rng, n), _eighths(rng, m), _eighths(rng, p, low=1, high=12)
    A, B = _eighths(rng, p, n), _eighths(rng, p, m)
    data = {
        "kind": "quadratic",
        "f": {"xy": _eighths(rng, n, m), "yy": np.eye(m) + (upper + upper.T) / 4, "x": _eighths(rng, n),
              "y": _eighths(rng, m)},
        "g": {"xx": np.eye(n), "xy": _eighths(rng, n, m), "yy": root @ root.T + np.eye(m), "x": _eighths(rng, n),
              "y": _eighths(rng, m, low=-40, high=40)},
        "constraints": {"A": A, "B": B, "b": A @ x - B @ inside + slack},
    }  # fmt: skip
    problem = parse_problem(data)
    assert isinstance(problem, Quadratic)  # by its kind
    place = JudgedPlace(f"drawn-{k}", problem, tuple(Fraction(float(value)) for value in x))
    return place if _is_clear(place) else None


def _is_clear(place: JudgedPlace) -> bool:
    """Whether one or more rows bind, not all of them, each row clearly one or the other."""
    try:
        lower = place.lower
    except InvalidInputError:
        return False
    if not lower.licq or lower.weakly_active or not 0 < len(lower.active) < place.problem.p:
        return False
    return all(lower.lam[i] >= CLEAR if i in lower.active else -lower.h[i] >= CLEAR for i in range(place.problem.p))
