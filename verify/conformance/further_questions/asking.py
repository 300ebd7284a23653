"""What a subject is asked besides the built-in problems, or otherwise: own problems, another reading, cases to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from spec import InvalidInputError
from verify.conformance.blame.accuracy.accuracy import DeclaredAccuracy, declared_accuracy, widened
from verify.conformance.comparison.stage_comparison import Seen, look, sampled_finding, shifted
from verify.conformance.found import Reproduction, StageFinding
from verify.conformance.further_questions.drawn_places import drawn_probes
from verify.conformance.further_questions.judging_options import ConformOptions
from verify.conformance.further_questions.other_reading import samplings, under
from verify.conformance.further_questions.own_problems import OwnProbes
from verify.conformance.probes import probes
from verify.conformance.probes.probes import Probe
from verify.conformance.random_stages import sample
from verify.conformance.repro import saved_cases
from verify.conformance.repro.repro import failing, reproduce_stage
from verify.conformance.repro.scripts import LOADS
from verify.conformance.trace.model import Trace
from verify.method.lines import Stage
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls
from verify.subjects.subject_names import COMMAND

ELSEWHERE: tuple[Stage, ...] = ("runs",)
"""Stages that are compared under the repaired reading alone."""


@dataclass(frozen=True)
class Asking:
    """Stages held against the paper as the options have it; ``load`` is code that loads the subject."""

    options: ConformOptions
    load: str

    @property
    def cases(self) -> Path | None:
        """Folder for the repros as tests."""
        return None if self.options.save_cases is None else Path(self.options.save_cases)

    def prepare(self) -> OwnProbes:
        """Refuse what cannot be done before anything is asked, and make the own problems' probes.

        Raises:
            InvalidInputError: If tests or lines are asked for of a subject that no name loads, or the tests would
                replace somebody's file.
        """
        subject, loads = self.options.name, self.load.startswith(LOADS)
        if self.options.trace:
            if not loads or ":" not in subject or subject.startswith(COMMAND):
                raise InvalidInputError("--trace", "needs a Python subject that can be loaded by its name", subject)
            if not self.options.is_repaired:
                raise InvalidInputError("--trace", "must go with the repaired reading", self.options.reading)
        if self.cases is not None:
            if not loads:
                raise InvalidInputError("--save-cases", "needs a subject that can be loaded by its name", subject)
            saved_cases.prepare(self.cases, subject, force=self.options.force)
        return OwnProbes.of(self.options.own_problems, self.options.paper_reading)

    def look(self, stages: StageCalls, own: OwnProbes, extra: Sequence[Probe]) -> Seen:
        """Compare all stages, the own problems first, to the accuracy that the subject declares."""
        accuracy, repaired = declared_accuracy(stages), self.options.is_repaired
        built_in = (*probes.probes(), *drawn_probes(self.options.seed))
        if not repaired:
            built_in = tuple(under(self.options.paper_reading, built_in))
        questions = [widened(probe, accuracy) for probe in (*own.probes, *built_in, *(extra if repaired else ()))]
        if repaired:
            return look(stages, questions=questions)
        every: tuple[Stage, ...] = get_args(Stage)
        seen = look(stages, questions=questions,
                    only=[stage for stage in every if stage not in ("samples", *ELSEWHERE)])  # fmt: skip
        if not seen.ended:
            seen.findings.append(self._sampled(seen))
        sentence = f"Not judged under the reading {self.options.reading}."
        seen.findings += [StageFinding(stage=stage, status="not offered", sentence=sentence) for stage in ELSEWHERE]
        seen.findings.sort(key=lambda finding: every.index(finding.stage))
        return seen

    def _sampled(self, seen: Seen) -> StageFinding:
        """The laws of noisy estimates under this reading."""
        if not seen.stages.offers("hypergradient"):
            words = "Not applicable: the subject offers no hypergradient."
            return StageFinding(stage="samples", status="not offered", sentence=words)
        try:
            drawn = sample(seen.stages, own_mean=shifted(seen), settings=samplings(self.options.paper_reading))
            return sampled_finding(seen, drawn)
        except MissingCapabilityError as refusal:
            return StageFinding(stage="samples", status="not offered", sentence=f"Not applicable: {refusal}.")
        except SubjectFaultError as fault:
            seen.faults.append(f"samples: {fault}")
            return StageFinding(stage="samples", status="fault", sentence=str(fault))

    def notes(self, own: OwnProbes, seen: Seen) -> tuple[str, ...]:
        """What a reader should know of how it was asked."""
        if self.options.is_repaired:
            return own.told(seen)
        reading = self.options.reading
        words = f"Held against the paper under the reading {reading}; claims are judged under the repaired one."
        return (words, *_as_repaired(seen), *own.told(seen))

    def trace_lines(self, seen: Seen, accuracy: DeclaredAccuracy) -> Trace | None:
        """The lines of the stages that deviate, where they are asked for."""
        say, name = self.options.trace, self.options.name
        if not say:
            return None
        from verify.conformance.trace.tracing import trace  # for those alone who ask for it

        declared = accuracy.value if accuracy.declared else 0.0
        return trace(name, seen, declared, say) if callable(say) else trace(name, seen, declared)

    def keep(self, seen: Seen, known: Mapping[Stage | None, Reproduction | None]) -> tuple[str, ...]:
        """Write each deviation as a test; ``known`` are cases that are there already. Returns a note each."""
        if self.cases is None:
            return ()
        stages = failing(seen)
        repros = {s: known[s] if s in known else reproduce_stage(seen, s, self.load) for s in stages}
        written = saved_cases.save(self.cases, self.options.name, {k: case for k, case in repros.items() if case})
        return tuple(f"Kept as a test: {file}" for file in written)

    def keep_claims(self, failed: Sequence[tuple[str, str]]) -> tuple[str, ...]:
        """Write failed results of claims as tests, where no stage deviates that would explain them."""
        if self.cases is None:
            return ()
        run = self.options.profile, self.options.seed
        written = saved_cases.save_claims(self.cases, self.options.name, failed, run)
        return tuple(f"Kept as a test: {file}" for file in written)


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
