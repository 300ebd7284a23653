"""Which probe shows which term of Algorithm 1: ``python -m verify.conformance.coverage [--full]`` prints the table.

A term that no probe shows could be wrong unseen. It is shown where leaving it out, or writing it otherwise, changes the
answer by many tolerances.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from verify.conformance.probes.line_terms import LINES
from verify.conformance.probes.probes import Probe, probes

SHOWN = 100.0
"""Tolerances by which an answer must change for a probe to show a term."""
ENOUGH = 2
"""Places that should show it, so that none of them has to be right by itself."""


@dataclass(frozen=True)
class ShownCoverage:
    """How a term of a line is seen: by how many tolerances each probe's answer changes without it."""

    line: str
    term: str
    shares: dict[str, float]

    @property
    def by(self) -> tuple[str, ...]:
        """Probes that show it."""
        return tuple(probe for probe, share in self.shares.items() if share >= SHOWN)

    @property
    def places(self) -> int:
        """Different problems among these."""
        return len({probe.split("/")[1].partition("+")[0] for probe in self.by})

    @property
    def is_covered(self) -> bool:
        """Whether enough places show it."""
        return self.places >= ENOUGH


def coverage(questions: Iterable[Probe] | None = None) -> tuple[ShownCoverage, ...]:
    """Every term of every line against the probes that ask for this line alone; the built-in ones by default."""
    given = probes() if questions is None else tuple(questions)
    term_shares: dict[tuple[str, str], dict[str, float]] = {}
    for line, (asks, terms) in LINES.items():
        for probe in filter(asks, given):
            for term, change in terms(probe).items():
                share = float(np.max(np.abs(change) / probe.tolerance, initial=0.0))
                term_shares.setdefault((line, term), {})[probe.id] = share
    return tuple(ShownCoverage(line, term, shares) for (line, term), shares in term_shares.items())


def table(rows: Iterable[ShownCoverage], *, full: bool = False) -> str:
    """The coverage as text, a line a term; ``full`` adds every probe's share."""
    lines = [f"{'line':<9}{'without, or written otherwise':<34}{'shown by':>9}{'places':>8}  most, in tolerances"]
    for row in rows:
        most = max(row.shares, key=row.shares.__getitem__)
        mark = "" if row.is_covered else "  NOT COVERED"
        lines.append(
            f"{row.line:<9}{row.term:<34}{len(row.by):>4}/{len(row.shares):<4}{row.places:>8}  "
            f"{row.shares[most]:.1e} {most}{mark}"
        )
        if full:
            lines += [f"{'':<12}{share:10.2e}  {probe}" for probe, share in row.shares.items()]
    return "\n".join(lines)


def main() -> int:
    """Print the table; 1 where a term is not covered."""
    rows = coverage()
    sys.stdout.write(table(rows, full="--full" in sys.argv[1:]) + "\n")
    return 0 if all(row.is_covered for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
