from __future__ import annotations

from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verify.truth.problems import TOY1, regular_families, regular_instances
from verify.truth.algebra.rationals import blocks, column, diagonal, fractions, select
from verify.truth.functions_of_alpha import series
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, error
from verify.truth.functions_of_alpha.scenario import Quantity, Scenario, exact_error

INSTANCES = regular_instances()
LICQ = [(name, family) for name, family in INSTANCES if family.lower.licq]


def has_moving_active_row(family) -> bool:
    A = family.problem.constraints.A.to_fractions()
    return any(any(A[i]) for i in family.lower.strictly_active)


def saddle(G, B_S):
    m, k = G.nrows(), B_S.nrows()
    made = fmpq_mat(m + k, m + k)
    for i in range(m):
        for j in range(m):
            made[i, j] = G[i, j]
        for j in range(k):
            made[i, m + j] = made[m + j, i] = B_S[j, i]
    return made


def t3_coefficient(family, rho):
    r"""The alpha**2 coefficient of T3 (dual term cancelled), by the general formula instead of by expansion.

    T_3 = alpha**2 [(f_xy + J^T f_yy) w + Lambda^T R^-1 nu] + O(alpha**4), where the lower level's saddle matrix
    [[g_yy, B_S^T], [B_S, 0]] takes (w, nu) to (-grad_y f, 0).

    Derivation: write :math:`y_\alpha - y^* = \alpha^2 w + \alpha^4 w_2 + \dots` and
    :math:`\alpha_2 R B_S (y_\alpha - y^*) = \nu + \alpha^2\nu_1 + \dots`. Order by order stationarity gives
    the system above for (w, nu), then :math:`G w_2 + B_S^T\nu_1 = -f_{yy}w` and :math:`B_S w_2 = R^{-1}\nu`. The
    estimator's alpha**2 term is :math:`f_{xy}w + g_{xy}w_2 - A_S^T\nu_1`; inserting
    :math:`g_{xy} = -J^TG + \Lambda^TB_S` and :math:`B_SJ = A_S` leaves the formula.
    """
    S = family.lower.active
    rows, m, k = blocks(family.problem), family.problem.m, len(S)
    y = column(family.lower.y_star)
    grad_y_f = rows.f_y + rows.f_xy.transpose() * column(family.x) + rows.f_yy * y
    system = saddle(rows.g_yy, select(rows.B, S))
    solved = system.solve(fmpq_mat(m + k, 1, (-1 * grad_y_f).entries() + [fmpq(0)] * k))
    w, nu = select(solved, range(m)), select(solved, range(m, m + k))
    # The lower level differentiated: the same matrix takes (J, -Lambda) to (-g_xy^T, A_S).
    right = (-1 * rows.g_xy.transpose()).entries() + select(rows.A, S).entries()
    derivatives = system.solve(fmpq_mat(m + k, family.problem.n, right))
    J, Lam = select(derivatives, range(m)), -1 * select(derivatives, range(m, m + k))
    made = rows.f_xy * w + J.transpose() * (rows.f_yy * w)
    if S:
        made += Lam.transpose() * (diagonal([1 / rho[i] for i in S]) * nu)
    return fractions(made)


def test_there_are_enough_instances_of_every_kind():
    assert len(INSTANCES) >= 12
    assert sum(has_moving_active_row(family) for _, family in INSTANCES) >= 5
    assert sum(not has_moving_active_row(family) for _, family in INSTANCES) >= 5
    assert {min(len(family.lower.active), 2) for _, family in INSTANCES} == {0, 1, 2}


@pytest.mark.parametrize(("name", "family"), LICQ)
def test_t3_has_the_coefficient_of_the_general_formula(name, family):
    found = error(family, Scenario(), "T3").leading()
    assert found.exponent == 2
    assert found.coefficient == t3_coefficient(family, family.exact_stages.rho)


@settings(max_examples=30)
@given(regular_families(), st.data())
def test_the_general_formula_holds_for_any_weights_on_the_active_rows(family, data):
    weights = tuple(
        Fraction(data.draw(st.integers(1, 6)), 4) if i in family.lower.active else Fraction(0)
        for i in range(family.problem.p)
    )
    predicted = t3_coefficient(family, weights)
    found = error(family, Scenario(rho=weights), "bias").leading()
    assert found.coefficient == predicted if any(predicted) else found.exponent is None or found.exponent > 2


@pytest.mark.parametrize(("name", "family"), INSTANCES)
def test_the_frozen_dual_term_costs_alpha_to_the_minus_two_exactly_where_rows_move(name, family):
    found = error(family, Scenario(dual_term="frozen"), "T3").leading()
    A, lam = family.problem.constraints.A.to_fractions(), family.lower.lam
    kept = tuple(sum(A[i][j] * lam[i] for i in range(family.problem.p)) for j in range(family.problem.n))
    if any(kept):
        assert (found.exponent, found.coefficient) == (-2, kept)
    else:
        assert found.exponent == 2


