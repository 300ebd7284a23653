from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from f2csa_ref import lower_level, objectives_of, penalty_minimiser
from f2csa_ref.penalty import PenaltyLagrangian, penalty_parameters
from spec import REPAIRED, Generated, InvalidInputError, OracleParameters, parse_problem

DISTANCE = REPAIRED.choose(inner_stop="distance")


def solved(problem, x, alpha, rho=None):
    pair = lower_level(problem, x)
    rho = pair.active.astype(float) if rho is None else rho
    return {"alpha": alpha, "y_star": pair.y_star, "lam": pair.lam, "rho": rho}


def by_linear_algebra(problem, x, stages):
    """Minimiser of the quadratic Lagrangian as a shift, by solving its normal equations."""
    q = objectives_of(problem)
    a = penalty_parameters(stages["alpha"])
    lagrangian = PenaltyLagrangian(q, x, a, stages["y_star"], stages["lam"], stages["rho"])
    hessian = q.f_yy + a.alpha_1 * q.g_yy + a.alpha_2 * (q.B.T * stages["rho"]) @ q.B
    return np.linalg.solve(hessian, -lagrangian.grad_y(np.zeros(q.m)))


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 6),
    p=st.integers(1, 6),
    alpha=st.sampled_from([0.1, 0.03, 0.01]),
    preconditioner=st.sampled_from(["rows", "none"]),
)
def test_the_floor_solution_is_the_minimiser(seed, m, p, alpha, preconditioner):
    problem = Generated(family="random-rows", n=2, m=m, p=p, seed=seed)
    stages = solved(problem, np.zeros(2), alpha)
    parameters = OracleParameters(preconditioner=preconditioner)
    made = penalty_minimiser(PenaltyLagrangian.at(problem, np.zeros(2), **stages), parameters=parameters, tol=0.0)
    exact = by_linear_algebra(problem, np.zeros(2), stages)
    assert made.gradient_norm <= 1e-4 * alpha
    np.testing.assert_allclose(made.shift, exact, atol=1e-7 * alpha**2)
    np.testing.assert_array_equal(made.y, stages["y_star"] + made.shift)


@pytest.mark.parametrize("preconditioner", ["rows", "none"])
@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_both_stopping_rules_hold_what_they_promise(alpha, preconditioner):
    problem = Generated(family="random-rows", n=3, m=8, p=6, seed=3)
    x = np.zeros(3)
    stages = solved(problem, x, alpha)
    exact = by_linear_algebra(problem, x, stages)
    parameters = OracleParameters(preconditioner=preconditioner)
    by_gradient = penalty_minimiser(PenaltyLagrangian.at(problem, x, **stages), parameters=parameters)
    assert by_gradient.converged
    assert by_gradient.gradient_norm <= alpha == by_gradient.tol
    q = objectives_of(problem)
    by_distance = penalty_minimiser(PenaltyLagrangian.at(problem, x, **stages), parameters=parameters, reading=DISTANCE)
    if alpha**-2 * q.mu_g > q.C_f:
        assert np.linalg.norm(by_distance.shift - exact) <= alpha**3


def test_preconditioned_steps_do_not_grow_as_alpha_falls():
    problem = Generated(family="random-rows", n=3, m=8, p=6, seed=3)
    steps = {}
    for kind in ("rows", "none"):
        for alpha in (0.1, 0.01):
            stages = solved(problem, np.zeros(3), alpha)
            parameters = OracleParameters(preconditioner=kind)
            made = penalty_minimiser(
                PenaltyLagrangian.at(problem, np.zeros(3), **stages), parameters=parameters, tol=1e-6
            )
            assert made.converged
            steps[kind, alpha] = made.iterations
    assert steps["rows", 0.01] <= 1.5 * steps["rows", 0.1]
    assert steps["none", 0.01] > 4 * steps["none", 0.1]


def test_dependent_active_rows_do_no_harm(make):
    rows = {"A": [[1], [1], [2]], "B": [[1, 0], [1, 0], [2, 0]]}
    problem = make({"y": [1, 1]}, {"yy": [[1, 0], [0, 3]]}, rows)
    stages = solved(problem, np.ones(1), 0.01, rho=np.ones(3))
    made = penalty_minimiser(PenaltyLagrangian.at(problem, np.ones(1), **stages), tol=1e-8)
    assert made.converged
    np.testing.assert_allclose(made.shift, by_linear_algebra(problem, np.ones(1), stages), rtol=1e-6)


