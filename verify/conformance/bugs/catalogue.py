"""All mistakes, in the order of the stages, a file of rows each; and what the flags of test vectors mean."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import get_args

from pydantic import ValidationError

from spec.errors import from_validation
from spec.files import find_named
from verify.conformance.bugs.model import Bug, Flag
from verify.method.lines import Stage


def read(name: str) -> dict[str, dict[str, object]]:
    """The rows of a file, by id."""
    return tomllib.loads((resources.files("verify.conformance.bugs") / "rows" / f"{name}.toml").read_text("utf-8"))


def _load(stage: Stage) -> list[Bug]:
    try:
        return [Bug.model_validate({"id": id_, "stage": stage} | row) for id_, row in read(stage).items()]
    except ValidationError as error:
        raise from_validation(error, f"rows/{stage}.toml") from None


ROWS: tuple[Bug, ...] = tuple(bug for stage in get_args(Stage) for bug in _load(stage))
"""Everything that can be shown."""
CATALOGUE: tuple[Bug, ...] = tuple(bug for bug in ROWS if bug.caught_by)
"""What claims catch and diagnosis names; the others are shown by test vectors alone."""
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


BY_ID: dict[str, Bug] = {bug.id: bug for bug in ROWS}


def find(id: str) -> Bug:
    """Look a bug up.

    Raises:
        InvalidInputError: If there is none of that id, naming near ones.
    """
    return find_named(BY_ID, id, "mutant", "must be an id of the catalogue", "docs/mutants.md lists them")
