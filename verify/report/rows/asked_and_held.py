"""How much of what is said of a solver could be asked of a program, and how much of it holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from verify.verdict import Verdict


@dataclass(frozen=True)
class Coverage:
    """Of the repaired statements about a solver that a run held: how many could be asked, and how many hold."""

    held: int
    applicable: int
    all: int

    @classmethod
    def of(cls, statuses: Iterable[str]) -> Coverage:
        """From one status each."""
        known = [str(status) for status in statuses if status not in ("NOT_CHECKED", "LEFT_OPEN")]
        applicable = [status for status in known if status not in (Verdict.NOT_APPLICABLE, Verdict.VACUOUS)]
        return cls(applicable.count(Verdict.SUPPORTED), len(applicable), len(known))

    def __str__(self) -> str:
        if self.applicable == self.all:
            return f"{self.held} of {self.all} statements about a solver hold"
        hold = "it holds" if self.applicable == self.held == 1 else f"{self.held} hold{'s' if self.held == 1 else ''}"
        return f"{self.applicable} of {self.all} statements about a solver could be asked; {hold}"
