"""Checks by claim: which code spends a claim's premises and measures its conclusion, where, and with how much work."""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal

import numpy as np

from spec import REPAIRED, InvalidInputError, OracleParameters, Reading, Sense
from spec.atlas import Instance
from spec.claims import Bound
from spec.exact import Vector
from spec.reading import is_repaired_text
from verify.checks.measuring.long_runs import EVERY_TERM, LONG, OTHER_LAWS, OUTER_RUNS, SLOW, SMOKE_NARROW, TOO_LONG
from verify.evidence.anytime import NoiseClass
from verify.evidence.budget import TOTAL_ERROR, Share
from verify.evidence.charts import Plot
from verify.evidence.model import LAWS, ComparisonEvidence, Counterexample, Evidence, Point, Relation
from verify.evidence.streams import Ledger
from verify.subjects.protocol import Call, StageCalls
from verify.subjects.stage_table import Capability

ProfileName = Literal["smoke", "ci", "full", "conform"]


@dataclass(frozen=True)
class Profile:
    """Sizes of one run, by the name on the command line.

    ``alphas`` go towards zero and beyond the floating-point floor on purpose, so a report can show where double
    precision ends; ``sample_alphas`` are for sampled quantities. ``breadth`` is how many of a check's instances to run,
    ``None`` for all, and ``beside`` how many under the further points of the lattice of readings; where it is given the
    literal ones are judged, and where ``isolate``, all, each choice alone among them; ``recheck`` whether every
    certificate is verified by the independent checker, not only the first of each bound: it works in plain fractions
    and takes far longer than making them. ``skips`` are claims and steps left out unless they are asked for by name:
    their samples cannot shrink without leaving the verdict open; ``long_runs`` are single statements left out likewise,
    whatever their claim (:meth:`left_out`). ``narrow`` are such as are judged on the first instance alone, ``telling``
    instances on which all that is not sampled is judged besides. ``draws`` is on how many problems of each family
    statements are asked besides, ``effort`` the factor on all sample sizes, if a run does not say otherwise.
    ``shorter`` divides the steps after which a subject's own iterations are read; ratios stay.
    """

    name: ProfileName
    alphas: tuple[float, ...]
    sample_alphas: tuple[float, ...]
    replications: int
    breadth: int | None
    isolate: bool
    beside: int | None = None
    recheck: bool = False
    skips: tuple[str, ...] = ()
    long_runs: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()
    draws: int = 0
    effort: int = 1
    shorter: int = 1

    def leaves_out(self, full_id: str, claims: Collection[str] = ()) -> bool:
        """Whether a statement is left out where these are asked for by name."""
        left = of_family(full_id, self.skips) or full_id in self.long_runs
        return left and not of_family(full_id, claims)

    def left_out(self, claims: Collection[str], chosen: Collection[str]) -> list[str]:
        """The chosen statements that have a check and are left out where these claims are asked for by name."""
        return [name for name in checks() if name in chosen and self.leaves_out(name, claims)]

    def instances_of(self, check: Check) -> tuple[str, ...]:
        """On which of its instances a check is run."""
        first = check.instances[: 1 if of_family(check.claim, self.narrow) else self.breadth]
        stages = {"lower_level", "penalty_minimiser", "hypergradient"}
        if check.decisions or not check.needs or not stages.issuperset(check.needs):
            return first
        return tuple(name for name in check.instances if name in (*first, *self.telling))


def _halvings(start: float, count: int, factor: float = 2.0) -> tuple[float, ...]:
    return tuple(start / factor**j for j in range(count))


_SIZES = (
    Profile(
        "smoke",
        _halvings(0.1, 7),
        _halvings(0.1, 4),
        20_000,
        2,
        isolate=False,
        beside=1,
        long_runs=TOO_LONG,
        narrow=SMOKE_NARROW,
        shorter=4,
    ),
    Profile("ci", _halvings(0.2, 10), _halvings(0.1, 5), 20_000, None, isolate=True, beside=1),
    Profile(
        "full",
        _halvings(0.2, 23, 2**0.5),
        _halvings(0.2, 7),
        200_000,
        None,
        isolate=True,
        recheck=True,
        draws=1000,
        effort=256,
    ),
    # As ci, on fewer instances: an implementation that fails somewhere fails on the telling ones.
    Profile(
        "conform",
        _halvings(0.2, 10),
        _halvings(0.1, 5),
        20_000,
        2,
        isolate=False,
        skips=("sfo-complexity",),
        long_runs=(*OUTER_RUNS, *OTHER_LAWS),
        narrow=SLOW,
        telling=EVERY_TERM,
    ),
)
PROFILES: dict[str, Profile] = {profile.name: profile for profile in _SIZES}


