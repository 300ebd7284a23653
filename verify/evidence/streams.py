"""Growing samples: drawn in fixed blocks, each with a random stream of its own, and continued where they stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np

from spec.exact import Vector
from verify.evidence.intervals import EmpiricalBernstein
from verify.evidence.samples.moments import Moments

BLOCK = 1 << 14
"""Samples a block holds; blocks, not calls or workers, own random streams, so no split of the work shows."""

BEYOND = 1 << 40
"""Number of the first stream that no block has."""


@dataclass
class Streams:
    """Random streams by block number, all derived from one entropy."""

    entropy: tuple[int, ...]

    @classmethod
    def of(cls, rng: np.random.Generator) -> Streams:
        """A new family of streams, named by the next numbers of a generator."""
        return cls(tuple(int(value) for value in rng.integers(0, 2**63, size=2)))

    def block(self, number: int) -> np.random.Generator:
        """The stream of one block; SFC64 fills normals fastest."""
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence(self.entropy, spawn_key=(number,))))


@dataclass
class _Growing:
    """What draws ``(rng, k) -> (k, n)``, or ``-> (k,)``, block after block, and goes on where it stopped."""

    draw: Callable[[np.random.Generator, int], Vector]
    streams: Streams

    def state(self) -> dict[str, Any]:
        """Everything but the subject, as plain data."""
        return {"entropy": [str(value) for value in self.streams.entropy]}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.streams = Streams(tuple(int(value) for value in state["entropy"]))


class Bets(Protocol):
    """What sees every block of deviations as it comes, and can be gone on with."""

    def add(self, rows: Vector) -> None:
        """Take in a block, shape (k, n)."""

    def state(self) -> dict[str, Any]:
        """Everything that samples change."""

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""


B = TypeVar("B", bound=Bets)


@dataclass
class Sampler(_Growing):
    """Draws blocks of vectors and keeps their moments.

    ``look`` is the last planned size at which these were decided upon; 0 before the first. ``bets`` see every block
    as it comes.
    """

    moments: Moments
    block: int = BLOCK
    done: int = 0
    look: int = 0
    bets: Bets | None = None
    _given: dict[str, Any] | None = None

    def follow(self, bets: B) -> B:
        """Bet on all blocks, from the first: before any is drawn, or where an earlier run or decision did the same.

        Raises:
            ValueError: If blocks were drawn that nobody bet on.
        """
        if not isinstance(self.bets, type(bets)):
            if self._given is not None:
                bets.restore(self._given)
            elif self.done:
                raise ValueError("bets must be laid before anything is drawn")
            self.bets = bets
            return bets
        return self.bets

    def reach(self, count: int) -> Moments:
        """Draw whole blocks until at least ``count`` samples are in."""
        while self.moments.count < count:
            rows = self.draw(self.streams.block(self.done), self.block)
            if self.bets is not None:
                self.bets.add(rows - self.moments.centre)
            self.moments.add(rows)
            self.done += 1
        return self.moments

    def means(self, calls: int, rows: int) -> Vector:
        """Means of further calls of so many rows, shape (calls, n), each with a stream of its own."""
        means = [self.draw(self.streams.block(BEYOND + number), rows).mean(axis=0) for number in range(calls)]
        return np.array(means)

    def state(self) -> dict[str, Any]:
        """Everything but the subject, as plain data."""
        laid = self._given if self.bets is None else self.bets.state()
        bets = {} if laid is None else {"bets": laid}
        return super().state() | {"done": self.done, "look": self.look, "moments": self.moments.state()} | bets

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        super().restore(state)
        self.done, self.look = int(state["done"]), int(state["look"])
        self.moments = type(self.moments).resume(state["moments"])
        self._given = state.get("bets")


@dataclass
class BoundedSampler(_Growing):
    """Draws blocks of numbers in [0, 1] into a confidence sequence for their mean."""

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
        return super().state() | {"done": self.done, "sequence": self.sequence.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        super().restore(state)
        self.done, self.sequence = int(state["done"]), EmpiricalBernstein(**state["sequence"])


G = TypeVar("G", bound=_Growing)


@dataclass
class Ledger:
    """The growing samples of one case, in the order in which its check begins them.

    ``given`` are the states that an earlier run left; ``drawn`` says whether randomness was used beside the case's
    own generator.
    """

    given: Sequence[dict[str, Any]] = ()
    drawn: bool = False
    _begun: list[_Growing] = field(default_factory=list)
    _rng: np.random.Generator | None = None
    _start: Any = None

    def watch(self, rng: np.random.Generator) -> None:
        """Remember where a case's own generator stood when the case began; copies of the case change nothing."""
        if self._rng is None:
            self._rng, self._start = rng, _position(rng)

    @property
    def drew(self) -> bool:
        """Whether anything was drawn, by the check or by the subject."""
        return self.drawn or (self._rng is not None and _position(self._rng) != self._start)

    def keep(self, sample: G) -> G:
        """Enter a sample that begins here; where an earlier run left its state, it goes on from there."""
        number = len(self._begun)
        if number < len(self.given):
            sample.restore(self.given[number])
        self._begun.append(sample)
        return sample

    def states(self) -> list[dict[str, Any]]:
        """What a later run needs to go on."""
        return [sample.state() for sample in self._begun]


def _position(rng: np.random.Generator) -> tuple[str, int]:
    """Where a generator stands, children it has had included."""
    bits = rng.bit_generator
    return repr(bits.state), int(getattr(bits.seed_seq, "n_children_spawned", 0))
