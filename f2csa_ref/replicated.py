"""Algorithm 2 for many independent replications at once, one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from f2csa_ref.algorithm_2 import OutputRule
from spec.errors import InvalidInputError
from spec.exact import Matrix
from spec.parameters import OuterParameters


@dataclass(frozen=True)
class ReplicatedTrace:
    """R runs of Algorithm 2.

    Args:
        x_out: Outputs, shape (R, n).
        x_bar: Block means, shape (blocks, R, n).
        grad_mean: Block means of the answers, shape (blocks, R, n).
        x_last: Last iterates, shape (R, n).
        calls: Oracle calls of each replication.
        path: Iterates, shape (calls + 1, R, n), where kept.
    """

    x_out: Matrix
    x_bar: Matrix
    grad_mean: Matrix
    x_last: Matrix
    calls: int
    path: Matrix | None = None


def outer_loop_replicated(
    oracle: Callable[[Matrix], Matrix],
    x_0: Matrix,
    *,
    parameters: OuterParameters,
    rng: np.random.Generator,
    output: OutputRule = "uniform",
    keep_path: bool = False,
    on_block: Callable[[int, Matrix], bool | None] | None = None,
) -> ReplicatedTrace:
    """Run Algorithm 2 on every row at once; the arithmetic of a row is that of ``outer_loop``.

    Args:
        oracle: Maps points of shape (R, n) to independent estimates, shape (R, n).
        x_0: Starts, shape (R, n), finite.
        parameters: As for ``outer_loop``.
        rng: Source of the points on the segments, then of the outputs' blocks.
        output: As for ``outer_loop``.
        keep_path: Whether all iterates are kept.
        on_block: Called with the block's number and means (R, n) as it ends; returning ``True`` ends the run there.

    Raises:
        InvalidInputError: If x_0 is not a finite matrix, or an answer has a wrong shape or is not finite.

    Source: Algorithm 2. Differs from the paper: as ``outer_loop`` does.
    """
    x = np.array(x_0, dtype=np.float64)
    if x.ndim != 2 or not np.isfinite(x).all():
        raise InvalidInputError("x_0", "must be finite, of shape (replications, n)", x.shape)
    R, n = x.shape
    D, eta, M, K = parameters.D, parameters.eta, parameters.M, parameters.K
    step = np.zeros((R, n))
    x_bar, grad_mean = [], []
    path = [x.copy()]
    for k in range(K):
        z_sum, grad_sum = np.zeros((R, n)), np.zeros((R, n))
        for s in rng.random((M, R, 1)):
            z = x + s * step
            x += step
            if keep_path:
                path.append(x.copy())
            grad_F_hat = oracle(z)
            if grad_F_hat.shape != (R, n):
                raise InvalidInputError("oracle", f"must answer with shape ({R}, {n})", grad_F_hat.shape)
            step -= eta * grad_F_hat
            length = np.sqrt(np.einsum("ij,ij->i", step, step))
            # clip_D row by row; a step of length 0 stays.
            step *= (D / np.maximum(length, D))[:, None]
            z_sum += z
            grad_sum += grad_F_hat
        if not np.isfinite(grad_sum).all():
            raise InvalidInputError("oracle", "must answer with finite values")
        x_bar.append(z_sum / M)
        grad_mean.append(grad_sum / M)
        if on_block is not None and on_block(k, x_bar[-1]):
            break
    means, answers = np.array(x_bar), np.array(grad_mean)
    if output == "uniform":
        blocks = rng.integers(len(means), size=R)
    else:
        blocks = np.argmin(np.linalg.norm(answers, axis=2), axis=0)
    kept = np.array(path) if keep_path else None
    return ReplicatedTrace(means[blocks, np.arange(R)], means, answers, x, len(means) * M, kept)
