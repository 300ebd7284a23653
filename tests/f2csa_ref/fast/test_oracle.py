from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref import OracleCall, SmoothObjectives, Stages, hypergradient, sample_draws
from f2csa_ref.fast import FastOracle
from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.objectives import objectives_of
from spec import AS_WRITTEN, REPAIRED, InvalidInputError, OracleParameters, parse_problem

NOISE = {"model": "additive", "sigma_f": "1/10", "sigma_g": "1/10"}
TIGHT = 1e-8


def drawn(family, n, p=None, noise=None, seed=1):
    data = {"kind": "generated", "family": family, "n": n, "seed": seed, "noise": noise or NOISE}
    return parse_problem(data | ({} if p is None else {"p": p}))


def call_of(lower="exact", alpha=0.05, reading=REPAIRED, N_g=3, **more):
    return OracleCall(alpha, reading, OracleParameters(lower_level=lower, N_g=N_g), **({"tol": TIGHT} | more))


CASES = [
    ("paper-experiment", 12, None, 1.0, 0.05), ("coupled-rows", 40, 5, 1.0, 0.05), ("coupled-rows", 20, 15, 1.0, 0.05),
    ("coupled-rows", 10, 14, 1.0, 0.05), ("random-rows", 10, 6, 0.3, 0.02),
]  # fmt: skip


@pytest.mark.parametrize(("family", "n", "p", "reach", "alpha"), CASES)
@pytest.mark.parametrize("model", ["none", "additive", "matrix", "jump"])
def test_it_answers_as_the_page_along_a_path(family, n, p, reach, alpha, model):
    problem = drawn(family, n, p, {"model": model, "sigma_f": "1/10", "sigma_g": "1/10"} if model != "none" else {})
    call, rng = call_of(alpha=alpha), np.random.default_rng(0)
    oracle, x = FastOracle(problem, call), reach * rng.standard_normal(n)
    for step in range(4):
        x = x + 0.1 * reach * rng.standard_normal(n)
        fast = oracle(x, np.random.default_rng(step))
        page = hypergradient(problem, x, alpha=alpha, parameters=call.parameters, tol=TIGHT,
                             rng=np.random.default_rng(step))  # fmt: skip
        scale = np.abs(page.hypergradient).max()
        assert fast.hypergradient == pytest.approx(page.hypergradient, abs=1e-7 * scale)
        assert fast.y_star == pytest.approx(page.y_star, abs=1e-12)
        assert fast.lam == pytest.approx(page.lam, abs=1e-11)
        assert fast.rho == pytest.approx(page.rho, abs=1e-6)
        assert fast.shift == pytest.approx(page.shift, abs=1e-9)
        assert fast.gradient_norm <= fast.tol == TIGHT


@pytest.mark.parametrize("reading", [REPAIRED.choose(dual_term="frozen"), REPAIRED.choose(inner_stop="distance"),
                                     AS_WRITTEN.choose(dual_term="frozen", inner_solver="averaged")])  # fmt: skip
def test_it_follows_the_reading(reading):
    problem, x = drawn("coupled-rows", 15, 4), np.ones(15)
    fast = FastOracle(problem, call_of(reading=reading))(x, np.random.default_rng(1))
    page = hypergradient(problem, x, alpha=0.05, reading=reading, parameters=OracleParameters(N_g=3),
                         rng=np.random.default_rng(1), tol=TIGHT)  # fmt: skip
    assert fast.hypergradient == pytest.approx(page.hypergradient, abs=1e-7 * np.abs(page.hypergradient).max())


def test_it_stops_where_the_page_may_stop():
    problem, x = drawn("coupled-rows", 15, 4), np.ones(15)
    for reading in (REPAIRED, REPAIRED.choose(inner_stop="distance")):
        page = hypergradient(problem, x, alpha=0.05, reading=reading, rng=np.random.default_rng(1))
        fast = FastOracle(problem, call_of(reading=reading, tol=None))(x, np.random.default_rng(1))
        assert fast.tol == pytest.approx(page.penalty.tol)
        assert fast.gradient_norm <= fast.tol


@pytest.mark.parametrize(("family", "n", "p", "reach", "alpha"), CASES)
def test_the_first_order_route_is_within_its_tolerance_and_says_that_nothing_of_g_was_factorised(
    family, n, p, reach, alpha, monkeypatch
):
    problem, x = drawn(family, n, p), reach * np.random.default_rng(3).standard_normal(n)
    exact = FastOracle(problem, call_of(alpha=alpha))(x, np.random.default_rng(1))
    monkeypatch.setattr("f2csa_ref.objectives.QuadraticObjectives.g_yy_factor", None)
    monkeypatch.setattr("scipy.linalg.cho_factor", None)
    factorised, dpotrf = [], sp.dpotrf

    def watched(matrix, **options):
        factorised.append(matrix)
        return dpotrf(matrix, **options)

    monkeypatch.setattr(sp, "dpotrf", watched)
    oracle = FastOracle(problem, call_of("first-order", alpha))
    found = oracle(x, np.random.default_rng(1))
    assert found.first_order
    assert found.counts["hessian_factorisations"] == oracle.tally.hessian_factorisations == 0
    assert not any(np.isin(oracle.q.g_yy, matrix).any() for matrix in factorised)
    assert found.y_star == pytest.approx(exact.y_star, abs=alpha**3)
    # Line 3 allows an error of alpha**3 in y, which alpha_1 turns into one of order alpha.
    assert np.abs(found.hypergradient - exact.hypergradient).max() <= alpha * np.abs(exact.hypergradient).max()
    assert not exact.first_order
    assert "not fully first-order" in " ".join(exact.notes)
    assert found.notes == ()


