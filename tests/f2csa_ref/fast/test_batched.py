from __future__ import annotations

import importlib
import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

from f2csa_ref import LowerLevelError, OracleCall, Stages, hypergradient, objectives_of, sample_draws
from f2csa_ref.fast import BatchedOracle, FastOracle
from f2csa_ref.fast.batched_gradients import Lower
from spec import REPAIRED, InvalidInputError, OracleParameters, parse_problem

CASES = [
    ("paper-experiment", 12, None, 1.0, 0.05), ("coupled-rows", 40, 5, 1.0, 0.05), ("coupled-rows", 20, 15, 1.0, 0.05),
    ("random-rows", 10, 6, 0.3, 0.02),
]  # fmt: skip
TIGHT = 1e-9


def drawn(family, n, p=None, model="none"):
    noise = {} if model == "none" else {"model": model, "sigma_f": "1/10", "sigma_g": "1/10"}
    data = {"kind": "generated", "family": family, "n": n, "seed": 1, "noise": noise}
    return parse_problem(data | ({} if p is None else {"p": p}))


def call_of(alpha=0.05, lower="exact", **more):
    known = {"N_g": 3} | {name: more.pop(name) for name in tuple(more) if name in OracleParameters.model_fields}
    return OracleCall(alpha, parameters=OracleParameters(lower_level=lower, **known), **({"tol": TIGHT} | more))


def points(n, K, reach=1.0, seed=0):
    return reach * np.random.default_rng(seed).standard_normal((K, n))


def page(problem, x, call, rng=None):
    return hypergradient(problem, x, alpha=call.alpha, reading=call.reading, parameters=call.parameters, rng=rng,
                         tol=call.tol)  # fmt: skip


def assert_same(oracle, answers, i, one, within=1e-8):
    def at(name):
        return oracle.arrays.host(getattr(answers, name))[i]

    scale = np.abs(one.hypergradient).max()
    assert at("hypergradient") == pytest.approx(one.hypergradient, rel=0, abs=within * scale)
    assert at("y_star") == pytest.approx(one.y_star, rel=0, abs=1e-10)
    assert at("lam") == pytest.approx(one.lam, rel=0, abs=1e-9)
    assert at("rho") == pytest.approx(one.rho, rel=0, abs=1e-6)
    assert at("shift") == pytest.approx(one.shift, rel=0, abs=1e-10)
    assert at("gradient_norm") <= answers.tol == TIGHT


@pytest.mark.parametrize(("family", "n", "p", "reach", "alpha"), CASES)
def test_every_point_is_answered_as_by_the_page_and_by_the_fast_oracle(family, n, p, reach, alpha):
    problem, call, X = drawn(family, n, p), call_of(alpha), points(n, 6, reach)
    oracle, fast = BatchedOracle(problem, call), FastOracle(problem, call)
    for X_now in (X, X + 0.01 * points(n, 6, reach, seed=1)):
        answers = oracle(X_now)
        assert answers.hypergradient.shape == (6, n)
        assert answers.notes == ()
        for i, x in enumerate(X_now):
            assert_same(oracle, answers, i, page(problem, x, call))
            assert_same(oracle, answers, i, fast(x))


@pytest.mark.parametrize("family", ["paper-experiment", "coupled-rows"])
@pytest.mark.parametrize("model", ["additive", "matrix", "jump"])
def test_the_draws_are_those_of_the_page_at_the_points_in_order(family, model):
    problem, call, X = drawn(family, 8, model=model), call_of(), points(8, 4)
    oracle, rng = BatchedOracle(problem, call), np.random.default_rng(5)
    answers, other = oracle(X, np.random.default_rng(5)), oracle(X, np.random.default_rng(6))
    for i, x in enumerate(X):
        one = page(problem, x, call, rng)
        assert_same(oracle, answers, i, one)
        assert np.abs(other.hypergradient[i] - one.hypergradient).max() > 1e-3
    given = sample_draws(objectives_of(problem), 3, REPAIRED.noise_pairing, np.random.default_rng(2))
    fast = FastOracle(problem, call_of(draws=given))
    answers = BatchedOracle(problem, call_of(draws=given))(X)
    for i, x in enumerate(X):
        assert_same(oracle, answers, i, fast(x))


