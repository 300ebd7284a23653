"""Which theorem settles which statement: ``theorems.toml`` as data, matched with the catalogue both ways.

A premise that a theorem asks for is granted by the statement's own words, by a premise of it or of its claim, by an
assumption of the paper, or by another statement that is proven whole. What is not is a gap: computed here, never
written down.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import resources

from pydantic import Field

from spec.claims import Claim, ReadingName, Statement, load_claims
from spec.files import Frozen, parse_toml

WHERE = "theorems.toml"
OWN_WORDS = "the statement itself"
"""What grants a premise that the statement's own words state."""


class AskedPremise(Frozen):
    """What theorems ask for, in words.

    Args:
        id: Its name.
        text: The words.
        standing: The statement of the catalogue that grants it to every claim; empty where a claim must do so itself.
        choice: Whether it only says how free parameters are chosen, or how large they may be.
    """

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    text: str = Field(min_length=1)
    standing: str = ""
    choice: bool = False


class Theorem(Frozen):
    """One machine-checked theorem.

    Args:
        coq: ``FILE.NAME``.
        says: Its conclusion in the paper's letters.
        number: In the list of theorems it was first written down in, if it is there.
        asks: Its premises, by id.
        ratio: The largest value over bound at the places where it is tied to the suite's stages, cut to four digits;
            ``None`` for an equality, and for what is not tied (:mod:`verify.truth.theorems`).
        helps: Whether it only serves other proofs and settles nothing itself.
    """

    coq: str = Field(pattern=r"^[a-z_]+\.\w+$")
    says: str = Field(min_length=1)
    number: str = ""
    asks: tuple[str, ...] = ()
    ratio: float | None = Field(default=None, gt=0, le=1)
    helps: bool = False


class Settled(Frozen):
    """A statement under a reading, and the theorems that prove it, or refute it as written.

    Args:
        statement: Full id of a claim or step.
        reading: ``repaired``: proven; ``as-written``: refuted.
        by: The theorems.
        granted: By premise of the theorems, the statement's own premise (or its claim's) or a statement that grants it.
        itself: Premises of the theorems that the statement's own words state.
        short: What the statement says beyond the theorems; then it is proven in part.
        under: The premises with a formula that its own goal is proven under (:mod:`verify.proofs.kernel.goals`), and
            assumptions of the paper that stand for all claims, by the statement's full id; ``None`` where it has no
            goal: then it is proven in part.
    """

    statement: str
    reading: ReadingName = "repaired"
    by: tuple[str, ...] = Field(min_length=1)
    granted: dict[str, str] = Field(default_factory=dict)
    itself: tuple[str, ...] = ()
    short: tuple[str, ...] = ()
    under: tuple[str, ...] | None = None


class LeftOpen(Frozen):
    """Statements that no theorem proves, and why."""

    why: str = Field(min_length=1)
    statements: tuple[str, ...] = Field(min_length=1)


