"""The sampled statements at many seeds: whether a verdict on record ever comes out as another one, a flip."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from pathlib import Path

from pydantic import ValidationError

from spec.errors import InvalidInputError, from_validation
from spec.files import read_text
from verify.campaign.baseline.storage import MAX_BYTES, shipped_record
from verify.campaign.plan import Task, perform, plan
from verify.checks.measuring.case import checks, find_profile
from verify.evidence.model import FrozenData
from verify.subjects import ReferenceSubject
from verify.subjects.subject_names import REFERENCE

SCHEMA = "f2csa-seeds/1"
RECORD = resources.files("verify.campaign.baseline") / "records" / "seeds.json"
PROFILE = "smoke"
READINGS = ("as-written", "repaired")
FIRST = 1_000
"""The first seed; none of these was looked at while a decision was made."""
NO_VERDICT = "FAULT"


class Flip(FrozenData):
    """A verdict, or a fault, that is not the one on record."""

    seed: int
    key: str
    verdict: str


class Seeds(FrozenData):
    """Seeds ``first``, ``first`` + 1, ...: how many were run, of how many results each, and all flips.

    ``digest`` is over every verdict found. It follows from the verdicts on record and the flips, and so tells a record
    of other statements or verdicts than today's; that the seeds were run it cannot tell.
    """

    format: str = SCHEMA
    first: int = FIRST
    seeds: int = 0
    results: int
    flips: tuple[Flip, ...] = ()
    digest: str

    @classmethod
    def of(cls, first: int, verdicts: Sequence[Sequence[tuple[str, str]]]) -> Seeds:
        """From the verdicts of each seed, by key."""
        record = shipped_record()
        flips = tuple(
            Flip(seed=seed, key=key, verdict=verdict)
            for seed, row in enumerate(verdicts, first) for key, verdict in row if verdict != record.get(key)
        )  # fmt: skip
        digest = _digest(enumerate(verdicts, first))
        return cls(first=first, seeds=len(verdicts), results=len(tasks(first)), flips=flips, digest=digest)

    @property
    def follows(self) -> bool:
        """Whether the digest is that of the verdicts on record, but for the flips, of all that is asked today."""
        known = {(flip.seed, flip.key): flip.verdict for flip in self.flips}
        return self.digest == _digest((seed, self.row(seed, known)) for seed in self.asked)

    @property
    def asked(self) -> range:
        """The seeds."""
        return range(self.first, self.first + self.seeds)

    def row(self, seed: int, flips: dict[tuple[int, str], str]) -> list[tuple[str, str]]:
        """Verdicts of one seed, by key."""
        record = shipped_record()
        return [(task.key, flips.get((seed, task.key), record.get(task.key, ""))) for task in tasks(seed)]

    @property
    def found(self) -> list[list[tuple[str, str]]]:
        """Verdicts of every seed, by key."""
        known = {(flip.seed, flip.key): flip.verdict for flip in self.flips}
        return [self.row(seed, known) for seed in self.asked]

    def written(self) -> str:
        """As it is kept."""
        return json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def tasks(seed: int) -> list[Task]:
    """What is sampled in a smoke run of the reference."""
    return [replace(task, seed=seed) for task in _planned()]


@lru_cache(maxsize=1)
def _planned() -> tuple[Task, ...]:
    every = plan((), READINGS, (), find_profile(PROFILE), REFERENCE, FIRST)
    return tuple(task for task in every if checks()[task.claim].decisions)


def run_seeds(seeds: Sequence[int]) -> list[list[tuple[str, str]]]:
    """The verdict of every sampled result by its key, for each seed."""
    subject = ReferenceSubject()
    results = ((task, perform(task, subject)) for seed in seeds for task in tasks(seed))
    verdicts = [(task.key, str(result.verdict or NO_VERDICT)) for task, result in results]
    each = len(verdicts) // len(seeds)
    return [verdicts[start : start + each] for start in range(0, len(verdicts), each)]


def kept(path: Path) -> Seeds | None:
    """What a file holds of an earlier run; none where there is no file.

    Raises:
        InvalidInputError: If it is no such record, or one of other verdicts than are on record today.
    """
    if not path.exists():
        return None
    try:
        seeds = Seeds.model_validate_json(read_text(path, "--record", MAX_BYTES))
    except ValidationError as error:
        raise from_validation(error, "--record") from None
    if not seeds.follows:
        raise InvalidInputError("--record", "must be of the verdicts on record today: remove it to begin anew", path)
    return seeds


def shipped() -> Seeds:
    """What was recorded with this version."""
    return Seeds.model_validate_json(RECORD.read_text(encoding="utf-8"))


def _digest(rows: Iterable[tuple[int, Sequence[tuple[str, str]]]]) -> str:
    whole = hashlib.sha256()
    for seed, row in rows:
        for key, verdict in row:
            whole.update(f"{seed}|{key}|{verdict}\n".encode())
    return whole.hexdigest()
