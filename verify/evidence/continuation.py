"""Growing samples of one case: whether anything was drawn, what an earlier run left, and what this one leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np


class Growing(Protocol):
    """A sample that can go on growing later."""

    def state(self) -> dict[str, Any]:
        """Everything, as plain data."""
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        ...


G = TypeVar("G", bound=Growing)


@dataclass
class Ledger:
    """The growing samples of one case, in the order in which its check begins them.

    Args:
        given: States that an earlier run left; empty where there is none.
        drawn: Whether randomness was used beside the case's own generator.
    """

    given: Sequence[dict[str, Any]] = ()
    drawn: bool = False
    _begun: list[Growing] = field(default_factory=list)
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
