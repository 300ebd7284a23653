"""Drawn problems are what their families say, exactly, and the same whenever they are drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import InvalidInputError, Quadratic, dumps_problem, loads_problem
from spec.atlas import atlas, find
from spec.drawn import AT_ONCE, FAMILIES, MOST, draw, family_of, is_drawn, name_of, names
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError
from verify.truth.strata import strata_of

families = st.sampled_from(sorted(FAMILIES))
seeds = st.integers(0, MOST - 1)


@given(families, seeds)
def test_a_draw_is_of_the_strata_its_family_ensures(family: str, seed: int) -> None:
    instance = find(name_of(family, seed))
    assert instance.strata <= strata_of(instance)
    assert instance.purpose == FAMILIES[family].purpose
    assert len(instance.x) == instance.problem.n


@given(families.filter(lambda family: family != "infeasible"), seeds)
def test_rows_that_bind_have_the_multipliers_of_the_family(family: str, seed: int) -> None:
    instance = find(name_of(family, seed))
    assert isinstance(instance.problem, Quadratic)
    found = lower_level.solve(instance.problem, instance.x)
    assert found.licq is (family != "licq-fails")
    assert bool(found.weakly_active) is (family in ("weakly-active", "licq-fails"))
    if family == "interior":
        assert not found.active
    elif family != "experiment":
        assert found.active


@given(seeds)
def test_no_point_satisfies_the_rows_of_an_infeasible_draw(seed: int) -> None:
    instance = find(name_of("infeasible", seed))
    assert isinstance(instance.problem, Quadratic)
    with pytest.raises(InfeasibleLowerLevelError):
        lower_level.solve(instance.problem, instance.x)


@given(families, seeds)
def test_a_draw_is_a_problem_file_and_the_same_again(family: str, seed: int) -> None:
    name = name_of(family, seed)
    problem = find(name).problem
    assert loads_problem(dumps_problem(problem)) == problem
    draw.cache_clear()
    assert draw(name)[0] == problem


@pytest.mark.parametrize("family", FAMILIES)
def test_seeds_and_families_give_different_problems(family: str) -> None:
    drawn = {dumps_problem(find(name_of(family, seed)).problem) for seed in range(40)}
    assert len(drawn) > 35
    assert dumps_problem(find(name_of(family, 0)).problem) != dumps_problem(
        find(name_of("rows" if family != "rows" else "box", 0)).problem
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_like_instances_of_the_atlas(family: str) -> None:
    for name in FAMILIES[family].like:
        ensured = find(name_of(family, 0)).strata
        assert ensured <= atlas()[name].strata | {"A-nonzero", "inactive-row"}


def test_a_range_names_each_of_its_draws() -> None:
    assert list(names("drawn:box:3-5")) == ["drawn:box:3", "drawn:box:4", "drawn:box:5"]
    assert list(names("drawn:box:7")) == ["drawn:box:7"]
    assert family_of("drawn:box:3").name == "box"
    assert is_drawn("drawn:box:3")
    assert not is_drawn("toy1")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("drawn:", "must be drawn:FAMILY:SEED"),
        ("drawn:box", "must be drawn:FAMILY:SEED"),
        ("drawn:boxes:1", "must be drawn:FAMILY:SEED"),
        ("drawn:box:-1", "must be drawn:FAMILY:SEED"),
        ("drawn:box:1.5", "must be drawn:FAMILY:SEED"),
        ("drawn:box:12345678901", "must be drawn:FAMILY:SEED"),
        ("drawn:box:5-3", "FIRST <= LAST"),
        (f"drawn:box:{MOST}", "FIRST <= LAST"),
        (f"drawn:box:0-{AT_ONCE}", f"at most {AT_ONCE}"),
        ("drawn:box:0-1", "must name one problem"),
    ],
)
def test_another_name_is_refused_in_one_line(name: str, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says) as caught:
        find(name)
    assert "\n" not in str(caught.value)
