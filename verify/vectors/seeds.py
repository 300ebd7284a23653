"""Random numbers from names: the seed is the first 64 bits of the name's SHA-256."""

from __future__ import annotations

import hashlib
from fractions import Fraction

import numpy as np

from verify.exact.rationals import Vector
from verify.vectors.numbers import dyadic

GRID = 2.0**-10
"""Draws are whole multiples of this: short in decimals, exact in doubles, and no library's last bit shows."""


def generator(name: str) -> np.random.Generator:
    """The generator of a name."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))


def normals(name: str, shape: tuple[int, int]) -> tuple[Vector, ...]:
    """Standard normals on the grid, one row a sample."""
    drawn = np.round(generator(name).standard_normal(shape) / GRID) * GRID
    return tuple(tuple(dyadic(value) for value in row) for row in drawn.tolist())


def signs(name: str, length: int) -> tuple[Fraction, ...]:
    """Random signs."""
    return tuple(Fraction(int(value)) for value in generator(name).choice([-1, 1], size=length))
