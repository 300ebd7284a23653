"""One error budget for a whole run, split evenly over every stochastic decision the suite can make.

The split is by the registry, not by what a particular run selects: a decision's share is the same in a single check,
in a full run and on any number of workers. Registering another check makes every share smaller.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from spec.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from verify.evidence import Evidence
    from verify.registry import Check

TOTAL_ERROR = 1e-6
"""Largest probability that a full run refutes anything falsely."""
POWER = 0.999
"""Probability with which a decision's stated smallest violation is caught."""


@dataclass(frozen=True)
class Share:
    """What one decision may spend.

    Args:
        error: Probability of a false refutation, in (0, 1).
        missed: Probability of missing the stated smallest violation, in (0, 1).
    """

    error: float
    missed: float = 1 - POWER

    def __post_init__(self) -> None:
        for name, value in (("error", self.error), ("missed", self.missed)):
            if not 0 < value < 1:
                raise InvalidInputError(name, "must be > 0 and < 1", value)


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


def enforce(check: Check, evidence: Iterable[Evidence], allowed: float) -> None:
    """Refuse evidence that spends more than the check's registered decisions.

    Args:
        check: The check as registered.
        evidence: What it returned.
        allowed: Error of one decision.

    Raises:
        OverspentError: If it overspends.
    """
    spent = [rate for item in evidence if (rate := getattr(item, "error_rate", None)) is not None]
    if len(spent) > check.decisions:
        raise OverspentError(f"{check.claim} made {len(spent)} stochastic decisions and registered {check.decisions}")
    if any(rate > allowed * (1 + 1e-9) for rate in spent):
        raise OverspentError(f"{check.claim} spent an error of {max(spent):.3g} on a decision; allowed {allowed:.3g}")