def find_profile(name: str) -> Profile:
    """Look a profile up.

    Raises:
        InvalidInputError: If there is none of that name.
    """
    if name not in PROFILES:
        raise InvalidInputError("profile", f"must be one of {', '.join(PROFILES)}", name)
    return PROFILES[name]


@dataclass(frozen=True)
class Case:
    """What one check is given; ``reading_name`` is a point of the statement's lattice of readings, by its name.

    ``reading`` is what a program is told, ``sense`` how the text's hypotheses are read. ``rng`` is this case's alone,
    from the run's ``seed`` and the case's name; ``seed`` serves randomness that several cases share by name.
    ``error_budget`` is the largest probability that a full run refutes anything falsely, split over all decisions;
    ``level`` is how often sample sizes are multiplied by four, ``ledger`` has the growing samples of this case, shared
    by all copies, ``noise`` is the class of laws that a project states.
    """

    claim: str
    bound: Bound
    reading_name: str
    reading: Reading
    instance: Instance
    stages: StageCalls
    profile: Profile
    rng: np.random.Generator
    seed: int = 0
    sense: Sense = field(default_factory=Sense)
    error_budget: float = TOTAL_ERROR
    level: int = 0
    ledger: Ledger = field(default_factory=Ledger, repr=False, compare=False)
    noise: NoiseClass | None = None
    repaired: ClassVar[Reading] = REPAIRED

    def __post_init__(self) -> None:
        self.ledger.watch(self.rng)

    @property
    def share(self) -> Share:
        """What one stochastic decision of this case may spend."""
        return Share(self.error_budget / full_run_decisions(), level=self.level, noise=self.noise)

    def shared_rng(self, name: str) -> np.random.Generator:
        """Randomness that every case of this run asking by the same name shares."""
        self.ledger.drawn = True
        return np.random.default_rng([self.seed, zlib.crc32(name.encode())])

    def place_rng(self) -> np.random.Generator:
        """Randomness for *where* a subject is asked about what holds everywhere: no decision hangs on it."""
        return np.random.default_rng([self.seed, zlib.crc32(f"{self.claim} on {self.instance.name}".encode())])

    def fresh_rng(self) -> np.random.Generator:
        """A stream of its own, so that what is drawn from it moves no other draw of this case."""
        return np.random.default_rng(self.rng.integers(2**63))

    @property
    def as_written(self) -> bool:
        """Whether the literal text's premises are to be spent."""
        return not is_repaired_text(self.reading_name)

    @cached_property
    def x(self) -> Vector:
        """The instance's point, shape (n,)."""
        return np.array([float(value) for value in self.instance.x])

    def call(self, alpha: float, **given: Any) -> Call:
        """An oracle call under this case's reading and sense; ``given`` are further fields of the call."""
        return Call(**{"alpha": alpha, "reading": self.reading, "parameters": self.parameters(alpha), **given})

    def parameters(self, alpha: float, **more: Any) -> OracleParameters:
        """Beside these the width of the multiplier's ramp, as the text is read."""
        width = {"lam_width": alpha**3} if self.sense.multiplier_width == "shrinking" else {}
        return OracleParameters(**width | more)


@dataclass(frozen=True)
class Measurement:
    """What one check brings back; ``values`` and ``note`` (a hand-checkable line) are shown with a counterexample.

    ``pictures`` show what was measured, beside the verdict.
    """

    evidence: tuple[Evidence, ...]
    values: dict[str, float | str] = field(default_factory=dict)
    note: str = ""
    counterexample: Counterexample | None = None
    pictures: tuple[Plot, ...] = ()


def compare(
    quantity: str, measured: float, relation: Relation, predicted: float, tolerance: float = 0.0, **stated: Any
) -> ComparisonEvidence:
    """A measured value beside a predicted one; ``stated`` are further fields of the evidence."""
    return ComparisonEvidence(
        quantity=quantity, measured=measured, relation=relation, predicted=predicted, tolerance=tolerance, **stated
    )


