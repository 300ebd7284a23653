r"""What one sample is: noise of the gradients, from standard normals that a caller may supply, fresh or shared.

A sample of line 6 of Algorithm 1 needs the noise of grad_x f at y_hat and that of the *difference*
grad_x g(x, y_hat) - grad_x g(x, y*_hat). A matrix-noise sample W v with iid entries is N(0, sigma^2 |v|^2 I),
so it is drawn in O(n) from one normal vector; the same W on both points leaves W (y_hat - y*_hat).
Points may have one row a run, shape (R, m), with one row of normals each.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from scipy.special import ndtr

from f2csa_ref.objectives import HolderObjectives, Objectives, QuadraticObjectives
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.noise import Noise, NoisyGradient
from spec.parameters import OracleParameters

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


def sample_rows(objectives: Objectives, samples: int, pairing: Pairing, rng: np.random.Generator) -> Draws:
    """Draw what line 6 uses, sample by sample: the same numbers however many are drawn at once."""
    shapes = draw_shapes(objectives, samples, pairing)
    ends = np.cumsum([shape[1] for shape in shapes.values()]).tolist()
    z = normals(rng, (samples, ends[-1] if ends else 0))
    return Draws(**{name: z[:, end - shapes[name][1] : end] for name, end in zip(shapes, ends, strict=True)})


def check_draws(draws: Draws, objectives: Objectives, samples: int, pairing: Pairing) -> None:
    """Refuse draws that line 6 cannot use.

    Raises:
        InvalidInputError: If a needed block is missing, of the wrong shape or not finite.
    """
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


def noise_y(objectives: Objectives, gradient: NoisyGradient, x: Vector, y: Vector, z: Vector) -> Vector:
    """Noise of one sample of grad_y f or grad_y g at (x, y), shape of y, from ``z`` alike; jumps take shape (1,)."""
    noise, scale = objectives.noise, objectives.noise.scale(gradient)
    if noise.model == "jump" and gradient.startswith("g"):
        on_first = np.zeros(y.shape)
        on_first[..., :1] = jump(scale, y, z)
        return on_first
    return (scale * _length(x, y) if noise.model == "matrix" else scale) * z


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
    return np.asarray(scale * ((first > threshold) - ndtr(first)))


def _given(z_star: Matrix | None) -> Matrix:
    if z_star is None:
        raise InvalidInputError("draws.g_x_star", "must be given for independent draws")
    return z_star


def _length(*vectors: Vector) -> Vector:
    """Length of the vectors stacked, a row each: shape (1,) or (R, 1)."""
    squares: Vector = sum((np.vecdot(v, v) for v in vectors), np.zeros(()))
    return np.sqrt(squares)[..., None]


@dataclass(frozen=True, eq=False)
class SampledObjectives:
    """Objectives as one run or many see them: y is (m,) or (R, m), and a shared sample's noise is in the gradients.

    Values of f and g and curvature constants are those of the expected problem: the noise model is one of gradients.

    Args:
        base: The expected problem; all that is not said here is its own.
        noise: What is drawn afresh; none where a sample is shared.
        offsets: Additive mean noise by partial gradient, each (n,) or (m,), after an axis of runs if there are many.
        matrices: Mean noise matrices by partial gradient, each (n or m, n + m) likewise, acting on (x, y).
        jumps: Jump scale and sorted thresholds by partial gradient, for one run only.
        batch: Number of samples averaged, hence the price of one gradient.
    """

    base: Objectives
    noise: Noise = field(default_factory=Noise)
    offsets: dict[NoisyGradient, Vector] = field(default_factory=dict)
    matrices: dict[NoisyGradient, Matrix] = field(default_factory=dict)
    jumps: dict[NoisyGradient, tuple[float, Vector]] = field(default_factory=dict)
    batch: int = 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def grad_x_f(self, x: Vector, y: Vector) -> Vector:
        return self._exact(self.base.grad_x_f, x, y) + self._noise("f.x", x, y)

    def grad_y_f(self, x: Vector, y: Vector) -> Vector:
        return self._exact(self.base.grad_y_f, x, y) + self._noise("f.y", x, y)

    def grad_x_g(self, x: Vector, y: Vector) -> Vector:
        return self._exact(self.base.grad_x_g, x, y) + self._noise("g.x", x, y)

    def grad_y_g(self, x: Vector, y: Vector) -> Vector:
        return self._exact(self.base.grad_y_g, x, y) + self._noise("g.y", x, y)

    def grad_x_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        return self._exact(self.base.grad_x_g_change, x, y, w) + self._noise_change("g.x", y, w)

    def grad_y_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        return self._exact(self.base.grad_y_g_change, x, y, w) + self._noise_change("g.y", y, w)

    def h(self, x: Vector, y: Vector) -> Vector:
        return self._exact(self.base.h, x, y)

    def _exact(self, function: Callable[..., Vector], x: Vector, *rows: Vector) -> Vector:
        """A stranger's functions take one vector y at a time."""
        if rows[0].ndim == 1 or isinstance(self.base, QuadraticObjectives | HolderObjectives):
            return function(x, *rows)
        return np.array([function(x, *row) for row in zip(*rows, strict=True)])

    def _noise(self, gradient: NoisyGradient, x: Vector, y: Vector) -> Vector | float:
        if gradient in self.offsets:
            return self.offsets[gradient]
        if gradient in self.matrices:
            point = np.concatenate([np.broadcast_to(x, (*y.shape[:-1], len(x))), y], axis=-1)
            return _turned(self.matrices[gradient], point)
        return self._jump(gradient, y) if gradient in self.jumps else 0.0

    def _noise_change(self, gradient: NoisyGradient, y: Vector, w: Vector) -> Vector | float:
        if gradient in self.matrices:
            return _turned(self.matrices[gradient][..., self.base.n :], w)
        if gradient in self.jumps:
            return self._jump(gradient, y + w) - self._jump(gradient, y)
        return 0.0

    def _jump(self, gradient: NoisyGradient, y: Vector) -> Vector:
        scale, thresholds = self.jumps[gradient]
        on_first = np.zeros(self.base.n if gradient.endswith("x") else self.base.m)
        # Thresholds are sorted: as many lie below y_1 as its insertion point says.
        below = np.searchsorted(thresholds, y[0]) / len(thresholds)
        on_first[0] = scale * (below - float(ndtr(y[0])))
        return on_first


