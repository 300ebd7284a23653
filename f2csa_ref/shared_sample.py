"""Objectives as the solvers see them: for one run or many, with a shared sample's noise in their gradients, or none."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import numpy as np

from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.objectives import Gradient, HolderObjectives, Objectives, QuadraticObjectives
from spec.blocks.noise import Noise, NoisyGradient
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector


@dataclass(frozen=True, eq=False)
class SampledObjectives:
    """Objectives as one run or many see them: y is (m,) or (R, m), and a shared sample's noise is in the gradients.

    All that is not said here is the expected problem's, ``base``: values, too, for the noise model is one of gradients.
    ``noise`` is drawn afresh; none where a sample is shared. Then by partial gradient: ``offsets``, the additive mean
    noise, (n,) or (m,), after an axis of runs if there are many; ``matrices``, the mean noise acting on (x, y),
    (n or m, n + m) likewise; ``jumps``, scale and sorted thresholds, for one run only. ``batch`` samples are averaged:
    the price of one gradient.
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
        return self._gradient("f.x", self.base.grad_x_f, x, y)

    def grad_y_f(self, x: Vector, y: Vector) -> Vector:
        return self._gradient("f.y", self.base.grad_y_f, x, y)

    def grad_x_g(self, x: Vector, y: Vector) -> Vector:
        return self._gradient("g.x", self.base.grad_x_g, x, y)

    def grad_y_g(self, x: Vector, y: Vector) -> Vector:
        return self._gradient("g.y", self.base.grad_y_g, x, y)

    def grad_x_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        return self._change("g.x", self.base.grad_x_g_change, x, y, w)

    def grad_y_g_change(self, x: Vector, y: Vector, w: Vector) -> Vector:
        return self._change("g.y", self.base.grad_y_g_change, x, y, w)

    def h(self, x: Vector, y: Vector) -> Vector:
        return self._exact(self.base.h, x, y)

    def _exact(self, function: Callable[..., Vector], x: Vector, *rows: Vector) -> Vector:
        """A stranger's functions take one vector y at a time."""
        if rows[0].ndim == 1 or isinstance(self.base, QuadraticObjectives | HolderObjectives):
            return function(x, *rows)
        return np.array([function(x, *row) for row in zip(*rows, strict=True)])

    def _gradient(self, name: NoisyGradient, function: Gradient, x: Vector, y: Vector) -> Vector:
        exact = self._exact(function, x, y)
        if name in self.offsets:
            return exact + self.offsets[name]
        if name in self.matrices:
            x_rows = x if y.ndim == 1 else np.broadcast_to(x, (len(y), len(x)))
            return exact + _turned(self.matrices[name], np.concatenate([x_rows, y], axis=-1))
        return exact + self._jump(name, y) if name in self.jumps else exact

    def _change(self, name: NoisyGradient, function: Callable[..., Vector], x: Vector, y: Vector, w: Vector) -> Vector:
        exact = self._exact(function, x, y, w)
        if name in self.matrices:
            return exact + _turned(self.matrices[name][..., self.base.n :], w)
        return exact + (self._jump(name, y + w) - self._jump(name, y)) if name in self.jumps else exact

    def _jump(self, gradient: NoisyGradient, y: Vector) -> Vector:
        scale, thresholds = self.jumps[gradient]
        on_first = np.zeros(self.base.n if gradient.endswith("x") else self.base.m)
        # Thresholds are sorted: as many lie below y_1 as its insertion point says.
        below = np.searchsorted(thresholds, y[0]) / len(thresholds)
        on_first[0] = scale * (below - float(sp.ndtr(y[0])))
        return on_first


def _turned(W: Matrix, v: Vector) -> Vector:
    """W v, each run's W on its own v."""
    return W @ v if v.ndim == 1 else np.einsum("rij,rj->ri", W, v)


def one_row_a_run(objectives: Objectives) -> Objectives:
    """The same objectives for points of shape (R, m), noise drawn afresh."""
    return cast("Objectives", SampledObjectives(objectives, objectives.noise))


def without_noise(objectives: Objectives) -> Objectives:
    """The same objectives with exact gradients; quadratic ones stay such, for their solvers."""
    if isinstance(objectives, QuadraticObjectives):
        quiet = copy(objectives)
        quiet.noise = Noise()
        return quiet
    return cast("Objectives", SampledObjectives(objectives))


def share(objectives: Objectives, batch: int, rng: np.random.Generator, runs: tuple[int, ...] = ()) -> Objectives:
    """Draw one batch, or one a run, and freeze its mean into the gradients: a noise-free problem from then on.

    The mean of ``batch`` Gaussian samples is drawn directly, scaled by ``batch ** -0.5``; jump noise keeps its
    ``batch`` thresholds.

    Partial gradients draw in the order f.x, f.y, g.x, g.y; ``runs`` is ``(R,)`` for R runs independent of each other.
    Refused for many runs under jump noise, whose empirical problem is not smooth.

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


def grad_y_g_at(objectives: Objectives, x: Vector, runs: tuple[int, ...] = ()) -> Callable[[Vector], Vector]:
    """``grad_y_g(x, .)`` of these objectives for y (m,), or (R, m) where ``runs`` is (R,), bit for bit.

    Quadratic ones compute once what x alone decides.
    """
    sampled = objectives if isinstance(objectives, SampledObjectives) else SampledObjectives(objectives)
    if type(sampled.base) is not QuadraticObjectives or "g.y" in sampled.matrices or "g.y" in sampled.jumps:
        return partial(objectives.grad_y_g, x)
    at_x, g_yy, fixed = x @ sampled.base.g_xy, sampled.base.g_yy.T, sampled.base.g_y
    shared, offset = np.tile(at_x + fixed, (*runs, 1)), sampled.offsets.get("g.y")
    g_yy = np.ascontiguousarray(g_yy) if runs and runs[0] > 1 else g_yy

    def gradient(y: Vector) -> Vector:
        exact: Vector = np.dot(y, g_yy)
        # In place: at_x + at_y + fixed for one run, and what they share at once for many.
        if runs:
            exact += shared
        else:
            exact += at_x
            exact += fixed
        if offset is not None:
            exact += offset
        return exact

    return gradient


def quadratic_in_y(objectives: Objectives) -> tuple[QuadraticObjectives, Vector | None] | None:
    """The quadratic whose gradients in y these objectives have, and what a shared sample adds to that of f.

    ``None`` where f and g are no such quadratic, or a sample's noise moves with y.
    """
    if type(objectives) is QuadraticObjectives:
        return objectives, None
    if not isinstance(objectives, SampledObjectives) or type(objectives.base) is not QuadraticObjectives:
        return None
    moved = {"f.y", "g.y"} & {*objectives.matrices, *objectives.jumps}
    return None if moved else (objectives.base, objectives.offsets.get("f.y"))


def price(objectives: Objectives) -> int:
    """Samples behind one gradient."""
    return objectives.batch if isinstance(objectives, SampledObjectives) else 1
