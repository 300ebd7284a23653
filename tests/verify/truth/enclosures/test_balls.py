from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb_mat, ctx
from hypothesis import assume, given, settings

from spec import Generated, InvalidInputError
from tests.verify.truth.problems import KINK, TOY1, problems_at_points, quadratic
from verify.truth.enclosures import balls
from verify.truth.enclosures.balls import VerifiedSystem, proves_positive_definite
from verify.truth.enclosures.pair import solve_any
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError


def encloses(ball, exact) -> bool:
    triples = zip(ball.mid.tolist(), ball.radius.tolist(), exact, strict=True)
    return all(abs(Fraction(mid) - value) <= Fraction(radius) for mid, radius, value in triples)


@settings(max_examples=30)
@given(problems_at_points())
def test_balls_enclose_the_exact_values_tightly(case):
    problem, x = case
    try:
        exact = lower_level.solve(problem, x)
    except InfeasibleLowerLevelError:
        assert not balls.solve(problem, x).decided
        return
    assume(exact.licq and exact.strict_complementarity)
    found = balls.solve(problem, x)
    assert found.decided
    assert found.active == exact.strictly_active
    for ball, truth in (
        (found.y_star, exact.y_star),
        (found.lam, exact.lam),
        (found.hypergradient, lower_level.hypergradient(problem, x)),
    ):
        assert encloses(ball, truth)
        assert ball.error <= 1e-14 * max(1.0, float(np.abs(ball.mid).max()))


def test_a_sign_that_balls_cannot_prove_is_called_undecided():
    found = balls.solve(KINK, [0])
    assert found.undecided == (0,)


def test_a_nearly_singular_system_falls_back_to_ball_elimination_or_is_refused():
    tiny = Fraction(1, 2**60)
    matrix = [[1.0, 1.0], [1.0, 1.0]]
    exact = arb_mat([[1, 1], [1, 1 + float(2**-52)]])
    with ctx.workprec(128):
        solved = VerifiedSystem(exact, np.array(matrix), np.full((2, 2), float(tiny))).solve(arb_mat([[0], [1]]))
    assert solved[1, 0] == 2**52
    with pytest.raises(InvalidInputError, match="singular"):
        VerifiedSystem(arb_mat(matrix), np.array(matrix), np.zeros((2, 2))).solve(arb_mat([[0], [1]]))


def test_cholesky_proves_definiteness_only_beyond_its_own_rounding():
    assert proves_positive_definite(np.eye(3), 0.4)
    assert not proves_positive_definite(np.eye(3), 0.6)
    assert not proves_positive_definite(np.diag([1.0, 1e-18]), 0.0)


def test_two_hundred_variables_are_enclosed_to_ten_digits():
    problem = Generated(family="random-rows", n=200, m=200, p=50, seed=3).quadratic
    found = solve_any(problem, [0] * 200)
    assert found.method == "balls"
    assert found.strictly_active == tuple(range(25))
    assert found.hypergradient is not None
    assert found.error <= 1e-12
    a, S = problem.arrays, list(range(25))
    residual = a.g_y + a.g_yy @ found.y_star - a.B.T @ found.lam
    assert np.linalg.norm(residual) <= 1e-9
    K = np.block([[a.g_yy, a.B[S].T], [a.B[S], np.zeros((25, 25))]])
    adjoint = np.linalg.solve(K, np.concatenate([-(a.f_y + a.f_yy @ found.y_star), np.zeros(25)]))
    direct = a.f_x + a.f_xy @ found.y_star + a.g_xy @ adjoint[:200] - a.A[S].T @ adjoint[200:]
    np.testing.assert_allclose(found.hypergradient, direct, rtol=1e-8, atol=1e-8)


def test_small_problems_are_solved_in_rationals_and_kinks_come_with_both_sides():
    found = solve_any(TOY1, [1])
    assert (found.method, found.y_star.tolist(), found.hypergradient.tolist()) == ("rational", [1.0], [1.0])
    kink = solve_any(KINK, [0])
    assert kink.hypergradient is None
    assert sorted(side.tolist() for side in kink.kink_gradients) == [[-1.0], [1.0]]
    assert kink.weakly_active == (0,)


def test_a_weakly_active_row_in_a_large_problem_is_decided_in_rationals():
    d = 21
    eye = [[int(i == j) for j in range(d)] for i in range(d)]
    problem = quadratic({"y": [1] * d}, {"yy": eye}, eye[:1], eye[:1], [0])
    found = solve_any(problem, [0] * d)
    assert (found.method, found.weakly_active) == ("rational", (0,))
    with pytest.raises(InfeasibleLowerLevelError):
        solve_any(
            quadratic({"y": [1] * d}, {"yy": eye}, [[0] * d] * 2, [eye[0], [-v for v in eye[0]]], [1, -2]), [0] * d
        )
