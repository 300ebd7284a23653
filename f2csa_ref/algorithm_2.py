"""Algorithm 2: clipped steps along any stochastic hypergradient oracle, averaged in blocks; lines numbered as there.

A run is one vector x, shape (n,), or one row of many, shape (R, n): the same lines serve both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol, Self, get_args

import numpy as np

from f2csa_ref.objectives import as_vector
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector, all_finite
from spec.parameters import OuterParameters

OutputRule = Literal["uniform", "smallest"]
"""``uniform``: a block drawn uniformly, as the paper says. ``smallest``: the block whose mean answer is shortest."""

Oracle = Callable[[Vector], Vector]
Projection = Callable[[Vector], Vector]


@dataclass(frozen=True)
class OuterTrace:
    """One run of Algorithm 2, or R runs with an axis of length R before the last.

    The output ``x_out`` (n,) is the mean of block ``block``, from 0: an int, or an array (R,). ``x_bar`` (K, n) are the
    block means of the z_t; ``grad_mean`` (K, n) those of the oracle's answers, within bias and noise elements of the
    Goldstein subdifferential at the block means. ``x_last`` is x_T, ``calls`` are K M, ``path`` (T + 1, n) is x_0 to
    x_T, where kept.
    """

    x_out: Vector
    block: Any
    x_bar: Matrix
    grad_mean: Matrix
    x_last: Vector
    calls: int
    path: Matrix | None = None


def clip(v: Vector, D: float) -> Vector:
    """min(1, D / |v|) v, row by row; a single v that is short enough is returned itself, not copied."""
    if v.ndim == 1:
        length = math.sqrt(v.dot(v))
        return v if length <= D else v * (D / length)
    shrink: Vector = D / np.maximum(np.sqrt(np.vecdot(v, v)), D)
    return v * shrink[..., None]


SQUARABLE = 1e150
"""Vectors of such entries have a finite length; no step that is kept is nearly so long."""


def _squarable(v: Vector, most: float) -> Vector:
    """Rows with an entry beyond ``most`` made shorter, their direction kept; others as they are."""
    # No entry is longer than all together.
    if 2 * math.sqrt(np.vdot(v, v)) < most:
        return v
    largest = np.abs(v).max(axis=-1, initial=0.0, keepdims=True)
    too_long = largest > most
    return np.where(too_long, v / np.where(too_long, largest, 1.0) * most, v) if too_long.any() else v


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


class RunState(Protocol):
    """What a run of any method shows: x (n,) after t calls, and of each finished block a point and a mean answer."""

    x: Vector
    t: int
    x_bar: list[Vector]
    grad_mean: list[Vector]

    def to_dict(self) -> dict[str, Any]:
        """The running part as plain data, bit for bit; finished blocks are left to the caller's trace."""


@dataclass
class OuterState:
    """Where a run stands after t calls; with the generator's state, everything its future depends on.

    ``z_sum`` and ``grad_sum`` are sums of z / M and of the answers / M over the running block; ``x_bar`` and
    ``grad_mean`` are the finished blocks'. All have the shape of x, (n,) or (R, n).
    """

    x: Vector
    step: Vector
    t: int
    z_sum: Vector
    grad_sum: Vector
    x_bar: list[Vector] = field(default_factory=list)
    grad_mean: list[Vector] = field(default_factory=list)

    @classmethod
    def start(cls, x_0: Vector) -> Self:
        """Before the first step: line 2; refused unless x_0 is a finite vector, or finite rows."""
        shape = np.shape(x_0)
        if len(shape) not in (1, 2):
            raise InvalidInputError("x_0", "must have shape (n,), or (R, n) for R runs", shape)
        x = as_vector(np.ravel(x_0), math.prod(shape), "x_0").reshape(shape)
        return cls(x, np.zeros_like(x), 0, np.zeros_like(x), np.zeros_like(x))

    def to_dict(self) -> dict[str, Any]:
        """The running part as plain data, bit for bit; finished blocks are left to the caller's trace."""
        return {name: getattr(self, name).tolist() for name in ("x", "step", "z_sum", "grad_sum")} | {"t": self.t}

    @classmethod
    def from_dict(cls, data: dict[str, Any], x_bar: list[Vector], grad_mean: list[Vector]) -> Self:
        """The state :meth:`to_dict` wrote, with the finished blocks."""
        arrays = {name: np.array(data[name], dtype=np.float64) for name in ("x", "step", "z_sum", "grad_sum")}
        return cls(t=int(data["t"]), x_bar=x_bar, grad_mean=grad_mean, **arrays)


@lru_cache(maxsize=64)
def _plain(*numbers: float) -> tuple[Vector, ...]:
    """Numbers as arrays without axes, which take part in a product in two thirds of a float's time, bit for bit."""
    return tuple(np.array(number, dtype=np.float64) for number in numbers)


