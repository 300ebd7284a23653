"""The atlas says what each instance is; everything it says is derived again here, exactly."""

from __future__ import annotations

from fractions import Fraction
from importlib import resources
from typing import get_args

import pytest
from flint import fmpq_mat

from spec import Generated, Holder, InvalidInputError, Noise, Quadratic, dumps_problem, loads_problem
from spec.atlas import ORDER, Instance, Stratum, _load, atlas, find
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError
from verify.truth.strata import is_positive_semidefinite, strata_of

QUADRATIC = [name for name, instance in atlas().items() if not isinstance(instance.problem, Holder)]
HOLDER = [name for name in atlas() if name not in QUADRATIC]
SOLVABLE = [name for name in QUADRATIC if "infeasible" not in atlas()[name].strata]


def quadratic(name: str) -> Quadratic:
    problem = atlas()[name].problem
    made = problem.quadratic if isinstance(problem, Generated) else problem
    assert isinstance(made, Quadratic)
    return made


def solved(name: str) -> lower_level.ExactLowerLevel:
    return lower_level.solve(quadratic(name), atlas()[name].x)


@pytest.mark.parametrize(
    ("rows", "expected"), [([[0, 1], [1, 0]], False), ([[1, 1], [1, 1]], True), ([[0]], True), ([[-1]], False)]
)
def test_semidefiniteness_is_told_right(rows: list[list[int]], *, expected: bool) -> None:
    assert is_positive_semidefinite(fmpq_mat(rows)) is expected


def test_names_are_unique_and_each_is_found() -> None:
    for name, instance in atlas().items():
        assert instance.name == name
        assert find(name) is instance
        assert len(instance.x) == getattr(instance.problem, "quadratic", instance.problem).n
        assert instance.purpose.endswith(".")
        assert instance.strata <= set(get_args(Stratum))


def test_every_stratum_occurs() -> None:
    assert set().union(*(instance.strata for instance in atlas().values())) == set(get_args(Stratum))


def test_every_instance_is_a_problem_file() -> None:
    for instance in atlas().values():
        assert loads_problem(dumps_problem(instance.problem)) == instance.problem


@pytest.mark.parametrize("name", QUADRATIC)
def test_the_lower_level_is_feasible_unless_declared_otherwise(name: str) -> None:
    if name in SOLVABLE:
        assert all(h <= 0 for h in solved(name).h)
        return
    with pytest.raises(InfeasibleLowerLevelError):
        solved(name)


@pytest.mark.parametrize("name", QUADRATIC)
def test_the_declared_strata_are_the_exact_ones(name: str) -> None:
    # What begins nearby is looked at below.
    assert atlas()[name].strata - {"kink-nearby"} == strata_of(atlas()[name])


@pytest.mark.parametrize("name", [name for name in SOLVABLE if "kink-nearby" in atlas()[name].strata])
def test_another_piece_begins_within_half_a_unit_of_a_kink_nearby(name: str) -> None:
    problem, x = quadratic(name), atlas()[name].x
    here = solved(name)
    steps = [Fraction(sign * (k == j), 2) for k in range(problem.n) for sign in (1, -1) for j in range(problem.n)]
    moves = [steps[i : i + problem.n] for i in range(0, len(steps), problem.n)]
    there = [lower_level.solve(problem, [a + b for a, b in zip(x, move, strict=True)]) for move in moves]
    assert any(other.strictly_active != here.strictly_active or other.active != here.active for other in there)


def known(name: str, key: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(value) for value in atlas()[name].known[key].split())


@pytest.mark.parametrize("name", SOLVABLE)
def test_closed_forms_are_the_exact_values(name: str) -> None:
    problem, instance = quadratic(name), atlas()[name]
    assert set(instance.known) <= {"y_star", "lam", "hypergradient", "kink"}
    if "y_star" in instance.known:
        assert solved(name).y_star == known(name, "y_star")
    if "lam" in instance.known:
        assert solved(name).lam == known(name, "lam")
    if "hypergradient" in instance.known:
        assert lower_level.hypergradient(problem, instance.x) == known(name, "hypergradient")
    if "kink" in instance.known:
        assert lower_level.solve(problem, known(name, "kink")).weakly_active


@pytest.mark.parametrize("name", HOLDER)
def test_the_holder_instances_have_the_slope_they_claim(name: str) -> None:
    instance = atlas()[name]
    assert isinstance(instance.problem, Holder)
    assert instance.x == (0,)
    lipschitz = instance.problem.s == 1
    assert ("hessian-not-lipschitz" in instance.strata) is not lipschitz
    assert instance.strata - {"hessian-not-lipschitz"} == {
        "A-zero", "no-active-row", "inactive-row", "strictly-complementary"
    }  # fmt: skip
    # F = y*: solve y + x + x r^(s/2) + s x y² r^(s/2 - 1) = 0 with r = x² + y² for an x so small that r^(s/2) vanishes.
    s, x = float(instance.problem.s), 1e-70
    y = -x
    for _ in range(20):
        r = x * x + y * y
        y = -x - x * r ** (s / 2) - s * x * y * y * r ** (s / 2 - 1)
    assert y / x == pytest.approx(float(known(name, "hypergradient")[0]), abs=1e-12)


@pytest.mark.parametrize("name", ["", "toy", "TOY1", "atlas:toy1", "\0", "a" * 1000])
def test_an_unknown_name_is_refused_with_a_hint(name: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^instance: must name an atlas instance; (did you mean|known are) "):
        find(name)


def test_an_instance_moves_and_takes_noise_without_changing() -> None:
    toy: Instance = find("toy1")
    moved = toy.at("3/2")
    assert moved.x == (Fraction(3, 2),)
    assert moved.known == {}
    noise = Noise(model="additive", sigma_f=1)
    for instance in (toy, find("experiment-5d")):
        noisy = instance.with_noise(noise)
        assert noisy.problem.noise == noise
        assert instance.problem.noise == Noise()
        assert noisy.name == f"{instance.name}+additive"
        assert noisy.x == instance.x


def test_every_file_is_an_instance_and_every_instance_a_file() -> None:
    files = {file.name for file in (resources.files("spec") / "instances").iterdir()}
    assert files == {f"{name}.toml" for name in ORDER}
    assert len(set(ORDER)) == len(ORDER)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("purpose = ", "is not valid TOML"),
        ('purpose = "p"\nstrata = ["odd"]\nx = [1]\n[problem]\nkind = "quadratic"', "strata"),
        ('purpose = "p"\nstrata = []\nx = ["1/0"]\n[problem]\nkind = "quadratic"', "x"),
        ('purpose = "p"\nstrata = []\nx = [1]\n[problem]\nkind = "cubic"', "kind"),
        ('purpose = "p"\nstrata = []\nx = [1]\nextra = 1\n[problem]\nkind = "quadratic"', "extra"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(text: str, says: str) -> None:
    with pytest.raises(InvalidInputError, match=r"instances/n\.toml") as caught:
        _load("n", text)
    assert says in str(caught.value)
