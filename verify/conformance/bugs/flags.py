"""What the flags of test vectors mean: the bug a vector would show, or the circumstance it is special for."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from verify.conformance.bugs.catalogue import ROWS, read

FlagKind = Literal["bug", "circumstance"]


class Flag(BaseModel):
    """One flag.

    Args:
        id: As written in vectors.
        kind: ``bug``: an implementation with this bug misses every vector that carries the flag, by at least ten
            tolerances; measured, not declared. ``circumstance``: what is special about the vector.
        bug_type: What the bug is, or what an implementation may get wrong here.
        effect: What it does to results.
        claim: Where the paper's claim on it is checked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    kind: FlagKind
    bug_type: str
    effect: str
    claim: str


BUGS: tuple[Flag, ...] = tuple(
    Flag(id=bug.flag.id or bug.id, kind="bug", bug_type=bug.flag.does or bug.does, effect=bug.flag.effect or bug.effect,
         claim=bug.flag.claim)
    for bug in ROWS if bug.flag is not None
)  # fmt: skip
"""Measured: the generator computes each bug exactly and flags a vector where it lands ten tolerances away."""

CIRCUMSTANCES: tuple[Flag, ...] = tuple(
    Flag.model_validate({"id": id_, "kind": "circumstance"} | row) for id_, row in read("circumstances").items()
)
"""Declared, and held by tests against the vectors' own data where data decides."""

FLAGS: dict[str, Flag] = {flag.id: flag for flag in (*BUGS, *CIRCUMSTANCES)}
"""Every flag by id."""
