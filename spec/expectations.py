"""Statements that a subject is known to fail, or is not to be asked, each with a reason, by exact name.

A name is ``bias-bound/T1``, narrower ``bias-bound/T1|repaired``, or a single result ``bias-bound/T1|repaired|toy1``.
There are no patterns: what is excused is what somebody wrote down. In a file a line is ``NAME  # REASON``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import ValidationError, model_validator

from spec.atlas import find as find_instance
from spec.claims import find as find_claim
from spec.drawn import is_drawn
from spec.errors import InvalidInputError, from_validation, shorten
from spec.files import Frozen, read_text

LONGEST = 500
"""Characters of a reason."""
LARGEST = 2**20
"""Bytes of a file that people write by hand."""


class Listed(Frozen):
    """One name with its reason.

    Args:
        id: ``CLAIM``, ``CLAIM|READING`` or ``CLAIM|READING|INSTANCE``; a claim does not stand for its steps.
        reason: Why, in one line.
    """

    id: str
    reason: str

    @model_validator(mode="after")
    def _is_known(self) -> Self:
        parts = self.id.split("|")
        if len(parts) > 3 or not all(parts):
            raise InvalidInputError("", "must be CLAIM, CLAIM|READING or CLAIM|READING|INSTANCE", self.id)
        statement = find_claim(parts[0])
        if len(parts) > 1:
            try:
                statement.interpreted(parts[1])
            except InvalidInputError as error:
                raise InvalidInputError("reading", error.rule, parts[1]) from None
        if len(parts) > 2:
            if is_drawn(parts[2]):
                raise InvalidInputError("instance", "must be of the atlas: draws are counted, not listed", parts[2])
            find_instance(parts[2])
        reason = self.reason
        if not reason.strip() or not reason.isprintable() or len(reason) > LONGEST:
            raise InvalidInputError("", f"must have a reason: one line of at most {LONGEST} characters", reason)
        return self

    @property
    def claim(self) -> str:
        """Full id of the claim or step."""
        return self.id.split("|")[0]

    @property
    def reading(self) -> str:
        """The reading; empty for any."""
        return self.id.split("|")[1] if "|" in self.id else ""

    @property
    def instance(self) -> str:
        """The instance; empty for any."""
        return self.id.split("|")[2] if self.id.count("|") == 2 else ""

    def covers(self, claim: str, reading: str, instance: str) -> bool:
        """Whether a result is one that is meant."""
        return claim == self.claim and reading == (self.reading or reading) and instance == (self.instance or instance)


class ExpectedFailure(Listed):
    """What is known to be refuted; without a reading, the repaired one.

    As written a right implementation reproduces the paper's refutations: nothing is excused there without being named.
    """

    @property
    def reading(self) -> str:
        """The reading."""
        return super().reading or "repaired"


class Skip(Listed):
    """What is not to be asked; without a reading, under any."""


Kind = TypeVar("Kind", bound=Listed)


def listed(kind: type[Kind], reasons: Mapping[str, str] | Sequence[Kind], argument: str) -> tuple[Kind, ...]:
    """Names with their reasons as entries, checked; entries stay as they are.

    Raises:
        InvalidInputError: If a name means nothing or a reason is missing.
    """
    if not isinstance(reasons, Mapping):
        given: Any = reasons
        if not isinstance(given, list | tuple) or not all(isinstance(entry, kind) for entry in given):
            raise InvalidInputError(argument, "must give each name a reason: {NAME: REASON}", given)
        return tuple(given)
    entries = []
    by_name: Mapping[Any, Any] = reasons
    for name, reason in by_name.items():
        if not isinstance(name, str) or not isinstance(reason, str):
            raise InvalidInputError(argument, "must give each name a reason, both text", {name: reason})
        try:
            entries.append(kind(id=name, reason=reason.strip()))
        except ValidationError as error:
            raise from_validation(error, f"{argument} {shorten(name)}") from None
    return tuple(entries)


def read_list(kind: type[Kind], path: Path, argument: str) -> tuple[Kind, ...]:
    """Entries of a text file: ``NAME  # REASON`` on each line; empty lines and lines of a comment alone say nothing.

    Raises:
        InvalidInputError: If the file cannot be read, or on the first line that is no entry.
    """
    reasons: dict[str, str] = {}
    for number, line in enumerate(hand_written(path, argument).split("\n"), 1):
        where = f"{argument} {path}, line {number}"
        if not line.strip().replace("\t", " ").isprintable():
            # What looks like one line to a reader must be one.
            raise InvalidInputError(where, "must hold printable characters only", line)
        name, _, reason = (part.strip() for part in line.partition("#"))
        if not name:
            continue
        if not reason:
            raise InvalidInputError(where, "must be NAME  # REASON", line.strip())
        if name in reasons:
            raise InvalidInputError(where, "must not name the same twice", name)
        reasons[name] = reason
        listed(kind, {name: reason}, where)
    return listed(kind, reasons, argument)


def hand_written(path: Path, argument: str) -> str:
    """The text of a small file, as editors leave it: a byte order mark is no part of it.

    Raises:
        InvalidInputError: If it cannot be read, is too large, or is not UTF-8.
    """
    return read_text(path, argument, LARGEST).removeprefix("\ufeff")


def reason_of(entries: Sequence[Listed], claim: str, reading: str, instance: str) -> str:
    """The reason of the narrowest entry that covers a result; empty where none does."""
    covering = [entry for entry in entries if entry.covers(claim, reading, instance)]
    return max(covering, key=lambda entry: entry.id.count("|")).reason if covering else ""
