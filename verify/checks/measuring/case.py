"""Checks by claim: which code spends a claim's premises and measures its conclusion, and where."""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Protocol, get_args

import numpy as np

from spec import REPAIRED, OracleParameters, Reading
from spec.atlas import Instance
from spec.claims import Bound
from spec.exact import Vector
from verify.checks.measuring.profiles import Profile
from verify.evidence.budget import TOTAL_ERROR, Share
from verify.evidence.model import ComparisonEvidence, Counterexample, Evidence, Law, RateEvidence
from verify.evidence.streams import Ledger
from verify.subjects.protocol import Call, Stages
from verify.subjects.stage_table import Capability


@dataclass(frozen=True)
class Case:
    """What one check is given.

    Args:
        bound: The bound asserted under this reading.
        reading_name: ``as-written``, ``repaired`` or ``only:FIELD``.
        rng: Randomness of this case alone, derived from the run's seed and the case's name.
        seed: Seed of the run, for randomness that several cases share by name.
        error_budget: Largest probability that a full run refutes anything falsely; split over all its decisions.
        level: How many times sample sizes are multiplied by four.
        ledger: Growing samples of this case, shared by all its copies.
    """

    claim: str
    bound: Bound
    reading_name: str
    reading: Reading
    instance: Instance
    stages: Stages
    profile: Profile
    rng: np.random.Generator
    seed: int = 0
    error_budget: float = TOTAL_ERROR
    level: int = 0
    ledger: Ledger = field(default_factory=Ledger, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.ledger.watch(self.rng)

    @property
    def share(self) -> Share:
        """What one stochastic decision of this case may spend."""
        return Share(self.error_budget / full_run_decisions(), level=self.level)

    def shared_rng(self, name: str) -> np.random.Generator:
        """Randomness that every case of this run asking by the same name shares."""
        self.ledger.drawn = True
        return np.random.default_rng([self.seed, zlib.crc32(name.encode())])

    def fresh_rng(self) -> np.random.Generator:
        """A stream of its own, so that what is drawn from it moves no other draw of this case."""
        return np.random.default_rng(self.rng.integers(2**63))

    @property
    def as_written(self) -> bool:
        """Whether the literal text's premises are to be spent."""
        return self.reading_name != "repaired"

    @cached_property
    def x(self) -> Vector:
        """The instance's point, shape (n,)."""
        return np.array([float(value) for value in self.instance.x])

    def call(self, alpha: float, **given: object) -> Call:
        """An oracle call under this case's reading."""
        made: dict[str, object] = {"alpha": alpha, "reading": self.reading, "parameters": OracleParameters(), **given}
        return Call(**made)  # type: ignore[arg-type]  # keyword names are Call's own fields

    @property
    def repaired(self) -> Reading:
        return REPAIRED


@dataclass(frozen=True)
class Measurement:
    """What one check brings back; ``values`` and ``note`` (a hand-checkable line) are shown with a counterexample."""

    evidence: tuple[Evidence, ...]
    values: dict[str, float | str] = field(default_factory=dict)
    note: str = ""
    counterexample: Counterexample | None = None


class CheckFunction(Protocol):
    """Code of a check: a case in, evidence out, no verdict."""

    def __call__(self, case: Case) -> Measurement: ...


@dataclass(frozen=True)
class Check:
    """A registered check.

    Args:
        claim: Full id of the claim or step it judges.
        function: The code.
        instances: Names of atlas instances, the most telling first (a smoke run takes the first ones).
        needs: Stages the subject must offer.
        decisions: Stochastic decisions one case makes; they share the run's error budget.
        sure: Comparisons and rates of one case, beside those decisions, that refute nothing falsely whatever is
            drawn: exact laws, counts, identities of every path, bounds tried at random points.
    """

    claim: str
    function: CheckFunction
    instances: tuple[str, ...]
    needs: tuple[Capability, ...]
    decisions: int = 0
    sure: int = 0


_CHECKS: dict[str, Check] = {}


def check(
    claim: str, *, instances: tuple[str, ...], needs: tuple[Capability, ...] = (), decisions: int = 0, sure: int = 0
) -> Callable[[CheckFunction], CheckFunction]:
    """Register a check for a claim or proof step; arguments as the fields of :class:`Check`."""

    def register(function: CheckFunction) -> CheckFunction:
        if claim in _CHECKS:
            raise ValueError(f"two checks for {claim}")
        _CHECKS[claim] = Check(claim, function, instances, needs, decisions, sure)
        return function

    return register


@lru_cache(maxsize=1)
def checks() -> dict[str, Check]:
    """All checks by claim id; every module of ``verify.checks`` is loaded."""
    package = importlib.import_module("verify.checks")
    for module in pkgutil.walk_packages(package.__path__, "verify.checks."):
        importlib.import_module(module.name)
    return dict(_CHECKS)


@lru_cache(maxsize=1)
def full_run_decisions() -> int:
    """Stochastic decisions of a run of everything: every check, reading and instance."""
    return sum(check.decisions * len(check.instances) * len(_readings(check)) for check in checks().values())


def _readings(check: Check) -> tuple[str, ...]:
    from spec.claims import find

    choices = find(check.claim).choices
    return ("as-written", "repaired", *(choices if len(choices) > 1 else ()))


class OverspentError(RuntimeError):
    """A check made more stochastic decisions than it registered, or at a larger error: a fault of the check."""


def enforce(check: Check, evidence: Iterable[Evidence], allowed: float, *, drew: bool = True) -> None:
    """Refuse evidence that spends more than the check's decisions at ``allowed`` error each, or hides what it spends.

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
