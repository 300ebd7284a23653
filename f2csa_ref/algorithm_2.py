"""Algorithm 2: clipped steps along any stochastic hypergradient oracle, averaged in blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from f2csa_ref.objectives.vectors import as_vector
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.parameters import OuterParameters

OutputRule = Literal["uniform", "smallest"]
"""``uniform``: a block drawn uniformly, as the paper says. ``smallest``: the block whose mean answer is shortest."""

Oracle = Callable[[Vector], Vector]
Projection = Callable[[Vector], Vector]


@dataclass(frozen=True)
class OuterTrace:
    """One run of Algorithm 2.

    Args:
        x_out: Output, a block mean, shape (n,).
        block: Which block it is, from 0.
        x_bar: Block means of the z_t, shape (K, n).
        grad_mean: Block means of the oracle's answers, shape (K, n): within bias and noise an element of the
            Goldstein subdifferential at the block mean.
        x_last: Last iterate x_T, shape (n,).
        calls: Oracle calls, K M.
        path: Iterates x_0, ..., x_T, shape (T + 1, n), where kept.
    """

    x_out: Vector
    block: int
    x_bar: Matrix
    grad_mean: Matrix
    x_last: Vector
    calls: int
    path: Matrix | None = None


def clip(v: Vector, D: float) -> Vector:
    """Shorten v to length D where it is longer."""
    length = math.sqrt(float(v @ v))
    return v if length <= D else (D / length) * v


def box_projection(lower: Vector, upper: Vector) -> Projection:
    """Projection onto a box, for the option of keeping x in X.

    Args:
        lower: Lower ends, shape (n,), -inf where there is none.
        upper: Upper ends, shape (n,), inf where there is none.

    Raises:
        InvalidInputError: If an end is nan or a lower end exceeds the upper one.
    """
    if not (lower <= upper).all():
        raise InvalidInputError("box", "must have lower <= upper", (lower.tolist(), upper.tolist()))
    return lambda x: np.clip(x, lower, upper)


@dataclass
class OuterState:
    """Where a run of Algorithm 2 stands; with the generator's state, everything its future depends on.

    Args:
        x: Current iterate, shape (n,).
        step: Next step, shape (n,).
        t: Oracle calls so far.
        z_sum: Sum of z / M over the running block, shape (n,).
        grad_sum: Sum of the answers / M over the running block, shape (n,).
        x_bar: Means of the finished blocks, each (n,).
        grad_mean: Mean answers of the finished blocks, each (n,).
    """

    x: Vector
    step: Vector
    t: int
    z_sum: Vector
    grad_sum: Vector
    x_bar: list[Vector] = field(default_factory=list)
    grad_mean: list[Vector] = field(default_factory=list)

    @classmethod
    def start(cls, x_0: Vector) -> OuterState:
        """Before the first step."""
        x = as_vector(x_0, np.asarray(x_0).size, "x_0")
        return cls(x, np.zeros(len(x)), 0, np.zeros(len(x)), np.zeros(len(x)))

    def to_dict(self) -> dict[str, Any]:
        """The running part as plain data, bit for bit; finished blocks are left to the caller's trace."""
        return {name: getattr(self, name).tolist() for name in ("x", "step", "z_sum", "grad_sum")} | {"t": self.t}

    @classmethod
    def from_dict(cls, data: dict[str, Any], x_bar: list[Vector], grad_mean: list[Vector]) -> OuterState:
        """The state :meth:`to_dict` wrote, with the finished blocks."""
        arrays = {name: np.array(data[name], dtype=np.float64) for name in ("x", "step", "z_sum", "grad_sum")}
        return cls(t=int(data["t"]), x_bar=x_bar, grad_mean=grad_mean, **arrays)