def test_readings_are_followed():
    problem, X = drawn("coupled-rows", 10, 4), points(10, 3)
    found = []
    for reading in (REPAIRED.choose(dual_term="frozen"), REPAIRED.choose(dual_term="cancelled")):
        call = call_of(reading=reading)
        oracle = BatchedOracle(problem, call)
        found.append(oracle(X))
        for i, x in enumerate(X):
            assert_same(oracle, found[-1], i, page(problem, x, call))
    assert np.abs(found[0].hypergradient - found[1].hypergradient).max() > 1.0
    loose = BatchedOracle(problem, call_of(tol=None))
    assert loose.tol == FastOracle(problem, call_of(tol=None)).tol


@pytest.mark.parametrize(("family", "p"), [("paper-experiment", None), ("coupled-rows", 5)])
def test_each_point_stops_on_its_own_and_starts_where_it_ended(family, p):
    problem, call, X = drawn(family, 15, p), call_of(), points(15, 5)
    oracle = BatchedOracle(problem, call)
    cold = oracle(X)
    assert len(set(cold.lower_steps)) > 2
    for i, x in enumerate(X):
        alone = BatchedOracle(problem, call)
        one = alone(x[None])
        assert abs(one.lower_steps[0] - cold.lower_steps[i]) <= 0.05 * cold.lower_steps[i]
        assert one.penalty_steps.tolist() == cold.penalty_steps[i : i + 1].tolist()
        assert one.hypergradient[0] == pytest.approx(cold.hypergradient[i], rel=1e-7, abs=1e-8)
    X[2] += 1.0
    warm = oracle(X)
    assert (np.delete(warm.lower_steps, 2) <= 0.2 * np.delete(cold.lower_steps, 2)).all()
    assert (np.delete(warm.penalty_steps, 2) <= 0.3 * np.delete(cold.penalty_steps, 2)).all()
    assert warm.lower_steps[2] > 2 * np.delete(warm.lower_steps, 2).max()
    assert_same(oracle, warm, 2, page(problem, X[2], call))
    assert oracle(X[:2]).hypergradient == pytest.approx(warm.hypergradient[:2], rel=1e-7, abs=1e-8)


def test_a_product_serves_all_points_that_still_need_it_and_nothing_is_factorised(monkeypatch):
    monkeypatch.setattr("f2csa_ref.objectives.QuadraticObjectives.g_yy_factor", None)
    monkeypatch.setattr("scipy.linalg.cho_factor", None)
    problem, K = drawn("paper-experiment", 30), 16
    oracle = BatchedOracle(problem, call_of(lower="first-order"))
    answers = oracle(points(30, K))
    counts, most = answers.counts, int(answers.lower_steps.max() + answers.penalty_steps.max())
    assert counts["grad_y_g"] == answers.lower_steps.sum() + answers.penalty_steps.sum() + K
    assert counts["grad_y_f"] == answers.penalty_steps.sum() + K
    assert counts["grad_x_g"] == 2 * counts["grad_x_f"] == 2 * 3 * K
    assert most <= counts["matrix_products"] <= most + 10
    assert K / 2 * counts["matrix_products"] < counts["matrix_vector_products"] <= K * counts["matrix_products"]
    assert oracle.work.products == counts["matrix_products"]
    assert counts["row_factorisations"] == 0


@pytest.mark.parametrize(("family", "n", "p", "reach", "alpha"), CASES)
def test_the_first_order_lower_level_is_within_its_tolerance(family, n, p, reach, alpha):
    problem, X = drawn(family, n, p), points(n, 3, reach)
    found = BatchedOracle(problem, call_of(alpha, "first-order"))(X)
    exact = BatchedOracle(problem, call_of(alpha))(X)
    assert found.lower_steps.sum() < exact.lower_steps.sum()
    assert np.linalg.norm(found.y_star - exact.y_star, axis=1).max() <= alpha**3
    assert np.abs(found.hypergradient - exact.hypergradient).max() <= alpha * np.abs(exact.hypergradient).max()


@pytest.mark.parametrize(("family", "p"), [("paper-experiment", None), ("coupled-rows", 5)])
def test_a_guess_of_the_active_rows_is_taken_only_where_it_is_right(family, p):
    problem, X = drawn(family, 10, p), points(10, 4, 3.0)
    oracle = BatchedOracle(problem, call_of())
    right, q = oracle(X), oracle.q
    tol, zero = np.full(4, 1e-11), np.zeros((4, 10))
    c, r = X @ q.g_xy + q.g_y, X @ q.A.T - q.b
    assert (right.lam > 0).any(axis=1).all()
    assert (right.lam == 0).any(axis=1).all()
    found = oracle.lower.known.solve(Lower(c, r, zero, right.lam, tol), 1000)
    assert found.left.tolist() == []
    assert found.y == pytest.approx(right.y_star, abs=1e-10)
    assert found.lam == pytest.approx(right.lam, abs=1e-9)
    mixed = right.lam.copy()
    mixed[1], mixed[2], mixed[3] = 0.0, 1.0, np.where(right.lam[3] > 0, 0.0, 1.0)
    found = oracle.lower.known.solve(Lower(c, r, zero, mixed, tol), 1000)
    assert found.left.tolist() == [1, 2, 3]
    assert (found.y[1:] == 0).all()
    assert (found.lam[1:] == mixed[1:]).all()
    assert found.y[0] == pytest.approx(right.y_star[0], abs=1e-10)


