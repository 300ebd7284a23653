"""Which claims catch which wrong implementation: computed by judging every mutant, and kept as a record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple, cast

from f2csa_ref.libraries.one_thread import one_thread
from verify.campaign import run as campaign
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.plan import Task, perform
from verify.campaign.summary import selected
from verify.checks.measuring.case import checks, find_profile
from verify.conformance.bugs.bent_subject import subject_class
from verify.conformance.bugs.catalogue import CATALOGUE
from verify.conformance.bugs.model import Bug

PROFILE = "ci"
RECORD = "kill_matrix.json"

Matrix = Mapping[str, Mapping[str, Sequence[str]]]
"""By mutant, then by ``claim`` or ``claim [reading]``: the instances whose verdict changed; none is a claim that was
tried in vain, a missing claim one that asks for no stage the mutant changes."""


class KillCell(NamedTuple):
    """A mutant against one statement under one reading."""

    mutant: Bug
    claim: str
    reading: str

    @property
    def key(self) -> str:
        """How the record names it."""
        return self.claim if self.reading == "repaired" else f"{self.claim} [{self.reading}]"


def cells(mutant: Bug) -> Iterator[KillCell]:
    """What may tell a mutant from the reference: repaired statements that use a stage it changes, and its catches."""
    for claim in selected([]):
        check = checks().get(claim)
        if check is not None and any(stage in mutant.changes for stage in check.needs):
            yield KillCell(mutant, claim, "repaired")
    for claim, reading in dict.fromkeys((catch.claim, catch.reading) for catch in mutant.caught_by):
        if reading != "repaired":
            yield KillCell(mutant, claim, reading)


def changed_verdicts(cell: KillCell, instances: Sequence[str] = ()) -> list[str]:
    """Instances on which the mutant's verdict is not the one on record for the reference; a fault is no verdict."""
    wanted = instances or checks()[cell.claim].instances[: find_profile(PROFILE).breadth]
    changed = []
    for name in wanted:
        verdict, on_record = judged(cell, name), shipped_record().get(f"{cell.claim}|{cell.reading}|{name}")
        if verdict is not None and on_record is not None and verdict != on_record:
            changed.append(name)
    return changed


def judged(cell: KillCell, instance: str) -> str | None:
    """The mutant's verdict; ``None`` where it ends in a fault."""
    task = Task(cell.claim, cell.reading, instance, cell.mutant.id, PROFILE, campaign.DEFAULT_SEED)
    verdict = perform(task, subject_class(cell.mutant)()).verdict
    return None if verdict is None else str(verdict)


def compute(progress: Callable[[str], None] | None = None, mutants: Sequence[Bug] = CATALOGUE) -> dict[str, Any]:
    """The whole matrix: some ten minutes."""
    verdicts: dict[str, Any] = {}
    with one_thread():
        for mutant in mutants:
            verdicts[mutant.id] = {cell.key: changed_verdicts(cell) for cell in cells(mutant)}
            if progress is not None:
                progress(f"{mutant.id}: {sum(map(bool, verdicts[mutant.id].values()))} of {len(verdicts[mutant.id])}")
    return verdicts


@lru_cache(maxsize=1)
def recorded() -> dict[str, dict[str, list[str]]]:
    """The matrix as it was last computed."""
    file = resources.files("verify.conformance.bugs") / RECORD
    return cast("dict[str, dict[str, list[str]]]", json.loads(file.read_text(encoding="utf-8")))


def dumps(matrix: Matrix) -> str:
    """A matrix as a file, one statement a line."""
    rows = [
        f"{json.dumps(mutant)}: {{\n"
        + ",\n".join(f" {json.dumps(claim)}: {json.dumps(instances)}" for claim, instances in row.items())
        + "\n}"
        for mutant, row in matrix.items()
    ]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def roots() -> list[str]:
    """Claims that ask something of a subject, in the paper's order: the page's columns."""
    families = {claim.split("/")[0] for claim, check in checks().items() if check.needs}
    return [claim for claim in dict.fromkeys(full_id.split("/")[0] for full_id in selected([])) if claim in families]
