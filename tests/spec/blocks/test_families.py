from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import f2csa_ref
from spec import Generated, InvalidInputError, Quadratic, dumps_problem, parse_problem
from spec.atlas import experiment
from spec.blocks.families import draw
from verify.truth.lower_level import lower_level

seeds = st.integers(0, 2**63 - 1)


def drawn(problem: Any) -> Quadratic:
    assert isinstance(problem, Generated)
    return problem.quadratic


@settings(max_examples=30)
@given(st.integers(1, 12), st.floats(1, 1e6), seeds)
def test_the_experiment_family_is_positive_definite_with_the_stated_condition_number(
    d: int, condition: float, seed: int
) -> None:
    made = drawn(experiment(d, condition=condition, seed=seed)).arrays
    for block in (made.g_yy, made.f_xx):
        eigenvalues = np.linalg.eigvalsh(block)
        # Entries are rounded to nine decimals, which moves an eigenvalue by at most d units of the last.
        assert eigenvalues[0] == pytest.approx(1.0, abs=d * 1e-9)
        assert eigenvalues[-1] == pytest.approx(condition if d > 1 else 1.0, abs=d * 1e-9, rel=1e-12)


@settings(max_examples=15)
@given(st.integers(1, 6), seeds)
def test_the_experiment_family_is_the_papers_in_every_other_block(d: int, seed: int) -> None:
    made = drawn(experiment(d, seed=seed))
    assert (made.n, made.m, made.p) == (d, d, 2 * d)
    eye = np.eye(d)
    assert made.constraints.A.is_zero
    assert np.array_equal(made.arrays.B, np.vstack([eye, -eye]))
    assert np.array_equal(made.arrays.b, np.ones(2 * d))
    assert np.array_equal(made.arrays.g_xy, eye)
    # The term yᵀPy / 2 + xᵀPy: one symmetric P in both places.
    assert made.f.xy == made.f.yy
    assert made.f.y.is_zero
    assert made.g.x.is_zero
    assert made.g.xx.is_zero


@settings(max_examples=15)
@given(st.sampled_from(["paper-experiment", "random-rows"]), st.integers(1, 5), seeds)
def test_a_draw_depends_on_its_recipe_alone(family: Any, n: int, seed: int) -> None:
    made = parse_problem({"kind": "generated", "family": family, "n": n, "seed": seed})
    state = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002  # the global state must stay untouched
    again = parse_problem({"kind": "generated", "family": family, "n": n, "seed": seed})
    assert drawn(made) == drawn(again)
    assert np.array_equal(np.random.get_state()[1], state)  # type: ignore[index]  # noqa: NPY002  # as above
    other = parse_problem({"kind": "generated", "family": family, "n": n, "seed": (seed + 1) % 2**63})
    assert drawn(other) != drawn(made)


@settings(max_examples=30)
@given(st.integers(1, 6), seeds)
def test_the_literal_family_is_refused_with_its_smallest_eigenvalue(d: int, seed: int) -> None:
    blocks = draw("paper-literal", d, d, None, 10.0, seed)
    smallest = float(np.linalg.eigvalsh(blocks["g"]["yy"])[0])
    problem = experiment(d, seed=seed, literal=True)
    if smallest > 1e-6:
        assert drawn(problem).m == d
        return
    with pytest.raises(InvalidInputError) as caught:
        drawn(problem)
    named = rf"paper-literal[seed={seed}].g.yy: must be positive definite; its smallest eigenvalue is "
    assert str(caught.value).startswith(named)
    assert float(str(caught.value).removeprefix(named)) == pytest.approx(smallest, rel=1e-5)


def test_from_ten_dimensions_on_no_literal_draw_is_convex() -> None:
    for seed in range(20):
        with pytest.raises(InvalidInputError, match="smallest eigenvalue is -"):
            drawn(experiment(10, seed=seed, literal=True))


@settings(max_examples=40)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 8), seeds)
def test_random_rows_bind_as_many_as_promised_and_strictly(n: int, m: int, p: int, seed: int) -> None:
    made = drawn(parse_problem({"kind": "generated", "family": "random-rows", "n": n, "m": m, "p": p, "seed": seed}))
    assert (made.n, made.m, made.p) == (n, m, p)
    found = lower_level.solve(made, [Fraction(0)] * n)
    active = min(m, (p + 1) // 2)
    assert found.strictly_active == tuple(range(active))
    assert found.weakly_active == ()
    assert found.licq
    assert all(h <= -1 for h in found.h[active:])
    assert all(value.denominator == 1 for value in (*found.y_star, *found.lam))


def test_a_generated_problem_has_the_arrays_of_what_it_draws() -> None:
    problem = experiment(3)
    assert isinstance(problem, Generated)
    assert problem.arrays is problem.quadratic.arrays
    assert problem.arrays.f_xx.shape == (3, 3)


RECORDED = {
    ("paper-experiment", 6, 6, None): "a254d95de46804f2",
    ("random-rows", 5, 7, 9): "98ea3627d3251b75",
}
"""Hashes of what these recipes have drawn ever since: the same seed stays the same problem."""


@pytest.mark.parametrize("recipe", RECORDED)
def test_a_recipe_draws_what_it_always_drew(recipe: Any) -> None:
    family, n, m, p = recipe
    made = Generated(family=family, n=n, m=m, p=p, seed=3).quadratic
    assert hashlib.sha256(dumps_problem(made).encode()).hexdigest()[:16] == RECORDED[recipe]


@pytest.mark.parametrize("condition", [1.0, 10.0, 1e4])
def test_beyond_the_small_sizes_eigenvalues_are_as_stated_and_vectors_mixed(condition: float) -> None:
    made = drawn(experiment(230, condition=condition, seed=5)).arrays
    for block in (made.g_yy, made.f_xx):
        assert np.array_equal(block, block.T)
        eigenvalues, vectors = np.linalg.eigh(block)
        assert eigenvalues == pytest.approx(np.geomspace(1, condition, 230), rel=1e-6, abs=1e-5)
        if condition > 1:
            # No coordinate stands out: uniform vectors of this size have entries up to about 4.5 / sqrt(230) = .3.
            assert np.abs(vectors).max() < 0.5


@settings(max_examples=15)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 8), seeds)
def test_coupled_rows_bind_by_half_with_their_multipliers(n: int, m: int, p: int, seed: int) -> None:
    made = drawn(parse_problem({"kind": "generated", "family": "coupled-rows", "n": n, "m": m, "p": p, "seed": seed}))
    assert (made.n, made.m, made.p) == (n, m, p)
    a, binds = made.arrays, min(m, (p + 1) // 2)
    assert np.linalg.eigvalsh(a.g_yy) == pytest.approx(np.geomspace(1, 10, m) if m > 1 else [1.0], abs=1e-7)
    found = f2csa_ref.lower_level(made, np.zeros(n))
    if found.licq_margin > 1e-3:
        assert np.flatnonzero(found.lam > 0.4).tolist() == list(range(binds))
        assert found.lam[:binds].max() < 1.6
    assert a.A.any()