def test_many_rows_are_preconditioned_by_their_diagonal(monkeypatch):
    problem, call, X = drawn("coupled-rows", 20, 15), call_of(), points(20, 3)
    gram = BatchedOracle(problem, call)(X)
    monkeypatch.setattr("f2csa_ref.fast.batched_minimiser.GRAM_DOUBLES", 0)
    oracle = BatchedOracle(problem, call)
    diagonal = oracle(X)
    assert gram.counts["row_factorisations"] > diagonal.counts["row_factorisations"] == 0
    assert diagonal.penalty_steps.min() > gram.penalty_steps.max()
    assert_same(oracle, diagonal, 0, page(problem, X[0], call))


@pytest.mark.parametrize(("family", "p"), [("paper-experiment", None), ("coupled-rows", 5)])
def test_single_precision_is_labelled_and_close(family, p):
    problem, X = drawn(family, 20, p), points(20, 3)
    double, single = (BatchedOracle(problem, call_of(tol=None), precision=kind)(X) for kind in ("float64", "float32"))
    assert double.notes == ()
    assert single.precision == "float32"
    assert "single precision" in single.notes[0]
    assert single.hypergradient.dtype == np.float64
    assert 0 < np.abs(single.hypergradient - double.hypergradient).max() < 0.05 * np.abs(double.hypergradient).max()
    unreachable = BatchedOracle(problem, call_of(tol=1e-12), precision="float32")(X)
    assert unreachable.short == (0, 1, 2)
    assert "points 0, 1, 2" in unreachable.notes[1]


BOX = {"A": [[1], [1]], "B": [[1, 0], [-1, 0]], "b": [0, 1]}
COUPLED = {"A": [[1], [1]], "B": [[1, 1], [-1, -1]], "b": [0, 1]}


@pytest.mark.parametrize("rows", [BOX, COUPLED])
def test_a_point_without_a_feasible_answer_is_named(rows, make):
    problem = make({"y": [1, 1]}, {"yy": [[1, 0], [0, 2]]}, rows)
    call = call_of(lower_level_steps=500)
    fine = BatchedOracle(problem, call)(np.array([[0.0], [0.25], [0.4]]))
    assert np.isfinite(fine.hypergradient).all()
    with pytest.raises(InvalidInputError, match=r"X\[2\].*infeasible"):
        BatchedOracle(problem, call)(np.array([[0.0], [0.25], [0.75], [0.4], [0.9]]))


@pytest.mark.parametrize(("family", "p"), [("paper-experiment", None), ("coupled-rows", 3)])
def test_a_point_whose_budget_is_spent_is_named(family, p):
    problem, X = drawn(family, 6, p), points(6, 3)
    bound = np.flatnonzero((BatchedOracle(problem, call_of())(X).lam > 0).any(axis=1))
    with pytest.raises(LowerLevelError, match=rf"X\[{bound[0]}\].*lower_level_steps = 10"):
        BatchedOracle(problem, call_of(lower_level_steps=10))(X)
    assert BatchedOracle(problem, call_of(penalty_steps=1))(X).short == (0, 1, 2)


def test_rows_without_y_weigh_nothing(make):
    problem = make({"xy": [[1]], "y": [1]}, {"yy": [[2]], "xy": [[1]]}, {"B": [[0]], "A": [[0]], "b": [1]})
    oracle, X = BatchedOracle(problem, call_of()), np.array([[1.0], [-2.0]])
    for i, x in enumerate(X):
        assert_same(oracle, oracle(X), i, page(problem, x, call_of()))


