"""What a run will produce: every claim, reading and instance as a task."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spec import InvalidInputError, Reading
from spec.atlas import find as find_instance
from spec.claims import Bound, Statement
from spec.claims import find as find_claim
from verify.campaign.summary import selected
from verify.checks.measuring.case import Check, Profile, checks
from verify.report.model import NAMED, About


@dataclass(frozen=True)
class Task(About):
    """One result to produce; plain data, so it crosses process boundaries.

    ``continuation`` holds the growing samples that an earlier run left undecided.
    """

    claim: str
    reading: str
    instance: str
    subject: str
    profile: str
    seed: int
    effort: int = 1
    continuation: tuple[dict[str, Any], ...] = ()

    @property
    def command(self) -> str:
        """The command that repeats exactly this result."""
        subject = "" if self.subject == "reference" else f" --subject {shlex.quote(self.subject)}"
        effort = "" if self.effort == 1 else f" --effort {self.effort}"
        return (
            f"f2csa verify {self.claim} --reading {self.reading} --instance {self.instance} "
            f"--profile {self.profile} --seed {self.seed}{effort}{subject}"
        )


def bound_under(statement: Statement, reading: str) -> tuple[Bound, Reading]:
    """What is asserted under a reading, and the full reading it is judged under."""
    if reading == "repaired":
        return statement.repaired.bound, statement.reading("repaired")
    if reading == "as-written":
        return statement.as_written.bound, statement.reading("as-written")
    return statement.as_written.bound, statement.isolated()[reading.removeprefix("only:")]


DEFAULT_SEED = 20_240_913


def plan(
    claims: Sequence[str], readings: Sequence[str], instances: Sequence[str], profile: Profile, subject: str, seed: int
) -> list[Task]:
    """All results a run will produce, in the report's order."""
    if not readings:
        raise InvalidInputError("readings", "must name at least one reading")
    if seed < 0:
        raise InvalidInputError("seed", "must be >= 0", seed)
    for instance in instances:
        find_instance(instance)
    tasks: list[Task] = []
    for full_id in selected(claims):
        found = checks().get(full_id)
        if found is None or _skipped(full_id, claims, profile):
            continue
        statement = find_claim(full_id)
        for reading in _readings(statement, readings, profile):
            tasks += [
                Task(full_id, reading, instance, subject, profile.name, seed)
                for instance in _instances(found, instances, profile)
            ]
    return tasks


def _skipped(full_id: str, claims: Sequence[str], profile: Profile) -> bool:
    family = {full_id, full_id.split("/")[0]}
    return bool(family & set(profile.skips)) and not family & set(claims)


def _readings(statement: Statement, wanted: Sequence[str], profile: Profile) -> Iterator[str]:
    for name in dict.fromkeys(wanted):
        if name in NAMED:
            yield name
        elif name.startswith("only:") and name[5:] in Reading.model_fields:
            if name[5:] in statement.choices:
                yield name
        else:
            raise InvalidInputError("reading", "must be as-written, repaired or only:FIELD", name)
    # A statement that makes a single choice is isolated already.
    if profile.isolate and set(NAMED) <= set(wanted) and len(statement.choices) > 1:
        yield from (f"only:{choice}" for choice in statement.choices if f"only:{choice}" not in wanted)


def _instances(found: Check, wanted: Sequence[str], profile: Profile) -> Sequence[str]:
    if wanted:
        return [name for name in found.instances if name in wanted]
    return found.instances[: profile.breadth]
