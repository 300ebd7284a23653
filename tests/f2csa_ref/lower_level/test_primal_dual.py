from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from f2csa_ref import lower_level, lower_level_runs, objectives_of, primal_dual
from f2csa_ref.lower_level.primal_dual import iterates
from f2csa_ref.shared_sample import one_row_a_run
from spec import REPAIRED, InvalidInputError, Noise, OracleParameters

module = import_module("f2csa_ref.lower_level.primal_dual")  # its name is also that of a function
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
    start = (np.ones(1) * 2, ZERO)
    pairs = [start, *iterates(q, ZERO, LAST, parameters, None, start)]
    y, lam = (np.array(part) for part in zip(*pairs, strict=True))
    assert (y.shape, lam.shape) == ((21, 1), (21, 1))
    np.testing.assert_allclose(y[1:], y[:-1] - 0.1 * (y[:-1] - lam[:-1]))
    np.testing.assert_allclose(lam[1:], np.maximum(0, lam[:-1] + 0.1 * (1 - y[1:])))


def test_the_last_pair_is_the_answer(at_one):
    parameters = steps(20, 0.1)
    *_, (y, lam) = iterates(objectives_of(at_one), ZERO, LAST, parameters, None, (ZERO, ZERO))
    made = primal_dual(objectives_of(at_one), ZERO, reading=LAST, parameters=parameters)
    assert (y, lam) == (made.y_star, made.lam)


def test_a_constant_step_stalls_at_a_floor_that_falls_with_the_step(at_one):
    errors = []
    for eta in (0.2, 0.05):
        q = objectives_of(noisy(at_one))
        rng = np.random.default_rng(0)
        pairs = list(iterates(q, ZERO, LAST, steps(6_000, eta), rng, (ZERO, ZERO)))
        errors.append(np.mean([(y - 1) ** 2 for y, _ in pairs[1000:]]))
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


@pytest.mark.parametrize("solver", ["constant-step", "averaged"])
@pytest.mark.parametrize("sign", ["plus", "minus"])
def test_without_noise_every_run_is_the_single_iteration(at, solver, sign):
    problem, x = at("two-of-three", None)
    reading = REPAIRED.choose(inner_solver=solver, primal_dual_sign=sign)
    parameters = OracleParameters(lower_level="primal-dual", lower_level_steps=37)
    y, lam = lower_level_runs(problem, x, reading=reading, parameters=parameters, replications=2)
    one = primal_dual(objectives_of(problem), x, reading=reading, parameters=parameters)
    assert y == pytest.approx(np.tile(one.y_star, (2, 1)), rel=1e-9)
    assert lam == pytest.approx(np.tile(one.lam, (2, 1)), rel=1e-9)


@pytest.mark.parametrize("noise", ["additive", "matrix", "jump"])
def test_noisy_runs_scatter_as_single_iterations_do(at, noise):
    problem, x = at("toy1", noise)
    parameters = OracleParameters(lower_level_steps=30, eta_y=0.3, eta_lam=0.3)
    y, lam = lower_level_runs(
        problem, x, reading=LAST, parameters=parameters, rng=np.random.default_rng(0), replications=4000
    )
    rng = np.random.default_rng(1)
    q = objectives_of(problem)
    single = np.array([primal_dual(q, x, reading=LAST, parameters=parameters, rng=rng).y_star[0]
                       for _ in range(300)])  # fmt: skip
    assert y.mean() == pytest.approx(single.mean(), abs=6 * single.std() / 300**0.5)
    assert y.std() == pytest.approx(single.std(), rel=0.3)
    assert (lam >= 0).all()


def test_a_diverging_run_stays_a_number(at):
    problem, x = at("toy1", None)
    reading = REPAIRED.choose(inner_solver="constant-step", primal_dual_sign="plus")
    y, lam = lower_level_runs(problem, x, reading=reading, parameters=OracleParameters())
    assert np.isfinite(y).all()
    assert np.isfinite(lam).all()
    assert abs(y[0, 0]) > 1e50


@pytest.mark.parametrize("model", ["additive", "matrix", "jump"])
@pytest.mark.parametrize("solver", ["constant-step", "averaged"])
def test_each_row_is_the_run_with_its_own_draws(at, solver, model):
    problem, x = at("two-of-three", model)
    q, reading, parameters = objectives_of(problem), REPAIRED.choose(inner_solver=solver), steps(50)
    z = np.random.default_rng(0).standard_normal((50, 3, 1 if model == "jump" else q.m))
    rows = iterates(one_row_a_run(q), x, reading, parameters, z, (np.zeros((3, q.m)), np.zeros((3, q.p))))
    for r, pairs in enumerate(zip(*[[(y[r], lam[r]) for r in range(3)] for y, lam in rows], strict=True)):
        alone = iterates(q, x, reading, parameters, z[:, r], (np.zeros(q.m), np.zeros(q.p)))
        for (y, lam), (y_alone, lam_alone) in zip(pairs, alone, strict=True):
            assert y == pytest.approx(y_alone, rel=1e-12, abs=1e-14)
            assert lam == pytest.approx(lam_alone, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("model", ["additive", "matrix", "jump"])
@pytest.mark.parametrize("solver", ["constant-step", "averaged"])
def test_runs_are_the_same_to_the_bit_however_many_steps_are_drawn_at_once(at, monkeypatch, solver, model):
    problem, x = at("two-of-three", model)

    def pairs():
        how = {"reading": REPAIRED.choose(inner_solver=solver), "parameters": steps(70)}
        return lower_level_runs(problem, x, rng=np.random.default_rng(3), replications=5, **how)

    together = pairs()
    monkeypatch.setattr(module, "_BLOCK", 1)
    alone = pairs()
    monkeypatch.setattr(module, "_BLOCK", 16)
    monkeypatch.setattr(module, "_TOGETHER", 50)
    some = pairs()
    for other in (alone, some):
        np.testing.assert_array_equal(together[0], other[0])
        np.testing.assert_array_equal(together[1], other[1])


def test_supplied_draws_are_left_as_they_are(at):
    problem, x = at("two-of-three", "additive")
    draws = np.random.default_rng(0).standard_normal((30, objectives_of(problem).m))
    before = draws.copy()
    primal_dual(objectives_of(problem), x, parameters=steps(30), draws=draws)
    np.testing.assert_array_equal(draws, before)


def test_runs_need_a_source_of_noise_and_a_number(at):
    problem, x = at("toy1")
    with pytest.raises(InvalidInputError, match="rng: must be given"):
        lower_level_runs(problem, x)
    with pytest.raises(InvalidInputError, match="replications: must be >= 1"):
        lower_level_runs(problem, x, rng=np.random.default_rng(0), replications=0)
    jumping, x = at("toy1", "jump")
    with pytest.raises(InvalidInputError, match=r"noise\.model: must be additive or matrix"):
        lower_level_runs(jumping, x, reading=SHARED, rng=np.random.default_rng(0))