def values_at(label: str, points: Sequence[Point], form: str = "g") -> dict[str, float | str]:
    """Measured values by where they were measured, to show."""
    return {f"{label} = {point.at:{form}}": point.measured for point in points}


CheckFunction = Callable[[Case], Measurement]
"""Code of a check: a case in, evidence out, no verdict."""


@dataclass(frozen=True)
class Check:
    """A registered check of a claim or step, given by its full id; needs are stages the subject must offer.

    Instances are atlas names, the most telling first (a smoke run takes the first ones). ``decisions`` are stochastic
    decisions one case makes; they share the run's error budget. ``sure`` are comparisons and rates of one case, beside
    those decisions, that refute nothing falsely whatever is drawn: exact laws, counts, identities of every path,
    bounds tried at random points. ``unaided`` says that the subject's own answers are asked for and no stage is given:
    one that takes no stage values is right there all the same.
    """

    claim: str
    function: CheckFunction
    instances: tuple[str, ...]
    needs: tuple[Capability, ...]
    decisions: int = 0
    sure: int = 0
    unaided: bool = False


_CHECKS: dict[str, Check] = {}


def check(
    claim: str,
    *,
    instances: tuple[str, ...],
    needs: tuple[Capability, ...] = (),
    decisions: int = 0,
    sure: int = 0,
    unaided: bool = False,
) -> Callable[[CheckFunction], CheckFunction]:
    """Register a check for a claim or proof step; arguments as the fields of :class:`Check`."""

    def register(function: CheckFunction) -> CheckFunction:
        if claim in _CHECKS:
            raise ValueError(f"two checks for {claim}")
        _CHECKS[claim] = Check(claim, function, instances, needs, decisions, sure, unaided)
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


def _readings(check: Check) -> set[str]:
    from spec.claims import find

    statement = find(check.claim)
    alone = {f"only:{choice}" for choice in statement.repairable}
    points = (*statement.literal_readings, *statement.repairs.values(), *kept_texts(check))
    return {"as-written", "repaired", *alone, *points}


def kept_texts(check: Check) -> tuple[str, ...]:
    """The repaired text with fewer of its choices, where it has more than those: another bound, or hypotheses.

    Not of what samples long, or samples the same quantity as the literal text: there the partial repairs' own
    measurements are held against the repaired bound.
    """
    from spec.claims import find

    statement = find(check.claim)
    added = any("as-written" not in premise.readings for premise in statement.premises)
    ours, theirs = statement.repaired.bound, statement.as_written.bound
    sampled = check.decisions > 0 and ours.quantity == theirs.quantity and not added
    if not (added or ours != theirs) or sampled or of_family(check.claim, LONG):
        return ()
    return tuple(statement.kept.values())


def of_family(full_id: str, claims: Collection[str]) -> bool:
    """Whether a statement is one of these claims and steps, or a step of one."""
    return full_id in claims or full_id.split("/")[0] in claims


class OverspentError(RuntimeError):
    """A check made more stochastic decisions than it registered, or at a larger error: a fault of the check."""


def enforce(check: Check, evidence: Iterable[Evidence], allowed: float, *, drew: bool = True) -> None:
    """Refuse evidence that spends more than the check's decisions at ``allowed`` error each, or hides what it spends.

    It hides it where more rates and comparisons than registered say nothing about their error although it drew.
    """
    numbers = [item for item in evidence if item.kind != "premise"]
    silent = [item for item in numbers if item.error_rate is None]
    if drew and len(silent) > check.sure:
        stated = f"{len(silent)} of its numbers state no error rate and {check.sure} are registered as sure"
        raise OverspentError(f"{check.claim} drew at random; {stated}, e.g. {silent[-1].quantity}")
    spent = [rate for item in numbers if (rate := item.error_rate) is not None]
    for item in numbers:
        if item.error_rate is not None and item.law not in LAWS:
            raise OverspentError(f"{check.claim} states an error rate for {item.quantity} and no law behind it")
    if len(spent) > check.decisions:
        raise OverspentError(f"{check.claim} made {len(spent)} stochastic decisions and registered {check.decisions}")
    if any(rate > allowed * (1 + 1e-9) for rate in spent):
        raise OverspentError(f"{check.claim} spent an error of {max(spent):.3g} on a decision; allowed {allowed:.3g}")
