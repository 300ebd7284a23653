"""Standard normals that a seed stands for, so that a message need not carry them: SplitMix64 under Box and Muller.

Normal number k of a seed is, with j = k // 2 and :func:`uniforms` u_0, u_1, ...,

    sqrt(-2 log(1 - u_2j)) * cos(2 pi u_(2j+1))  for even k, with sin in place of cos for odd k.

Blocks take them one after another in the order of :data:`BLOCKS`, each block row by row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from spec.exact import FloatArray

GENERATOR = "splitmix64-box-muller"
"""Its name on the wire."""
BLOCKS = ("f_x", "g_x", "g_x_star")
"""In which order blocks take their numbers."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def words(seed: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """The first 64-bit numbers of SplitMix64 from a state that is the seed."""
    z = np.uint64(seed) + _GOLDEN * np.arange(1, count + 1, dtype=np.uint64)
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


def uniforms(seed: int, count: int) -> FloatArray:
    """The upper 53 bits of each word over 2**53: in [0, 1)."""
    upper = (words(seed, count) >> np.uint64(11)).astype(np.float64)
    return np.asarray(upper * 2.0**-53)


def normals(seed: int, count: int) -> FloatArray:
    """The first normal numbers of a seed, shape (count,)."""
    pairs = uniforms(seed, 2 * ((count + 1) // 2)).reshape(-1, 2)
    radius, angle = np.sqrt(-2.0 * np.log(1.0 - pairs[:, 0])), 2.0 * np.pi * pairs[:, 1]
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]).ravel()[:count]


def blocks_of(seed: int, shapes: Mapping[str, Sequence[int]]) -> dict[str, FloatArray]:
    """What a seed stands for: normals by block, each of its shape."""
    blocks, used = {}, 0
    whole = normals(seed, sum(int(np.prod(shape)) for shape in shapes.values()))
    for name in BLOCKS:
        if name in shapes:
            rows, columns = shapes[name]
            blocks[name] = whole[used : used + rows * columns].reshape(rows, columns)
            used += rows * columns
    return blocks
