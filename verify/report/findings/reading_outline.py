"""One statement under one reading, as a report has it: its status in words that suit it, and what stands behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from spec.claims import Assertion, Statement
from verify.evidence.model import RateEvidence
from verify.report import wording
from verify.report.findings.reading_sets import ReadingSet
from verify.report.model import Result
from verify.report.rows.summary_row import SmallestCounterexample
from verify.verdict import Verdict


@dataclass(frozen=True)
class ReadingOutline:
    """One statement under one reading; its status is empty where nothing was run."""

    claim: str
    reading: str
    status: str
    sentence: str
    assertion: Assertion | None
    results: tuple[Result, ...]
    """One an instance: the deciding one, those that came out otherwise, the rest."""
    instances: Mapping[str, int]
    """How many instances gave each verdict."""
    smallest: SmallestCounterexample | None = None
    reproduce: str = ""
    statement: Statement | None = None
    literal: ReadingSet | None = None
    """Of the text as written, where its words allow several readings."""
    part: str = ""
    """The part that a claim falls with while its own check refutes nothing."""
    holds_in_part: bool = False
    """Whether every part that it falls with holds under some literal reading of its own words."""

    @property
    def anchor(self) -> str:
        return anchor(self.claim, self.reading)

    @property
    def title(self) -> str:
        return wording.reading_title(self.reading, self.statement)

    @property
    def word(self) -> str:
        """The status, in words that suit the statement; of a text with several literal readings, how many hold."""
        word = wording.told(self.status, self.statement, self.reading)
        if self.part and (self.holds_in_part or not self.is_mixed):
            part = self.part.partition("/")[2]
            if self.holds_in_part:
                return ", ".join(filter(None, [self.by_itself, f"its part {part} in some readings"]))
            named = f"{word} by its part {part}"
            return f"{named}, {self.by_itself}" if self.by_itself else named
        if self.literal is None:
            return word
        if self.literal.parts:
            part, own = self.literal.parts[0].partition("/")[2], self.own
            return f"{word} by its part {part}, {own.word} by its own check" if own.is_mixed else word
        judged = [one for one in self.literal.literal if not one.is_unjudged]
        count, barred = len(judged), sum(one.is_barred for one in judged)
        left = f", {unjudged} not judged" if (unjudged := len(self.literal.literal) - count) else ""
        left = f", {barred} cannot be met{left}" if barred < count and barred else left
        if self.is_mixed:
            failing = f", {sum(one.fails for one in judged)} fail" if left else ""
            return f"{self.literal.holding} of {len(self.literal.literal)} readings hold{failing}{left}"
        if self.status == Verdict.INCONCLUSIVE and (fails := sum(one.fails for one in judged)):
            return f"{word}: refuted in {fails} of {count} readings{left}"
        alike = sum(one.status == self.status for one in judged)
        return (
            f"{word} in all {count} readings" if alike == count else f"{word} in {alike} of {count} readings"
        ) + left

    @property
    def by_itself(self) -> str:
        """Of a claim that falls with a part alone, what its own check says; empty where it has none, or of others."""
        if not (self.part and self.instances):
            return ""
        held = self.instances.get(Verdict.SUPPORTED) and not self.instances.get(Verdict.INCONCLUSIVE)
        return "holds by its own check" if held else "not by its own check"

    @property
    def own(self) -> ReadingOutline:
        """What its own check says, whatever a part of it does; itself where it has no check."""
        held = self.by_itself.startswith("holds")
        if not self.instances or (self.part and not held):
            return self
        literal = None if self.literal is None else replace(self.literal, parts=())
        status = str(Verdict.SUPPORTED) if held else self.status
        return replace(self, status=status, part="", holds_in_part=False, literal=literal)

    @property
    def is_mixed(self) -> bool:
        """Whether it holds under some literal readings, itself or by its parts, and not under all that are judged."""
        literal, by_part = self.literal, self.holds_in_part
        return by_part or (literal is not None and not literal.parts and 0 < literal.holding < literal.judged)

    @property
    def shown(self) -> str:
        """What it is marked as: its status, or that of a text which holds in some of its readings."""
        return wording.MIXED if self.is_mixed else self.status

    @property
    def is_told(self) -> bool:
        """Whether its word says more than its status does: where it holds, falls or cannot be met in part."""
        barred = self.literal is not None and any(one.is_barred for one in self.literal.literal)
        in_part = bool(self.part) or (self.literal is not None and bool(self.literal.parts) and self.own.is_mixed)
        return self.is_mixed or in_part or not self.counts or (barred and self.status != Verdict.VACUOUS)

    @property
    def counts(self) -> bool:
        """Whether it counts for or against the text: not what the text does not say, nor where an experiment falls."""
        is_of_text = not wording.asks_of_experiment(self.statement)
        return is_of_text and (self.said or self.reading == "repaired")

    @property
    def said(self) -> bool:
        """Whether this is what the text says, in words or by taking it for granted."""
        return wording.is_said(self.statement)

    @property
    def choice(self) -> str:
        return wording.choice_of(self.reading)

    def claimed_exponent(self, evidence: RateEvidence) -> float | None:
        """The exponent asserted for the variable of a sweep, if there is one."""
        if self.assertion is None or evidence.role != "conclusion":
            return None
        power = self.assertion.bound.exponents.get(evidence.variable)
        return None if power is None else float(power)

    @property
    def toward(self) -> str:
        """Where the swept variable tends."""
        return "zero" if self.assertion is None else self.assertion.bound.toward


def anchor(claim: str, reading: str = "") -> str:
    """The id of a statement's section, unique in the page: ``bias-bound.T1.repaired``."""
    return ".".join(part for part in (*claim.split("/"), *reading.split(":")) if part)
