"""Streams of samples in fixed blocks, each with a random stream of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.evidence.moments import Moments
from verify.evidence.sequential import EmpiricalBernstein

BLOCK = 1 << 14
"""Samples a block holds; blocks, not calls or workers, own random streams, so no split of the work shows."""


@dataclass
class Streams:
    """Random streams by block number.

    Args:
        entropy: What all streams derive from.
    """

    entropy: tuple[int, ...]

    @classmethod
    def of(cls, rng: np.random.Generator) -> Streams:
        """A new family of streams, named by the next numbers of a generator."""
        return cls(tuple(int(value) for value in rng.integers(0, 2**63, size=2)))

    def block(self, number: int) -> np.random.Generator:
        """The stream of one block; SFC64 fills normals fastest."""
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence(self.entropy, spawn_key=(number,))))


@dataclass
class Sampler:
    """Draws blocks of vectors and keeps their moments; goes on where it stopped.

    Args:
        draw: ``(rng, k) -> (k, n)``.
        streams: Where randomness comes from.
        moments: What has been seen.
        block: Samples a block.
        done: Blocks drawn.
        look: The last planned size at which its moments were decided upon; 0 before the first.
    """

    draw: Callable[[np.random.Generator, int], Vector]
    streams: Streams
    moments: Moments
    block: int = BLOCK
    done: int = field(default=0)
    look: int = field(default=0)

    def reach(self, count: int) -> Moments:
        """Draw whole blocks until at least ``count`` samples are in."""
        while self.moments.count < count:
            self.moments.add(self.draw(self.streams.block(self.done), self.block))
            self.done += 1
        return self.moments

    def state(self) -> dict[str, Any]:
        """Everything but the subject, as plain data."""
        entropy = [str(value) for value in self.streams.entropy]
        return {"entropy": entropy, "done": self.done, "look": self.look, "moments": self.moments.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.streams = Streams(tuple(int(value) for value in state["entropy"]))
        self.done, self.look = int(state["done"]), int(state["look"])
        self.moments = type(self.moments).resume(state["moments"])


@dataclass
class BoundedSampler:
    """Draws blocks of numbers in [0, 1] into a confidence sequence for their mean; goes on where it stopped.

    Args:
        draw: ``(rng, k) -> (k,)``.
        streams: Where randomness comes from.
        sequence: What has been seen.
        done: Blocks drawn.
    """

    draw: Callable[[np.random.Generator, int], Vector]
    streams: Streams
    sequence: EmpiricalBernstein
    done: int = 0

    def reach(self, count: int) -> EmpiricalBernstein:
        """Draw whole blocks until at least ``count`` numbers are in."""
        while self.sequence.count < count:
            self.sequence.add(self.draw(self.streams.block(self.done), BLOCK))
            self.done += 1
        return self.sequence

    def state(self) -> dict[str, Any]:
        """Everything but the subject, as plain data."""
        entropy = [str(value) for value in self.streams.entropy]
        return {"entropy": entropy, "done": self.done, "sequence": self.sequence.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.streams = Streams(tuple(int(value) for value in state["entropy"]))
        self.done, self.sequence = int(state["done"]), EmpiricalBernstein(**state["sequence"])
