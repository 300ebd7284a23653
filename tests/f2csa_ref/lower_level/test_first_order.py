from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref import LowerLevelError, hypergradient, lower_level
from f2csa_ref.lower_level import first_order
from f2csa_ref.lower_level.first_order import FirstOrder, FirstOrderPair
from f2csa_ref.objectives import objectives_of
from spec import Generated, InvalidInputError, OracleParameters
from spec.atlas import experiment

BY_GRADIENTS = OracleParameters(lower_level="first-order")


@pytest.mark.parametrize(
    ("family", "n", "p"),
    [("paper-experiment", 30, None), ("coupled-rows", 30, 4), ("coupled-rows", 20, 12), ("random-rows", 6, 3)],
)
def test_it_finds_the_exact_pair_without_a_factorisation(family, n, p, monkeypatch):
    problem = Generated(family=family, n=n, p=p, seed=4)
    x = np.random.default_rng(0).standard_normal(n) * (0.1 if family == "random-rows" else 1)
    exact = lower_level(problem, x)
    for name in ("cholesky", "cho_factor", "solve", "inv", "lu_factor", "qr", "solve_triangular"):
        monkeypatch.setattr(f"scipy.linalg.{name}", None)
    for name in ("cholesky", "solve", "inv", "qr", "pinv", "lstsq"):
        monkeypatch.setattr(f"numpy.linalg.{name}", None)
    found = lower_level(problem, x, parameters=BY_GRADIENTS)
    assert found.method == "first-order"
    assert found.first_order
    assert not exact.first_order
    assert found.y_star == pytest.approx(exact.y_star, abs=1e-9)
    assert found.lam == pytest.approx(exact.lam, abs=1e-8)
    assert found.counts["grad_y_g"] == found.gradient_samples > 1


def test_it_answers_for_gradients_without_a_hessian(as_callables, random_rows):
    problem = random_rows(3, 4, 2, 1)
    x = np.array([0.1, -0.2, 0.3])
    calls: dict[str, int] = {}
    found = lower_level(as_callables(problem, calls), x, parameters=BY_GRADIENTS)
    assert found.y_star == pytest.approx(lower_level(problem, x).y_star, abs=1e-9)
    assert calls["grad_y_g"] >= found.gradient_samples


def test_an_oracle_call_says_which_way_it_went(toy1):
    one = np.ones(1)
    by_gradients = hypergradient(toy1, one, alpha=0.1, parameters=BY_GRADIENTS)
    assert by_gradients.hypergradient == pytest.approx(hypergradient(toy1, one, alpha=0.1).hypergradient, abs=1e-6)
    assert by_gradients.lower_level.first_order
    assert "quadratic_programs" not in by_gradients.counts


def test_a_budget_too_small_is_no_answer():
    problem = Generated(family="coupled-rows", n=10, p=4, seed=0)
    few = OracleParameters(lower_level="first-order", lower_level_steps=5)
    with pytest.raises(LowerLevelError, match="raise lower_level_steps"):
        lower_level(problem, np.ones(10), parameters=few)


def test_infeasible_rows_end_in_an_error_not_in_an_answer(make):
    crossing = make({"x": [0]}, {"yy": [[1]]}, {"A": [[1], [1]], "B": [[1], [-1]], "b": [0, -1]})
    with pytest.raises(InvalidInputError, match="infeasible"):
        lower_level(crossing, np.ones(1), parameters=BY_GRADIENTS)
    dense = make({"x": [0]}, {"yy": [[1, 0], [0, 1]]}, {"B": [[1, 1], [-1, -1]], "b": [-1, 0]})
    short = OracleParameters(lower_level="first-order", lower_level_steps=500)
    with pytest.raises(LowerLevelError):
        lower_level(dense, np.zeros(1), parameters=short)


def test_the_weight_is_raised_where_rows_resist(make):
    """Rows far shorter than the Hessian: the first weight gains little a round."""
    problem = make({"x": [0]}, {"yy": [[1, 0], [0, 100]], "y": [0, -100]}, {"B": [[1, 1], [1, "1/2"]], "b": [-3, -2]})
    found = lower_level(problem, np.zeros(1), parameters=BY_GRADIENTS)
    exact = lower_level(problem, np.zeros(1))
    assert found.y_star == pytest.approx(exact.y_star, abs=1e-9)
    assert first_order.HEAVIER > 1


@pytest.mark.parametrize("condition", [10.0, 1e3, 1e5])
def test_an_ill_conditioned_box_is_solved_to_the_distance_asked_for(condition):
    q = objectives_of(experiment(20, condition=condition, seed=1))
    x, aim = np.random.default_rng(0).standard_normal(20), 1e-5
    solver, start = FirstOrder(q, q.bounds), FirstOrderPair(np.zeros(20), np.zeros(q.p))
    found = solver.solve(lambda y: q.grad_y_g(x, y), q.A @ x - q.b, start, tol=aim, steps=10**5)
    assert np.linalg.norm(found.y - lower_level(q, x).y_star) <= aim


def test_rows_without_y_push_nothing(make):
    problem = make({"y": [1]}, {"yy": [[2]], "xy": [[1]]}, {"A": [[0]], "B": [[0]], "b": [1]})
    found = lower_level(problem, np.ones(1), parameters=BY_GRADIENTS)
    assert found.y_star == pytest.approx([-0.5])
    assert found.lam.tolist() == [0.0]
