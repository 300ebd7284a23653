"""Small integer problems in order of size: fewest dimensions, then fewest rows, then smallest integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from spec import InvalidInputError, Quadratic, parse_problem
from verify.truth.algebra.rationals import Vector

_BLOCKS = ("A", "f.y", "x", "b", "g.y", "g.xy", "f.xy", "f.yy", "g.yy", "B")
"""Blocks an estimator's error depends on (``f.xx``, ``f.x``, ``g.xx`` and ``g.x`` enter estimator and gradient alike),
the one most welcome in an example first."""

Size: TypeAlias = tuple[Any, ...]
"""Compares two candidates: dimensions, rows, sum and largest of the integers, then a fixed order."""


class Place(NamedTuple):
    """One integer of a problem; a symmetric block counts its upper half."""

    block: str
    i: int
    j: int


@lru_cache(maxsize=64)
def places(n: int, m: int, p: int) -> tuple[Place, ...]:
    """Where the integers of a candidate stand, in the order of its values."""
    shapes = {"A": (p, n), "B": (p, m), "b": (p, 1), "x": (n, 1), "f.y": (m, 1), "g.y": (m, 1), "g.xy": (n, m),
              "f.xy": (n, m), "f.yy": (m, m), "g.yy": (m, m)}  # fmt: skip
    return tuple(
        Place(block, i, j)
        for block in _BLOCKS
        for i in range(shapes[block][0])
        for j in range(i if block in ("f.yy", "g.yy") else 0, shapes[block][1])
    )


@dataclass(frozen=True)
class Candidate:
    """A problem with integer entries and an integer point.

    Args:
        n: Upper-level size.
        m: Lower-level size.
        p: Rows.
        values: Its integers, as :func:`places` orders them.
    """

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
    def x(self) -> Vector:
        """The upper-level point."""
        return tuple(Fraction(row[0]) for row in self._block("x"))

    @property
    def problem(self) -> Quadratic | None:
        """The problem, or ``None`` where its lower level is not strongly convex."""
        f = {"y": self._flat("f.y"), "xy": self._block("f.xy"), "yy": self._block("f.yy")}
        g = {"y": self._flat("g.y"), "xy": self._block("g.xy"), "yy": self._block("g.yy")}
        rows = {"A": self._block("A"), "B": self._block("B"), "b": self._flat("b")}
        try:
            made = parse_problem({"kind": "quadratic", "f": f, "g": g, "constraints": rows})
        except InvalidInputError:
            return None
        return made if isinstance(made, Quadratic) else None

    def smaller(self) -> Iterator[Candidate]:
        """Neighbours that are smaller: a variable or row less, an entry at zero or nearer to it."""
        for name in ("p", "m", "n"):
            for k in range(getattr(self, name)) if getattr(self, name) > 1 else ():
                yield self._without(name, k)
        for k, value in enumerate(self.values):
            if value:
                for nearer in dict.fromkeys((0, value // 2 if value > 0 else -(-value // 2), value - _sign(value))):
                    yield replace(self, values=(*self.values[:k], nearer, *self.values[k + 1 :]))

    def _without(self, name: str, gone: int) -> Candidate:
        axes = {"A": "pn", "B": "pm", "b": "p", "x": "n", "f.y": "m", "g.y": "m", "g.xy": "nm", "f.xy": "nm",
                "f.yy": "mm", "g.yy": "mm"}  # fmt: skip
        kept = []
        for (block, i, j), value in zip(places(self.n, self.m, self.p), self.values, strict=True):
            where = dict(zip(range(2), axes[block], strict=False))
            if not any(where.get(axis) == name and at == gone for axis, at in ((0, i), (1, j))):
                kept.append(value)
        sizes = {"n": self.n, "m": self.m, "p": self.p} | {name: getattr(self, name) - 1}
        return Candidate(**sizes, values=tuple(kept))

    def _block(self, name: str) -> list[list[int]]:
        found: dict[tuple[int, int], int] = {}
        for (block, i, j), value in zip(places(self.n, self.m, self.p), self.values, strict=True):
            if block == name:
                found[i, j] = value
                if name in ("f.yy", "g.yy"):
                    found[j, i] = value
        rows = 1 + max(i for i, _ in found)
        columns = 1 + max(j for _, j in found)
        return [[found[i, j] for j in range(columns)] for i in range(rows)]

    def _flat(self, name: str) -> list[int]:
        return [row[0] for row in self._block(name)]


def smallest_first(weight: int) -> Iterator[Candidate]:
    """All problems with n = m = p = 1 whose integers add up to at most ``weight``, the smallest first.

    The signs of x and of y are free, so B > 0 and A >= 0 lose nothing; nor does g.yy > 0, which strong convexity asks
    for. A row that ignores y would be no constraint of the lower level.

    Args:
        weight: Largest sum of absolute values, the point included.
    """
    for total in range(2, weight + 1):
        made = [Candidate(1, 1, 1, values) for values in _vectors(total)]
        yield from sorted(made, key=lambda candidate: candidate.size)


def random_candidate(n: int, m: int, p: int, rng: np.random.Generator) -> Candidate:
    """Small integers, most of them zero, g.yy with a dominant diagonal."""
    values = []
    for block, i, j in places(n, m, p):
        value = int(rng.integers(-2, 3)) if rng.random() < 0.5 else 0
        if block == "g.yy":
            value = m + abs(value) if i == j else int(np.sign(value))
        values.append(value)
    return Candidate(n, m, p, tuple(values))


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


def _sign(value: int) -> int:
    return 1 if value > 0 else -1