def test_what_it_cannot_do_is_refused_by_name(as_callables, random_rows):
    problem, noisy, X = drawn("coupled-rows", 5, 2), drawn("coupled-rows", 5, 2, "additive"), np.ones((2, 5))
    wrong = X.copy()
    wrong[1, 3] = np.nan
    for refused, name in (
        (lambda: BatchedOracle(as_callables(random_rows(2, 3, 1, 0)), call_of()), "problem"),
        (lambda: BatchedOracle(problem, call_of(lower="primal-dual")), "lower_level"),
        (lambda: BatchedOracle(problem, call_of(given=Stages(lam=np.zeros(2)))), "given"),
        (lambda: BatchedOracle(problem, call_of(), precision="float16"), "precision"),
        (lambda: BatchedOracle(problem, call_of(), "torch"), "xp"),
        (lambda: BatchedOracle(problem, call_of(), device="cuda"), "device"),
        (
            lambda: BatchedOracle(
                noisy, call_of(draws=sample_draws(objectives_of(noisy), 2, "common", np.random.default_rng(0)))
            ),
            "draws.f_x",
        ),
        (lambda: BatchedOracle(problem, call_of())(X[:0]), r"X: must have shape \(K, 5\) with K >= 1"),
        (lambda: BatchedOracle(problem, call_of())(X[0]), r"X: must have shape"),
        (lambda: BatchedOracle(problem, call_of())(X[:, :4]), r"X: must have shape"),
        (lambda: BatchedOracle(problem, call_of())("points"), "hold numbers"),
        (lambda: BatchedOracle(problem, call_of())([[1.0], [1.0, 2.0]]), "hold numbers"),
        (lambda: BatchedOracle(problem, call_of())(wrong), r"X\[1\]: must be finite"),
        (lambda: BatchedOracle(noisy, call_of())(X), "rng"),
        (lambda: BatchedOracle(problem, call_of(alpha=30.0))(X), "alpha"),
    ):
        with pytest.raises(InvalidInputError, match=name):
            refused()


def test_an_overflow_is_refused():
    problem = drawn("coupled-rows", 5, 2)
    with pytest.raises(InvalidInputError, match="range of doubles"):
        BatchedOracle(problem, call_of())(np.full((1, 5), 1e200))


def test_a_library_that_is_not_standard_needs_the_extra(monkeypatch):
    problem = drawn("coupled-rows", 5, 2)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    plain = SimpleNamespace(asarray=np.asarray, __name__="plain")
    with pytest.raises(InvalidInputError, match="extra `arrays`"):
        BatchedOracle(problem, call_of(), plain)
    single = SimpleNamespace(
        asarray=lambda values, dtype: np.asarray(values, np.float32), float64=np.float64, float32=np.float32,
        __array_namespace_info__=None, __name__="single",
    )  # fmt: skip
    with pytest.raises(InvalidInputError, match="64-bit floats"):
        BatchedOracle(problem, call_of(), single)


def library(name):
    if importlib.util.find_spec(name) is None:
        why = "the extra `dev` brings it" if name == "array_api_strict" else "no dependency"
        pytest.skip(f"{name} is not installed: {why}")
    if name in ("torch", "cupy") and importlib.util.find_spec("array_api_compat") is None:
        pytest.skip(f"array-api-compat is not installed, the extra `arrays` that {name} needs")
    return importlib.import_module(name)


def assert_as_numpy(xp, device=None):
    for family, p in (("paper-experiment", None), ("coupled-rows", 2)):
        problem, call, X = drawn(family, 6, p, "additive"), call_of(0.2, "first-order"), points(6, 3)
        oracle = BatchedOracle(problem, call, xp, device)
        answers, plain = oracle(X, np.random.default_rng(0)), BatchedOracle(problem, call)(X, np.random.default_rng(0))
        assert type(answers.hypergradient) is not np.ndarray
        for i in range(3):
            one = SimpleNamespace(**{name: values[i] for name, values in vars(plain).items()
                                     if isinstance(values, np.ndarray)})  # fmt: skip
            assert_same(oracle, answers, i, one)
        again = oracle(answers.hypergradient, np.random.default_rng(0))
        assert type(again.hypergradient) is type(answers.hypergradient)
        single = BatchedOracle(problem, call_of(0.2, "first-order"), xp, device, "float32")
        assert "single precision" in single(X, np.random.default_rng(0)).notes[0]


@pytest.mark.parametrize("name", ["array_api_strict", "torch"])
def test_it_runs_on_another_array_library(name):
    assert_as_numpy(library(name))


def test_nothing_is_left_on_another_device():
    xp = library("array_api_strict")
    assert_as_numpy(xp, xp.Device("device1"))


def test_it_runs_on_a_gpu():
    torch = library("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU here")
    assert_as_numpy(torch, "cuda")
