"""All wrong implementations, in the order of the stages."""

from __future__ import annotations

from spec import InvalidInputError
from verify.conformance.bugs import (
    activation,
    estimator,
    inner_runs,
    lower_level,
    outer_loop,
    penalty_minimiser,
    sampling,
)
from verify.conformance.bugs.entry import Mutant
from verify.subjects import Subject

CATALOGUE: tuple[Mutant, ...] = (
    *lower_level.MUTANTS,
    *activation.MUTANTS,
    *penalty_minimiser.MUTANTS,
    *estimator.MUTANTS,
    *sampling.MUTANTS,
    *inner_runs.MUTANTS,
    *outer_loop.MUTANTS,
)


def find(id: str) -> Mutant:
    """Look a mutant up.

    Raises:
        InvalidInputError: If there is none of that id, naming near ones.
    """
    import difflib

    known = {mutant.id: mutant for mutant in CATALOGUE}
    if id not in known:
        near = difflib.get_close_matches(id, known, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise InvalidInputError("mutant", f"must be an id of the catalogue{hint}", id)
    return known[id]


def by_id(id: str) -> Subject:
    """A mutant ready to be judged."""
    return find(id).make()
