"""Small integer problems in order of size: fewest dimensions, then fewest rows, then smallest integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from spec import InvalidInputError, Quadratic, parse_problem
from verify.truth.algebra.rationals import Vector

_AXES = {
    "A": "pn", "f.y": "m", "x": "n", "b": "p", "g.y": "m", "g.xy": "nm", "f.xy": "nm", "f.yy": "mm", "g.yy": "mm",
    "B": "pm",
}  # fmt: skip
"""Blocks an estimator's error depends on (``f.xx``, ``f.x``, ``g.xx`` and ``g.x`` enter estimator and gradient alike),
the one most welcome in an example first, each with the sizes along its axes."""

Size: TypeAlias = tuple[Any, ...]
"""Compares two candidates: dimensions, rows, sum and largest of the integers, then a fixed order."""


class CandidatePlace(NamedTuple):
    """One integer of a problem; a symmetric block counts its upper half."""

    block: str
    at: tuple[int, ...]


@lru_cache(maxsize=64)
def places(n: int, m: int, p: int) -> tuple[CandidatePlace, ...]:
    """Where the integers of a candidate stand, in the order of its values."""
    sizes = {"n": n, "m": m, "p": p}
    return tuple(
        CandidatePlace(block, at)
        for block, axes in _AXES.items()
        for at in product(*(range(sizes[axis]) for axis in axes))
        if axes != "mm" or at[0] <= at[1]
    )


@dataclass(frozen=True)
class RefutationCandidate:
    """A problem of sizes n, m, p with integer entries and an integer point, as :func:`places` orders them."""

    n: int
    m: int
    p: int
    values: tuple[int, ...]

    @cached_property
    def size(self) -> Size:
        """Smaller is simpler."""
        sizes = tuple(map(abs, self.values))
        signs = tuple(value < 0 for value in self.values)
        return (self.n + self.m + self.p, self.p, sum(sizes), max(sizes), tuple(-size for size in sizes), signs)

    @property
    def is_scalar(self) -> bool:
        """Whether n = m = p = 1."""
        return (self.n, self.m, self.p) == (1, 1, 1)

    @property
    def x(self) -> Vector:
        """The upper-level point."""
        return tuple(map(Fraction, self.block("x")))

    @property
    def problem(self) -> Quadratic | None:
        """The problem, or ``None`` where its lower level is not strongly convex; the same object at every asking."""
        return _problem(self)

    def block(self, name: str) -> Any:
        """The integers of one block as a list, or a list of rows."""
        sizes = {"n": self.n, "m": self.m, "p": self.p}
        array = np.zeros([sizes[axis] for axis in _AXES[name]], dtype=int)
        for (block, at), value in zip(places(self.n, self.m, self.p), self.values, strict=True):
            if block == name:
                array[at] = value
                if _AXES[name] == "mm":
                    array[at[::-1]] = value
        return array.tolist()

    def smaller(self) -> Iterator[RefutationCandidate]:
        """Neighbours that are smaller: a variable or row less, an entry at zero or nearer to it."""
        for name in ("p", "m", "n"):
            for k in range(getattr(self, name)) if getattr(self, name) > 1 else ():
                yield self._without(name, k)
        for k, value in enumerate(self.values):
            if value:
                sign = 1 if value > 0 else -1
                for nearer in dict.fromkeys((0, sign * (abs(value) // 2), value - sign)):
                    yield replace(self, values=(*self.values[:k], nearer, *self.values[k + 1 :]))

    def _without(self, size: str, gone: int) -> RefutationCandidate:
        values = tuple(
            value
            for (block, at), value in zip(places(self.n, self.m, self.p), self.values, strict=True)
            if (size, gone) not in zip(_AXES[block], at, strict=True)
        )
        sizes = {"n": self.n, "m": self.m, "p": self.p} | {size: getattr(self, size) - 1}
        return RefutationCandidate(**sizes, values=values)


@lru_cache(maxsize=4096)
def _problem(candidate: RefutationCandidate) -> Quadratic | None:
    """Kept, for every search begins with the same candidates: what is known of a problem goes with the object."""
    data: dict[str, Any] = {"kind": "quadratic", "f": {}, "g": {}, "constraints": {}}
    for block in _AXES:
        if block == "x":
            continue
        group, _, name = block.rpartition(".")
        data[group or "constraints"][name] = candidate.block(block)
    try:
        problem = parse_problem(data)
    except InvalidInputError:
        return None
    return problem if isinstance(problem, Quadratic) else None


def smallest_first(weight: int) -> Iterator[RefutationCandidate]:
    """All problems with n = m = p = 1 whose integers add up to at most ``weight``, the smallest first.

    The signs of x and of y are free, so B > 0 and A >= 0 lose nothing; nor does g.yy > 0, which strong convexity asks
    for. A row that ignores y would be no constraint of the lower level.
    """
    for total in range(2, weight + 1):
        yield from sorted((RefutationCandidate(1, 1, 1, values) for values in _vectors(total)), key=lambda c: c.size)


def random_candidate(n: int, m: int, p: int, rng: np.random.Generator) -> RefutationCandidate:
    """Small integers, most of them zero, g.yy with a dominant diagonal."""
    values = []
    for block, at in places(n, m, p):
        value = int(rng.integers(-2, 3)) if rng.random() < 0.5 else 0
        if block == "g.yy":
            value = m + abs(value) if at[0] == at[1] else int(np.sign(value))
        values.append(value)
    return RefutationCandidate(n, m, p, tuple(values))


def _vectors(total: int) -> Iterator[tuple[int, ...]]:
    order = [place.block for place in places(1, 1, 1)]

    def extend(k: int, left: int) -> Iterator[tuple[int, ...]]:
        if k == len(order):
            if left == 0:
                yield ()
            return
        needed = sum(block in ("g.yy", "B") for block in order[k + 1 :])
        for size in range(left - needed + 1):
            if order[k] in ("g.yy", "B") and size == 0:
                continue
            signs = (1, -1) if size and order[k] not in ("g.yy", "B", "A") else (1,)
            for rest in extend(k + 1, left - size):
                for sign in signs:
                    yield (sign * size, *rest)

    return extend(0, total)
