from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from f2csa_ref import LowerLevelError, SmoothObjectives, lower_level
from spec import Generated, Holder, InvalidInputError, OracleParameters


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 5), p=st.integers(1, 5))
def test_a_quadratic_given_as_callables_has_the_same_solution(as_callables, seed, m, p):
    problem = Generated(family="random-rows", n=2, m=m, p=p, seed=seed).quadratic
    exact = lower_level(problem, np.zeros(2))
    made = lower_level(as_callables(problem), np.zeros(2))
    assert made.method == "projected-gradient"
    assert made.kkt_residual <= 1e-9
    np.testing.assert_allclose(made.y_star, exact.y_star, atol=1e-8)
    if exact.licq_margin > 1e-3:
        np.testing.assert_allclose(made.lam, exact.lam, atol=1e-6)


def logistic(**changes):
    """g = log(1 + e^(y1 - 3)) summed + |y|²/2 - 2 sum y, over y1 + y2 <= 1."""
    sigmoid = lambda y: 1 / (1 + np.exp(-(y - 3)))  # noqa: E731  # a formula
    made = SmoothObjectives(
        grad_x_f=lambda *_: np.zeros(1),
        grad_y_f=lambda *_: np.ones(2),
        grad_x_g=lambda *_: np.zeros(1),
        grad_y_g=lambda _, y: sigmoid(y) + y - 2,
        A=np.zeros((1, 1)), B=-np.ones((1, 2)), b=np.ones(1), mu_g=1.0, C_g=1.25, C_f=0.0,
    )  # fmt: skip
    return replace(made, **changes)


def test_a_nonquadratic_lower_level_by_hand():
    made = lower_level(logistic(), np.zeros(1))
    np.testing.assert_allclose(made.y_star, 0.5, atol=1e-12)
    assert made.lam[0] == pytest.approx(1.5 - 1 / (1 + np.exp(2.5)), rel=1e-10)
    assert made.active.all()
    assert made.gradient_samples == made.steps


def test_holder_solves_to_the_origin():
    made = lower_level(Holder(s="1/2"), np.zeros(1))
    assert abs(made.y_star[0]) <= 1e-12
    assert made.lam == 0


def test_infeasible_rows_are_said():
    q = logistic(A=np.zeros((2, 1)), B=np.array([[1.0, 0.0], [-1.0, 0.0]]), b=-np.ones(2))
    with pytest.raises(InvalidInputError, match="infeasible"):
        lower_level(q, np.zeros(1))


def test_wrong_constants_or_too_few_steps_do_not_pass_for_a_solution():
    loose = np.array([100.0])
    steep = logistic(b=loose, grad_y_g=lambda _, y: 50 * y - 1)
    with pytest.raises(LowerLevelError, match="check that C_g bounds"):
        lower_level(steep, np.zeros(1))
    slow = logistic(b=loose, grad_y_g=lambda _, y: np.array([1e-3, 1.0]) * y - 1, mu_g=1e-3)
    with pytest.raises(LowerLevelError, match="after 5 steps"):
        lower_level(slow, np.zeros(1), parameters=OracleParameters(lower_level_steps=5))
