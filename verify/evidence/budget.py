"""One error budget for a whole run, split evenly over every stochastic decision the suite can make.

The split is by the registry, not by what a particular run selects: a decision's share is the same in a single check,
in a full run and on any number of workers. Registering another check makes every share smaller.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from spec.errors import InvalidInputError
from verify.evidence.anytime import NoiseClass

TOTAL_ERROR = 1e-6
"""Largest probability that a full run refutes anything falsely."""
POWER = 0.999
"""Probability with which a decision's stated smallest violation is caught."""
FALSE_SUPPORTS = 0.05
"""Largest probability that bets of a full run support anything that is wrong by the size they are asked for."""
EFFORT_STEP = 4
"""Factor between neighbouring efforts, the same as between neighbouring looks at a growing sample."""


@dataclass(frozen=True)
class Share:
    """What one decision may spend on false refutations, and on missing the stated smallest violation.

    All its sample sizes are multiplied by :data:`EFFORT_STEP` ``level`` times. ``noise`` is the class of laws that a
    project states; without, bets take Gaussian noise for granted until samples show another.
    """

    error: float
    missed: float = 1 - POWER
    level: int = 0
    noise: NoiseClass | None = None

    def __post_init__(self) -> None:
        for name, value in (("error", self.error), ("missed", self.missed)):
            if not 0 < value < 1:
                raise InvalidInputError(name, "must be > 0 and < 1", value)

    @property
    def single(self) -> Share:
        """What a decision with one fixed sample size may spend at this level.

        The levels 0, 1, 2, ... together spend the whole share, so whoever found too little and runs again with more
        samples errs no more often than promised.
        """
        return replace(self, error=self.error / ((self.level + 1) * (self.level + 2)))

    @property
    def unseen(self) -> float:
        """What bets may spend on a false support: as large a part of a run's as of its false refutations, at most."""
        return min(self.missed, FALSE_SUPPORTS * self.error / TOTAL_ERROR)

    def part(self, parts: int) -> Share:
        """An equal part of this share."""
        return replace(self, error=self.error / parts)

    def times(self, count: int) -> int:
        """A sample size at this level."""
        return int(count * EFFORT_STEP**self.level)


def level_of(effort: int) -> int:
    """How many steps an effort of 1, 4, 16, ..., at most 4**6 is above the least."""
    steps = [k for k in range(LEVELS + 1) if effort == EFFORT_STEP**k]
    if not steps:
        raise InvalidInputError("effort", f"must be a power of {EFFORT_STEP}, at most {EFFORT_STEP**LEVELS}", effort)
    return steps[0]


LEVELS = 6
"""Levels of effort above the least; beyond, a run would take weeks."""


def stated_noise(text: str) -> NoiseClass | None:
    """The class of laws that a project states; none where it says nothing."""
    return NoiseClass.named(text) if text else None
