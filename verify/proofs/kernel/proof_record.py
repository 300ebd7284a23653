"""What Coq said when the proofs were recorded; the package knows its hash, so that the record alone cannot be edited.

Whoever edits sources, table, record and hash so that all agree is found out by Coq alone, or by who reads the change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, ValidationError

from spec.errors import from_validation
from spec.files import Frozen
from verify.proofs.kernel.coq_sources import FOLDER, CoqSource
from verify.proofs.kernel.goals import goal_deviations
from verify.proofs.kernel.record_digest import DIGEST
from verify.proofs.kernel.theorems import TheoremTable

RECORD = FOLDER.parent / "proofs.json"
KNOWN = FOLDER.parent / "record_digest.py"


class RecordedDefinition(Frozen):
    """What statements are made of, as the kernel prints it for readers and with nothing left out (`Printing All`)."""

    text: str
    explicit: str


class RecordedTheorem(Frozen):
    """A statement as the kernel prints it, and what it stands on.

    Args:
        statement: For readers.
        explicit: With nothing left out: hidden arguments, coercions, no notation.
        axioms: Those its proof rests on.
        row: Hash of what the table says of it: its words and the premises it asks for.
    """

    statement: str
    explicit: str
    axioms: tuple[str, ...]
    row: str


class ProofRecord(Frozen):
    """What Coq said when the proofs were recorded.

    Args:
        coq: Its version.
        sources: SHA-256 of each file.
        definitions: By ``FILE.NAME``.
        theorems: By ``FILE.NAME``.
        map: By statement and reading, the hash of its row in the table, of its words, formula and premises.
        goals: By statement, the hash of its goal.
    """

    schema_: Literal["f2csa-proofs/3"] = Field(default="f2csa-proofs/3", alias="schema")
    coq: str
    sources: dict[str, str]
    definitions: dict[str, RecordedDefinition]
    theorems: dict[str, RecordedTheorem]
    map: dict[str, str]
    goals: dict[str, str]

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


def load_record(path: Path = RECORD) -> ProofRecord:
    """The record that ships with the package.

    Raises:
        InvalidInputError: If it is malformed.
    """
    try:
        return ProofRecord.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise from_validation(error, path.name) from None


def dumps(record: ProofRecord) -> str:
    """The record as the file has it."""
    return record.model_dump_json(by_alias=True, indent=1) + "\n"


def digest(record: ProofRecord) -> str:
    """SHA-256 of its content."""
    return hashlib.sha256(dumps(record).encode()).hexdigest()


def files(record: ProofRecord) -> dict[str, str]:
    """Texts by file name: the record, and the module that knows its hash."""
    doc = (KNOWN.read_text(encoding="utf-8")).split("DIGEST =")[0]
    return {RECORD.name: dumps(record), KNOWN.name: f'{doc}DIGEST = "{digest(record)}"\n'}


def edited(sources: Mapping[str, CoqSource], record: ProofRecord, table: TheoremTable) -> list[tuple[str, str]]:
    """What is not as recorded, without Coq: by file, theorem or the record's own name, a line each."""
    deviations = []
    if digest(record) != DIGEST:
        deviations.append((RECORD.name, f"{RECORD.name} is not the record that the package knows: it was edited since"))
    deviations += [
        (name, f"{name}.v is not the file on record: it was edited since")
        for name in table.order
        if name in sources and record.sources.get(name) != sources[name].digest
    ]
    deviations += [
        (name, f"{name}.v is on record and in no order") for name in sorted(record.sources.keys() - {*table.order})
    ]
    ours, recorded = table.theorems.keys(), record.theorems.keys()
    deviations += [(name, f"{name} is not on record") for name in sorted(ours - recorded)]
    deviations += [(name, f"{name} is on record and not in the table") for name in sorted(recorded - ours)]
    deviations += [(line.split(" ")[0], line) for line in map_deviations(record, table).values()]
    deviations += list(goal_deviations(record.goals, table).items())
    return deviations + [
        (name, f"{name} is described otherwise than on record: its words, or the premises it asks for, changed since")
        for name in table.theorems
        if name in recorded and record.theorems[name].row != table.row_digest(name)
    ]


def map_deviations(record: ProofRecord, table: TheoremTable) -> dict[str, str]:
    """Rows that are not as recorded, by statement and reading, a line each."""
    now = table.map_digests()
    lines = {}
    for name in sorted(now.keys() | record.map.keys()):
        if now.get(name) != record.map.get(name):
            lines[name] = f"{name} is mapped otherwise than on record: its row, formula or premises changed since"
    return lines
