from __future__ import annotations

from fractions import Fraction
from pickle import dumps, loads

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spec import InvalidInputError, parse_problem
from tests.verify.truth.problems import KINK, TOY1, TOY2, objective, problems_at_points, quadratic, random_rows
from verify.truth.algebra import rationals
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError
from verify.truth.lower_level.lower_level import DegenerateLowerLevelError

EYE = [[1, 0], [0, 1]]


def kkt_holds(problem, x, found) -> bool:
    """Optimality in plain fractions, from the definition."""
    g, rows = problem.g, problem.constraints
    yy, xy, y_lin = g.yy.to_fractions(), g.xy.to_fractions(), g.y.to_fractions()[0]
    A, B, b = rows.A.to_fractions(), rows.B.to_fractions(), rows.b.to_fractions()[0]
    n, m, p = problem.n, problem.m, problem.p
    slope = [
        y_lin[i]
        + sum(xy[k][i] * x[k] for k in range(n))
        + sum(yy[i][k] * found.y_star[k] for k in range(m))
        - sum(B[k][i] * found.lam[k] for k in range(p))
        for i in range(m)
    ]
    h = [
        sum(A[i][k] * x[k] for k in range(n)) - sum(B[i][k] * found.y_star[k] for k in range(m)) - b[i]
        for i in range(p)
    ]
    return (
        not any(slope)
        and all(value <= 0 for value in h)
        and all(value >= 0 for value in found.lam)
        and not any(value * other for value, other in zip(h, found.lam, strict=True))
        and h == list(found.h)
    )


@settings(max_examples=60)
@given(problems_at_points())
def test_a_solution_satisfies_the_optimality_conditions_exactly_or_comes_with_a_proof_of_infeasibility(case):
    problem, x = case
    try:
        found = lower_level.solve(problem, x)
    except InfeasibleLowerLevelError as error:
        rows = problem.constraints
        A, B, b = rows.A.to_fractions(), rows.B.to_fractions(), rows.b.to_fractions()[0]
        weights = error.weights
        assert all(weight >= 0 for weight in weights)
        for j in range(problem.m):
            assert sum(weight * row[j] for weight, row in zip(weights, B, strict=True)) == 0
        offsets = [sum(a * v for a, v in zip(row, x, strict=True)) - c for row, c in zip(A, b, strict=True)]
        assert sum(weight * offset for weight, offset in zip(weights, offsets, strict=True)) > 0
        return
    assert kkt_holds(problem, x, found)
    named = sorted(found.strictly_active + found.weakly_active + found.inactive)
    assert named == list(range(problem.p))
    B_active = np.array([[float(v) for v in problem.constraints.B.to_fractions()[i]] for i in found.active])
    assert found.licq_rank == (np.linalg.matrix_rank(B_active) if found.active else 0)


@settings(max_examples=25)
@given(problems_at_points(), st.data())
def test_a_wrong_guess_changes_nothing(case, data):
    problem, x = case
    guess = tuple(sorted(data.draw(st.sets(st.integers(0, problem.p - 1)))))

    def outcome():
        try:
            return lower_level.solve(problem, x)
        except InfeasibleLowerLevelError:
            return "infeasible"

    truth = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lower_level, "guess_working_rows", lambda problem, x: guess)
        found = outcome()
    if truth == "infeasible" or not truth.licq:
        assert (found == "infeasible") == (truth == "infeasible")
        assert truth == "infeasible" or found.y_star == truth.y_star
    else:
        assert found == truth


@settings(max_examples=25)
@given(problems_at_points(), st.randoms(use_true_random=False))
def test_permuting_rows_permutes_multipliers_and_changes_nothing_else(case, random):
    problem, x = case
    order = list(range(problem.p))
    random.shuffle(order)
    data = problem.to_dict()
    data["constraints"] = {key: [block[i] for i in order] for key, block in data["constraints"].items()}
    moved = parse_problem(data)
    try:
        found = lower_level.solve(problem, x)
    except InfeasibleLowerLevelError:
        with pytest.raises(InfeasibleLowerLevelError):
            lower_level.solve(moved, x)
        return
    there = lower_level.solve(moved, x)
    assert there.y_star == found.y_star
    if found.licq:
        assert there.lam == tuple(found.lam[i] for i in order)
    if found.licq and found.strict_complementarity:
        assert lower_level.hypergradient(moved, x) == lower_level.hypergradient(problem, x)


@settings(max_examples=20)
@given(problems_at_points(), st.integers(1, 9), st.integers(1, 9))
def test_scaling_g_scales_multipliers_and_scaling_f_scales_the_hypergradient(case, factor_g, factor_f):
    problem, x = case
    data = problem.to_dict()

    def scaled(block, factor):
        return [scaled(entry, factor) for entry in block] if isinstance(block, list) else Fraction(block) * factor

    data["g"] = {key: scaled(block, factor_g) for key, block in data["g"].items()}
    data["f"] = {key: scaled(block, factor_f) for key, block in data["f"].items()}
    moved = parse_problem(data)
    try:
        found = lower_level.solve(problem, x)
    except InfeasibleLowerLevelError:
        return
    there = lower_level.solve(moved, x)
    assert there.y_star == found.y_star
    if found.licq:
        assert there.lam == tuple(factor_g * value for value in found.lam)
    if found.licq and found.strict_complementarity:
        gradient = lower_level.hypergradient(problem, x)
        assert lower_level.hypergradient(moved, x) == tuple(factor_f * value for value in gradient)