def test_over_dense_rows_the_factor_of_m_leaves_line_5_hardly_a_step():
    problem, x = drawn("coupled-rows", 40, 5), np.ones(40)
    oracle = FastOracle(problem, call_of(tol=None))
    assert oracle.tally.hessian_factorisations == 2
    found, single = (
        o(x, np.random.default_rng(0)) for o in (oracle, FastOracle(problem, call_of(tol=None), "float32"))
    )
    assert found.counts["grad_y_f"] <= 3 < single.counts["grad_y_f"]
    assert found.counts["hessian_factorisations"] == 0
    said = "line 5's preconditioner is a factor of f_yy + alpha_1 g_yy"
    assert said in found.notes
    assert said not in single.notes


def test_products_are_counted_and_fewer_from_a_warm_start():
    problem, x = drawn("paper-experiment", 30), np.ones(30)
    oracle = FastOracle(problem, call_of("first-order"))
    cold, warm = oracle(x, np.random.default_rng(0)), oracle(x + 1e-9, np.random.default_rng(0))
    assert warm.counts["matrix_products"] < cold.counts["matrix_products"] / 2
    assert warm.bytes_read == warm.counts["matrix_products"] * 30 * 30 * 8
    assert oracle.tally.products == cold.counts["matrix_products"] + warm.counts["matrix_products"]
    assert warm.hypergradient == pytest.approx(cold.hypergradient, abs=1e-3)


def test_large_symmetric_blocks_are_read_by_half_zero_and_unit_blocks_not_at_all():
    oracle = FastOracle(drawn("paper-experiment", 310), call_of("first-order", tol=None))
    answer = oracle(np.ones(310), np.random.default_rng(0))
    page = hypergradient(oracle.problem, np.ones(310), alpha=0.05, parameters=OracleParameters(N_g=3),
                         rng=np.random.default_rng(0))  # fmt: skip
    assert answer.bytes_read == answer.counts["matrix_products"] * 310 * 310 * 4
    assert oracle.g_xy.multiple == 1.0
    assert oracle.rows.A.multiple == 0.0
    assert answer.hypergradient == pytest.approx(page.hypergradient, rel=0.05, abs=0.05)


def test_single_precision_is_labelled_and_close():
    problem, x = drawn("coupled-rows", 40, 5), np.ones(40)
    double, single = (
        FastOracle(problem, call_of(tol=None), precision=p)(x, np.random.default_rng(0)) for p in ("float64", "float32")
    )
    assert "single precision" in " ".join(single.notes)
    assert single.precision == "float32"
    assert 0 < np.abs(single.hypergradient - double.hypergradient).max() < 0.05 * np.abs(double.hypergradient).max()
    unreachable = FastOracle(problem, call_of(tol=1e-12), precision="float32")(x, np.random.default_rng(0))
    assert any("stopped at" in note for note in unreachable.notes)


def test_given_draws_are_used():
    problem, x = drawn("coupled-rows", 12, 4), np.ones(12)
    draws = sample_draws(objectives_of(problem), 3, REPAIRED.noise_pairing, np.random.default_rng(2))
    fast = FastOracle(problem, call_of(draws=draws))(x)
    drawn_now = FastOracle(problem, call_of())(x, np.random.default_rng(2))
    assert fast.hypergradient.tolist() == drawn_now.hypergradient.tolist()


def test_what_it_cannot_do_is_refused_by_name(as_callables, random_rows):
    problem = drawn("coupled-rows", 5, 2)
    smooth = as_callables(random_rows(2, 3, 1, 0))
    assert isinstance(smooth, SmoothObjectives)
    for made, name in (
        (lambda: FastOracle(smooth, call_of()), "problem"),
        (lambda: FastOracle(problem, call_of("primal-dual")), "lower_level"),
        (lambda: FastOracle(problem, call_of(given=Stages(lam=np.zeros(2)))), "given"),
        (lambda: FastOracle(problem, call_of(reading=REPAIRED.choose(dual_term="map"))), "dual_term"),
        (lambda: FastOracle(problem, call_of(), precision="float16"), "precision"),
        (lambda: FastOracle(problem, call_of())(np.ones(4)), "x"),
        (lambda: FastOracle(problem, call_of())(np.full(5, np.nan)), "x"),
        (lambda: FastOracle(problem, call_of())(np.ones(5)), "rng"),
        (lambda: FastOracle(problem, call_of(alpha=30.0))(np.ones(5), np.random.default_rng(0)), "alpha"),
    ):
        with pytest.raises(InvalidInputError, match=name):
            made()
