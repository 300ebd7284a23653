from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref import lower_level, objectives_of, primal_dual
from spec import REPAIRED, InvalidInputError, Noise, OracleParameters

LAST = REPAIRED.choose(inner_solver="constant-step")
SHARED = REPAIRED.choose(inner_solver="shared-sample")
ZERO = np.zeros(1)


@pytest.fixture
def at_one(make):
    """g = y²/2 over 1 - y <= 0: y* = lam* = 1."""
    return make({}, {"yy": [[1]]}, {"A": [[0]], "B": [[1]], "b": [-1]})


def noisy(problem, model="additive", sigma=1):
    return problem.model_copy(update={"noise": Noise(model=model, sigma_g=sigma, sigma_f=sigma)})


def steps(count, eta=None, **more):
    return OracleParameters(lower_level="primal-dual", lower_level_steps=count, eta_y=eta, eta_lam=eta, **more)


@pytest.mark.parametrize(("sign", "y", "lam"), [("plus", -370.0, 610.0), ("minus", 1.0023, 1.0058)])
def test_a_hundred_steps_with_either_sign(at_one, sign, y, lam):
    made = lower_level(at_one, ZERO, reading=LAST.choose(primal_dual_sign=sign), parameters=steps(100, 0.1))
    assert made.y_star[0] == pytest.approx(y, rel=1e-3)
    assert made.lam[0] == pytest.approx(lam, rel=1e-3)
    assert (made.method, made.status, made.steps, made.gradient_samples) == ("primal-dual", "budget", 100, 100)


def test_divergence_is_a_status(at_one):
    made = lower_level(at_one, ZERO, reading=LAST.choose(primal_dual_sign="plus"), parameters=steps(100_000, 0.1))
    assert made.status == "diverged"
    assert made.steps < 2000
    assert np.isnan(made.kkt_residual)
    assert "diverged" in made.notes[0]


@pytest.mark.parametrize("solver", ["constant-step", "averaged", "shared-sample"])
def test_without_noise_every_solver_converges(random_rows, solver):
    problem = random_rows(2, 3, 2, 5)
    exact = lower_level(problem, np.zeros(2))
    made = lower_level(
        problem, np.zeros(2), reading=REPAIRED.choose(inner_solver=solver), parameters=steps(5_000, 0.02)
    )
    tolerance = 5e-2 if solver == "averaged" else 1e-6
    np.testing.assert_allclose(made.y_star, exact.y_star, atol=tolerance)
    np.testing.assert_allclose(made.lam, exact.lam, atol=2 * tolerance)


def test_the_trajectory_follows_the_two_updates(at_one):
    q = objectives_of(at_one)
    parameters = steps(20, 0.1)
    made = primal_dual(q, ZERO, reading=LAST, parameters=parameters, trajectory=True, start=(np.ones(1) * 2, ZERO))
    y, lam = made.trajectory
    assert (y.shape, lam.shape) == ((21, 1), (21, 1))
    assert (y[0], lam[0]) == (2, 0)
    np.testing.assert_allclose(y[1:], y[:-1] - 0.1 * (y[:-1] - lam[:-1]))
    np.testing.assert_allclose(lam[1:], np.maximum(0, lam[:-1] + 0.1 * (1 - y[1:])))
    assert (y[-1], lam[-1]) == (made.y_star, made.lam)


def test_a_constant_step_stalls_at_a_floor_that_falls_with_the_step(at_one):
    errors = []
    for eta in (0.2, 0.05):
        q = objectives_of(noisy(at_one))
        made = primal_dual(q, ZERO, reading=LAST, parameters=steps(6_000, eta), rng=np.random.default_rng(0),
                           trajectory=True)  # fmt: skip
        errors.append(((made.trajectory[0][1000:] - 1) ** 2).mean())
    assert errors[0] == pytest.approx(0.112, rel=0.25)
    assert errors[1] == pytest.approx(0.0258, rel=0.25)


def test_averaging_goes_below_that_floor(at_one):
    rng = np.random.default_rng(1)
    parameters = steps(4_000, 0.2)
    pairs = [lower_level(noisy(at_one), ZERO, parameters=parameters, rng=rng) for _ in range(10)]
    assert np.mean([(pair.y_star[0] - 1) ** 2 for pair in pairs]) < 0.02


@pytest.mark.parametrize("model", ["additive", "matrix", "jump"])
def test_supplied_draws_reproduce_the_generator(at_one, model):
    problem = noisy(at_one, model)
    z = np.random.default_rng(5).standard_normal((300, 1))
    by_rng = lower_level(problem, ZERO, parameters=steps(300), rng=np.random.default_rng(5))
    by_draws = lower_level(problem, ZERO, parameters=steps(300), draws=z)
    assert by_rng.y_star == by_draws.y_star
    assert by_rng.lam == by_draws.lam


def test_a_shared_sample_is_one_draw_for_all_steps(at_one):
    problem = noisy(at_one)
    made = lower_level(problem, ZERO, reading=SHARED, parameters=steps(2_000, shared_samples=100),
                       rng=np.random.default_rng(3))  # fmt: skip
    offset = 0.1 * np.random.default_rng(3).standard_normal(4)[3]
    assert made.y_star[0] == pytest.approx(1, abs=1e-9)
    assert made.lam[0] == pytest.approx(1 + offset, abs=1e-9)
    assert (made.steps, made.gradient_samples) == (2_000, 200_000)


def test_noise_needs_a_source_and_draws_must_fit(at_one):
    with pytest.raises(InvalidInputError, match=r"^rng: must be given"):
        lower_level(noisy(at_one), ZERO, parameters=steps(5))
    with pytest.raises(InvalidInputError, match=r"^rng: must be given"):
        lower_level(noisy(at_one), ZERO, parameters=steps(5), reading=SHARED)
    with pytest.raises(InvalidInputError, match=r"^draws.g_y: must have shape \(5, 1\)"):
        lower_level(noisy(at_one), ZERO, parameters=steps(5), draws=np.zeros((4, 1)))