class TheoremTable(Frozen):
    """The whole file."""

    order: tuple[str, ...]
    premise: tuple[AskedPremise, ...]
    theorem: tuple[Theorem, ...]
    settled: tuple[Settled, ...]
    left: tuple[LeftOpen, ...] = ()

    @property
    def theorems(self) -> dict[str, Theorem]:
        """By ``FILE.NAME``."""
        return {theorem.coq: theorem for theorem in self.theorem}

    @property
    def premises(self) -> dict[str, AskedPremise]:
        """By id."""
        return {premise.id: premise for premise in self.premise}

    @property
    def reasons(self) -> dict[str, str]:
        """Why a statement is not proven, by its full id."""
        return {full: left.why for left in self.left for full in left.statements}

    def row_digest(self, name: str) -> str:
        """SHA-256 of what a theorem's row says of it: its words, and those of the premises it asks for."""
        theorem = self.theorems[name]
        premises = {one: self.premises[one].text if one in self.premises else "" for one in theorem.asks}
        return hashlib.sha256(json.dumps([theorem.says, premises]).encode()).hexdigest()

    def map_digests(self) -> dict[str, str]:
        """SHA-256 of each row, and of what its statement says and assumes."""
        digests = {}
        for row in self.settled:
            told: list[object] = [row.model_dump(mode="json", exclude_none=True)]
            if row.statement in _catalogue():
                statement, claim = _catalogue()[row.statement]
                assertion = statement.assertion(row.reading)
                told += [assertion.text, assertion.formula]
                told += [[one.id, one.text, one.formula] for one in (*claim.premises, *statement.premises)]
            digests[f"{row.statement} [{row.reading}]"] = hashlib.sha256(json.dumps(told).encode()).hexdigest()
        return digests

    def settling(self, full_id: str) -> tuple[Settled, ...]:
        """What is settled of a statement."""
        return tuple(row for row in self.settled if row.statement == full_id)

    def asked(self, row: Settled) -> list[AskedPremise]:
        """Every premise of its theorems, once."""
        return [self.premises[one] for one in dict.fromkeys(a for name in row.by for a in self.theorems[name].asks)]

    def gaps(self, row: Settled) -> list[str]:
        """Premises that its theorems ask for and the statement does not grant, in words; none of a refutation."""
        if row.reading == "as-written":
            return []
        gaps = []
        for one in self.asked(row):
            by, words = self._granting(row, one), _catalogue()
            if one.choice:
                continue
            if not by:
                gaps.append(one.text)
            elif by != OWN_WORDS and by in words and not self._firm(by, (row.statement,)):
                gaps.append(f"{one.text} (from {by}, which is {self._standing(by)})")
        return gaps

    def grants(self, row: Settled) -> list[tuple[str, str]]:
        """The premises that something grants, in words, each with what does."""
        pairs = ((one.text, self._granting(row, one)) for one in self.asked(row))
        return [(text, by) for text, by in pairs if by]

    def _granting(self, row: Settled, premise: AskedPremise) -> str:
        """What grants a premise: the statement itself, a premise of its own, a statement, or nothing."""
        if premise.id in row.itself:
            return OWN_WORDS
        return row.granted.get(premise.id, premise.standing)

    def _firm(self, full_id: str, asking: tuple[str, ...] = ()) -> bool:
        """Whether a statement may be leaned on: an assumption of the paper, or proven whole without leaning back."""
        if full_id in asking:
            return False
        if _catalogue()[full_id][1].kind == "assumption":
            return True
        rows = [row for row in self.settling(full_id) if row.reading == "repaired"]
        return bool(rows) and all(not row.short and not self._open(row, (*asking, full_id)) for row in rows)

    def _open(self, row: Settled, asking: tuple[str, ...]) -> bool:
        granting = [self._granting(row, one) for one in self.asked(row) if not one.choice]
        named = [by for by in granting if by in _catalogue()]
        return not all(granting) or any(not self._firm(by, asking) for by in named)

    def _standing(self, full_id: str) -> str:
        rows = [row for row in self.settling(full_id) if row.reading == "repaired"]
        if not rows:
            return "not proven"
        return "proven in part" if any(row.short for row in rows) else "proven with a premise more"

    def deviations(self) -> list[str]:
        """What does not go together in the table, or of it and the catalogue, one line each."""
        statements = {full: claim for full, (_, claim) in _catalogue().items()}
        named = {full: statement for full, (statement, _) in _catalogue().items()}
        return [*self._names(), *self._placed(named), *self._granted(named, statements)]

    def _names(self) -> Iterator[str]:
        lists = {
            "theorem": [theorem.coq for theorem in self.theorem],
            "premise": [premise.id for premise in self.premise],
            "file": list(self.order),
            "statement": [f"{row.statement} [{row.reading}]" for row in self.settled],
        }
        for kind, names in lists.items():
            yield from (f"{WHERE}: the {kind} {name} stands twice" for name, n in Counter(names).items() if n > 1)
        used = {name for row in self.settled for name in row.by}
        yield from (f"{WHERE}: no theorem is named {name}" for name in sorted(used - self.theorems.keys()))
        idle = [one.coq for one in self.theorem if one.helps == (one.coq in used)]
        yield from (f"{WHERE}: {name} must settle a statement, or say that it helps, and not both" for name in idle)
        premises = {name for theorem in self.theorem for name in theorem.asks}
        yield from (f"{WHERE}: no premise is named {name}" for name in sorted(premises - self.premises.keys()))
        yield from (f"{WHERE}: no theorem asks for {name}" for name in sorted(self.premises.keys() - premises))
        yield from (
            f"{WHERE}: {theorem.coq} is of no file in the order"
            for theorem in self.theorem
            if theorem.coq.split(".")[0] not in self.order
        )

    def _placed(self, named: Mapping[str, Statement]) -> Iterator[str]:
        proven = [row.statement for row in self.settled if row.reading == "repaired"]
        left = [full for one in self.left for full in one.statements]
        yield from (f"{WHERE}: the catalogue has no {full}" for full in sorted({*proven, *left} - named.keys()))
        yield from (
            f"{WHERE}: the catalogue has no {row.statement}"
            for row in self.settled
            if row.reading == "as-written" and row.statement not in named
        )
        places = Counter([*proven, *left])
        yield from (f"{WHERE}: {full} has no theorem and no reason" for full in named if not places[full])
        yield from (f"{WHERE}: {full} has more than one place" for full, count in places.items() if count > 1)

    def _granted(self, named: Mapping[str, Statement], claims: Mapping[str, Statement]) -> Iterator[str]:
        standing = [premise for premise in self.premise if premise.standing and premise.standing not in named]
        yield from (f"{WHERE}: the catalogue has no {premise.standing}" for premise in standing)
        for row in self.settled:
            if row.statement not in named or not self.theorems.keys() >= set(row.by):
                continue
            own = (*named[row.statement].premises, *claims[row.statement].premises)
            ids = {premise.id for premise in own if row.reading in premise.readings}
            premises = {name for one in row.by for name in self.theorems[one].asks}
            for premise, by in [*row.granted.items(), *((one, OWN_WORDS) for one in row.itself)]:
                if premise not in premises:
                    yield f"{WHERE}: {row.statement} grants {premise}, which none of its theorems asks for"
                if by == row.statement:
                    yield f"{WHERE}: {row.statement} grants {premise} by itself; its own words do, or they do not"
                if by != OWN_WORDS and by not in ids and by not in named:
                    yield f"{WHERE}: {row.statement} has no premise {by} to grant {premise}"


@lru_cache(maxsize=1)
def _catalogue() -> dict[str, tuple[Statement, Claim]]:
    """Every statement and the claim that it is of, by full id."""
    return {full: (statement, claim) for claim in load_claims().values() for full, statement in claim.statements()}


@lru_cache(maxsize=1)
def load_theorems() -> TheoremTable:
    """The table that ships with the package.

    Raises:
        InvalidInputError: If it is malformed.
    """
    return parse_table((resources.files("verify.proofs.kernel") / WHERE).read_text(encoding="utf-8"))


def parse_table(text: str) -> TheoremTable:
    """A table from its text.

    Raises:
        InvalidInputError: If it is malformed.
    """
    return parse_toml(TheoremTable, text, WHERE)
