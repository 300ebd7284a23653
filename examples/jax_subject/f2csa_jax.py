"""F2CSA in JAX: the paper's Algorithms 1 and 2 as pure, compiled functions, every derivative by ``jax.grad``.

It knows nothing of the suite; ``adapter.py`` beside it holds it against the claims. Doubles are switched on: the
weights α⁻² and α⁻⁴ leave single precision no digits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
Array = jax.Array

NEWTON_STEPS = 50
INTERIOR_STEPS = 100


class Objectives(NamedTuple):
    """f and g as functions of (data, x, y); compiled code is shared by all problems of one form and size."""

    f: Callable[[Any, Array, Array], Array]
    g: Callable[[Any, Array, Array], Array]


class Rows(NamedTuple):
    """h = A x - B y - b <= 0."""

    A: Array
    B: Array
    b: Array

    def h(self, x: Array, y: Array) -> Array:
        return self.A @ x - self.B @ y - self.b


def solve_qp(G: Array, c: Array, B: Array, d: Array) -> tuple[Array, Array]:
    """Minimise ½yᵀGy + cᵀy subject to By >= d: interior points, then the rows they single out as equations.

    Where no y satisfies the rows the answer leaves them violated.
    """
    p, scale = len(d), 1 + jnp.abs(d).max() + jnp.abs(c).max()

    def residuals(y, s, lam):
        return G @ y + c - B.T @ lam, B @ y - s - d

    def direction(y, s, lam, products):
        """Newton's direction towards residuals 0 and s∘λ + products = 0."""
        dual, primal = residuals(y, s, lam)
        K = G + (B.T * (lam / s)) @ B
        dy = jnp.linalg.solve(K, -dual - B.T @ ((products + lam * primal) / s))
        ds = B @ dy + primal
        return dy, ds, -(products + lam * ds) / s

    def reach(v, dv):
        return jnp.minimum(1.0, jnp.where(dv < 0, -v / jnp.where(dv < 0, dv, -1.0), jnp.inf).min())

    def advance(state):
        k, y, s, lam = state
        mu = s @ lam / p
        # Mehrotra's predictor says how far the corrector may aim.
        _, ds, dl = direction(y, s, lam, s * lam)
        aimed = (s + reach(s, ds) * ds) @ (lam + reach(lam, dl) * dl) / p
        dy, ds, dl = direction(y, s, lam, s * lam + ds * dl - (aimed / mu) ** 3 * mu)
        step = 0.995 * jnp.minimum(reach(s, ds), reach(lam, dl))
        # Close to the end the system is singular to rounding; what was reached by then is close enough.
        usable = jnp.isfinite(dy).all() & jnp.isfinite(dl).all()
        ends = [jnp.where(usable, v + step * dv, v) for v, dv in ((y, dy), (s, ds), (lam, dl))]
        return jnp.where(usable, k + 1, INTERIOR_STEPS), *ends

    def unfinished(state):
        k, y, s, lam = state
        dual, primal = residuals(y, s, lam)
        left = jnp.maximum(jnp.abs(dual).max(), jnp.abs(primal).max())
        return (k < INTERIOR_STEPS) & ((left > 1e-9 * scale) | (s @ lam > 1e-18 * scale**2))

    y0 = -jnp.linalg.solve(G, c)
    start = (0, y0, jnp.maximum(B @ y0 - d, scale), jnp.full(p, scale))
    _, y, s, lam = jax.lax.while_loop(unfinished, advance, start)

    active = jnp.where(lam > s, 1.0, 0.0)
    system = jnp.block([[G, -B.T * active], [B * active[:, None], jnp.diag(1 - active)]])
    right, found = jnp.concatenate([-c, active * d]), jnp.concatenate([y, active * lam])
    inverse = jnp.linalg.pinv(system, rtol=1e-14)
    for _ in range(3):
        found = found + inverse @ (right - system @ found)
    return found[: len(c)], jnp.maximum(found[len(c) :] * active, 0.0)


