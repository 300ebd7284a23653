"""The prepared implicit gradient answers as its page does, along paths and over bounds and rows alike."""

from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref.baselines.implicit_gradient import implicit_gradient
from f2csa_ref.baselines.implicit_oracle import ImplicitOracle
from f2csa_ref.baselines.tilted import TiltedLowerLevel
from f2csa_ref.fast import prepared_lower
from f2csa_ref.objectives import QuadraticObjectives, objectives_of
from spec import InvalidInputError, Noise, parse_problem
from spec.atlas import experiment, find
from spec.problem import Problem
from verify.truth.geometry import quadratic_of


def drawn(family: str, n: int, p: int | None = None) -> Problem:
    return parse_problem({"kind": "generated", "family": family, "n": n, "seed": 4, **({} if p is None else {"p": p})})


@pytest.mark.parametrize(
    "problem",
    [experiment(20), drawn("coupled-rows", 12, 4), drawn("random-rows", 8, 6), find("moving-box").problem,
     find("interior").problem],
    ids=["box", "coupled", "rows", "moving-box", "interior"],
)  # fmt: skip
def test_it_answers_as_the_page_does_along_a_path(problem: Problem) -> None:
    rng, oracle = np.random.default_rng(1), ImplicitOracle(problem)
    x = rng.standard_normal(problem.n)
    for _ in range(6):
        x = x + 0.2 * rng.standard_normal(len(x))
        page, found = implicit_gradient(problem, x), oracle(x)
        scale = 1.0 + float(np.abs(page.hypergradient).max())
        np.testing.assert_allclose(found.hypergradient, page.hypergradient, atol=1e-10 * scale)
        np.testing.assert_allclose(found.y_star, page.lower_level.y_star, atol=1e-10)
        assert found.rows.tolist() == page.active.tolist()


def test_many_dense_rows_are_answered_without_a_factor_to_use_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_lower, "DUAL_ROWS", 0)
    problem = drawn("coupled-rows", 6, 3)
    x = np.linspace(-1, 1, 6)
    found = ImplicitOracle(problem)(x)
    np.testing.assert_allclose(found.hypergradient, implicit_gradient(problem, x).hypergradient, atol=1e-10)
    assert found.counts["hessian_factorisations"] == 1


@pytest.mark.parametrize("problem", [experiment(20), drawn("coupled-rows", 12, 4)], ids=["box", "coupled"])
def test_along_a_path_nothing_is_factorised_while_the_active_set_stays(problem: Problem) -> None:
    oracle = ImplicitOracle(problem)
    x = np.linspace(-1, 1, problem.n)
    oracle(x)
    again = oracle(x + 1e-9)
    assert again.counts["hessian_factorisations"] == 0
    assert again.bytes_read > 0
    # No second solve of the lower level, and each block once or twice.
    assert again.counts["matrix_products"] <= 10


def test_kinks_and_what_is_not_quadratic_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="differentiable"):
        ImplicitOracle(find("toy2").problem)(np.zeros(1))
    with pytest.raises(InvalidInputError, match="must be quadratic"):
        ImplicitOracle(parse_problem({"kind": "holder", "s": "1/2"}))
    with pytest.raises(InvalidInputError, match="x"):
        ImplicitOracle(find("toy1").problem)(np.ones(2))


def test_bounds_that_stay_where_they_are_ask_for_no_multiplier() -> None:
    oracle, x = ImplicitOracle(experiment(20)), np.linspace(-2, 2, 20)
    oracle(x)
    again = oracle(x)
    # Both gradients of f take two products each; the lower level's gradient is formed twice; g_xy is the identity.
    assert again.counts["matrix_products"] == 6
    assert len(again.rows) > 0


@pytest.mark.parametrize("problem", [experiment(12), drawn("coupled-rows", 12, 4)], ids=["box", "coupled"])
def test_tilted_and_sampled_it_takes_the_pages_draws(problem: Problem) -> None:
    noisy = objectives_of(quadratic_of(problem).model_copy(update={"noise": Noise(model="matrix", sigma_f="1/10")}))
    x, tilt = np.linspace(-1, 1, 12), 0.1 * np.random.default_rng(2).standard_normal(12)
    lower = TiltedLowerLevel(noisy).solve(x, tilt)
    page = implicit_gradient(noisy, x, lower=lower, rng=np.random.default_rng(5), samples=3)
    assert isinstance(noisy, QuadraticObjectives)
    found = ImplicitOracle(noisy)(x, tilt=tilt, rng=np.random.default_rng(5), samples=3)
    np.testing.assert_allclose(found.hypergradient, page.hypergradient, rtol=1e-10, atol=1e-12)
    assert np.abs(found.hypergradient - implicit_gradient(noisy, x, lower=lower).hypergradient).max() > 1e-3