def test_a_tolerance_below_rounding_is_said_not_faked(toy1):
    problem = Generated(family="random-rows", n=2, m=20, p=10, seed=0)
    stages = solved(problem, np.zeros(2), 1e-3)
    made = penalty_minimiser(PenaltyLagrangian.at(problem, np.zeros(2), **stages), tol=0.0)
    assert made.status == "floor"
    assert not made.converged
    assert made.gradient_norm <= made.floor
    assert made.evaluations == made.iterations + 1


def test_a_spent_budget_is_said():
    problem = Generated(family="random-rows", n=2, m=20, p=10, seed=0)
    stages = solved(problem, np.zeros(2), 1e-2)
    parameters = OracleParameters(penalty_steps=3)
    made = penalty_minimiser(PenaltyLagrangian.at(problem, np.zeros(2), **stages), parameters=parameters)
    assert (made.status, made.iterations, made.converged) == ("budget", 3, False)


def test_negative_curvature_is_refused_with_the_admissible_alpha(make):
    problem = make({"yy": [[-1]]}, {"yy": [[1]]}, {"A": [[0]], "B": [[1]], "b": [10]})
    with pytest.raises(InvalidInputError, match=r"^alpha: must make .* strongly convex: .* = 0\.707107; got 2\.0"):
        penalty_minimiser(PenaltyLagrangian.at(problem, np.zeros(1), **solved(problem, np.zeros(1), 2.0)))


def test_a_convex_lagrangian_outside_the_proven_range_is_still_solved(make):
    problem = make({"yy": [[1]], "y": [1]}, {"yy": [[1]]}, {"A": [[0]], "B": [[1]], "b": [10]})
    made = penalty_minimiser(PenaltyLagrangian.at(problem, np.zeros(1), **solved(problem, np.zeros(1), 2.0)), tol=1e-10)
    assert made.shift[0] == pytest.approx(-1 / 1.25)


def test_constants_that_are_too_small_are_named(make, as_callables):
    from dataclasses import replace

    q = as_callables(make({"y": [1, 1]}, {"yy": [[1, 0], [0, 9]]}, {"A": [[0]], "B": [[1, 0]], "b": [10]}))
    stages = {"alpha": 0.1, "y_star": np.zeros(2), "lam": np.zeros(1), "rho": np.zeros(1)}
    with pytest.raises(InvalidInputError, match="C_f, C_g: must bound the curvature"):
        penalty_minimiser(PenaltyLagrangian.at(replace(q, C_g=1.0), np.zeros(1), **stages), tol=0.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"rho": -np.ones(1)}, "rho: must be >= 0"), ({"tol": -1.0}, "tol: must be >= 0"),
     ({"lam": np.ones(2)}, "lam: must have shape"), ({"alpha": 0.0}, "alpha: must be > 0")],
)  # fmt: skip
def test_wrong_input_is_one_clear_line(toy1, changes, message):
    stages = solved(toy1, np.ones(1), 0.1) | changes
    tol = stages.pop("tol", None)
    with pytest.raises(InvalidInputError, match=message):
        penalty_minimiser(PenaltyLagrangian.at(toy1, np.ones(1), **stages), tol=tol)


def test_momentum_that_keeps_it_from_a_smaller_gradient_is_not_taken_for_rounding():
    # Curvatures thousands apart: five hundred steps without a smaller gradient are no end.
    problem = parse_problem({
        "kind": "quadratic",
        "f": {"xx": [[1]], "xy": [[1, 1, -1]], "yy": [[-2, -3, -2], [-3, 2, 0], [-2, 0, 4]], "y": [-3, 2, 0]},
        "g": {"xy": [[-1, -2, 0]], "yy": [[1, 0, 0], [0, 3, 160], [0, 160, 25600]], "y": [1, -2, -1]},
        "constraints": {"A": [[1], [0], [0], [0]], "B": [[1, -2, 1], [0, 1, -2], [-1, 2, 2], [0, 0, -2]],
                        "b": [0, 1, 1, 0]},
    })  # fmt: skip
    x, lam = np.zeros(1), np.array([1.0, 0.0, 0.0, 1.001])
    stages = {"alpha": 0.1, "y_star": np.zeros(3), "lam": lam, "rho": np.array([1.0, 0.0, 0.0, 1.0])}
    made = penalty_minimiser(PenaltyLagrangian.at(problem, x, **stages), tol=0.0)
    exact = by_linear_algebra(problem, x, stages)
    assert made.status == "floor"
    np.testing.assert_allclose(made.shift, exact, rtol=0, atol=2e-12)
