"""A claim or step over all its instances: a row of a report's summary."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from spec.claim_parts import Exponent, Tag
from spec.claims import About
from verify.evidence.model import FrozenData, Rung
from verify.subjects.stage_table import Capability
from verify.verdict import Verdict


class SmallestCounterexample(FrozenData):
    """The smallest problem found that breaks a claim, decided exactly, with a derivation to follow by hand.

    Args:
        problem: The problem file's content, canonical.
        x: The upper-level point.
        derivation: One step of arithmetic a line.
        command: Shell command that repeats it.
        minimal: Whether every smaller problem was examined.
    """

    problem: dict[str, Any]
    x: tuple[str, ...]
    derivation: tuple[str, ...]
    command: str
    minimal: bool


class Claimed(FrozenData):
    """What one text of a statement asserts, as far as it can be measured.

    Args:
        quantity: What is bounded, in words or a formula.
        order: The order in print, ``O(α)``; empty where a value is compared with another.
        exponents: Power of each variable, a fraction; empty with ``order``.
        tag: ``upper`` (O), ``lower`` (Ω), ``tight`` (Θ) or ``equality``.
    """

    quantity: str
    order: str = ""
    exponents: dict[str, Exponent] = Field(default_factory=dict)
    tag: Tag = "upper"


class SummaryRow(FrozenData):
    """A claim or step over all its instances, under one reading.

    Args:
        claim: Full id.
        reading: As in :class:`Result`; the empty string for a claim no check covers.
        status: A verdict, ``FAULT``, ``NOT_CHECKED`` where no check exists yet, or ``LEFT_OPEN`` where none can.
        sentence: The deciding result's sentence.
        instances: How many instances gave each verdict.
        deciding: The instance whose result decided.
        reproduce: Command that repeats the deciding result.
        smallest: For a refuted text whose refutation was searched for: the smallest counterexample.
        about: Whom the claim is about.
        title: The statement in a few words.
        stages: Stages a subject must offer for the claim to be asked of it; empty where it is asked of nobody.
        printed: What the paper's literal text asserts.
        repaired: What the repaired text asserts.
        decided_by: Full id whose result decided: the claim itself, or one of its parts.
        claimed: What was held against the measured value there: ``O(α)``, ``<= 2``.
        quantity: What was measured there.
        measured: The deciding value: an exponent, or the compared quantity itself.
        interval: Interval of the exponent; both ends alike where it is exact.
        loose_by: Orders by which a supported upper bound is beaten, if any.
        rung: How the deciding evidence was obtained.
    """

    claim: str
    reading: str
    status: Verdict | Literal["FAULT", "NOT_CHECKED", "LEFT_OPEN"]
    sentence: str
    instances: dict[str, int] = Field(default_factory=dict)
    deciding: str = ""
    reproduce: str = ""
    smallest: SmallestCounterexample | None = None
    about: About = "subject"
    title: str = ""
    stages: tuple[Capability, ...] = ()
    printed: Claimed | None = None
    repaired: Claimed | None = None
    decided_by: str = ""
    claimed: str = ""
    quantity: str = ""
    measured: float | None = None
    interval: tuple[float, float] | None = None
    loose_by: float | None = None
    rung: Rung | None = None

    @property
    def fallen_part(self) -> str:
        """The part that it falls with while its own check refutes nothing; empty where that does, or where it stands.

        Then what fails is what that part says, and not the statement's own assertion.
        """
        own_fails = any(self.instances.get(status) for status in (Verdict.REFUTED, self.status))
        fails = self.status in (Verdict.REFUTED, Verdict.VACUOUS) and self.decided_by not in ("", self.claim)
        return self.decided_by if fails and not own_fails else ""

    def __str__(self) -> str:
        return f"{self.claim} [{self.reading}]: {self.status}. {self.sentence}"

    def __repr__(self) -> str:
        return f"<SummaryRow {self.claim} [{self.reading or 'no reading'}]: {self.status}>"
