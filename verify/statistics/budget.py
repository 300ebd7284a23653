"""One error budget for a whole run, split evenly over every stochastic decision the suite can make.

The split is by the registry, not by what a particular run selects: a decision's share is the same in a single check,
in a full run and on any number of workers. Registering another check makes every share smaller.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, get_args

from spec.errors import InvalidInputError
from verify.evidence import Law

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from verify.evidence import ComparisonEvidence, Evidence, RateEvidence
    from verify.registry import Check

TOTAL_ERROR = 1e-6
"""Largest probability that a full run refutes anything falsely."""
POWER = 0.999
"""Probability with which a decision's stated smallest violation is caught."""
EFFORT_STEP = 4
"""Factor between neighbouring efforts, the same as between neighbouring looks at a growing sample."""


@dataclass(frozen=True)
class Share:
    """What one decision may spend.

    Args:
        error: Probability of a false refutation, in (0, 1).
        missed: Probability of missing the stated smallest violation, in (0, 1).
        level: How many times all sample sizes are multiplied by :data:`EFFORT_STEP`, >= 0.
    """

    error: float
    missed: float = 1 - POWER
    level: int = 0

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

    def part(self, parts: int) -> Share:
        """An equal part of this share."""
        return replace(self, error=self.error / parts)

    def times(self, count: int) -> int:
        """A sample size at this level."""
        return int(count * EFFORT_STEP**self.level)


def share(total: float = TOTAL_ERROR) -> Share:
    """One decision's part of a total error."""
    return Share(total / full_run_decisions())


@lru_cache(maxsize=1)
def full_run_decisions() -> int:
    """Stochastic decisions of a run of everything: every check, reading and instance."""
    from verify.registry import checks

    return sum(check.decisions * len(check.instances) * len(_readings(check)) for check in checks().values())


def _readings(check: Check) -> tuple[str, ...]:
    from spec.claims import find

    choices = find(check.claim).choices
    return ("as-written", "repaired", *(choices if len(choices) > 1 else ()))


class OverspentError(RuntimeError):
    """A check made more stochastic decisions than it registered, or at a larger error: a fault of the check."""


def level_of(effort: int) -> int:
    """How many steps an effort is above the least.

    Raises:
        InvalidInputError: If it is not 1, 4, 16, ..., at most 4**6.
    """
    steps = [k for k in range(LEVELS + 1) if effort == EFFORT_STEP**k]
    if not steps:
        raise InvalidInputError("effort", f"must be a power of {EFFORT_STEP}, at most {EFFORT_STEP**LEVELS}", effort)
    return steps[0]


LEVELS = 6
"""Levels of effort above the least; beyond, a run would take weeks."""


def enforce(check: Check, evidence: Iterable[Evidence], allowed: float, *, drew: bool = True) -> None:
    """Refuse evidence that spends more than the check's registered decisions, or hides what it spends.

    Args:
        check: The check as registered.
        evidence: What it returned.
        allowed: Error of one decision.
        drew: Whether anything was drawn at random on the way.

    Raises:
        OverspentError: If it overspends, or if more rates and comparisons than registered say nothing about their
            error although something was drawn.
    """
    numbers = [item for item in evidence if item.kind != "premise"]
    _enforce_stated(check, numbers, drew=drew)
    spent = [rate for item in numbers if (rate := item.error_rate) is not None]
    if len(spent) > check.decisions:
        raise OverspentError(f"{check.claim} made {len(spent)} stochastic decisions and registered {check.decisions}")
    if any(rate > allowed * (1 + 1e-9) for rate in spent):
        raise OverspentError(f"{check.claim} spent an error of {max(spent):.3g} on a decision; allowed {allowed:.3g}")


def _enforce_stated(check: Check, numbers: Sequence[RateEvidence | ComparisonEvidence], *, drew: bool) -> None:
    silent = [item for item in numbers if item.error_rate is None]
    if drew and len(silent) > check.sure:
        raise OverspentError(
            f"{check.claim} drew at random; {len(silent)} of its numbers state no error rate and {check.sure} are "
            f"registered as sure, e.g. {silent[-1].quantity}"
        )
    known = get_args(Law)
    lawless = next((item for item in numbers if item.error_rate is not None and item.law not in known), None)
    if lawless is not None:
        raise OverspentError(f"{check.claim} states an error rate for {lawless.quantity} and no law behind it")