@settings(max_examples=25)
@given(problems_at_points(largest=3), st.data())
def test_the_hypergradient_is_the_exact_central_difference_of_F(case, data):
    problem, x = case
    try:
        found = lower_level.solve(problem, x)
    except InfeasibleLowerLevelError:
        return
    assume(found.licq and found.strict_complementarity)
    gradient = lower_level.hypergradient(problem, x)
    direction = [data.draw(st.integers(-2, 2)) for _ in range(problem.n)]
    # F is quadratic on the piece around x: the central difference is exact while both ends stay on it.
    step = Fraction(1, 10**6)
    ends = [[v + sign * step * d for v, d in zip(x, direction, strict=True)] for sign in (1, -1)]
    assume(all(lower_level.solve(problem, end).strictly_active == found.strictly_active for end in ends))
    slope = (objective(problem, ends[0]) - objective(problem, ends[1])) / (2 * step)
    assert slope == sum(a * d for a, d in zip(gradient, direction, strict=True))


@settings(max_examples=20)
@given(problems_at_points())
def test_exact_and_floating_point_linear_algebra_agree(case):
    problem, x = case
    try:
        found = lower_level.solve(problem, x)
    except InfeasibleLowerLevelError:
        return
    assume(found.licq and found.strict_complementarity)
    a, S, m = problem.arrays, list(found.strictly_active), problem.m
    B, A = a.B[S], a.A[S]
    K = np.block([[a.g_yy, -B.T], [B, np.zeros((len(S), len(S)))]])
    at = np.array([float(v) for v in x])
    solved = np.linalg.solve(K, np.concatenate([-(a.g_y + a.g_xy.T @ at), A @ at - a.b[S]]))
    np.testing.assert_allclose([float(v) for v in found.y_star], solved[:m], rtol=1e-9, atol=1e-9)
    J = np.linalg.solve(K, np.vstack([-a.g_xy.T, A]))[:m]
    exact_J = [[float(v) for v in row] for row in lower_level.jacobian(problem, x)]
    np.testing.assert_allclose(exact_J, J, rtol=1e-9, atol=1e-9)


def test_toy1_moves_with_its_row():
    found = lower_level.solve(TOY1, [1])
    assert (found.y_star, found.lam, found.strictly_active) == ((1,), (1,), (0,))
    assert found.licq
    assert found.strict_complementarity
    assert lower_level.hypergradient(TOY1, [1]) == (1,)
    assert lower_level.jacobian(TOY1, [1]) == ((1,),)


def test_toy2_is_clamped_on_one_side_and_free_on_the_other():
    assert lower_level.hypergradient(TOY2, [Fraction(1, 10**30)]) == (0,)
    assert lower_level.hypergradient(TOY2, [Fraction(-1, 10**30)]) == (1,)


def test_a_kink_is_reported_with_the_gradients_of_both_sides():
    with pytest.raises(DegenerateLowerLevelError, match=r"row\(s\) 0 weakly active") as caught:
        lower_level.hypergradient(KINK, [0])
    assert set(caught.value.gradients) == {(Fraction(1),), (Fraction(-1),)}
    assert lower_level.pieces(KINK, [0], lower_level.solve(KINK, [0])) == {(): (1,), (0,): (-1,)}
    again = loads(dumps(caught.value))
    assert (again.weakly_active, again.gradients) == (caught.value.weakly_active, caught.value.gradients)
    with pytest.raises(DegenerateLowerLevelError):
        lower_level.jacobian(KINK, [0])


def test_a_weakly_active_row_without_effect_on_F_leaves_F_differentiable():
    # Two rows touch y* with the same slope; the second never carries a multiplier.
    twice = quadratic({"y": [1]}, {"yy": [[1]]}, [[1], [1]], [[1], [1]], [0, 0])
    found = lower_level.solve(twice, [1])
    assert not found.licq
    assert lower_level.hypergradient(twice, [1]) == (1,)


def test_dependent_rows_that_pull_apart_make_a_kink():
    # y >= x and y >= -x from far below: y* = |x|.
    apart = quadratic({"y": [1]}, {"yy": [[1]], "y": [5]}, [[1], [-1]], [[1], [1]], [0, 0])
    assert lower_level.hypergradient(apart, [2]) == (1,)
    with pytest.raises(DegenerateLowerLevelError) as caught:
        lower_level.hypergradient(apart, [0])
    assert set(caught.value.gradients) == {(Fraction(1),), (Fraction(-1),)}


