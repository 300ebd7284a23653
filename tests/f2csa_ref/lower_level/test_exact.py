from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from f2csa_ref import LowerLevelError, lower_level
from f2csa_ref.lower_level import active_set
from spec import Generated, InvalidInputError, parse_problem
from spec.atlas import find


def by_enumeration(problem, x):
    """Try every active set in exact arithmetic; returns the first pair that satisfies all KKT conditions."""
    m, p = problem.m, problem.p
    G, S = problem.g.yy.to_fractions(), problem.g.xy.to_fractions()
    A, B = problem.constraints.A.to_fractions(), problem.constraints.B.to_fractions()
    (c,), (b,) = problem.g.y.to_fractions(), problem.constraints.b.to_fractions()
    x = [Fraction(float(v)) for v in x]
    c = [c[j] + sum(S[i][j] * x[i] for i in range(len(x))) for j in range(m)]
    r = [sum(A[k][i] * x[i] for i in range(len(x))) - b[k] for k in range(p)]
    for size in range(min(m, p) + 1):
        for rows in combinations(range(p), size):
            system = [G[j] + [-B[k][j] for k in rows] + [-c[j]] for j in range(m)]
            system += [B[k] + [Fraction(0)] * size + [r[k]] for k in rows]
            solution = gauss(system)
            if solution is None:
                continue
            y, lam = solution[:m], dict(zip(rows, solution[m:], strict=True))
            feasible = all(sum(B[k][j] * y[j] for j in range(m)) >= r[k] for k in range(p))
            if feasible and all(value >= 0 for value in lam.values()):
                return y, [lam.get(k, Fraction(0)) for k in range(p)]
    return None