def _turned(W: Matrix, v: Vector) -> Vector:
    """W v, each run's W on its own v."""
    return W @ v if v.ndim == 1 else np.einsum("rij,rj->ri", W, v)


def one_row_a_run(objectives: Objectives) -> Objectives:
    """The same objectives for points of shape (R, m), noise drawn afresh."""
    return cast("Objectives", SampledObjectives(objectives, objectives.noise))


def without_noise(objectives: Objectives) -> Objectives:
    """The same objectives with exact gradients."""
    return cast("Objectives", SampledObjectives(objectives))


def share(objectives: Objectives, batch: int, rng: np.random.Generator, runs: tuple[int, ...] = ()) -> Objectives:
    """Draw one batch, or one a run, and freeze its mean into the gradients: a noise-free problem from then on.

    The mean of ``batch`` Gaussian samples is drawn directly, scaled by ``batch ** -0.5``; jump noise keeps its
    ``batch`` thresholds.

    Args:
        objectives: The noisy problem.
        batch: Number of samples shared, >= 1.
        rng: Source of the noise; partial gradients draw in the order f.x, f.y, g.x, g.y.
        runs: Empty, or ``(R,)`` for R runs independent of each other.

    Raises:
        InvalidInputError: For many runs under jump noise, whose empirical problem is not smooth.

    Source: Lemma "Inner-loop Oracle Complexity", proof, steps C1 and C2, read so that the cited variance-reduced
    method has the finite sum it needs.
    """
    n, m, noise = objectives.n, objectives.m, objectives.noise
    if noise.model == "jump" and runs:
        raise InvalidInputError("noise.model", "must be additive or matrix for many shared-sample runs", "jump")
    sampled = SampledObjectives(objectives, batch=batch)
    names: tuple[NoisyGradient, ...] = ("f.x", "f.y", "g.x", "g.y")
    for name in names:
        scale, size = noise.scale(name), n if name.endswith("x") else m
        if scale == 0:
            continue
        if noise.model == "matrix":
            sampled.matrices[name] = scale / math.sqrt(batch) * rng.standard_normal((*runs, size, n + m))
        elif noise.model == "jump" and name.startswith("g"):
            sampled.jumps[name] = (scale, np.sort(rng.standard_normal(batch)))
        else:
            sampled.offsets[name] = scale / math.sqrt(batch) * rng.standard_normal((*runs, size))
    return cast("Objectives", sampled)


def require_rng(rng: np.random.Generator | None) -> np.random.Generator:
    """The generator, or a clear refusal.

    Raises:
        InvalidInputError: If there is none.
    """
    if rng is None:
        raise InvalidInputError("rng", "must be given (or draws), since the problem's gradients are noisy")
    return rng


def price(objectives: Objectives) -> int:
    """Samples behind one gradient."""
    return objectives.batch if isinstance(objectives, SampledObjectives) else 1


Fill: TypeAlias = Callable[[np.random.Generator, Vector], None]

BULK = 1 << 14
"""Normals from which a compiled loop is worth its call."""


def normals(rng: np.random.Generator, shape: tuple[int, int]) -> Matrix:
    """Standard normals of a shape, row by row: exactly ``rng.standard_normal(shape)`` with or without numba."""
    rows, columns = shape
    fill = compiled() if rows * columns >= BULK else None
    if fill is None:
        return rng.standard_normal(shape)
    drawn = np.empty(rows * columns)
    fill(rng, drawn)
    return drawn.reshape(shape)


@lru_cache(maxsize=1)
def compiled() -> Fill | None:
    """The compiled loop, or nothing without numba (extra ``numba``); it is compiled once and kept on disk."""
    if importlib.util.find_spec("numba") is None:
        return None
    numba: Any = importlib.import_module("numba")
    return cast("Fill", numba.njit(cache=True)(one_by_one))


def one_by_one(rng: np.random.Generator, out: Vector) -> None:
    """Fill a vector in the order numpy would; numba compiles this with numpy's own ziggurat tables."""
    for i in range(out.size):
        out[i] = rng.standard_normal()
