"""A baseline: the verdicts, exponents, constants and counts of one run, small enough to commit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeVar

from pydantic import ConfigDict, Field, model_validator

from verify.campaign.plan import plan
from verify.checks.measuring.case import ProfileName, checks, find_profile
from verify.evidence.model import ComparisonEvidence, FrozenData, RateEvidence, Relation, Role, Rung, agrees
from verify.report.model import Result
from verify.report.report_files import Report
from verify.report.rows.identified import Identified
from verify.verdict import Verdict

SCHEMA: Literal["f2csa-baseline/1"] = "f2csa-baseline/1"
DIGITS = 8
"""Significant digits kept of a measured number, far more than any comparison resolves."""
Finite = Annotated[float, Field(allow_inf_nan=False)]
Width = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""An uncertainty or tolerance."""
Probability = Annotated[float, Field(ge=0, le=1)]
Samples = Annotated[int, Field(ge=0)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9:/._=,-]+$")]
"""What identifies a result holds nothing that separates names."""


class ProvenBound(FrozenData):
    """``quantity <= constant * variable**exponent`` (or >=) on (0, end], as proven.

    Args:
        side: ``upper`` or ``lower``.
        exponent: The power.
        constant: The constant.
        end: Right end of the interval.
    """

    side: Literal["upper", "lower"]
    exponent: int
    constant: Finite
    end: Finite


class Sweep(FrozenData):
    """How a quantity scaled with a variable, with its level at every usable point.

    Args:
        quantity: What was measured.
        variable: What was swept.
        rung: How it was obtained.
        exponent: The power; ``inf`` where the quantity is exactly zero.
        interval: Encloses the exponent.
        role: ``conclusion`` decided the verdict; ``support`` was shown beside it.
        coefficient: Leading coefficient, where the expansion is exact.
        bounds: Bounds proven for all values of the variable in an interval.
        at: Values of the variable at the usable points.
        measured: The quantity there: the constant, before any fit.
        uncertainty: Half-widths within which the ideal values lie.
        points: Points taken in all, usable or not.
        samples: Samples drawn.
        error_rate: Probability that an interval misses, for statistical evidence.
    """

    quantity: str
    variable: str
    rung: Rung
    exponent: float
    interval: tuple[float, float]
    role: Role = "conclusion"
    coefficient: Finite | None = None
    bounds: tuple[ProvenBound, ...] = ()
    at: tuple[Finite, ...] = ()
    measured: tuple[Finite, ...] = ()
    uncertainty: tuple[Width, ...] = ()
    points: int = 0
    samples: Samples | None = None
    error_rate: Probability | None = None

    @model_validator(mode="after")
    def _columns_match(self) -> Sweep:
        if not len(self.at) == len(self.measured) == len(self.uncertainty) <= self.points:
            raise ValueError("at, measured and uncertainty must have one entry a usable point, at most `points`")
        if self.interval[0] > self.interval[1]:
            raise ValueError("the interval must begin before it ends")
        return self

    @classmethod
    def of(cls, item: RateEvidence) -> Sweep:
        """What is kept of a rate."""
        usable = [p for p in item.points if p.usable and all(map(math.isfinite, (p.at, p.measured, p.uncertainty)))]
        return cls(
            quantity=item.quantity, variable=item.variable, rung=item.rung, role=item.role,
            exponent=_short(item.exponent), interval=(_short(item.interval[0]), _short(item.interval[1])),
            coefficient=None if item.coefficient is None else _short(item.coefficient),
            bounds=tuple(
                ProvenBound(side=b.side, exponent=b.exponent, constant=_short(b.constant), end=_short(b.end))
                for b in item.bounds
            ),
            at=tuple(_short(point.at) for point in usable),
            measured=tuple(_short(point.measured) for point in usable),
            uncertainty=tuple(_short(point.uncertainty, 3) for point in usable),
            points=len(item.points), samples=item.samples, error_rate=item.error_rate,
        )  # fmt: skip


class Level(FrozenData):
    """A measured value beside a predicted one.

    Args:
        quantity: What was measured.
        rung: How it was obtained.
        measured: Its value.
        relation: What should hold between measured and predicted.
        predicted: The derived or claimed value.
        tolerance: Allowed absolute slack, from rounding or sampling.
        role: ``conclusion`` decided the verdict; ``support`` was shown beside it.
        samples: Samples drawn.
        error_rate: Probability of a wrong outcome, for statistical evidence.
    """

    quantity: str
    rung: Rung
    measured: float
    relation: Relation
    predicted: float
    tolerance: Width = 0.0
    role: Role = "conclusion"
    samples: Samples | None = None
    error_rate: Probability | None = None

    @classmethod
    def of(cls, item: ComparisonEvidence) -> Level:
        """What is kept of a comparison."""
        # All digits: rounded ones could change whether it holds.
        return cls(**{name: getattr(item, name) for name in cls.model_fields})

    @property
    def holds(self) -> bool:
        """Whether the relation holds within the tolerance."""
        return agrees(self.measured, self.relation, self.predicted, self.tolerance)


