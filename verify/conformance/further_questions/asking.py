"""What a subject is asked besides the built-in problems, or otherwise: own problems, another reading, cases to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from spec import REPAIRED, InvalidInputError, Reading
from spec.reading import NAMED
from verify.conformance.blame.accuracy.accuracy import DeclaredAccuracy, declared_accuracy, widened
from verify.conformance.comparison.stage_comparison import Seen, look, sampled_finding, shifted
from verify.conformance.found import Reproduction, StageFinding
from verify.conformance.further_questions.drawn_places import drawn_probes
from verify.conformance.further_questions.other_reading import samplings, under
from verify.conformance.further_questions.own_problems import OwnProbes, OwnProblem
from verify.conformance.probes import probes
from verify.conformance.probes.probes import Probe
from verify.conformance.random_stages import sample
from verify.conformance.repro import saved_cases
from verify.conformance.repro.repro import failing, reproduce_stage
from verify.conformance.repro.scripts import LOADS
from verify.conformance.trace.model import Say, Trace
from verify.method.lines import Stage
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls
from verify.subjects.subject_names import COMMAND

ELSEWHERE: tuple[Stage, ...] = ("runs",)
"""Stages that are compared under the repaired reading alone."""


@dataclass(frozen=True)
class Asking:
    """How the user wants a subject asked; ``cases`` is a folder for tests, ``force`` replaces files of others there.

    ``seed`` draws the places that are no built-in ones; ``trace`` asks for the lines of mistakes. Without
    ``judges_claims`` stages alone are looked at.
    """

    problems: Sequence[OwnProblem] = ()
    reading_name: str = "repaired"
    cases: Path | None = None
    force: bool = False
    seed: int = 0
    trace: bool | Say = False
    judges_claims: bool = True

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
        if self.trace:
            if not load.startswith(LOADS) or ":" not in subject or subject.startswith(COMMAND):
                raise InvalidInputError("--trace", "needs a Python subject that can be loaded by its name", subject)
            if not self.is_repaired:
                raise InvalidInputError("--trace", "must go with the repaired reading", self.reading_name)
        if self.cases is not None:
            if not load.startswith(LOADS):
                raise InvalidInputError("--save-cases", "needs a subject that can be loaded by its name", subject)
            saved_cases.prepare(self.cases, subject, force=self.force)
        return OwnProbes.of(self.problems, self.reading)

    def look(self, stages: StageCalls, own: OwnProbes, extra: Sequence[Probe]) -> Seen:
        """Compare all stages, the own problems first, to the accuracy that the subject declares."""
        accuracy = declared_accuracy(stages)
        built_in = (*probes.probes(), *drawn_probes(self.seed))
        if not self.is_repaired:
            built_in = tuple(under(self.reading, built_in))
        questions = [
            widened(probe, accuracy) for probe in (*own.probes, *built_in, *(extra if self.is_repaired else ()))
        ]
        if self.is_repaired:
            return look(stages, questions=questions)
        every: tuple[Stage, ...] = get_args(Stage)
        seen = look(stages, questions=questions,
                    only=[stage for stage in every if stage not in ("samples", *ELSEWHERE)])  # fmt: skip
        if not seen.ended:
            seen.findings.append(self._sampled(seen))
        sentence = f"Not judged under the reading {self.reading_name}."
        seen.findings += [StageFinding(stage=stage, status="not offered", sentence=sentence) for stage in ELSEWHERE]
        seen.findings.sort(key=lambda finding: every.index(finding.stage))
        return seen

    def _sampled(self, seen: Seen) -> StageFinding:
        """The laws of noisy estimates under this reading."""
        if not seen.stages.offers("hypergradient"):
            words = "Not applicable: the subject offers no hypergradient."
            return StageFinding(stage="samples", status="not offered", sentence=words)
        try:
            drawn = sample(seen.stages, own_mean=shifted(seen), settings=samplings(self.reading))
            return sampled_finding(seen, drawn)
        except MissingCapabilityError as refusal:
            return StageFinding(stage="samples", status="not offered", sentence=f"Not applicable: {refusal}.")
        except SubjectFaultError as fault:
            seen.faults.append(f"samples: {fault}")
            return StageFinding(stage="samples", status="fault", sentence=str(fault))

    def notes(self, own: OwnProbes, seen: Seen) -> tuple[str, ...]:
        """What a reader should know of how it was asked."""
        if self.is_repaired:
            return own.told(seen)
        words = (
            f"Held against the paper under the reading {self.reading_name}; claims are judged under the repaired one."
        )
        return (words, *_as_repaired(seen), *own.told(seen))

    def trace_lines(self, subject: str, seen: Seen, accuracy: DeclaredAccuracy) -> Trace | None:
        """The lines of the stages that deviate, where they are asked for."""
        if not self.trace:
            return None
        from verify.conformance.trace.tracing import trace  # for those alone who ask for it

        say = self.trace if callable(self.trace) else None
        declared = accuracy.value if accuracy.declared else 0.0
        return trace(subject, seen, declared) if say is None else trace(subject, seen, declared, say)

    def keep(
        self, seen: Seen, subject: str, load: str, known: Mapping[Stage | None, Reproduction | None]
    ) -> tuple[str, ...]:
        """Write each deviation as a test; ``known`` are cases that are there already. Returns a note each."""
        if self.cases is None:
            return ()
        stages = failing(seen)
        repros = {stage: known[stage] if stage in known else reproduce_stage(seen, stage, load) for stage in stages}
        written = saved_cases.save(self.cases, subject, {k: case for k, case in repros.items() if case is not None})
        return tuple(f"Kept as a test: {file}" for file in written)

    def keep_claims(self, subject: str, failed: Sequence[tuple[str, str]], run: tuple[str, int]) -> tuple[str, ...]:
        """Write failed results of claims as tests, where no stage deviates that would explain them."""
        if self.cases is None:
            return ()
        return tuple(f"Kept as a test: {file}" for file in saved_cases.save_claims(self.cases, subject, failed, run))


def _as_repaired(seen: Seen) -> tuple[str, ...]:
    """Said of each stage whose wrong answers are all those of the repaired reading."""
    repaired = {probe.id: probe for probe in probes.probes()}
    told = []
    for stage in ("penalty_minimiser", "hypergradient"):
        own = [answer for answer in seen.answers if answer.probe.stage == stage and not answer.excess <= 1]
        known = [answer for answer in own if answer.probe.id in repaired]
        if known and all(repaired[answer.probe.id].excess(answer.got) <= 1 for answer in known):
            told.append(f"Its {stage} answers as the repaired reading does ({len(known)} of {len(own)} that are off).")
    return tuple(told)
