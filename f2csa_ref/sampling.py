r"""What one sample is: noise of the gradients, from standard normals that a caller may supply.

A sample of line 6 of Algorithm 1 needs the noise of grad_x f at y_hat and that of the *difference*
grad_x g(x, y_hat) - grad_x g(x, y*_hat). A matrix-noise sample W v with iid entries is N(0, sigma^2 |v|^2 I),
so it is drawn in O(n) from one normal vector; the same W on both points leaves W (y_hat - y*_hat).
Points may have one row a run, shape (R, m), with one row of normals each.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.objectives import Objectives
from f2csa_ref.penalty import PenaltyLagrangian
from spec.blocks.noise import Noise, NoisyGradient
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.parameters import OracleParameters

CHUNK = 1 << 19
"""Normals held at once (4 MiB) by one call."""

Pairing = Literal["independent", "common"]

DEFAULTS = OracleParameters()
"""What an oracle call uses where nothing else is said."""


@dataclass(frozen=True)
class Draws:
    r"""Standard normals behind one hypergradient call; sample j uses row j of the first three.

    With N = N_g samples, and k = n for additive and matrix noise, k = 1 for jump noise:

    Args:
        f_x: Shape (N, n). additive: noise of grad_x f is sigma_f z. matrix: sigma_f |(x, y_hat)| z. jump: as additive.
        g_x: Shape (N, k), at y_hat. additive: sigma_g z, which cancels in the difference if draws are common.
            matrix, common: the difference's noise is sigma_g |y_hat - y*_hat| z; independent: sigma_g |(x, y_hat)| z.
            jump: z is the threshold zeta.
        g_x_star: Shape (N, k), at y*_hat, for independent draws only: additive sigma_g z, matrix
            sigma_g |(x, y*_hat)| z, jump the threshold.
        g_y: Shape (lower_level_steps, m), jump (lower_level_steps, 1): one row a primal-dual step. additive:
            sigma_g z; matrix: sigma_g |(x, y_t)| z; jump: the threshold. Only for the noisy primal-dual lower level.

    A block may be left out where the noise does not use it: its scale is zero or it cancels.
    """

    f_x: Matrix | None = None
    g_x: Matrix | None = None
    g_x_star: Matrix | None = None
    g_y: Matrix | None = None


def draw_width(noise: Noise, dimension: int) -> int:
    """Normals a sample of a lower-level gradient uses: one threshold for jumps, else one a component."""
    return 1 if noise.model == "jump" else dimension


def draw_shapes(objectives: Objectives, samples: int, pairing: Pairing) -> dict[str, tuple[int, int]]:
    """Shapes of the blocks of :class:`Draws` that line 6 uses, absent blocks left out."""
    noise, n = objectives.noise, objectives.n
    k = draw_width(noise, n)
    shapes = {}
    if noise.scale("f.x") > 0:
        shapes["f_x"] = (samples, n)
    if noise.scale("g.x") > 0 and not (noise.model == "additive" and pairing == "common"):
        shapes["g_x"] = (samples, k)
        if pairing == "independent":
            shapes["g_x_star"] = (samples, k)
    return shapes


def sample_draws(objectives: Objectives, samples: int, pairing: Pairing, rng: np.random.Generator) -> Draws:
    """Draw what line 6 uses, block by block in the order f_x, g_x, g_x_star."""
    shapes = draw_shapes(objectives, samples, pairing)
    return Draws(**{name: rng.standard_normal(shape) for name, shape in shapes.items()})


def sample_rows(
    objectives: Objectives, samples: int, pairing: Pairing, rng: np.random.Generator, into: Vector | None = None
) -> Draws:
    """Draw what line 6 uses, sample by sample: the same numbers however many are drawn at once."""
    shapes = draw_shapes(objectives, samples, pairing)
    ends = np.cumsum([shape[1] for shape in shapes.values()]).tolist()
    z = normals(rng, (samples, ends[-1] if ends else 0), into)
    return Draws(**{name: z[:, end - shapes[name][1] : end] for name, end in zip(shapes, ends, strict=True)})


def check_draws(draws: Draws, objectives: Objectives, samples: int, pairing: Pairing) -> None:
    """Refuse draws that line 6 cannot use: a needed block missing, of the wrong shape or not finite."""
    for name, shape in draw_shapes(objectives, samples, pairing).items():
        block: Matrix | None = getattr(draws, name)
        if block is None or block.shape != shape:
            raise InvalidInputError(f"draws.{name}", f"must have shape {shape}", None if block is None else block.shape)
        if not np.isfinite(block).all():
            raise InvalidInputError(f"draws.{name}", "must be finite")


def noise_x_f(objectives: Objectives, x: Vector, y: Vector, draws: Draws) -> Matrix | None:
    """Noise of grad_x f at (x, y), one row a sample, shape (N, n); ``None`` where there is none."""
    scale = objectives.noise.scale("f.x")
    if scale == 0 or draws.f_x is None:
        return None
    return (scale * _length(x, y) if objectives.noise.model == "matrix" else scale) * draws.f_x


def noise_x_g_difference(
    objectives: Objectives, x: Vector, y_star: Vector, w: Vector, pairing: Pairing, draws: Draws
) -> Matrix | None:
    """Noise of ``grad_x g(x, y_star + w) - grad_x g(x, y_star)``, one row a sample, shape (N, n) or, for jumps, (N, 1).

    Jump noise sits on the first component only. ``None`` where there is none.
    """
    noise, scale = objectives.noise, objectives.noise.scale("g.x")
    z, z_star = draws.g_x, draws.g_x_star
    if scale == 0 or z is None or (noise.model == "additive" and pairing == "common"):
        return None
    if noise.model == "jump":
        here, there = jump(scale, y_star + w, z), jump(scale, y_star, z if pairing == "common" else _given(z_star))
        return here - there
    if noise.model == "matrix" and pairing == "common":
        return scale * _length(w) * z
    if noise.model == "matrix":
        return scale * (_length(x, y_star + w) * z - _length(x, y_star) * _given(z_star))
    return scale * (z - _given(z_star))


def sample_noise(
    L: PenaltyLagrangian, w: Vector, pairing: Pairing, draws: Draws
) -> tuple[tuple[Matrix | None, float], tuple[Matrix | None, float]]:
    """Noise of grad_x f, then of the difference of grad_x g, at ``y_star + w``; one row a sample, with weights in L."""
    q, x, y_star = L.objectives, L.x, L.y_star
    noise_g = noise_x_g_difference(q, x, y_star, w, pairing, draws)
    return (noise_x_f(q, x, y_star + w, draws), 1.0), (noise_g, L.alpha.alpha_1)


def mean_noise(
    L: PenaltyLagrangian, w: Vector, pairing: Pairing, samples: int, source: Draws | np.random.Generator | None
) -> tuple[Vector, Vector]:
    """Mean of both noises over the samples, each (n,), from given normals or drawn a chunk at a time."""
    q = L.objectives
    sums = np.zeros(q.n), np.zeros(q.n)
    at_once = samples if isinstance(source, Draws) else max(1, CHUNK // q.n)
    for first in range(0, samples, at_once):
        chunk = min(at_once, samples - first)
        draws = source if isinstance(source, Draws) else sample_draws(q, chunk, pairing, require_rng(source))
        for (noise, _), part in zip(sample_noise(L, w, pairing, draws), sums, strict=True):
            if noise is not None:
                part[: noise.shape[1]] += noise.sum(axis=0)
    return sums[0] / samples, sums[1] / samples


def noise_y(objectives: Objectives, gradient: NoisyGradient, x: Vector, y: Vector, z: Vector) -> Vector:
    """Noise of one sample of grad_y f or grad_y g at (x, y), shape of y, from ``z`` alike; jumps take shape (1,)."""
    return noise_y_at(objectives, gradient, x)(y, z)


def noise_y_at(objectives: Objectives, gradient: NoisyGradient, x: Vector) -> Callable[[Vector, Vector], Vector]:
    """:func:`noise_y` as a function of y and z, what x alone decides computed once."""
    noise, scale = objectives.noise, objectives.noise.scale(gradient)

    def on_first(y: Vector, z: Vector) -> Vector:
        on_first = np.zeros(y.shape)
        on_first[..., :1] = jump(scale, y, z)
        return on_first

    if noise.model == "jump" and gradient.startswith("g"):
        return on_first
    if noise.model != "matrix":
        return lambda _, z: scale * z
    return lambda y, z: scale * _length(x, y) * z


def fresh_noise_y(
    objectives: Objectives, gradient: NoisyGradient, x: Vector, y: Vector, rng: np.random.Generator
) -> Vector | float:
    """The same from normals drawn now; nothing is drawn where there is no noise."""
    if objectives.noise.scale(gradient) == 0:
        return 0.0
    width = draw_width(objectives.noise, objectives.m) if gradient.startswith("g") else objectives.m
    return noise_y(objectives, gradient, x, y, rng.standard_normal((*y.shape[:-1], width)))


def jump(scale: float, y: Vector, threshold: Matrix) -> Matrix:
    """Jump noise sigma (1[y_1 > zeta] - Phi(y_1)), one for each threshold zeta."""
    first = y[..., :1]
    return np.asarray(scale * ((first > threshold) - sp.ndtr(first)))


def _given(z_star: Matrix | None) -> Matrix:
    if z_star is None:
        raise InvalidInputError("draws.g_x_star", "must be given for independent draws")
    return z_star


def _length(*vectors: Vector) -> Vector:
    """Length of the vectors stacked, a row each: shape (1,) or (R, 1)."""
    first, *others = (np.vecdot(v, v) for v in vectors)
    return np.asarray(np.sqrt(sum(others, first)))[..., None]


def require_rng(rng: np.random.Generator | None) -> np.random.Generator:
    """The generator, or a clear refusal."""
    if rng is None:
        raise InvalidInputError("rng", "must be given (or draws), since the problem's gradients are noisy")
    return rng


Fill: TypeAlias = Callable[..., None]

BULK = 1 << 14
"""Normals from which a compiled loop is worth its call."""
PIECE = 1 << 14
"""Normals scaled and moved at once: they stay in the cache."""


def normals(rng: np.random.Generator, shape: tuple[int, int], into: Vector | None = None) -> Matrix:
    """Standard normals of a shape, row by row: exactly ``rng.standard_normal(shape)`` with or without numba.

    ``into`` is memory to use, at least as many doubles.
    """
    rows, columns = shape
    size = rows * columns
    drawn = np.empty(size) if into is None else into[:size]
    fill = compiled(one_by_one) if size >= BULK else None
    if fill is None:
        rng.standard_normal(out=drawn)
    else:
        fill(rng, drawn)
    return drawn.reshape(shape)


def scattered(rng: np.random.Generator, rows: Matrix, scale: float, mean: Vector) -> None:
    """Fill rows with ``mean + scale * normal``, in place, from the normals that :func:`normals` would draw."""
    fill = compiled(scattered_one_by_one) if rows.size >= BULK else None
    if fill is not None:
        fill(rng, rows, scale, mean)
        return
    # In flat pieces of one length: short rows would cost more than their normals.
    flat, n = rows.reshape(-1), rows.shape[1]
    means = np.tile(mean, min(len(rows), max(1, PIECE // n)))
    for first in range(0, flat.size, means.size):
        piece = flat[first : first + means.size]
        rng.standard_normal(out=piece)
        np.multiply(piece, scale, out=piece)
        np.add(piece, means[: piece.size], out=piece)


@lru_cache(maxsize=2)
def compiled(loop: Callable[..., None]) -> Fill | None:
    """The loop compiled, or nothing without numba (extra ``numba``); it is compiled once and kept on disk."""
    if importlib.util.find_spec("numba") is None:
        return None
    numba: Any = importlib.import_module("numba")
    return cast("Fill", numba.njit(cache=True)(loop))


def one_by_one(rng: np.random.Generator, out: Vector) -> None:
    """Fill a vector in the order numpy would; numba compiles this with numpy's own ziggurat tables."""
    for i in range(out.size):
        out[i] = rng.standard_normal()


def scattered_one_by_one(rng: np.random.Generator, rows: Matrix, scale: float, mean: Vector) -> None:
    """The same, each normal scaled and moved as it is drawn."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[i, j] = scale * rng.standard_normal() + mean[j]
