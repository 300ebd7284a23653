"""Line 3 by products with g_yy alone."""

from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref import OracleCall, objectives_of
from f2csa_ref.fast import FastOracle
from f2csa_ref.fast.first_order_lower import ConjugateLower, GradientLower, first_order_lower, forget, solved_columns
from f2csa_ref.fast.operators import Operator, Tally
from f2csa_ref.fast.prepared_lower import DualLower
from f2csa_ref.lower_level.solution import LowerLevelError
from spec import Generated

TOL, STEPS = 1e-7, 5000


def oracle(p: int, n: int = 40, seed: int = 1) -> FastOracle:
    """On a problem with p dense rows."""
    return FastOracle(Generated(family="coupled-rows", n=n, p=p, seed=seed), OracleCall(0.1))


def at(oracle: FastOracle, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a lower level is asked."""
    return x, oracle.g_xy.back(x) + oracle.q.g_y, oracle.rows.reach(x)


@pytest.mark.parametrize("p", [1, 5, 25])
@pytest.mark.parametrize("seed", [1, 2])
def test_few_dense_rows_the_pair_is_within_its_tolerance_and_takes_fewer_gradients(p, seed):
    here = oracle(p, seed=seed)
    conjugate, gradients, exact = (
        first_order_lower(here, TOL, STEPS), GradientLower(here, TOL, STEPS), DualLower(here),
    )  # fmt: skip
    assert isinstance(conjugate, ConjugateLower)
    rng, taken = np.random.default_rng(seed), np.zeros(2, dtype=int)
    for size in (0.1, 1.0, 3.0):
        asked = at(here, size * rng.standard_normal(here.q.n))
        y, lam, _, _ = exact.solve(*asked)
        found, multipliers, count, slope = conjugate.solve(*asked)
        assert not conjugate.stood_in
        assert np.linalg.norm(found - y) <= TOL
        assert np.linalg.norm(multipliers - lam) <= 1e-5 * (1 + np.linalg.norm(lam))
        np.testing.assert_allclose(slope, here.q.g_yy @ found + asked[1], atol=1e-12)
        taken += count, gradients.solve(*asked)[2]
    assert here.tally.hessian_factorisations == 3  # the exact oracle's own two, and this test's
    assert 2 * taken[0] < taken[1]


def test_oracles_of_one_problem_share_what_is_solved_for_once_and_count_it_each():
    here = oracle(5)
    before = here.tally.products
    one = ConjugateLower(here, TOL, STEPS)
    taken = here.tally.products - before
    other = ConjugateLower(here, TOL, STEPS)
    assert other.spread is one.spread
    assert here.tally.products == before + 2 * taken > before
    forget(here.q)
    anew = ConjugateLower(here, TOL, STEPS)
    assert anew.spread is not one.spread
    assert np.array_equal(anew.spread, one.spread)


def test_bounds_and_no_rows_are_left_to_gradients():
    box = FastOracle(Generated(family="paper-experiment", n=10, seed=1), OracleCall(0.1))
    assert isinstance(first_order_lower(box, TOL, STEPS), GradientLower)


def test_rows_that_depend_on_one_another_are_solved_by_gradients():
    here = oracle(3)
    exact = DualLower(here)
    asked = at(here, np.random.default_rng(0).standard_normal(here.q.n))
    y, *_ = exact.solve(*asked)
    here.q.B = np.vstack([here.q.B, here.q.B[:1]])
    twice = ConjugateLower(here, TOL, STEPS)
    found, lam, _, _ = twice.solve(asked[0], asked[1], np.append(asked[2], asked[2][0]))
    assert np.linalg.norm(found - y) <= 1e-6
    assert lam.shape == (4,)


def test_rows_that_cannot_all_hold_are_refused():
    here = oracle(1, n=6)
    here.q.B = np.vstack([here.q.B, -here.q.B])
    x, c, _ = at(here, np.zeros(6))
    with pytest.raises(LowerLevelError, match="gradients did not reach"):
        ConjugateLower(here, TOL, 2000).solve(x, c, np.array([1.0, 1.0]))


def test_too_few_gradients_are_refused():
    here = oracle(5)
    with pytest.raises(LowerLevelError, match="within lower_level_steps = 3"):
        ConjugateLower(here, TOL, 3).solve(*at(here, np.ones(here.q.n)))


def test_its_memory_is_all_it_needs():
    here = oracle(5)
    one, other = ConjugateLower(here, TOL, STEPS), ConjugateLower(here, TOL, STEPS)
    one.solve(*at(here, np.ones(here.q.n)))
    other.recall(one.memory())
    asked = at(here, 0.9 * np.ones(here.q.n))
    for left, right in zip(one.solve(*asked), other.solve(*asked), strict=True):
        assert np.array_equal(left, right)


def test_the_adjoint_solves_its_system():
    q = objectives_of(Generated(family="coupled-rows", n=20, p=4, seed=1))
    here = oracle(4, n=20)
    lower, rows, right = ConjugateLower(here, TOL, STEPS), np.array([0, 2]), np.arange(20.0)
    u, v = lower.adjoint(rows, right, 1e-10)
    np.testing.assert_allclose(q.g_yy @ u - q.B[rows].T @ v, right, atol=1e-8)
    np.testing.assert_allclose(q.B[rows] @ u, 0.0, atol=1e-9)


@pytest.mark.parametrize("condition", [10.0, 1e4])
def test_columns_are_solved_to_rounding(condition):
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    G = (turn * np.geomspace(1.0, condition, 30)) @ turn.T
    G = (G + G.T) / 2
    right = np.column_stack([rng.standard_normal((30, 3)), np.zeros(30)])
    found = solved_columns(Operator(G, Tally()), 1 / G.diagonal(), right)
    assert np.linalg.norm(found - np.linalg.solve(G, right)) <= 1e-14 * condition * np.linalg.norm(found)
