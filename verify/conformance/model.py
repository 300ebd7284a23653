"""What a conformance run found, as data: the content of ``conform.json``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import ConfigDict, Field

from verify.conformance.bugs.model import Stage
from verify.conformance.error_parts import ErrorSplit
from verify.evidence.model import Frozen
from verify.report.faces import Report
from verify.report.model import Coverage

SCHEMA = "f2csa-conformance/1"
MARK = "more than their share"
"""Says in a result's sentence that it asks for more, one at a time, than was granted."""

Status = Literal["agrees", "diverges", "undecided", "fault", "not offered"]


class Divergence(Frozen):
    """One comparison that failed, with its numbers.

    Args:
        probe: Permanent id of the comparison, or of the test vector.
        what: What was asked, in words.
        expected: What must come out.
        got: What came out.
        tolerance: Largest accepted difference, entry by entry; empty for laws.
        excess: Largest difference in tolerances.
    """

    probe: str
    what: str
    expected: tuple[float, ...]
    got: tuple[float, ...]
    tolerance: tuple[float, ...] = ()
    excess: float


class StageFinding(Frozen):
    """One stage alone, on given correct inputs.

    Args:
        stage: The stage.
        status: ``undecided`` where time allowed too few comparisons.
        sentence: What was found, in one sentence.
        compared: Comparisons made.
        diverging: How many of them failed.
        worst: Largest difference in tolerances over all comparisons.
        divergence: The first one that failed.
    """

    stage: Stage
    status: Status
    sentence: str
    compared: int = 0
    diverging: int = 0
    worst: float = 0.0
    divergence: Divergence | None = None


class Match(Frozen):
    """A catalogued deviation beside what was seen.

    Args:
        id: Permanent id in the catalogue.
        bug_type: What kind of mistake it is.
        effect: What a user would see, with the order in alpha.
        caught_by: Claims that catch it.
        matches: Whether every comparison agrees within its tolerance.
        distance: Largest difference in tolerances, or in what chance allows.
        difference: The largest absolute difference of values; ``None`` where laws were compared.
        compared: Comparisons made.
    """

    id: str
    bug_type: str
    effect: str
    caught_by: tuple[str, ...]
    matches: bool
    distance: float
    difference: float | None = None
    compared: int


class Diagnosis(Frozen):
    """What the deviation is.

    Args:
        stage: Where it first shows.
        sentence: The diagnosis with its numbers.
        matches: Catalogued deviations that explain everything seen; several where they cannot be told apart.
        partial: Where none does: those that explain the innermost calls that are off, so that something else is wrong
            beside.
        nearest: Others by distance, nearest first.
    """

    stage: Stage
    sentence: str
    matches: tuple[Match, ...]
    partial: tuple[Match, ...] = ()
    nearest: tuple[Match, ...]


class Reproduction(Frozen):
    """The smallest instance found on which the subject still diverges.

    Args:
        sentence: How small it is, with the numbers.
        problem: The problem file's content, where there is a problem.
        x: The upper-level point.
        expected: What must come out.
        got: What came out.
        code: Python to paste; it imports this package and the subject, nothing else.
    """

    sentence: str
    problem: dict[str, Any] | None = None
    x: tuple[str, ...] = ()
    expected: tuple[float, ...] = ()
    got: tuple[float, ...] = ()
    code: str


class ClaimFinding(Frozen):
    """One claim or step under the repaired reading, over its instances.

    Args:
        claim: Full id.
        status: Verdict, ``FAULT`` or ``NOT_CHECKED``.
        on_record: Whether all verdicts are those of the reference; ``None`` where nothing could be compared.
        sentence: The deciding result's sentence.
        reproduce: Command that repeats it.
    """

    claim: str
    status: str
    on_record: bool | None
    sentence: str
    reproduce: str


class Stopped(Frozen):
    """Results left out because the time for asking was over.

    Args:
        after: The time, in seconds.
        asked: Results that were obtained.
        planned: Results that there are.
        enough: Seconds that would do, judged by what those obtained cost; ``None`` without any.
    """

    after: float
    asked: int
    planned: int
    enough: float | None

    def __str__(self) -> str:
        left = (
            f" Stopped after {self.after:g} s: {self.planned - self.asked} of {self.planned} results were not asked for"
        )
        if self.enough is None:
            return f"{left}; a larger --seconds asks for more."
        return f"{left}; --seconds {int(float(f'{self.enough + 1:.2g}'))} should do."


