"""How numbers are held against one another."""

from __future__ import annotations

import math

import pytest

from verify.evidence.model import agrees


@pytest.mark.parametrize(("relation", "outcomes"), [("<=", (1, 1, 0)), (">=", (0, 1, 1)), ("==", (0, 1, 0))])
def test_a_relation_holds_within_its_tolerance(relation: str, outcomes: tuple[int, ...]) -> None:
    assert tuple(agrees(value, relation, 1.0, 0.1) for value in (0.5, 1.05, 1.5)) == outcomes
    assert not agrees(math.nan, relation, 1.0, 0.1)
