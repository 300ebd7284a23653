"""What a conformance run found, as data, the content of ``conform.json``, and as a letter to the subject's author."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pydantic import ConfigDict, Field

from verify.conformance.comparison.error_parts import ErrorSplit
from verify.conformance.found import MARK, ClaimFinding, Diagnosis, Reproduction, StageFinding, Stopped
from verify.conformance.trace.model import Trace, TracedLine
from verify.evidence.model import FrozenData
from verify.method.lines import Stage
from verify.report.report_files import Report
from verify.report.rows.asked_and_held import Coverage
from verify.report.wording import counted
from verify.verdict import Verdict

SCHEMA = "f2csa-conformance/1"


class Conformance(FrozenData):
    """Everything one run of ``f2csa conform`` found about a subject.

    Args:
        schema: ``f2csa-conformance/1``.
        environment: Versions that can influence a number.
        seed: Seed of all randomness.
        subject: How the subject was loaded, or its name.
        profile: Profile of the claims.
        stages: Each stage alone, in the order in which deviations are named.
        first: The first stage that diverges.
        diagnoses: What is wrong with each stage that diverges, largest effect first.
        trace: The lines of the user's source that make stages wrong; ``None`` where they were not asked for.
        error_split: Where its estimates' error comes from; ``None`` where it makes none that could be split.
        reproduction: The smallest instance that shows it.
        claims: Verdicts under the repaired reading.
        notes: What a reader should know beside.
        findings: One line for each stage and claim that fails.
        faults: One line for each thing that went wrong in the subject or the run.
        seconds: Time spent.
        complete: Whether the run reached its end.
        stopped: What was left out because the time was over.
        exited: Where the first fault or finding ended it, as it was asked to; empty else.
        report: The claims' full report, in its own files.
    """

    schema_: str = Field(default=SCHEMA, alias="schema")
    environment: dict[str, str]
    seed: int
    subject: str
    profile: str
    stages: tuple[StageFinding, ...]
    first: Stage | None
    diagnoses: tuple[Diagnosis, ...] = ()
    trace: Trace | None = None
    error_split: ErrorSplit | None = None
    reproduction: Reproduction | None
    claims: tuple[ClaimFinding, ...]
    notes: tuple[str, ...] = ()
    findings: tuple[str, ...]
    faults: tuple[str, ...]
    seconds: float
    complete: bool = True
    stopped: Stopped | None = None
    exited: str = ""
    report: Report | None = Field(default=None, exclude=True, repr=False)

    model_config = ConfigDict(populate_by_name=True)

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Of the stage whose deviation has the largest effect; ``None`` where none diverges."""
        return self.diagnoses[0] if self.diagnoses else None

    @property
    def conforms(self) -> bool:
        """Whether no stage diverges, no repaired claim fails and nothing went wrong."""
        return self.exit_code == 0

    @property
    def coverage(self) -> Coverage:
        """How much of what is said of a solver could be asked of this one."""
        return Coverage.of(claim.status for claim in self.claims)

    @property
    def nothing_compared(self) -> bool:
        """Whether no stage was compared and no claim decided: no success, whatever was left undecided."""
        decided = any(claim.status in (Verdict.SUPPORTED, Verdict.REFUTED) for claim in self.claims)
        return not decided and not any(stage.compared for stage in self.stages)

    @property
    def exit_code(self) -> int:
        """0 as expected, 1 a finding, 3 a fault in subject or run, nothing compared, or an end before all was."""
        if self.faults or self.nothing_compared:
            return 3
        if self.findings:
            return 1
        return 0 if self.complete else 3

    def content(self) -> Any:
        """What ``conform.json`` holds; infinities as strings."""
        return json.loads(self.model_dump_json(by_alias=True, exclude=None if self.trace else {"trace"}))

    def __str__(self) -> str:
        return "\n".join(letter(self))


SHOWN = 6
"""Failed claims named one by one."""
MARKS = {"agrees": "✓", "diverges": "✗", "undecided": "?", "fault": "!", "not offered": "-"}


def letter(conformance: Conformance) -> Iterator[str]:
    """Line by line."""
    rest = "" if conformance.complete else " The run was interrupted: the claims after that are not judged."
    rest = str(conformance.stopped) if conformance.stopped is not None else rest
    if conformance.exited:
        rest = f" Stopped at {conformance.exited}, as -x asks: no claim after that is judged."
    yield f"{conformance.subject}{_verdict(conformance)}.{rest}"
    yield ""
    for stage in conformance.stages:
        yield f"  {MARKS[stage.status]} {stage.stage:<18} {stage.sentence}"
    yield ""
    yield from _diagnosis(conformance)
    if conformance.error_split is not None:
        yield from conformance.error_split.lines()
    yield from _claims(conformance)
    traced = conformance.trace.notes() if conformance.trace else ()
    yield from (f"Note: {note}" for note in (*conformance.notes, *traced))
    for fault in conformance.faults[:SHOWN]:
        yield f"Fault: {fault}"
    if len(conformance.faults) > SHOWN:
        yield f"… and {len(conformance.faults) - SHOWN} more faults."
    if conformance.reproduction is not None:
        yield ""
        yield f"{conformance.reproduction.sentence} Paste this to see it:"
        yield ""
        yield from (f"    {line}" if line else "" for line in conformance.reproduction.code.rstrip().split("\n"))