@partial(jax.jit, static_argnums=0)
def lower_level(objectives: Objectives, data: Any, rows: Rows, x: Array) -> tuple[Array, Array]:
    """Line 3: (y*, λ*) by sequential quadratic programs; one program is exact where g is quadratic.

    Where they do not settle, or no y satisfies the rows, y* is nan.
    """
    d = rows.A @ x - rows.b
    g = partial(objectives.g, data, x)

    def advance(state):
        k, y, _, moved, _ = state
        G = jax.hessian(g)(y)
        y_next, lam = solve_qp(G, jax.grad(g)(y) - G @ y, rows.B, d)
        return k + 1, y_next, lam, jnp.linalg.norm(y_next - y), moved

    def unfinished(state):
        k, y, _, moved, before = state
        scale = 1 + jnp.linalg.norm(y)
        settled = (moved <= 1e-15 * scale) | ((before <= moved) & (moved <= 1e-9 * scale))
        return (k < NEWTON_STEPS) & ~settled

    start = (0, jnp.zeros(rows.B.shape[1]), jnp.zeros_like(d), jnp.finfo(d).max, jnp.inf)
    k, y, lam, *_ = jax.lax.while_loop(unfinished, advance, start)
    # Compiled code cannot raise: what did not settle, or leaves a row violated, is no number.
    good = (k < NEWTON_STEPS) & (rows.h(x, y) <= 1e-6 * (1 + jnp.abs(d))).all()
    return jnp.where(good, y, jnp.nan), lam


@jax.jit
def activation(h: Array, lam: Array, h_width: float, lam_width: float) -> Array:
    """The smooth activation ρ = σ_h(h) σ_λ(λ)."""
    return jnp.clip((h_width + h) / h_width, 0, 1) * jnp.clip(lam / lam_width, 0, 1)


class Stages(NamedTuple):
    """What the penalty Lagrangian holds constant."""

    alpha: float
    y_star: Array
    lam: Array
    rho: Array


def penalty_lagrangian(
    objectives: Objectives, frozen: bool, data: Any, rows: Rows, stages: Stages, x: Array, w: Array
) -> Array:
    """L of Eq. (penaltylagrangian) in x and the shift w = y - ỹ*, whose digits α⁻² and α⁻⁴ need.

    ``frozen`` keeps the multiplier out of the value term, so that α₁Aᵀλ̃ stays in the gradient in x; otherwise that term
    cancels.
    """
    alpha, y_star, lam, rho = stages
    f, g = partial(objectives.f, data), partial(objectives.g, data)
    h = rows.h(x, y_star) - rows.B @ w
    gap = g(x, y_star + w) - g(x, y_star) + lam @ (h if frozen else -rows.B @ w)
    return f(x, y_star + w) + gap / alpha**2 + rho @ h**2 / (2 * alpha**4)


@partial(jax.jit, static_argnums=0)
def penalty_shift(objectives: Objectives, data: Any, rows: Rows, stages: Stages, x: Array) -> Array:
    """Line 5: the minimiser's shift from ỹ*, by Newton's method until rounding wins."""
    L = partial(penalty_lagrangian, objectives, False, data, rows, stages, x)
    slope, curvature = jax.grad(L), jax.hessian(L)

    def advance(state):
        k, _, w, _ = state
        tried = w - jnp.linalg.solve(curvature(w), slope(w))
        return k + 1, w, tried, jnp.linalg.norm(slope(w))

    def unfinished(state):
        k, _, tried, least = state
        return (k < NEWTON_STEPS) & (jnp.linalg.norm(slope(tried)) < least)

    zero = jnp.zeros_like(stages.y_star)
    return jax.lax.while_loop(unfinished, advance, (0, zero, zero, jnp.inf))[1]


@partial(jax.jit, static_argnums=(0, 1))
def gradient_x(
    objectives: Objectives, frozen: bool, data: Any, rows: Rows, stages: Stages, x: Array, w: Array
) -> Array:
    """Line 6 without noise: ∇_x L."""
    return jax.grad(penalty_lagrangian, argnums=5)(objectives, frozen, data, rows, stages, x, w)


@jax.jit
def _propose(x: Array, step: Array, uniform: Array) -> tuple[Array, Array]:
    return x + step, x + uniform * step


@jax.jit
def _turn(step: Array, answer: Array, D: float, eta: float) -> Array:
    step = step - eta * answer
    length = jnp.linalg.norm(step, axis=-1, keepdims=True)
    return jnp.where(length > D, step * (D / length), step)


def outer_loop(
    oracle: Callable[[Array], Array], x: Array, D: float, eta: float, M: int, K: int, uniform: Callable[[], Array]
) -> tuple[np.ndarray, np.ndarray]:
    """Algorithm 2 on any number of runs at once, the rows of x: block means (K, ...) and iterates (T + 1, ...)."""
    step, path, asked = jnp.zeros_like(x), [x], []
    for _ in range(K * M):
        x, z = _propose(x, step, uniform())
        step = _turn(step, oracle(z), D, eta)
        path.append(x)
        asked.append(z)
    return np.array(asked).reshape(K, M, *x.shape).mean(axis=1), np.array(path)
