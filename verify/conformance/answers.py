"""What a subject showed: its answers to probes, its samples and runs, and what there is to say about them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from spec.exact import Vector
from verify.conformance import outer
from verify.conformance import sampled_stages as sampling
from verify.conformance.bugs.model import Stage
from verify.conformance.model import StageFinding
from verify.conformance.probes import Probe
from verify.conformance.signatures import Statistic
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import Stages

FAULTS = 3
"""A stage that failed so often is not asked again."""


@dataclass(frozen=True)
class Answer:
    """What came back from one probe."""

    probe: Probe
    got: Vector

    @property
    def excess(self) -> float:
        """Largest difference from the right value, in tolerances."""
        return self.probe.excess(self.got)


@dataclass
class Asked:
    """What came of a stage's probes.

    Args:
        answers: In the order of asking.
        broken: Probes that ended in a fault, with it.
        refusal: What the subject said the first time it did not support a probe.
        refused: How many it did not support.
        late: How many there was no time for, or no point in after so many faults.
    """

    answers: list[Answer] = field(default_factory=list)
    broken: list[tuple[Probe, SubjectFaultError]] = field(default_factory=list)
    refusal: str = ""
    refused: int = 0
    late: int = 0


@dataclass
class Seen:
    """Everything a subject showed, stage by stage, and what is to be said about it.

    Args:
        stages: The subject's.
        answers: To the probes of the deterministic stages.
        broken: Probes that ended in a fault, with it.
        sampled: Samples of the oracle call.
        runs: Signatures of the inner solvers.
        record: Runs of Algorithm 2.
        findings: By stage.
        faults: One line each.
    """

    stages: Stages
    answers: list[Answer] = field(default_factory=list)
    broken: list[tuple[Probe, SubjectFaultError]] = field(default_factory=list)
    sampled: sampling.Sampled | None = None
    runs: dict[str, Statistic] = field(default_factory=dict)
    record: outer.Record | None = None
    findings: list[StageFinding] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def first(self) -> Stage | None:
        """The first stage that diverges."""
        return next((found.stage for found in self.findings if found.status == "diverges"), None)

    def of(self, stage: Stage) -> list[Answer]:
        """Answers of one stage."""
        return [answer for answer in self.answers if answer.probe.stage == stage]


def ask(stages: Stages, probes: Iterable[Probe], seconds: float) -> Asked:
    """Ask until the time is up or nothing comes back."""
    found, started = Asked(), time.perf_counter()
    for probe in probes:
        if probe.needs_draws and not stages.use_draws:
            continue
        if len(found.broken) >= FAULTS or time.perf_counter() - started > seconds:
            found.late += 1
            continue
        try:
            found.answers.append(Answer(probe, probe.ask(stages)))
        except MissingCapabilityError as refusal:
            found.refusal = found.refusal or str(refusal)
            found.refused += 1
        except SubjectFaultError as fault:
            found.broken.append((probe, fault))
    return found
