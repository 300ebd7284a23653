"""What the methods that step from iterate to iterate share: a state, and blocks of M steps of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from f2csa_ref.algorithm_2 import Projection
from f2csa_ref.objectives import Objectives, as_vector
from spec.errors import InvalidInputError
from spec.exact import Vector
from spec.parameters import OuterParameters


@dataclass
class Surroundings:
    """What a rival's run is given beside its own parameters.

    ``outer`` says the radius and the blocks, K of M steps; ``alpha`` is the accuracy of penalty estimators, ``samples``
    those of ∇f averaged in each answer; ``counts`` are calls by kind, added to as they are made.
    """

    objectives: Objectives
    outer: OuterParameters
    alpha: float = 0.1
    samples: int = 1
    projection: Projection | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def project(self, x: Vector) -> Vector:
        """The projection onto X, or x itself where there is no X."""
        return x if self.projection is None else self.projection(x)


@dataclass
class IterateState:
    """Where a run stands after t calls: x (n,), or one row a run, and what the method remembers, vectors by name.

    A block is M steps. Its point in ``x_bar`` is the iterate it begins at, so that a block drawn uniformly is an
    iterate drawn uniformly (each of them for M = 1); ``grad_mean`` is the method's estimate at the block's end.
    """

    x: Vector
    t: int
    first: Vector
    grad_sum: Vector
    memory: dict[str, Vector] = field(default_factory=dict)
    x_bar: list[Vector] = field(default_factory=list)
    grad_mean: list[Vector] = field(default_factory=list)

    @classmethod
    def start(cls, x_0: Vector, **memory: Vector) -> IterateState:
        """Before the first step; refused unless x_0 is finite, a vector or one row a run."""
        x = as_vector(np.ravel(x_0), np.size(x_0), "x_0").reshape(np.shape(x_0))
        return cls(x, 0, x, np.zeros_like(x), memory)

    def to_dict(self) -> dict[str, Any]:
        """The running part as plain data, bit for bit; finished blocks are left to the caller's trace."""
        memory = {name: vector.tolist() for name, vector in self.memory.items()}
        parts = {name: getattr(self, name).tolist() for name in ("x", "first", "grad_sum")}
        return parts | {"t": self.t, "memory": memory}

    @classmethod
    def from_dict(cls, data: dict[str, Any], x_bar: list[Vector], grad_mean: list[Vector]) -> IterateState:
        """The state :meth:`to_dict` wrote, with the finished blocks."""
        arrays = {name: np.array(data[name], dtype=np.float64) for name in ("x", "first", "grad_sum")}
        memory = {name: np.array(vector, dtype=np.float64) for name, vector in data["memory"].items()}
        return cls(t=int(data["t"]), memory=memory, x_bar=x_bar, grad_mean=grad_mean, **arrays)

    def moved(self, x_next: Vector, answer: Vector, M: int, estimate: Vector | None = None) -> None:
        """Go to x_next after an answer; a full block is closed with ``estimate``, or the mean of its answers."""
        self.x, self.t, self.grad_sum = x_next, self.t + 1, self.grad_sum + answer / M
        if self.t % M == 0:
            self.x_bar.append(self.first)
            self.grad_mean.append(self.grad_sum if estimate is None else estimate)
            self.first, self.grad_sum = x_next, np.zeros_like(x_next)


class Restoring:
    """Of methods on iterates: how a state comes back from a trace."""

    def restored(self, data: dict[str, Any], x_bar: list[Vector], grad_mean: list[Vector]) -> IterateState:
        """The state on record, with the finished blocks."""
        return IterateState.from_dict(data, x_bar, grad_mean)


def checked_answer(value: Vector, shape: tuple[int, ...]) -> Vector:
    """An oracle's answer, refused unless it is a finite vector of x's shape."""
    if np.shape(value) != shape or not np.isfinite(value).all():
        raise InvalidInputError("oracle", f"must answer with a finite vector of shape {shape}", value)
    return value
