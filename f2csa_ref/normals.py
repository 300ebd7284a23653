"""Standard normals in bulk: numpy's, or the very same numbers faster where numba is installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from f2csa_ref.vectors import Matrix, Vector

Fill: TypeAlias = Callable[[np.random.Generator, Vector], None]

BULK = 1 << 14
"""Normals from which a compiled loop is worth its call."""


def normals(rng: np.random.Generator, shape: tuple[int, int]) -> Matrix:
    """Standard normals of a shape, row by row: exactly ``rng.standard_normal(shape)`` with or without numba."""
    rows, columns = shape
    fill = compiled() if rows * columns >= BULK else None
    if fill is None:
        return rng.standard_normal(shape)
    made = np.empty(rows * columns)
    fill(rng, made)
    return made.reshape(shape)


@lru_cache(maxsize=1)
def compiled() -> Fill | None:
    """The compiled loop, or nothing without numba (extra ``numba``); it is compiled once and kept on disk."""
    if importlib.util.find_spec("numba") is None:
        return None
    numba: Any = importlib.import_module("numba")
    made: Fill = numba.njit(cache=True)(one_by_one)
    return made


def one_by_one(rng: np.random.Generator, out: Vector) -> None:
    """Fill a vector in the order numpy would; numba compiles this with numpy's own ziggurat tables."""
    for i in range(out.size):
        out[i] = rng.standard_normal()