@pytest.mark.parametrize(("name", "family"), INSTANCES)
def test_a_distance_error_of_alpha_cubed_is_amplified_by_what_the_paper_calls_a_constant(name, family):
    # Where nothing but f couples the two levels it is one number.
    power = -4 if has_moving_active_row(family) else 0 if family.problem.g.xy.is_zero else -2
    assert series.response(family, Scenario(), "y_error").leading().exponent == power
    spent = series.worst_scenario(family, Scenario(), {"y_error": 3})
    t1 = error(family, spent, "T1").leading()
    assert t1.exponent == 3 + power
    worst = np.linalg.norm(series.response(family, Scenario(), "y_error").leading().array, 2)
    assert float(t1.norm_squared) ** 0.5 == pytest.approx(worst, rel=1e-6)
    assert error(family, series.worst_scenario(family, Scenario(), {"y_error": 5}), "T1").leading().exponent >= 1


@pytest.mark.parametrize(("name", "family"), INSTANCES)
def test_a_gradient_stop_of_alpha_keeps_the_bias_of_order_alpha(name, family):
    spent = series.worst_scenario(family, Scenario(), {"gradient_error": 1, "lam_error": 3})
    assert error(family, spent, "T1").leading().exponent >= 1
    assert error(family, spent, "bias").leading().exponent >= 1


@pytest.mark.parametrize(("name", "family"), INSTANCES)
def test_a_multiplier_error_moves_the_minimiser_by_alpha_to_the_fifth_on_active_rows_and_the_third_elsewhere(
    name, family
):
    active, p = family.lower.active, family.problem.p
    others = [i for i in range(p) if i not in active]

    def shift(rows):
        units = [exact_error(0, [int(i == j) for j in range(p)]) for i in rows]
        moved = [error(family, Scenario(lam_error=(unit,)), "solution-shift") for unit in units]
        return min(shift.leading().exponent for shift in moved if not shift.is_zero)

    if active:
        assert shift(active) == 2
        estimator = series.response(family, Scenario(), "lam_error", active).leading().exponent
        assert estimator == (-2 if has_moving_active_row(family) else 0)
    if others and any(v for i in others for v in family.problem.constraints.B.to_fractions()[i]):
        assert shift(others) in (0, 2)
    spent = series.worst_scenario(family, Scenario(), {"lam_error": 3}, rows=active)
    assert error(family, spent, "T2").leading().exponent in ({1, 3} if active else {None})


@pytest.mark.parametrize(("name", "family"), INSTANCES)
def test_worst_errors_have_norm_one_and_no_random_one_does_more(name, family):
    response = series.response(family, Scenario(), "y_error").leading()
    direction = series.worst_direction(response.array)
    norm_squared = sum(v * v for v in direction)
    assert 1 - Fraction(1, 10**6) <= norm_squared <= 1
    worst = np.linalg.norm(response.array @ np.array([float(v) for v in direction]))
    rng = np.random.default_rng(0)
    others = rng.standard_normal((family.problem.m, 50))
    others /= np.linalg.norm(others, axis=0)
    assert (np.linalg.norm(response.array @ others, axis=0) <= worst * (1 + 1e-6)).all()


def test_the_derivative_in_the_lower_level_solution_is_minus_g_xy_over_alpha_squared():
    for _, family in INSTANCES:
        response = series.response(family, Scenario(), "y_star_error").leading()
        g_xy = family.problem.g.xy.to_fractions()
        if response.exponent is None:
            assert not any(any(row) for row in g_xy)
        else:
            assert response.exponent == -2
            assert list(response.coefficient) == [-v for row in g_xy for v in row]


def test_effects_of_several_worst_errors_add_up():
    for _, family in INSTANCES:
        spent = series.worst_scenario(family, Scenario(), {"y_error": 3, "y_star_error": 3})
        orders = [error(family, spent, name).leading().exponent for name in ("T1", "T2", "T3")]
        assert error(family, spent, "bias").leading().exponent == min(v for v in orders if v is not None)


def test_all_leading_terms_of_toy1():
    family = PenaltyFamily.at(TOY1, [1])
    spent = series.worst_scenario(family, Scenario(), {"y_error": 3, "lam_error": 3})
    found = {
        name: (term.exponent, term.coefficient)
        for name in get_args(Quantity)
        for term in [error(family, spent, name).leading()]
    }
    assert found["T1"] == (-1, (-1,))
    assert found["T3"] == (2, (-1,))
    assert found["penalty-shift"] == (4, (-1,))
    assert found["solution-shift"][0] == 5
    assert found["T2"][0] == 1
    assert found["bias"] == (-1, (-1,))