def advance(
    state: OuterState,
    s: Vector | float,
    oracle: Oracle,
    *,
    parameters: OuterParameters,
    projection: Projection | None = None,
) -> None:
    """Make one step of Algorithm 2, closing the block where it is full.

    The state is changed in place; ``s`` is line 4's point, uniform on [0, 1], a float or of shape (R, 1). An oracle
    that answers with a wrong shape or a non-finite value is refused.
    """
    D, (eta, M) = parameters.D, _plain(parameters.eta, parameters.M)

    # Line 5.  Delta_t is the step, shortened where x would leave X, which is convex: the segment stays in X.
    x, step = state.x, state.step
    x_next = x + step
    if projection is not None:
        x_next = projection(x_next)
        step = x_next - x
    state.x, z = x_next, x + s * step

    # Line 6.  g_t estimates the hypergradient at z_t.
    g = _answer(oracle(z), z.shape)

    # Line 7.
    state.step = clip(state.step - eta * _squarable(g, SQUARABLE / parameters.eta), D)

    # Lines 9 to 12.  x_k is the mean of a block of M.
    state.z_sum += z / M
    state.grad_sum += g / M
    state.t += 1
    if state.t % parameters.M == 0:
        # A mean of points of X lies in X; rounding may put it a last digit outside.
        state.x_bar.append(state.z_sum if projection is None else projection(state.z_sum))
        state.grad_mean.append(state.grad_sum)
        state.z_sum, state.grad_sum = np.zeros_like(z), np.zeros_like(z)


def outer_loop(
    oracle: Oracle,
    x_0: Vector,
    *,
    parameters: OuterParameters,
    rng: np.random.Generator,
    output: OutputRule = "uniform",
    projection: Projection | None = None,
    keep_path: bool = False,
    on_block: Callable[[int, Vector], bool | None] | None = None,
) -> OuterTrace:
    """Run Algorithm 2, once or on every row at once.

    Args:
        oracle: Maps z of shape (n,) to an estimate of the hypergradient there, shape (n,); for R runs, (R, n) to
            independent estimates, (R, n).
        x_0: Start, shape (n,), finite; for R runs one row each, (R, n).
        parameters: Clipping length D, step eta, block length M, number of blocks K.
        rng: Source of the points on each segment, then of the output's block; R runs draw a block's points ahead.
        output: ``uniform``, the paper's rule, or ``smallest``: the block whose mean answer is shortest.
        projection: Keeps x in X, e.g. :func:`box_projection`; ``None`` as the paper writes it, without X.
        keep_path: Whether all iterates are kept.
        on_block: Called with the block's number and mean as it ends; returning ``True`` ends the run there.

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
    _check_rule(output)
    state = OuterState.start(x_0)
    if projection is not None:
        state.x = projection(state.x)
    path = [state.x]
    for k in range(parameters.K):
        for s in segment_points(rng, parameters.M, state.x.shape[:-1]):
            advance(state, s, oracle, parameters=parameters, projection=projection)
            if keep_path:
                path.append(state.x)
        if on_block is not None and on_block(k, state.x_bar[-1]):
            break
    return finished(state, output=output, rng=rng, path=np.array(path) if keep_path else None)


def segment_points(rng: np.random.Generator, M: int, runs: tuple[int, ...]) -> Iterator[Vector | float]:
    """Line 4, for a block of M: s_t uniform on [0, 1].

    One run draws as it goes, for its oracle may draw from the same generator; many draw the block ahead.
    """
    return iter(rng.random((M, *runs, 1))) if runs else (rng.random() for _ in range(M))


def finished(
    state: RunState, *, output: OutputRule, rng: np.random.Generator, path: Matrix | None = None
) -> OuterTrace:
    """Line 13: the trace of a run whose blocks are done, its output chosen; the paper's draw alone touches ``rng``."""
    _check_rule(output)
    x_bar, grad_mean = np.array(state.x_bar), np.array(state.grad_mean)
    if output == "uniform":
        block = rng.integers(len(x_bar), size=state.x.shape[:-1] or None)
    else:
        block = np.linalg.norm(grad_mean, axis=-1).argmin(axis=0)
    x_out = np.take_along_axis(x_bar, np.asarray(block)[None, ..., None], axis=0)[0]
    return OuterTrace(x_out, block if np.ndim(block) else int(block), x_bar, grad_mean, state.x, state.t, path)


def _check_rule(output: OutputRule) -> None:
    if output not in get_args(OutputRule):
        raise InvalidInputError("output", f"must be one of {', '.join(get_args(OutputRule))}", output)


def _answer(value: Vector, shape: tuple[int, ...]) -> Vector:
    if value.shape != shape or not all_finite(value):
        kind = "vector" if len(shape) == 1 else "matrix"
        raise InvalidInputError("oracle", f"must answer with a finite {kind} of shape {shape}", value)
    return value
