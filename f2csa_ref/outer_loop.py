"""Algorithm 2: clipped steps along any stochastic hypergradient oracle, averaged in blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from f2csa_ref.vectors import Matrix, Vector, as_vector
from spec.errors import InvalidInputError
from spec.parameters import OuterParameters


@dataclass(frozen=True)
class OuterTrace:
    """One run of Algorithm 2.

    Args:
        x_out: Output, a block mean drawn uniformly, shape (n,).
        block: Which block it is, from 0.
        x_bar: Block means of the z_t, shape (K, n).
        grad_mean: Block means of the oracle's answers, shape (K, n): within bias and noise an element of the
            Goldstein subdifferential at the block mean.
        x_last: Last iterate x_T, shape (n,).
        calls: Oracle calls, K M.
    """

    x_out: Vector
    block: int
    x_bar: Matrix
    grad_mean: Matrix
    x_last: Vector
    calls: int


def clip(v: Vector, D: float) -> Vector:
    """Shorten v to length D where it is longer."""
    length = math.sqrt(float(v @ v))
    return v if length <= D else (D / length) * v


def outer_loop(
    oracle: Callable[[Vector], Vector],
    x_0: Vector,
    *,
    parameters: OuterParameters,
    rng: np.random.Generator,
    on_block: Callable[[int, Vector], None] | None = None,
) -> OuterTrace:
    """Run Algorithm 2.

    Args:
        oracle: Maps z of shape (n,) to an estimate of the hypergradient there, shape (n,).
        x_0: Start, shape (n,), finite.
        parameters: Clipping length D, step eta, block length M, number of blocks K.
        rng: Source of the points on each segment, then of the output's block.
        on_block: Called with the block's number and mean as it ends.

    Raises:
        InvalidInputError: If x_0 breaks its rule, or the oracle answers with a wrong shape or a non-finite value.

    Source: Algorithm 2. Differs from the paper: M comes first and D = radius / M follows from it in
    :class:`spec.OuterParameters`, so floor(radius / D) cannot fall to 0 or be off by one; T = K M exactly.

    Example:
        >>> schedule = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.1, eta=0.5, M=2, K=50)
        >>> run = outer_loop(lambda z: z, np.ones(1), parameters=schedule, rng=np.random.default_rng(0))
        >>> run.x_bar.shape, bool(abs(run.x_bar[-1, 0]) < 0.3)
        ((50, 1), True)
    """
    x = as_vector(x_0, np.asarray(x_0).size, "x_0")
    n, D, eta, M, K = len(x), parameters.D, parameters.eta, parameters.M, parameters.K
    x_bar, grad_mean = np.zeros((K, n)), np.zeros((K, n))
    step = np.zeros(n)
    for k in range(K):
        for _ in range(M):
            s = rng.random()
            z = x + s * step
            x = x + step
            grad_F_hat = _answer(oracle(z), n)
            step = clip(step - eta * grad_F_hat, D)
            x_bar[k] += z / M
            grad_mean[k] += grad_F_hat / M
        if on_block is not None:
            on_block(k, x_bar[k])
    block = int(rng.integers(K))
    return OuterTrace(x_bar[block].copy(), block, x_bar, grad_mean, x, K * M)


def _answer(value: Vector, n: int) -> Vector:
    if value.shape != (n,) or not np.isfinite(value).all():
        raise InvalidInputError("oracle", f"must answer with a finite vector of shape ({n},)", value)
    return value
