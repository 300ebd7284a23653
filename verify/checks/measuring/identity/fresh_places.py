"""Problems drawn with a run's seed, larger than published ones: nobody has a table of them, nor is right by size."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from spec import Generated, parse_problem
from spec.atlas import Instance
from spec.exact import Vector
from verify.truth.lower_level.lower_level import ExactLowerLevel, solve

LARGEST = 24
"""Sizes n and m go up to here: n of the wide place, m of the tall one."""
CLEAR = Fraction(1, 5)
"""Least multiplier of an active row and least slack of any other: beyond every ramp that is asked for."""
COLUMNS_A_ROW = 4
"""At most so many rows bind as m has fours: active rows stay far from dependent, iterations short."""
FAR = 0.25
"""How far from zero x is drawn, in the mean; it is halved until the rows are clear."""


class FreshPlace(NamedTuple):
    """A problem entry by entry at a drawn point, and the few words that generate it."""

    instance: Instance
    generated: Generated


@lru_cache(maxsize=8)
def fresh_places(seed: int) -> tuple[FreshPlace, ...]:
    """A problem of middle size, a wide and a tall one: dense rows, half of them active, strictly complementary.

    Entries have nine decimals, x all digits of a double.
    """
    rng = np.random.default_rng([seed, 13])
    n, m = (int(size) for size in rng.permutation(np.arange(7, LARGEST // 2 + 1))[:2])
    wide, tall = (int(size) for size in rng.integers(LARGEST // 2, LARGEST, size=2))
    return _drawn(n, m, rng), _drawn(LARGEST, wide, rng), _drawn(tall, LARGEST, rng)


def _drawn(n: int, m: int, rng: np.random.Generator) -> FreshPlace:
    p = int(rng.integers(4, max(4, 2 * m // COLUMNS_A_ROW), endpoint=True))
    generated = parse_problem({
        "kind": "generated", "family": "coupled-rows", "n": n, "m": m, "p": p, "condition": 3.0,
        "seed": int(rng.integers(2**31)),
    })  # fmt: skip
    assert isinstance(generated, Generated)  # by its kind
    # Entry by entry, so that nothing tells it from a problem of one's own.
    problem, x = generated.quadratic, FAR * rng.standard_normal(n) / np.sqrt(n)
    # At zero the family makes sure of it.
    while not _is_clear(solve(problem, _exactly(x))):
        x = x / 2
    purpose = "Sizes that no published problem has."
    return FreshPlace(Instance(f"fresh-{n}x{m}x{p}", problem, _exactly(x), purpose, frozenset()), generated)


def _exactly(x: Vector) -> tuple[Fraction, ...]:
    return tuple(Fraction(value) for value in x.tolist())


def _is_clear(lower: ExactLowerLevel) -> bool:
    multipliers = min(lower.lam[i] for i in lower.active) if lower.active else Fraction(0)
    slack = min((-lower.h[i] for i in lower.inactive), default=CLEAR)
    return lower.licq and min(multipliers, slack) >= CLEAR