class Conformance(Frozen):
    """Everything one run of ``f2csa conform`` found about a subject.

    Args:
        environment: Versions that can influence a number.
        seed: Seed of all randomness.
        subject: How the subject was loaded, or its name.
        profile: Profile of the claims.
        stages: Each stage alone, in the order in which deviations are named.
        first: The first stage that diverges.
        diagnosis: What the deviation is; ``None`` where there is none.
        error_split: Where its estimates' error comes from; ``None`` where it makes none that could be split.
        reproduction: The smallest instance that shows it.
        claims: Verdicts under the repaired reading.
        notes: What a reader should know beside.
        findings: One line for each stage and claim that fails.
        faults: One line for each thing that went wrong in the subject or the run.
        seconds: Time spent.
        complete: Whether the run reached its end.
        stopped: What was left out because the time was over.
        report: The claims' full report, in its own files.
    """

    schema_: str = Field(default=SCHEMA, alias="schema")
    environment: dict[str, str]
    seed: int
    subject: str
    profile: str
    stages: tuple[StageFinding, ...]
    first: Stage | None
    diagnosis: Diagnosis | None
    error_split: ErrorSplit | None = None
    reproduction: Reproduction | None
    claims: tuple[ClaimFinding, ...]
    notes: tuple[str, ...] = ()
    findings: tuple[str, ...]
    faults: tuple[str, ...]
    seconds: float
    complete: bool = True
    stopped: Stopped | None = None
    report: Report | None = Field(default=None, exclude=True, repr=False)

    model_config = ConfigDict(populate_by_name=True)

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
        """Whether neither a stage nor a claim could be asked: no success."""
        return not self.coverage.asked and not any(stage.compared for stage in self.stages)

    @property
    def exit_code(self) -> int:
        """0 as expected, 1 a finding, 3 a fault in the subject or the run, or nothing compared."""
        if self.faults or not self.complete or self.nothing_compared:
            return 3
        return 1 if self.findings else 0

    def content(self) -> Any:
        """What ``conform.json`` holds; infinities as strings."""
        return json.loads(self.model_dump_json(by_alias=True))

    def __str__(self) -> str:
        return "\n".join(letter(self))


SHOWN = 6
"""Failed claims named one by one."""
MARKS = {"agrees": "✓", "diverges": "✗", "undecided": "?", "fault": "!", "not offered": "-"}


def letter(found: Conformance) -> Iterator[str]:
    """Line by line."""
    rest = "" if found.complete else " The run was interrupted: the claims after that are not judged."
    rest = str(found.stopped) if found.stopped is not None else rest
    yield f"{found.subject}{_verdict(found)}.{rest}"
    yield ""
    for stage in found.stages:
        yield f"  {MARKS[stage.status]} {stage.stage:<18} {stage.sentence}"
    yield ""
    yield from _diagnosis(found)
    if found.error_split is not None:
        yield from found.error_split.lines()
    yield from _claims(found)
    yield from (f"Note: {note}" for note in found.notes)
    for fault in found.faults[:SHOWN]:
        yield f"Fault: {fault}"
    if len(found.faults) > SHOWN:
        yield f"… and {len(found.faults) - SHOWN} more faults."
    if found.reproduction is not None:
        yield ""
        yield f"{found.reproduction.sentence} Paste this to see it:"
        yield ""
        yield from (f"    {line}" if line else "" for line in found.reproduction.code.rstrip().split("\n"))


def _verdict(found: Conformance) -> str:
    if found.first is not None:
        return f" deviates, first in {found.first}"
    if found.findings:
        count = len(found.findings)
        fails = "1 result of the claims fails" if count == 1 else f"{count} results of the claims fail"
        return f": every stage agrees by itself, but {fails}"
    if found.faults:
        count = len(found.faults)
        return f": no deviation in what could be judged, but {count} fault{'' if count == 1 else 's'}"
    if found.nothing_compared:
        return ": nothing it was asked applies to it; no comparison was made"
    undecided = [s.stage for s in found.stages if s.status == "undecided"]
    rest = f"; too few comparisons to be sure of {', '.join(undecided)}" if undecided else ""
    return f": no deviation{rest}"


def _diagnosis(found: Conformance) -> Iterator[str]:
    diagnosis = found.diagnosis
    if diagnosis is None:
        return
    yield f"What it is: {diagnosis.sentence}"
    for match in diagnosis.matches or diagnosis.partial:
        yield f"  {match.id} ({match.bug_type}): {match.effect}"
        yield f"  Claims that catch it: {', '.join(match.caught_by)}."
    yield ""


def _claims(found: Conformance) -> Iterator[str]:
    counts = Counter(claim.status for claim in found.claims)
    words = {
        "SUPPORTED": "supported", "REFUTED": "refuted", "INCONCLUSIVE": "inconclusive", "VACUOUS": "vacuous",
        "FAULT": "ended by a fault", "NOT_APPLICABLE": "not applicable (a stage or choice it does not offer)",
    }  # fmt: skip
    if counts:
        told = ", ".join(f"{counts[status]} {word}" for status, word in words.items() if counts[status])
        unchecked = f"; {counts['NOT_CHECKED']} more have no check" if counts["NOT_CHECKED"] else ""
        yield f"{found.coverage}. Claims and steps, repaired reading: {told or 'none judged'}{unchecked}."
    hurried = [claim.claim for claim in found.claims if claim.status == "INCONCLUSIVE" and MARK in claim.sentence]
    if hurried:
        shown = ", ".join(hurried[:SHOWN]) + (", …" if len(hurried) > SHOWN else "")
        yield f"  ? {len(hurried)} of them ask for more, one at a time, than was granted ({shown}): see --estimates."
    stages = {stage.stage for stage in found.stages}
    failed = [line for line in found.findings if line.split(":")[0] not in stages]
    for line in failed[:SHOWN]:
        yield f"  ✗ {line}"
    if len(failed) > SHOWN:
        yield f"  … and {len(failed) - SHOWN} more; they are in the report."
