"""What ``f2csa_ref.solve`` asks of Algorithm 1, from the fast oracle, which remembers: its memory is in the trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from f2csa_ref.algorithm_1 import OracleCall
from f2csa_ref.algorithm_2 import Oracle, OuterState
from f2csa_ref.fast.oracle import FastOracle
from f2csa_ref.objectives import Objectives
from f2csa_ref.shared_sample import without_noise
from f2csa_ref.solver.run_loop import ClippedMomentum
from spec.errors import InvalidInputError
from spec.exact import Vector


class FastComputing:
    """Answers and values of one problem for the estimates of a run's constants.

    Raises:
        InvalidInputError: If the fast oracle cannot answer such calls, on such a problem.
    """

    def __init__(self, q: Objectives, call: OracleCall) -> None:
        self.q, self._values = q, fast_oracle(q, call)

    def answers(self, call: OracleCall, rng: np.random.Generator | None, *, noisy: bool = True) -> Oracle:
        """Algorithm 1 as a function of x, (n,) to (n,); without noise where that is asked for."""
        oracle = fast_oracle(self.q if noisy else without_noise(self.q), call)
        return lambda x: oracle(x, rng).hypergradient

    def value(self, x: Vector) -> float:
        """F(x), its lower level as the call's."""
        return self._values.value(x)


def fast_oracle(q: Objectives, call: OracleCall) -> FastOracle:
    """The oracle for objectives that are quadratic; refused for others."""
    return FastOracle(q, call)  # type: ignore[arg-type]  # it refuses what is not quadratic


class Remembering(Protocol):
    """An oracle whose answers depend on earlier ones."""

    def memory(self) -> dict[str, Any]:
        """What they depend on, as plain data, bit for bit."""

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on from that."""


@dataclass
class RememberingState(OuterState):
    """Where a run stands, with what its oracle remembers."""

    memory: Callable[[], dict[str, Any]] = dict

    def to_dict(self) -> dict[str, Any]:
        """The running part as plain data, bit for bit."""
        return super().to_dict() | {"oracle": self.memory()}


@dataclass(frozen=True)
class RememberingMomentum(ClippedMomentum):
    """Algorithm 2 on answers of an oracle that remembers: a run goes on from its trace with the oracle's memory."""

    oracle: Remembering = field(kw_only=True)

    def start(self, x_0: Vector, rng: np.random.Generator) -> RememberingState:  # noqa: ARG002  # draws nothing
        state = RememberingState.start(x_0)
        state.memory = self.oracle.memory
        return state

    def restored(self, data: dict[str, Any], x_bar: list[Vector], grad_mean: list[Vector]) -> RememberingState:
        state = RememberingState.from_dict(data, x_bar, grad_mean)
        _recall(self.oracle, data.get("oracle"))
        state.memory = self.oracle.memory
        return state


def _recall(oracle: Remembering, memory: Any) -> None:
    try:
        oracle.recall(memory)
    except (KeyError, TypeError, ValueError):
        raise InvalidInputError("trace", "must hold the oracle's memory in its last state") from None


def counted(oracle: FastOracle, counts: Counter[str]) -> Callable[[Vector, np.random.Generator], Vector]:
    """The oracle's answers, each adding to the counts."""

    def answer(z: Vector, rng: np.random.Generator) -> Vector:
        estimate = oracle(z, rng)
        counts.update(_kept(estimate.counts), lower_level_solves=1)
        return estimate.hypergradient

    return answer


def _kept(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}