def test_a_row_that_ignores_y_bounds_where_F_is_defined():
    bounded = quadratic({"y": [1]}, {"yy": [[1]], "xy": [[1]]}, [[1]], [[0]], [0])
    assert lower_level.hypergradient(bounded, [-1]) == (-1,)
    with pytest.raises(DegenerateLowerLevelError):
        lower_level.hypergradient(bounded, [0])
    with pytest.raises(InfeasibleLowerLevelError):
        lower_level.solve(bounded, [1])


SWAPPING = quadratic({"y": [-1, 1]}, {"xx": [[2]], "xy": [[1, -1]], "yy": [[1, 0], [0, 1]]}, [[0], [0]], EYE, [0, 0])


def test_rows_that_swap_leave_F_differentiable():
    # y = (max(-x, 0), max(x, 0)) and F = x: no row, and both rows, are active nowhere but at x = 0.
    assert lower_level.pieces(SWAPPING, [0], lower_level.solve(SWAPPING, [0])) == {(0,): (1,), (1,): (1,)}
    assert lower_level.hypergradient(SWAPPING, [0]) == (1,)
    with pytest.raises(DegenerateLowerLevelError, match="independent and carry multipliers"):
        lower_level.jacobian(SWAPPING, [0])


def test_rows_that_together_end_the_domain_leave_no_gradient():
    # x <= y <= -x: feasible for x <= 0 alone, and y* = 0 there.
    ended = quadratic({"y": [1], "x": [3]}, {"yy": [[1]]}, [[1], [1]], [[1], [-1]], [0, 0])
    assert lower_level.hypergradient(ended, [-1]) == (3,)
    with pytest.raises(DegenerateLowerLevelError, match="must lie inside the region where") as caught:
        lower_level.hypergradient(ended, [0])
    assert caught.value.gradients == ((Fraction(3),),)


ENTRY = st.integers(-2, 2)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 3), st.data())
def test_the_pieces_at_a_degenerate_point_are_those_found_around_it(n, m, p, data):
    def block(*shape):
        return np.array(data.draw(st.lists(ENTRY, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))).reshape(
            shape
        )

    # No constant terms: every row is active at x = 0, and every piece is a cone with its apex there.
    yy = np.eye(m, dtype=int) * (m + 1) + np.minimum(block(m, m), 1).clip(0) * (1 - np.eye(m, dtype=int))
    yy = np.triu(yy) + np.triu(yy, 1).T
    f = {"y": block(m), "xy": block(n, m)}
    g = {"xy": block(n, m), "yy": yy}
    blocks_ = [{key: value.tolist() for key, value in group.items()} for group in (f, g)]
    problem = quadratic(*blocks_, block(p, n).tolist(), block(p, m).tolist(), [0] * p)
    zero = [0] * n
    lower = lower_level.solve(problem, zero)
    known = set(lower_level.pieces(problem, zero, lower).values())
    rows, seen, ends = rationals.blocks(problem), set(), False
    steps = [(1,), (-1,)] if n == 1 else [(a, b) for a in range(-7, 8) for b in (-7, -5, 3, 7)]
    for d in steps:
        try:
            there = lower_level.solve(problem, d)
        except InfeasibleLowerLevelError:
            ends = True
            continue
        if there.licq and there.strict_complementarity:
            seen.add(lower_level.piece_gradient(rows, zero, lower.y_star, there.strictly_active))
    assert seen <= known
    try:
        gradient = lower_level.hypergradient(problem, zero)
    except DegenerateLowerLevelError:
        assert n > 1 or ends or len(known) > 1
    else:
        assert not ends
        assert seen <= {gradient}


def test_infeasibility_names_the_rows_that_contradict_each_other():
    empty = quadratic({"y": [1]}, {"yy": [[1]]}, [[1], [1]], [[1], [-1]], [0, -1])
    with pytest.raises(InfeasibleLowerLevelError, match=r"1·h_0 \+ 1·h_1 is positive") as caught:
        lower_level.solve(empty, [1])
    assert caught.value.weights == (1, 1)
    assert loads(dumps(caught.value)).weights == (1, 1)


@pytest.mark.parametrize(
    ("x", "message"),
    [([1, 2], "x: must have length 1; got 2"), ([float("nan")], "x[0]: must be a finite number; got nan")],
)
def test_points_that_do_not_fit_are_refused(x, message):
    with pytest.raises(InvalidInputError) as caught:
        lower_level.solve(TOY1, x)
    assert str(caught.value) == message


def test_a_singular_lower_level_is_refused_whatever_validation_in_doubles_said():
    regular = quadratic({"y": [1, 1]}, {"yy": [[1, 0], [0, 1]]}, [[1]], [[1, 0]], [0])
    singular = regular.g.model_copy(update={"yy": type(regular.g.yy)([[1, 1], [1, 1]], ndim=2)})
    with pytest.raises(InvalidInputError, match=r"g\.yy: must be positive definite"):
        lower_level.solve(regular.model_copy(update={"g": singular}), [0])


def test_twenty_variables_and_rows_are_solved_with_all_rows_sorted():
    problem = random_rows(20, 20, 20, 1)
    found = lower_level.solve(problem, [0] * 20)
    assert found.strictly_active == tuple(range(10))
    assert found.strict_complementarity
