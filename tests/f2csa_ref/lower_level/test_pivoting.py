from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from f2csa_ref import LowerLevelError, lower_level, objectives_of
from f2csa_ref.bounds import bounds_of
from f2csa_ref.lower_level import pivoting
from f2csa_ref.lower_level.exact import solve_program
from f2csa_ref.lower_level.pivoting import BlockPivoting, solve_box
from spec import Generated, InvalidInputError


def program(seed, m, condition=100.0):
    """A box program in which bounds are of all kinds: both, one, none, and equal ends."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((m, m)))[0]
    G = (basis * np.geomspace(1, condition, m)) @ basis.T
    middle, width = rng.standard_normal(m), rng.choice([0.0, 0.3, np.inf], m, p=[0.1, 0.7, 0.2])
    lower = np.where(rng.random(m) < 0.2, -np.inf, middle - width)
    return (G + G.T) / 2, 3 * rng.standard_normal(m), lower, middle + width


def kkt(G, c, lower, upper, y):
    z = G @ y + c
    pushed = np.where(y <= lower, np.minimum(z, 0), np.where(y >= upper, np.maximum(z, 0), z))
    pushed[lower == upper] = 0
    return np.abs(pushed).max() / np.abs(c).max()


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 30))
def test_it_solves_what_daqp_solves(seed, m):
    G, c, lower, upper = program(seed, m)
    y, z = BlockPivoting(G).solve(c, lower, upper)
    assert (lower <= y).all()
    assert (y <= upper).all()
    assert kkt(G, c, lower, upper, y) <= 1e-13
    eye, low, high = np.eye(m), np.isfinite(lower), np.isfinite(upper)
    B, r = np.vstack([eye[low], -eye[high]]), np.concatenate([lower[low], -upper[high]])
    theirs = solve_program(G, c, B, r, size=1.0, x=y)[0] if len(B) else np.linalg.solve(G, -c)
    assert y == pytest.approx(theirs, abs=1e-9)
    assert z == pytest.approx(G @ y + c, abs=1e-10)


def test_a_start_from_any_guess_ends_at_the_same_point_and_the_right_guess_needs_one_system():
    G, c, lower, upper = program(3, 25)
    right = BlockPivoting(G)
    y, _ = right.solve(c, lower, upper)
    for seed in range(20):
        guess = np.random.default_rng(seed).integers(-1, 2, 25).astype(np.int8)
        assert BlockPivoting(G, places=guess).solve(c, lower, upper)[0] == pytest.approx(y, abs=1e-12)
    before = right.exchanges, right.factorisations
    right.solve(c + 1e-9, lower, upper)
    assert (right.exchanges, right.factorisations) == (before[0] + 1, before[1])


def exchanges_of_blocks_alone(G, c, steps):
    free, seen = np.ones(len(c), dtype=bool), []
    for _ in range(steps):
        y = np.zeros(len(c))
        y[free] = np.linalg.solve(G[np.ix_(free, free)], -c[free])
        wrong = np.where(free, y < -1e-12, G @ y + c < -1e-12)
        if not wrong.any():
            return "ended"
        if tuple(free) in seen:
            return "cycles"
        seen.append(tuple(free))
        free = free ^ wrong
    return "went on"


def test_it_ends_where_exchanging_blocks_alone_cycles():
    R = np.array([[21, -15, 25, -16], [-15, 14, -16, 9], [25, -16, 31, -21], [-16, 9, -21, 17]])
    G, c = R + 0.05 * np.eye(4), np.array([-3.0, 3, -2, 5])
    assert exchanges_of_blocks_alone(G, c, 40) == "cycles"
    solver = BlockPivoting(G)
    y, _ = solver.solve(c, np.zeros(4), np.full(4, np.inf))
    assert kkt(G, c, np.zeros(4), np.full(4, np.inf), y) <= 1e-12
    assert solver.exchanges > pivoting.PATIENCE


def test_a_block_that_is_not_definite_is_said():
    with pytest.raises(LowerLevelError, match="not positive definite"):
        BlockPivoting(-np.eye(2)).solve(np.ones(2), np.zeros(2), np.ones(2))


@pytest.mark.parametrize("n", [10, 60])
def test_over_a_box_it_answers_as_the_general_solver(n):
    q = objectives_of(Generated(family="paper-experiment", n=n, seed=2))
    for seed in range(3):
        x = 2 * np.random.default_rng(seed).standard_normal(n)
        ours, theirs = solve_box(q, q.bounds, x), lower_level(q, x)
        assert theirs.method == "quadratic-program"
        assert ours.y_star == pytest.approx(theirs.y_star, abs=1e-13)
        assert ours.lam == pytest.approx(theirs.lam, abs=1e-12)
        assert (ours.active == theirs.active).all()


def test_large_boxes_go_to_it_and_say_that_they_factorised():
    problem = Generated(family="paper-experiment", n=220, seed=2)
    answer = lower_level(problem, np.ones(220))
    assert answer.method == "block-pivoting"
    assert answer.kkt_residual <= 1e-13
    assert answer.licq_margin == 1.0
    assert not answer.first_order
    assert answer.counts["factorisations"] >= 1


def test_moving_and_crossing_ends(make):
    """-x <= y <= x: at x < 0 nothing is feasible."""
    problem = make({"y": [1]}, {"yy": [[2]], "y": [-8]}, {"A": [[-1], [-1]], "B": [[2], [-1]], "b": [0, 0]})
    q = objectives_of(problem)
    found = solve_box(q, q.bounds, np.ones(1))
    assert found.y_star.tolist() == lower_level(problem, np.ones(1)).y_star.tolist() == [1.0]
    assert found.lam.tolist() == [0.0, 6.0]
    with pytest.raises(InvalidInputError, match="infeasible"):
        solve_box(q, q.bounds, -np.ones(1))


@pytest.mark.parametrize("B", [[[1.0, 1.0]], [[1.0, 0], [2.0, 0]], [[0.0, 0.0]], [[1.0, 0], [0, -1.0], [0, -3.0]]])
def test_rows_that_are_no_bounds_are_not_taken_for_them(B):
    assert bounds_of(np.array(B)) is None


def test_bounds_are_the_rows_they_stand_for():
    B = np.array([[0.0, 2.0, 0], [-3.0, 0, 0], [0, -0.5, 0]])
    bounds = bounds_of(B)
    v, lam = np.array([0.3, -0.7, 2.0]), np.array([0.2, 0.4, 1.5])
    assert bounds.times(v) == pytest.approx(B @ v)
    assert bounds.transposed(lam) == pytest.approx(lam @ B)
    assert bounds.curvature(lam) == pytest.approx(np.diag(B.T @ np.diag(lam) @ B))
    lower, upper = bounds.ends(np.array([1.0, 3.0, -2.0]))
    assert lower.tolist() == [-np.inf, 0.5, -np.inf]
    assert upper.tolist() == [-1.0, 4.0, np.inf]
