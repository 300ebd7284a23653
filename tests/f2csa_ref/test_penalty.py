from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2csa_ref import PenaltyLagrangian, objectives_of, penalty_parameters
from f2csa_ref.penalty import TERMS, total
from spec import Generated, InvalidInputError

STEP = 1e-5


def lagrangian(seed, n=3, m=4, p=3, alpha=0.5):
    q = objectives_of(Generated(family="random-rows", n=n, m=m, p=p, seed=seed))
    rng = np.random.default_rng(seed)
    made = PenaltyLagrangian(
        q, rng.standard_normal(n), penalty_parameters(alpha), rng.standard_normal(m), rng.random(p), rng.random(p)
    )
    return made, rng.standard_normal(m)


def literal_value(made, x, y, dual_term):
    """The formula as printed, y_star, lam and rho held fixed."""
    q, a = made.objectives, made.alpha
    h = q.A @ x - q.B @ y - q.b
    gap = q.g(x, y) + made.lam @ h - q.g(x, made.y_star)
    if dual_term == "cancelled":
        gap -= made.lam @ (q.A @ x - q.B @ made.y_star - q.b)
    return q.f(x, y) + a.alpha_1 * gap + 0.5 * a.alpha_2 * sum(made.rho * h**2)


@pytest.mark.parametrize("dual_term", ["frozen", "cancelled"])
@given(seed=st.integers(0, 10**6))
def test_value_and_gradients_are_those_of_the_printed_formula(dual_term, seed):
    made, w = lagrangian(seed)
    x, y = made.x, made.y_star + w
    assert made.value(w, dual_term) == pytest.approx(literal_value(made, x, y, dual_term), rel=1e-9, abs=1e-9)
    for gradient, move in ((made.grad_x(w, dual_term), "x"), (made.grad_y(w), "y")):
        scale = 1 + np.abs(gradient).max()
        for i in range(len(gradient)):
            e = np.zeros(len(gradient))
            e[i] = STEP
            ends = [
                literal_value(made, x + s * e, y, dual_term)
                if move == "x"
                else literal_value(made, x, y + s * e, dual_term)
                for s in (1, -1)
            ]
            # Central differences are exact on quadratics up to rounding.
            assert gradient[i] == pytest.approx((ends[0] - ends[1]) / (2 * STEP), abs=1e-5 * scale)


def test_the_readings_differ_by_the_dual_term_alone():
    made, w = lagrangian(1)
    frozen, cancelled = made.terms_x(w, "frozen"), made.terms_x(w, "cancelled")
    expected = made.alpha.alpha_1 * made.objectives.A.T @ made.lam
    np.testing.assert_allclose(frozen["dual"], expected)
    assert not cancelled["dual"].any()
    for name in ("f", "g_difference", "penalty"):
        np.testing.assert_array_equal(frozen[name], cancelled[name])
    assert tuple(frozen) == TERMS
    np.testing.assert_allclose(total(frozen), made.grad_x(w, "cancelled") + expected)


@pytest.mark.parametrize("alpha", [0, -1, float("nan"), float("inf"), 1e-31])
def test_alpha_out_of_range_is_one_clear_line(alpha):
    with pytest.raises(InvalidInputError, match=r"^alpha: must be > 0"):
        penalty_parameters(alpha)
