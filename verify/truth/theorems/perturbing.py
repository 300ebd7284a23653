"""Drafts and letters changed: a little, a lot, one at a time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from flint import fmpq

from verify.truth.theorems.posed_problems import Draft

FACTORS = tuple(
    fmpq(*pair)
    for pair in ((2, 1), (1, 2), (9, 10), (11, 10), (-1, 1), (0, 1), (1, 8), (8, 1), (100, 1), (-100, 1), (-1, 8))
)
MOVES = (fmpq(-1, 10), fmpq(1, 10), fmpq(-1), fmpq(1), fmpq(-10), fmpq(10))


def changes(value: Any, kind: str) -> Iterator[tuple[str, fmpq]]:
    if isinstance(value, int):
        for step in (-1, 1, -value):
            yield "+", fmpq(step)
        return
    if not (isinstance(value, fmpq | tuple) or callable(value)):
        return
    if isinstance(value, tuple) and len(value) > 1:
        yield "turned", fmpq(1)
    if kind.startswith("nat ->"):
        yield "first", fmpq(1)
    for factor in FACTORS:
        yield "*", factor
    if isinstance(value, fmpq):
        for by in MOVES:
            yield "+", by
    if isinstance(value, tuple):
        for i, _ in enumerate(value):
            for by in MOVES:
                yield f"+{i}", by


def perturbed(draft: Draft, rng: random.Random) -> Draft:
    """A draft with some of its numbers changed a little, or a lot."""
    share = rng.choice((0.1, 0.3, 0.6))
    size = rng.choice((1, 4, 30))

    def moved(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(moved(part) for part in value)
        if rng.random() > share:
            return value
        way = rng.random()
        if way < 0.1:
            return fmpq(0)
        if way < 0.2:
            return -value
        if way < 0.5:
            return _short(value * fmpq(rng.randint(1, 40), 20))
        return _short(value + fmpq(rng.randint(-10, 10), 10 * size))

    return {name: moved(value) for name, value in draft.items()}


def _short(value: fmpq) -> fmpq:
    """A number with a short denominator."""
    if int(value.q) < 5000:
        return value
    scaled = value * 2520
    return fmpq(int(scaled.p) // int(scaled.q), 2520)
