"""What a soak came to, as data: ``soak.json``."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from spec.files import Frozen

FILE = "soak.json"
FINDINGS = "findings"
"""The folder beside it where problems that show a finding lie."""


class DrawFinding(Frozen):
    """One statement under one reading that went wrong in one way, and the smallest problem found that shows it.

    Args:
        claim: Full id.
        reading: ``as-written`` or ``repaired``.
        outcome: ``FAULT``, or ``REFUTED`` where the record has no such refutation.
        families: On how many draws of each family it was seen.
        first: The first of these draws, by name.
        sentence: What the result on the smallest problem says.
        instance: The file of the smallest problem; empty where a draw shows it no more when asked again.
        n: Size of x there.
        m: Size of y there.
        p: Its rows.
        command: The command that repeats it.
    """

    claim: str
    reading: str
    outcome: Literal["FAULT", "REFUTED"]
    families: dict[str, int]
    first: str
    sentence: str = ""
    instance: str = ""
    n: int = 0
    m: int = 0
    p: int = 0
    command: str = ""

    @property
    def draws(self) -> int:
        """On how many draws it was seen."""
        return sum(self.families.values())

    @property
    def file_name(self) -> str:
        """What its file is called."""
        return f"{self.claim.replace('/', '.')}-{self.reading}-{self.outcome.lower()}.toml"


class SoakReport(Frozen):
    """A soak: what was asked, how often each verdict came, and what went wrong.

    Args:
        schema_id: Names this format.
        subject: Who was asked.
        profile: Sizes of each result.
        seed: Seed of all randomness.
        draws: Problems drawn of each family that were asked for, or begun with.
        complete: Whether all statements were asked about all of them, where it did not end by the clock before.
        results: Results in all.
        verdicts: How many results of each family have each verdict.
        findings: What went wrong.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_id: Literal["f2csa-soak/1"] = Field(default="f2csa-soak/1", alias="schema")
    subject: str
    profile: str
    seed: int
    draws: int
    complete: bool
    results: int
    verdicts: dict[str, dict[str, int]]
    findings: tuple[DrawFinding, ...] = ()

    @property
    def has_whole_draw(self) -> bool:
        """Whether all that was to be asked of at least one problem of each family was."""
        return self.complete or self.draws > 1

    @property
    def exit_code(self) -> int:
        """0 nothing was found, 1 a refutation was, 3 a fault was, or nothing was asked."""
        if not self.results or any(finding.outcome == "FAULT" for finding in self.findings):
            return 3
        return int(bool(self.findings))
