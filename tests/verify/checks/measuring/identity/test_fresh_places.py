"""Drawn places are what they are said to be, exactly, whatever the seed: large, dense, clear of every ramp."""

from __future__ import annotations

from fractions import Fraction

import pytest

from verify.checks.measuring.identity.fresh_places import CLEAR, LARGEST, fresh_places
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level

SEEDS = (0, 1, 20_240_913, 2**40)


@pytest.mark.parametrize("seed", SEEDS)
def test_they_are_larger_than_what_is_published_and_of_no_one_shape(seed: int) -> None:
    places = [quadratic_of(place.instance.problem) for place in fresh_places(seed)]
    assert [max(problem.n, problem.m) for problem in places[1:]] == [LARGEST, LARGEST]
    assert places[1].n > places[1].m
    assert places[2].m > places[2].n
    assert 6 < min(places[0].n, places[0].m) < max(places[0].n, places[0].m) <= LARGEST // 2
    assert all(problem.p >= 4 for problem in places)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_clear_and_no_number_is_short(seed: int) -> None:
    for instance, generated in fresh_places(seed):
        problem = quadratic_of(instance.problem)
        lower = lower_level.solve(problem, instance.x)
        assert len(lower.active) >= 2
        assert lower.inactive
        assert lower.licq
        assert all(lower.lam[i] >= CLEAR for i in lower.active)
        assert all(-lower.h[i] >= CLEAR for i in lower.inactive)
        assert any(value for value in lower_level.hypergradient(problem, instance.x))
        assert max(Fraction(value).denominator for value in instance.x) > 10**12
        assert generated.quadratic.to_dict() == problem.to_dict()


def test_another_seed_draws_others() -> None:
    assert fresh_places(3) == fresh_places(3)
    assert fresh_places(3)[0].generated != fresh_places(4)[0].generated
