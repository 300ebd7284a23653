"""What a subject is asked besides the built-in problems, or otherwise: own problems, another reading, cases to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from spec import REPAIRED, InvalidInputError, Reading
from spec.reading import NAMED
from verify.conformance import probes, saved_cases
from verify.conformance.bugs.model import Stage
from verify.conformance.found import Reproduction, StageFinding
from verify.conformance.other_reading import under
from verify.conformance.own_problems import OwnProbes, OwnProblem
from verify.conformance.probes import Probe
from verify.conformance.repro import failing, reproduce_stage
from verify.conformance.scripts import LOADS
from verify.conformance.stage_comparison import Seen, look
from verify.subjects.protocol import Stages

ELSEWHERE: tuple[Stage, ...] = ("samples", "runs")
"""Stages that are compared under the repaired reading alone."""


@dataclass(frozen=True)
class Asking:
    """How the user wants a subject asked; ``cases`` is a folder for tests, ``force`` replaces files of others there."""

    problems: Sequence[OwnProblem] = ()
    reading_name: str = "repaired"
    cases: Path | None = None
    force: bool = False

    def __post_init__(self) -> None:
        if self.reading_name not in NAMED:
            raise InvalidInputError("reading", f"must be one of {', '.join(NAMED)}", self.reading_name)

    @property
    def reading(self) -> Reading:
        """How the paper is read."""
        return NAMED[self.reading_name]

    @property
    def is_repaired(self) -> bool:
        """Whether claims can be judged: they are of the repaired reading."""
        return self.reading == REPAIRED

    def prepare(self, subject: str, load: str, claims: Sequence[str]) -> OwnProbes:
        """Refuse what cannot be done before anything is asked, and make the own problems' probes.

        Raises:
            InvalidInputError: If claims are asked for under another reading, tests of a subject that no name loads, or
                the tests would replace somebody's file.
        """
        if claims and not self.is_repaired:
            rule = f"must be left out with the reading {self.reading_name}: they are judged under the repaired one"
            raise InvalidInputError("claims", rule, ", ".join(claims))
        if self.cases is not None:
            if not load.startswith(LOADS):
                raise InvalidInputError("--save-cases", "needs a subject that can be loaded by its name", subject)
            saved_cases.prepare(self.cases, subject, force=self.force)
        return OwnProbes.of(self.problems, self.reading)

    def look(self, stages: Stages, own: OwnProbes, extra: Sequence[Probe]) -> Seen:
        """Compare all stages, the own problems first."""
        if self.is_repaired:
            return look(stages, asked=(*own.probes, *probes.probes(), *extra))
        every: tuple[Stage, ...] = get_args(Stage)
        seen = look(stages, asked=(*own.probes, *under(self.reading, probes.probes())),
                    only=[stage for stage in every if stage not in ELSEWHERE])  # fmt: skip
        sentence = f"Not judged under the reading {self.reading_name}."
        seen.findings += [StageFinding(stage=stage, status="not offered", sentence=sentence) for stage in ELSEWHERE]
        seen.findings.sort(key=lambda found: every.index(found.stage))
        return seen

    def notes(self, own: OwnProbes, seen: Seen) -> tuple[str, ...]:
        """What a reader should know of how it was asked."""
        if self.is_repaired:
            return own.told(seen)
        words = (
            f"Held against the paper under the reading {self.reading_name}; claims are judged under the repaired one."
        )
        return (words, *own.told(seen))

    def keep(
        self, seen: Seen, subject: str, load: str, made: Mapping[Stage | None, Reproduction | None]
    ) -> tuple[str, ...]:
        """Write each deviation as a test; ``made`` are cases that are there already. Returns a note each."""
        if self.cases is None:
            return ()
        stages = failing(seen)
        found = {stage: made[stage] if stage in made else reproduce_stage(seen, stage, load) for stage in stages}
        written = saved_cases.save(self.cases, subject, {k: case for k, case in found.items() if case is not None})
        return tuple(f"Kept as a test: {file}" for file in written)

    def keep_claims(self, subject: str, failed: Sequence[tuple[str, str]], run: tuple[str, int]) -> tuple[str, ...]:
        """Write failed results of claims as tests, where no stage deviates that would explain them."""
        if self.cases is None:
            return ()
        return tuple(f"Kept as a test: {file}" for file in saved_cases.save_claims(self.cases, subject, failed, run))