def advance(
    state: OuterState,
    oracle: Oracle,
    *,
    parameters: OuterParameters,
    rng: np.random.Generator,
    projection: Projection | None = None,
) -> None:
    """Make one step of Algorithm 2, closing the block where it is full.

    Args:
        state: Changed in place.
        oracle: Maps z of shape (n,) to an estimate of the hypergradient there, shape (n,).
        parameters: Clipping length D, step eta, block length M.
        rng: Source of the point on the segment.
        projection: Projection onto X, or ``None`` for free steps as the paper writes them.

    Raises:
        InvalidInputError: If the oracle answers with a wrong shape or a non-finite value.
    """
    D, eta, M = parameters.D, parameters.eta, parameters.M
    s = rng.random()
    x_next = state.x + state.step
    if projection is None:
        z = state.x + s * state.step
    else:
        # X is convex: between two points of X the segment stays in X.
        x_next = projection(x_next)
        z = state.x + s * (x_next - state.x)
    state.x = x_next
    grad_F_hat = _answer(oracle(z), len(z))
    state.step = clip(state.step - eta * grad_F_hat, D)
    state.z_sum = state.z_sum + z / M
    state.grad_sum = state.grad_sum + grad_F_hat / M
    state.t += 1
    if state.t % M == 0:
        # A mean of points of X lies in X; rounding may put it a last digit outside.
        state.x_bar.append(state.z_sum if projection is None else projection(state.z_sum))
        state.grad_mean.append(state.grad_sum)
        state.z_sum, state.grad_sum = np.zeros(len(z)), np.zeros(len(z))


def output_block(grad_mean: Matrix, rule: OutputRule, rng: np.random.Generator) -> int:
    """Which block's mean is the output.

    Args:
        grad_mean: Mean answers, shape (K, n).
        rule: The output rule.
        rng: Source of the paper's draw; untouched by the other rule.

    Raises:
        InvalidInputError: If the rule is unknown.
    """
    if rule == "uniform":
        return int(rng.integers(len(grad_mean)))
    if rule == "smallest":
        return int(np.argmin(np.linalg.norm(grad_mean, axis=1)))
    raise InvalidInputError("output", f"must be one of {', '.join(get_args(OutputRule))}", rule)


def outer_loop(
    oracle: Oracle,
    x_0: Vector,
    *,
    parameters: OuterParameters,
    rng: np.random.Generator,
    output: OutputRule = "uniform",
    projection: Projection | None = None,
    keep_path: bool = False,
    on_block: Callable[[int, Vector], None] | None = None,
) -> OuterTrace:
    """Run Algorithm 2.

    Args:
        oracle: Maps z of shape (n,) to an estimate of the hypergradient there, shape (n,).
        x_0: Start, shape (n,), finite.
        parameters: Clipping length D, step eta, block length M, number of blocks K.
        rng: Source of the points on each segment, then of the output's block.
        output: ``uniform``, the paper's rule, or ``smallest``: the block whose mean answer is shortest.
        projection: Keeps x in X, e.g. :func:`box_projection`; ``None`` as the paper writes it, without X.
        keep_path: Whether all iterates are kept.
        on_block: Called with the block's number and mean as it ends.

    Raises:
        InvalidInputError: If x_0 breaks its rule, or the oracle answers with a wrong shape or a non-finite value.

    Source: Algorithm 2. Differs from the paper: M comes first and D = radius / M follows from it in
    :class:`spec.OuterParameters`, so floor(radius / D) cannot fall to 0 or be off by one; T = K M exactly. The
    projection and the rule ``smallest`` are options of ours, which the paper's theorem does not cover.

    Example:
        >>> schedule = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.1, eta=0.5, M=2, K=50)
        >>> run = outer_loop(lambda z: z, np.ones(1), parameters=schedule, rng=np.random.default_rng(0))
        >>> run.x_bar.shape, bool(abs(run.x_bar[-1, 0]) < 0.3)
        ((50, 1), True)
    """
    if output not in get_args(OutputRule):
        raise InvalidInputError("output", f"must be one of {', '.join(get_args(OutputRule))}", output)
    state = OuterState.start(x_0)
    if projection is not None:
        state.x = projection(state.x)
    path = [state.x]
    for t in range(parameters.T):
        advance(state, oracle, parameters=parameters, rng=rng, projection=projection)
        if keep_path:
            path.append(state.x)
        if on_block is not None and state.t % parameters.M == 0:
            on_block(t // parameters.M, state.x_bar[-1])
    return finished(state, output=output, rng=rng, path=np.array(path) if keep_path else None)


def finished(
    state: OuterState, *, output: OutputRule, rng: np.random.Generator, path: Matrix | None = None
) -> OuterTrace:
    """The trace of a run whose blocks are done, its output chosen."""
    x_bar, grad_mean = np.array(state.x_bar), np.array(state.grad_mean)
    block = output_block(grad_mean, output, rng)
    return OuterTrace(x_bar[block].copy(), block, x_bar, grad_mean, state.x, state.t, path)


def _answer(value: Vector, n: int) -> Vector:
    if value.shape != (n,) or not np.isfinite(value).all():
        raise InvalidInputError("oracle", f"must answer with a finite vector of shape ({n},)", value)
    return value
