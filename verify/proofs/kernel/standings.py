"""What is proven of a statement, for reports: theorems, premises beside the statement's own, gaps, its checking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from verify.evidence.model import PROVEN
from verify.proofs.kernel.coq_checking import CoqOutcome, check
from verify.proofs.kernel.goals import goal_deviations
from verify.proofs.kernel.proof_record import ProofRecord, load_record, map_deviations
from verify.proofs.kernel.theorems import Settled, Theorem, load_theorems

NO_GOAL = "not stated as one theorem yet: theorems are matched with it by hand"
Grade = Literal["proven", "proven in part", "refuted", "no proof"]


@dataclass(frozen=True)
class TheoremShown:
    """One theorem as it is shown: in the paper's letters, as the kernel prints it, its axioms."""

    theorem: Theorem
    statement: str
    axioms: tuple[str, ...]

    @property
    def ratio(self) -> str:
        """How near to equality it comes where it is tied to data, in words; empty where it is not a bound so tied."""
        if self.theorem.ratio is None:
            return ""
        return f"largest value/bound where it is tied to exact stages {self.theorem.ratio:g}"


@dataclass(frozen=True)
class ProofStanding:
    """What theorems say of a statement under one reading.

    Args:
        row: From the table.
        theorems: In its order.
        gaps: Premises that the theorems ask for and the statement does not.
        grants: Their other premises, each with what grants it.
        outcome: Whether they were re-checked, or are only recorded.
        changed: Why no proof counts though the theorems stand: its formula, premises or row are not those on record.
    """

    row: Settled
    theorems: tuple[TheoremShown, ...]
    gaps: tuple[str, ...]
    grants: tuple[tuple[str, str], ...]
    outcome: CoqOutcome
    changed: str = ""

    @property
    def grade(self) -> Grade:
        """Proven whole, in part, or refuted as written; no proof where the theorems are refused."""
        if self.outcome.state == "refused" or self.changed:
            return "no proof"
        if self.row.reading == "as-written":
            return "refuted"
        return "proven in part" if self.lacks else PROVEN

    @property
    def lacks(self) -> tuple[str, ...]:
        """What the statement says beyond what is proven of it."""
        none = self.row.reading == "repaired" and self.row.under is None
        return (*self.row.short, *((NO_GOAL,) if none else ()))

    @property
    def headline(self) -> str:
        """The grade and the theorems, in a line; of what is refused, that."""
        if self.outcome.state == "refused":
            return f"no proof counts: {self.outcome.words}"
        if self.changed:
            return f"no proof counts: {self.changed}"
        names = ", ".join(self.row.by)
        if self.grade == "refuted":
            return f"Refuted as written by {names}; {self.outcome.words}."
        return f"{self.grade.capitalize()} for every problem that meets the premises by {names}; {self.outcome.words}."


@lru_cache(maxsize=1)
def _shipped() -> ProofRecord:
    return load_record()


@lru_cache(maxsize=1)
def on_record() -> CoqOutcome:
    """What can be said of the proofs that ship without running Coq: recorded, or refused."""
    return replace(check(record=_shipped(), coqc=None), why="`f2csa prove` does")


def standings(full_id: str, outcome: CoqOutcome | None = None) -> tuple[ProofStanding, ...]:
    """What theorems say of a statement; by default nothing but the record is trusted, and nothing is run."""
    table, record = load_theorems(), _shipped()
    return tuple(
        ProofStanding(
            row,
            tuple(_shown(table.theorems[name], record) for name in row.by),
            tuple(table.gaps(row)),
            tuple(table.grants(row)),
            on_record() if outcome is None else outcome,
            _changed().get(f"{row.statement} [{row.reading}]", _changed().get(row.statement, "")),
        )
        for row in table.settling(full_id)
    )


def proven_by(full_id: str) -> str:
    """Of a repaired statement that is proven whole, by what; empty of all others."""
    return next((one.headline for one in standings(full_id) if one.grade == PROVEN), "")


@lru_cache(maxsize=1)
def _changed() -> Mapping[str, str]:
    """Rows and goals that are not as recorded, each with why."""
    record, table = _shipped(), load_theorems()
    return goal_deviations(record.goals, table) | map_deviations(record, table)


def _shown(theorem: Theorem, record: ProofRecord) -> TheoremShown:
    recorded = record.theorems.get(theorem.coq)
    return TheoremShown(theorem, recorded.statement if recorded else "", recorded.axioms if recorded else ())


def counts(reading: str = "repaired") -> Mapping[str, int]:
    """How many statements are proven, of these with a premise more, proven in part, and left."""
    table = load_theorems()
    rows = [row for row in table.settled if row.reading == reading]
    whole = [row for row in rows if not row.short and (row.under is not None or reading == "as-written")]
    return {
        "proven": len(whole),
        "gaps": sum(bool(table.gaps(row)) for row in whole),
        "part": len(rows) - len(whole),
        "left": len(table.reasons),
    }