def gauss(system):
    rows = [list(row) for row in system]
    n = len(rows)
    for i in range(n):
        pivot = next((k for k in range(i, n) if rows[k][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(n):
            if k != i and rows[k][i] != 0:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 3), p=st.integers(1, 4), at=st.integers(-3, 3))
def test_general_rows_match_exact_enumeration(seed, m, p, at):
    problem = Generated(family="random-rows", n=1, m=m, p=p, seed=seed).quadratic
    x = np.array([float(at)])
    exact = by_enumeration(problem, x)
    if exact is None:
        with pytest.raises(InvalidInputError, match="infeasible"):
            lower_level(problem, x)
        return
    made = lower_level(problem, x)
    np.testing.assert_allclose(made.y_star, [float(v) for v in exact[0]], atol=1e-13)
    assert made.kkt_residual <= 1e-14
    if made.licq:
        np.testing.assert_allclose(made.lam, [float(v) for v in exact[1]], atol=1e-13)
        h = problem.arrays.A @ x - problem.arrays.B @ made.y_star - problem.arrays.b
        np.testing.assert_array_equal(made.active, np.abs(h) <= 1e-9)
        np.testing.assert_array_equal(made.weakly_active, made.active & np.array([v == 0 for v in exact[1]]))


def test_box_rows_match_clipping_where_g_is_separable(make):
    d = 6
    eye = np.eye(d, dtype=int)
    weights = np.arange(1, d + 1)
    rows = {"A": np.zeros((2 * d, d), dtype=int), "B": np.vstack([eye, -eye]), "b": [1] * 2 * d}
    problem = make({}, {"xy": eye, "yy": np.diag(weights)}, rows)
    x = np.array([5.0, -9.0, 1.0, 0.0, 20.0, 6.0])
    made = lower_level(problem, x)
    np.testing.assert_allclose(made.y_star, np.clip(-x / weights, -1, 1), atol=1e-15)
    free = -x / weights
    np.testing.assert_allclose(made.lam[:d], np.maximum(-1 - free, 0) * weights, atol=1e-14)
    np.testing.assert_allclose(made.lam[d:], np.maximum(free - 1, 0) * weights, atol=1e-14)
    assert made.weakly_active.tolist() == [False] * 5 + [True] + [False] * 6
    assert not made.strictly_complementary


def test_an_infeasible_lower_level_is_said(make):
    problem = make({}, {"yy": [[1]]}, {"A": [[0], [0]], "B": [[1], [-1]], "b": [-1, -1]})
    with pytest.raises(InvalidInputError, match=r"^x: lower-level problem is infeasible here"):
        lower_level(problem, np.zeros(1))


def test_a_row_without_y_is_a_condition_on_x_alone(make):
    problem = make({}, {"yy": [[1]]}, {"A": [[1], [0]], "B": [[0], [1]], "b": [0, 5]})
    made = lower_level(problem, -np.ones(1))
    assert made.y_star == 0
    assert not made.active.any()
    with pytest.raises(InvalidInputError, match="infeasible"):
        lower_level(problem, np.ones(1))
    assert not lower_level(problem, np.zeros(1)).licq


def test_dependent_active_rows_fail_licq(make):
    problem = make({}, {"yy": [[1, 0], [0, 1]]}, {"A": [[1], [2]], "B": [[1, 1], [2, 2]]})
    made = lower_level(problem, np.ones(1))
    np.testing.assert_allclose(made.y_star, [0.5, 0.5])
    assert (made.licq, made.licq_margin < 1e-12) == (False, True)
    assert any("LICQ fails" in note for note in made.notes)


def test_more_active_rows_than_unknowns_fail_licq(make):
    problem = make({}, {"yy": [[1]]}, {"A": [[1], [1]], "B": [[1], [3]], "b": [0, -2]})
    made = lower_level(problem, np.ones(1))
    assert made.active.all()
    assert made.licq_margin == 0


def test_nearly_dependent_rows_keep_their_margin(make):
    problem = make({}, {"yy": [[1, 0], [0, 1]]}, {"A": [[1], [1]], "B": [[1, 0], [1, "1e-6"]]})
    made = lower_level(problem, np.ones(1))
    assert made.licq
    assert made.licq_margin == pytest.approx(1e-6 / np.sqrt(2), rel=1e-4)


def test_the_kink_is_said(toy2):
    made = lower_level(toy2, np.zeros(1))
    assert made.weakly_active.tolist() == [True]
    assert any("kink" in note for note in made.notes)
    near = lower_level(toy2, np.array([1e-7]))
    assert near.strictly_complementary
    assert near.lam == 1e-7
    assert lower_level(toy2, -np.ones(1)).notes == ()


@pytest.mark.parametrize("scale", ["1e-8", "1e8"])
def test_units_do_not_matter(make, scale):
    rows = {"A": [[scale]], "B": [[scale]], "b": [scale]}
    made = lower_level(make({}, {"yy": [[scale]]}, rows), np.array([3.0]))
    assert made.y_star == pytest.approx(2.0, rel=1e-15)
    assert made.lam == pytest.approx(2.0, rel=1e-15)
    assert made.active.all()
    assert made.strictly_complementary


def test_an_ill_conditioned_lower_level_is_still_solved_to_rounding():
    problem = Generated(family="paper-experiment", n=40, condition=1e6, seed=1)
    made = lower_level(problem, np.linspace(-3e5, 3e5, 40))
    assert made.kkt_residual <= 1e-15
    assert 0 < made.active.sum() < 40
    assert made.licq


def test_a_point_is_not_called_infeasible_because_the_solver_gave_up(make):
    # Only y = 0 is allowed, both rows of each coordinate hold it, and g is ill-conditioned: daqp sees no way in.
    rng = np.random.default_rng(7)
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    G = np.round(Q @ np.diag(np.geomspace(1e-4, 1e4, 4)) @ Q.T, 9)
    box = {"A": [[0]] * 8, "B": [*np.eye(4).tolist(), *(-np.eye(4)).tolist()], "b": [0] * 8}
    problem = make({}, {"yy": ((G + G.T) / 2).tolist(), "xy": [[1, 2, -3, 4]]}, box)
    for x in rng.standard_normal((20, 1)):
        assert np.abs(lower_level(problem, x).y_star).max() <= 1e-30


def test_a_feasible_program_that_daqp_refuses_is_a_failure_of_the_solver(monkeypatch):
    instance = find("random-2x3x4")
    monkeypatch.setattr(
        active_set.daqp, "solve", lambda *_, **__: (np.zeros(3), 0.0, -1, {"iterations": 7, "lam": np.zeros(4)})
    )
    with pytest.raises(LowerLevelError, match="infeasible, which they are not"):
        lower_level(instance.problem, np.array([float(value) for value in instance.x]))


def test_a_solver_that_gives_up_is_not_a_solution(toy1, monkeypatch):
    import importlib

    exact = importlib.import_module("f2csa_ref.lower_level.exact")
    answer = (np.zeros(1), 0.0, -4, {"iterations": 7, "lam": np.zeros(1)})
    monkeypatch.setattr(active_set.daqp, "solve", lambda *_, **__: answer)
    rows = find("random-2x3x4")
    with pytest.raises(LowerLevelError, match="exit flag -4 after 7 iterations"):
        lower_level(rows.problem, np.array([float(value) for value in rows.x]))
    # Bounds have a solver of their own.
    assert lower_level(toy1, np.ones(1)).method == "block-pivoting"
    # What the program says is held against the KKT conditions where nothing can be solved anew.
    monkeypatch.setattr(exact.ScaledProgram, "solve", lambda *_, **__: (np.full(1, 0.9), np.zeros(1)))
    monkeypatch.setattr(exact, "_polish", lambda *_: None)
    with pytest.raises(LowerLevelError, match="KKT residual"):
        lower_level(toy1, np.ones(1))


@pytest.mark.parametrize("x", [1e-150, 1e-60, 1e-12, 1.0])
def test_a_row_many_orders_smaller_than_another_works_too(x):
    rows = {"A": [[1], [0]], "B": [[1], [1]], "b": [0, 1]}
    problem = parse_problem({"kind": "quadratic", "g": {"yy": [[1]]}, "constraints": rows})
    found = lower_level(problem, np.array([x]))
    assert found.y_star[0] == pytest.approx(x, rel=1e-12)
    assert found.lam[0] == pytest.approx(x, rel=1e-12)
    assert found.lam[1] == 0


@pytest.mark.parametrize("x", [np.zeros(2), np.array([np.nan]), np.array([[1.0]])])
def test_x_is_checked(toy1, x):
    with pytest.raises(InvalidInputError, match=r"^x: must"):
        lower_level(toy1, x)
