"""The run that every method shares: steps, blocks, a trace, and how it goes on from one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from f2csa_ref.algorithm_2 import Oracle, OuterState, Projection, RunState, advance
from f2csa_ref.solver.trace import TraceBlock, TraceWriter, has_header, restore
from spec.exact import Vector
from spec.parameters import OuterParameters

CHECKPOINT = 500
"""Calls between two recorded states inside a block; at most so many are repeated after an interruption."""

State = TypeVar("State", bound=RunState)


class Method(Protocol[State]):
    """A method: where it starts and what one step does to its state, in place; a step is one call of its oracle."""

    def start(self, x_0: Vector, rng: np.random.Generator) -> State:
        """Before the first step."""

    def restored(self, data: dict[str, Any], x_bar: list[Vector], grad_mean: list[Vector]) -> State:
        """The state that ``to_dict`` wrote, with the finished blocks."""

    def step(self, state: State, rng: np.random.Generator) -> None:
        """Make one step, closing the block where it is full."""


@dataclass(frozen=True)
class ClippedMomentum:
    """Algorithm 2 on answers that may draw from the run's generator."""

    answer: Callable[[Vector, np.random.Generator], Vector]
    parameters: OuterParameters
    projection: Projection | None = None

    def start(self, x_0: Vector, rng: np.random.Generator) -> OuterState:  # noqa: ARG002  # draws nothing
        return OuterState.start(x_0)

    def restored(self, data: dict[str, Any], x_bar: list[Vector], grad_mean: list[Vector]) -> OuterState:
        return OuterState.from_dict(data, x_bar, grad_mean)

    def step(self, state: OuterState, rng: np.random.Generator) -> None:
        oracle: Oracle = lambda z: self.answer(z, rng)  # noqa: E731  # Algorithm 2 takes an oracle of z alone
        advance(state, rng.random(), oracle, parameters=self.parameters, projection=self.projection)


@dataclass(frozen=True)
class Recording:
    """Where a run's trace goes, with the header that names the run, and whether it goes on from what is there."""

    trace: Path | None
    header: dict[str, Any]
    resume: bool


@dataclass(frozen=True)
class Watch(Generic[State]):
    """What is asked at each block's end: F at its mean point, whether the run may go on, and who is told.

    ``started`` is told at which call this process takes over, once what is on record has proved whole; ``error`` says
    what is certified of a finished block's calls.
    """

    value: Callable[[Vector], float | None]
    check: Callable[[TraceBlock], None]
    told: Callable[[TraceBlock], None] | None = None
    started: Callable[[int], None] | None = None
    error: Callable[[], dict[str, Any]] | None = None


def run_blocks(
    method: Method[State],
    x_0: Vector,
    outer: OuterParameters,
    rng: np.random.Generator,
    counts: Counter[str],
    into: tuple[Recording, Watch[State]],
) -> tuple[State, list[TraceBlock], int]:
    """Run K blocks of M steps: the last state, the blocks, and the call at which this process took over.

    ``counts`` is changed in place: the method's oracle adds to it, and a resumed run begins with those on record.
    """
    recording, watch = into
    blocks: list[TraceBlock] = []
    recorded = None
    if recording.trace is not None and recording.resume and has_header(recording.trace):
        recorded = restore(recording.trace, recording.header, rng)
    if recorded is None:
        state = method.start(x_0, rng)
    else:
        data, blocks, counted = recorded
        counts.update(counted)
        state = method.restored(data, [block.x_bar for block in blocks], [block.grad_mean for block in blocks])
        for block in blocks:
            watch.check(block)
    resumed_at = state.t
    if watch.started is not None:
        watch.started(resumed_at)
    with TraceWriter(recording.trace, recording.header, append=resumed_at > 0) as writer:
        while state.t < outer.T:
            method.step(state, rng)
            if state.t % outer.M == 0:
                x_bar = state.x_bar[-1]
                error = None if watch.error is None else watch.error()
                block = TraceBlock(len(state.x_bar) - 1, state.t, x_bar, state.grad_mean[-1], watch.value(x_bar), error)
                blocks.append(block)
                writer.block(block)
                writer.state(state.to_dict(), rng, counts)
                watch.check(block)
                if watch.told is not None:
                    watch.told(block)
            elif state.t % outer.M % CHECKPOINT == 0:
                writer.state(state.to_dict(), rng, counts)
    return state, blocks, resumed_at
