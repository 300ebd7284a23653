"""Streams of samples in fixed blocks, each with a random stream of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from verify.statistics.moments import Moments

if TYPE_CHECKING:
    from collections.abc import Callable

    from verify.subjects.protocol import Vector

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
    """

    draw: Callable[[np.random.Generator, int], Vector]
    streams: Streams
    moments: Moments
    block: int = BLOCK
    done: int = field(default=0)

    def reach(self, count: int) -> Moments:
        """Draw whole blocks until at least ``count`` samples are in."""
        while self.moments.count < count:
            self.moments.add(self.draw(self.streams.block(self.done), self.block))
            self.done += 1
        return self.moments
