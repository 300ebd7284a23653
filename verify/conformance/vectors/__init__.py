"""Test vectors: every stage's exact answers as files that any implementation can be held against."""

from __future__ import annotations

from verify.conformance.bugs.flags import FLAGS, Flag
from verify.conformance.vectors.model import Expected, TestVector

__all__ = ["FLAGS", "Expected", "Flag", "TestVector", "all_vectors", "left_out"]


def all_vectors() -> tuple[TestVector, ...]:
    """Every test vector, sorted by id; computed once, in a few seconds, and always the same."""
    # The algebra is imported when it is needed: the schemas of vectors are read without it.
    from verify.conformance.vectors.generation import generated

    return generated()[0]


def left_out() -> dict[str, float]:
    """Cases without a vector, since honest double arithmetic needs a tolerance this large relative to the answer."""
    from verify.conformance.vectors.generation import generated

    return dict(generated()[1])
