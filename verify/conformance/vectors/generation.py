"""All vectors, in order of their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from verify.conformance.vectors import vector_cases as cases
from verify.conformance.vectors.holder_vectors import holder
from verify.conformance.vectors.iteration_vectors import iterations
from verify.conformance.vectors.model import TestVector
from verify.conformance.vectors.rejections import rejections
from verify.conformance.vectors.writing import UselessError

QUADRATIC = (
    cases.lower_level, cases.activation, cases.penalty_minimiser, cases.estimates, cases.noisy_estimates,
    cases.oracle_calls,
)  # fmt: skip


def named_cases() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    """Every case by id, not yet computed."""
    for family in QUADRATIC:
        yield from ((case.id, case.vector) for case in family())
    for others in (iterations, holder, rejections):
        yield from others()


@lru_cache(maxsize=1)
def generated() -> tuple[tuple[TestVector, ...], dict[str, float]]:
    """All vectors sorted by id, and the cases left out with the relative tolerance they would need."""
    vectors, left_out = [], {}
    for id_, make in named_cases():
        try:
            vector = make()
        except UselessError as error:
            left_out[id_] = float(error.args[0])
            continue
        if vector.id != id_:
            raise RuntimeError(f"case {id_} made vector {vector.id}")
        vectors.append(vector)
    return tuple(sorted(vectors, key=lambda vector: vector.id)), left_out


def all_vectors() -> tuple[TestVector, ...]:
    """Every test vector, sorted by id; computed once, in a few seconds, and always the same."""
    return generated()[0]


def left_out() -> dict[str, float]:
    """Cases without a vector, since honest double arithmetic needs a tolerance this large relative to the answer."""
    return dict(generated()[1])
