"""Which hypotheses are needed, on record: what dropping each in turn found, with what it was found for.

``python -m verify.truth.propositions.needs`` searches anew and writes the record; an entry counts as long as the
formulas that it was found for are those of the claims.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path

from spec.claims import Premise, find, load_claims
from spec.files import Frozen
from spec.formulas import words_observed
from verify.truth.propositions.dropped import Shown, without

FILE = "needs.json"


class Need(Frozen):
    """What dropping one hypothesis of a repaired statement found.

    Args:
        premise: Its id.
        where: The problem, or path, that breaks it alone and the statement with it; empty where none searched does.
        finding: What becomes of the statement there.
    """

    premise: str
    where: str = ""
    finding: str = ""


class Needs(Frozen):
    """Those of one statement, and the digest of the formulas they were found for."""

    digest: str
    needs: tuple[Need, ...]


def premises_with_formulas(full_id: str) -> tuple[Premise, ...]:
    """The premises of a repaired statement, its claim's among them, that formulas decide."""
    statement, claim = find(full_id), find(full_id.split("/")[0])
    premises = {one.id: one for one in (*claim.premises, *statement.premises)}
    return tuple(one for one in premises.values() if one.predicate("repaired") is not None)


def digest(full_id: str) -> str:
    """SHA-256 of the statement's formula and those of its premises."""
    formulas = [find(full_id).repaired.formula, *((one.id, one.formula) for one in premises_with_formulas(full_id))]
    return hashlib.sha256(json.dumps(formulas).encode()).hexdigest()


def searched(full_id: str) -> Needs:
    """Each hypothesis of a statement dropped in turn."""
    premises, statement = premises_with_formulas(full_id), find(full_id)
    outcomes = [(one.id, without(statement, premises, one)) for one in premises]
    return Needs(digest=digest(full_id), needs=tuple(_need(name, shown) for name, shown in outcomes))


def _need(premise: str, shown: Shown | None) -> Need:
    return Need(premise=premise) if shown is None else Need(premise=premise, where=shown.where, finding=shown.finding)


def statements_searched() -> Iterator[str]:
    """Full ids of the statements that have a premise with a formula and one of their own that a problem decides."""
    for claim in load_claims().values():
        for full_id, statement in claim.statements():
            formula = statement.repaired.proposition
            if formula is not None and not words_observed(formula) and premises_with_formulas(full_id):
                yield full_id


@lru_cache(maxsize=1)
def recorded() -> Mapping[str, Needs]:
    """The record, by full id; what was found for other formulas is left out."""
    text = (resources.files(__package__ or "") / FILE).read_text(encoding="utf-8")
    entries = {name: Needs.model_validate(entry) for name, entry in json.loads(text).items()}
    current = set(statements_searched())
    return {name: entry for name, entry in entries.items() if name in current and entry.digest == digest(name)}


def needs_of(claim: str, premise: str) -> list[tuple[str, Need]]:
    """What is on record of a claim's hypothesis: the statements it was dropped from, with what that found."""
    return [
        (name, need)
        for name, entry in recorded().items() if name.split("/")[0] == claim
        for need in entry.needs if need.premise == premise
    ]  # fmt: skip


def record() -> str:
    """The record's text, searched anew."""
    entries = {name: searched(name).model_dump(mode="json") for name in statements_searched()}
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name(FILE).write_text(record(), encoding="utf-8")