def _verdict(conformance: Conformance) -> str:
    off = [stage.stage for stage in conformance.stages if stage.status == "diverges"]
    if len(off) > 1:
        return f" deviates in {len(off)} stages: {', '.join(off)}"
    if off:
        return f" deviates in {off[0]}"
    if conformance.findings:
        count = len(conformance.findings)
        fails = "1 result of the claims fails" if count == 1 else f"{count} results of the claims fail"
        return f": every stage agrees by itself, but {fails}"
    if conformance.faults:
        count = len(conformance.faults)
        return f": no deviation in what could be judged, but {count} fault{'' if count == 1 else 's'}"
    if conformance.nothing_compared:
        return ": nothing it was asked applies to it; no comparison was made"
    undecided = [s.stage for s in conformance.stages if s.status == "undecided"]
    rest = f"; too few comparisons to be sure of {', '.join(undecided)}" if undecided else ""
    refusing = [
        f"{s.stage} refuses {s.refused} of {s.refused + s.compared} calls" for s in conformance.stages if s.refuses
    ]
    return f": no deviation{' in what it answers: ' if refusing else ''}{', '.join(refusing)}{rest}"


def _diagnosis(conformance: Conformance) -> Iterator[str]:
    """What is wrong, stage by stage, largest effect first."""
    if not conformance.diagnoses and conformance.first is not None:
        yield "What it is was not looked into: the asking ended before that."
        yield ""
    several = len(conformance.diagnoses) > 1
    if several:
        yield (
            f"What is wrong, in {counted(len({d.stage for d in conformance.diagnoses}), 'stage')}, "
            f"largest effect first:"
        )
    for number, (diagnosis, traced) in enumerate(zip(conformance.diagnoses, placed_lines(conformance), strict=True), 1):
        effect = "" if diagnosis.effect is None else f", {effect_of(diagnosis)}"
        yield (
            f"{number}. {diagnosis.stage}{effect}: {diagnosis.sentence}"
            if several
            else (f"What it is{effect}: {diagnosis.sentence}")
        )
        if diagnosis.rest:
            yield f"  {diagnosis.rest}"
        yield from (f"  {line}{beside}" for line, beside in traced)
        for match in diagnosis.matches or diagnosis.partial:
            yield f"  {match.id} ({match.bug_type}): {match.effect}"
            yield f"  Claims that catch it: {', '.join(match.caught_by)}."
        yield ""
    told = {diagnosis.stage for diagnosis in conformance.diagnoses}
    others = [line for line in (conformance.trace or Trace()).lines if line.stage not in told]
    yield from (f"{line.stage}: {line}" for line in others)
    yield from ([""] if others else [])


def placed_lines(conformance: Conformance) -> list[list[tuple[TracedLine, str]]]:
    """The lines of the source under each diagnosis, with what is to be said beside."""
    told = [(str(one.stage), " ".join(e.sentence for e in one.explanations) or one.sentence)
            for one in conformance.diagnoses]  # fmt: skip
    return (conformance.trace or Trace()).placed(told)


UNCHANGED = 1e-7
"""An error of an estimate of size 1 that is none."""


def effect_of(diagnosis: Diagnosis) -> str:
    """How far a stage that is off takes the estimates, in words."""
    what = "points of Algorithm 2" if diagnosis.stage == "optimise" else "∇F"
    if diagnosis.effect is None or diagnosis.effect < UNCHANGED:
        return f"{what} not changed where it was tried"
    return f"{what} off by up to {diagnosis.effect:.2g}"


def _claims(conformance: Conformance) -> Iterator[str]:
    counts = Counter(claim.status for claim in conformance.claims)
    words = {
        "SUPPORTED": "supported", "REFUTED": "refuted", "INCONCLUSIVE": "inconclusive", "VACUOUS": "vacuous",
        "FAULT": "ended by a fault", "NOT_APPLICABLE": "not applicable (a stage or choice it does not offer)",
    }  # fmt: skip
    if counts:
        told = ", ".join(f"{counts[status]} {word}" for status, word in words.items() if counts[status])
        unchecked = f"; {counts['NOT_CHECKED']} more have no check" if counts["NOT_CHECKED"] else ""
        yield f"{conformance.coverage}. Claims and steps, repaired reading: {told or 'none judged'}{unchecked}."
    open_ones = [claim for claim in conformance.claims if claim.status == "INCONCLUSIVE"]
    hurried = [claim.claim for claim in open_ones if MARK in claim.sentence]
    if hurried:
        shown = ", ".join(hurried[:SHOWN]) + (", …" if len(hurried) > SHOWN else "")
        yield f"  ? {len(hurried)} of them ask for more, one at a time, than was granted ({shown}): see --estimates."
    if not conformance.findings:
        others = [claim for claim in open_ones if MARK not in claim.sentence]
        yield from (f"  ? {claim.claim}: {claim.sentence}" for claim in others[:SHOWN])
    stages = {stage.stage for stage in conformance.stages}
    failed = [line for line in conformance.findings if line.split(":")[0] not in stages]
    described = {diagnosis.stage for diagnosis in conformance.diagnoses}
    folded = {claim.claim: claim.asks for claim in conformance.claims if claim.asks in described}
    under = dict.fromkeys(name for line in failed if (name := line.split(" ")[0]) in folded)
    for stage in dict.fromkeys(folded[name] for name in under):
        names = [name for name in under if folded[name] == stage]
        shown = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
        asks = "asks" if len(names) == 1 else "ask"
        yield f"  ✗ {len(names)} that {asks} for {stage}, which is off as told above: {shown}"
    failed = [line for line in failed if line.split(" ")[0] not in folded]
    for line in failed[:SHOWN]:
        yield f"  ✗ {line}"
    if len(failed) > SHOWN:
        yield f"  … and {len(failed) - SHOWN} more; they are in the report."