class Entry(FrozenData, Identified):
    """One result on record.

    Args:
        claim: Full id of the claim or step.
        reading: ``as-written``, ``repaired`` or ``only:FIELD``.
        instance: Atlas name.
        verdict: The verdict.
        rung: Rung it rested on.
        sweeps: Exponents and constants.
        levels: Compared values.
    """

    claim: Name
    reading: Name
    instance: Name
    verdict: Verdict
    rung: Rung | None = None
    sweeps: tuple[Sweep, ...] = ()
    levels: tuple[Level, ...] = ()

    @classmethod
    def of(cls, result: Result, verdict: Verdict) -> Entry:
        """What is kept of a result."""
        return cls(
            **result.named, verdict=verdict, rung=result.rung,
            sweeps=tuple(Sweep.of(item) for item in result.evidence if isinstance(item, RateEvidence)),
            levels=tuple(Level.of(item) for item in result.evidence if isinstance(item, ComparisonEvidence)),
        )  # fmt: skip


class Baseline(FrozenData):
    """What a subject came out with, to hold later runs against.

    Args:
        schema: ``f2csa-baseline/1``.
        subject: Name of the subject, as it is loaded again.
        subject_version: Its version, if it says one.
        environment: Versions that can influence a number.
        seed: Seed of the run.
        profile: Profile of the run.
        effort: Factor on all sample sizes, the largest among the results.
        results: One entry a result; faults are never recorded.
        verdicts_only: Whether there are no numbers to compare.
    """

    schema_: Literal["f2csa-baseline/1"] = Field(default=SCHEMA, alias="schema")
    subject: str
    subject_version: str = ""
    environment: dict[str, str] = Field(default_factory=dict)
    seed: int = Field(ge=0)
    profile: ProfileName
    effort: int = Field(default=1, ge=1)
    results: tuple[Entry, ...]
    verdicts_only: bool = False

    model_config = ConfigDict(populate_by_name=True)

    @model_validator(mode="after")
    def _keys_are_unique(self) -> Baseline:
        if not self.results:
            raise ValueError("results must hold at least one")
        if len(self.entries) < len(self.results):
            raise ValueError("results must not hold the same result twice")
        return self

    @classmethod
    def of(cls, report: Report) -> Baseline:
        """Record a report, less what was skipped; raises ``ValueError`` if it holds no verdict."""
        return cls(
            subject=report.subject, subject_version=report.subject_version, environment=report.environment,
            seed=report.seed, profile=find_profile(report.profile).name,
            effort=max((result.effort for result in report.results), default=1),
            results=tuple(Entry.of(result, result.verdict) for result in report.results
                          if result.verdict is not None and not result.is_skipped),
        )  # fmt: skip

    @property
    def bare(self) -> Baseline:
        """Its verdicts alone."""
        bare = tuple(Entry(**entry.named, verdict=entry.verdict) for entry in self.results)
        return self.model_copy(update={"results": bare, "verdicts_only": True})

    @property
    def entries(self) -> dict[str, Entry]:
        """Results by key."""
        return {entry.key: entry for entry in self.results}

    @property
    def verdicts(self) -> dict[str, str]:
        """Verdicts by key."""
        return {entry.key: str(entry.verdict) for entry in self.results}


def _short(value: float, digits: int = DIGITS) -> float:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else value


R = TypeVar("R", bound=Identified)


@dataclass(frozen=True)
class Selection:
    """The claims, readings and instances asked for, as for a run; empty means all.

    A claim brings its steps, and both named readings each choice alone.
    """

    claims: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()

    def of(self, results: Iterable[R]) -> tuple[R, ...]:
        """Those results that a run of this selection should produce."""
        return tuple(
            result for result in results
            if (not self.claims or {result.claim, result.claim.split("/")[0]} & set(self.claims))
            and (not self.readings or result.reading in self.readings or self._isolates(result.reading))
            and (not self.instances or result.instance in self.instances)
        )  # fmt: skip

    def _isolates(self, reading: str) -> bool:
        return reading.startswith("only:") and {"as-written", "repaired"} <= set(self.readings)

    def narrow(self, baseline: Baseline) -> Baseline | None:
        """The baseline with the selected results only; ``None`` if that leaves nothing."""
        selected = self.of(baseline.results)
        return baseline.model_copy(update={"results": selected}) if selected else None


def replay(baseline: Baseline) -> Selection:
    """The selection that runs again what was recorded, and as little else as possible."""
    recorded = set(baseline.entries)
    known = [entry for entry in baseline.results if entry.claim in checks()]
    readings = list(dict.fromkeys(entry.reading for entry in known))
    if {"as-written", "repaired"} <= set(readings):
        # Profiles that isolate choices add those themselves.
        readings = ["as-written", "repaired"]
    ids = {entry.claim for entry in known}
    claims = tuple(dict.fromkeys(c for c in (entry.claim for entry in known) if c.split("/")[0] not in ids - {c}))
    narrow = Selection(claims, tuple(readings), tuple(dict.fromkeys(entry.instance for entry in known)))

    def planned(selection: Selection) -> set[str]:
        arguments = (list(selection.claims), list(selection.readings), list(selection.instances))
        return {task.key for task in plan(*arguments, find_profile(baseline.profile), "", 0)}

    if not ids:
        return narrow
    # The whole suite first: naming a claim also runs what a profile leaves out of it.
    tried = [replace(narrow, claims=c, instances=i) for c in ((), claims) for i in ((), narrow.instances)]
    # As much of the record as possible first, then as little beside it.
    return min(tried, key=lambda selection: (-len(planned(selection) & recorded), len(planned(selection) - recorded)))
