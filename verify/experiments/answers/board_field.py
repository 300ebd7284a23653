"""Who takes part: ours, public programs where they are installed, and what is kept elsewhere by its import path."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from spec.errors import InvalidInputError
from verify.experiments.answers.answering import Entrant
from verify.experiments.answers.iterative import IterativeImplicit
from verify.experiments.answers.ours import BatchedF2csa, FastF2csa, FastImplicitEntrant, PageF2csa, PageImplicit
from verify.experiments.answers.public_programs import PUBLIC, missing

OURS: tuple[Entrant, ...] = (
    FastImplicitEntrant(), IterativeImplicit(), FastF2csa(), FastF2csa(first_order=True), BatchedF2csa(), PageF2csa(),
    PageImplicit(),
)  # fmt: skip
NEEDED = ("name", "method", "implementation", "version", "ladders", "prepare")
"""What an entrant kept elsewhere must have."""


@dataclass(frozen=True)
class Field:
    """Who takes part, and a line on each optional entrant that does not."""

    entrants: tuple[Entrant, ...]
    absent: tuple[str, ...] = ()

    def named(self, name: str) -> Entrant:
        """The entrant of that name."""
        return next(entrant for entrant in self.entrants if entrant.name == name)


def field_of(elsewhere: Sequence[str] = ()) -> Field:
    """Ours, the public programs that are installed, and those named as ``module:factory``.

    Raises:
        InvalidInputError: If what is named cannot be imported, or is no entrant.
    """
    present: list[Entrant] = [*OURS]
    absent = []
    for public in PUBLIC:
        lacking = missing(public.packages)
        if lacking:
            absent.append(f"{public.name}, {lacking}")
        else:
            present.append(public)
    for path in elsewhere:
        entrant = imported(path)
        if any(entrant.name == other.name for other in present):
            raise InvalidInputError(
                "--entrant", f"must have a name of its own; {entrant.name} takes part already", path
            )
        present.append(entrant)
    return Field(tuple(present), tuple(absent))


def imported(path: str) -> Entrant:
    """What ``module:factory`` makes, called without arguments; modules of the current folder are found, too."""
    module, colon, factory = path.partition(":")
    if not (module and colon and factory):
        raise InvalidInputError("--entrant", "must be module:factory", path)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        entrant: Entrant = getattr(import_module(module), factory)()
    except Exception as error:  # a foreign module may raise anything
        first = (str(error).splitlines() or [""])[0]
        raise InvalidInputError("--entrant", f"cannot be made: {type(error).__name__}: {first}", path) from None
    lacking = [name for name in NEEDED if not hasattr(entrant, name)]
    if lacking:
        raise InvalidInputError("--entrant", f"must have {', '.join(lacking)}", path)
    return entrant
