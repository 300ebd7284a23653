"""What became of statements on drawn problems, as data."""

from __future__ import annotations

from collections import Counter

from pydantic import Field

from verify.evidence.model import FrozenData


class DrawRow(FrozenData):
    """One statement under one reading on the draws of one family (:mod:`spec.drawn`).

    Args:
        claim: Full id.
        reading: ``as-written`` or ``repaired``.
        family: The family's name.
        verdicts: How many draws gave each verdict, or a ``FAULT``.
        named: The first draws of each outcome, by name, to run again.
        measured: Least and largest deciding value where it is supported.
    """

    claim: str
    reading: str
    family: str
    verdicts: dict[str, int]
    named: dict[str, tuple[str, ...]]
    measured: tuple[float, float] | None = None

    @property
    def problems(self) -> int:
        """How many draws it was asked about."""
        return sum(self.verdicts.values())


class StratumRow(FrozenData):
    """How one stratum, derived exactly of each draw, is covered.

    Args:
        stratum: Its name, as the atlas has it.
        problems: Draws that are of it.
        verdicts: How many results on them have each verdict.
    """

    stratum: str
    problems: int
    verdicts: dict[str, int]


class DrawnProblems(FrozenData):
    """All that was asked of drawn problems.

    Args:
        each: Draws of each family.
        rows: Counts by statement, reading and family.
        strata: Coverage by stratum; a problem is of several.
    """

    each: int = 0
    rows: tuple[DrawRow, ...] = ()
    strata: tuple[StratumRow, ...] = Field(default=())

    @property
    def asked(self) -> int:
        """Results in all."""
        return sum(row.problems for row in self.rows)

    def counts(self, reading: str) -> dict[str, int]:
        """Results by verdict under one reading."""
        totals: Counter[str] = Counter()
        for row in self.rows:
            if row.reading == reading:
                totals.update(row.verdicts)
        return dict(sorted(totals.items()))
