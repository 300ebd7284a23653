"""What is fast is held to the page, row by row."""

from __future__ import annotations

import numpy as np
import pytest

import f2csa_ref
from f2csa_ref import OracleCall
from f2csa_ref.many.hypergradient_runs import _means
from f2csa_ref.sampling import sample_rows
from spec import REPAIRED, InvalidInputError, OracleParameters

CONSTANT = REPAIRED.choose(inner_solver="constant-step")
SHARED = REPAIRED.choose(inner_solver="shared-sample")


def test_without_noise_a_complete_run_is_algorithm_1(at):
    problem, x = at("two-of-three", None)
    parameters = OracleParameters(lower_level="primal-dual", lower_level_steps=2000)
    for reading in (REPAIRED.choose(inner_solver="constant-step"), REPAIRED.choose(dual_term="frozen")):
        runs, calls = f2csa_ref.hypergradient_runs(
            problem, x, OracleCall(0.2, reading, parameters), rng=np.random.default_rng(0), replications=2
        )
        one = f2csa_ref.hypergradient(problem, x, alpha=0.2, reading=reading, parameters=parameters, tol=0.0)
        assert runs == pytest.approx(np.tile(one.hypergradient, (2, 1)), rel=1e-6)
        assert calls > 2000


@pytest.mark.parametrize("pairing", ["common", "independent"])
@pytest.mark.parametrize("noise", ["additive", "matrix"])
@pytest.mark.parametrize("solver", ["constant-step", "averaged", "shared-sample"])
def test_a_noisy_run_is_the_page_on_the_same_stream(at, solver, noise, pairing):
    problem, x = at("two-of-three", noise)
    reading = REPAIRED.choose(inner_solver=solver, noise_pairing=pairing)
    parameters = OracleParameters(lower_level="primal-dual", lower_level_steps=700, shared_samples=4)
    (row,), _ = f2csa_ref.hypergradient_runs(
        problem, x, OracleCall(0.2, reading, parameters), rng=np.random.default_rng(7)
    )
    one = f2csa_ref.hypergradient(problem, x, alpha=0.2, reading=reading, parameters=parameters, tol=0.0,
                                  rng=np.random.default_rng(7))  # fmt: skip
    assert row == pytest.approx(one.hypergradient, rel=1e-8)


@pytest.mark.parametrize("pairing", ["common", "independent"])
@pytest.mark.parametrize("noise", ["additive", "matrix", "jump"])
def test_each_sample_is_the_page_on_its_own_draws(at, noise, pairing):
    problem, x = at("two-of-three", noise)
    call = OracleCall(0.2, REPAIRED.choose(noise_pairing=pairing))
    rows = f2csa_ref.hypergradient_samples(problem, x, call, rng=np.random.default_rng(7), replications=5)
    draws = vars(sample_rows(f2csa_ref.objectives_of(problem), 5, pairing, np.random.default_rng(7)))
    for j, row in enumerate(rows):
        own = f2csa_ref.Draws(**{name: z[j : j + 1] for name, z in draws.items() if z is not None})
        one = f2csa_ref.hypergradient(problem, x, alpha=0.2, reading=call.reading, draws=own)
        assert row == pytest.approx(one.hypergradient, rel=1e-12)


@pytest.mark.parametrize("pairing", ["common", "independent"])
@pytest.mark.parametrize("noise", ["additive", "matrix"])
def test_noise_of_a_complete_run_is_that_of_its_samples(at, pairing, noise):
    problem, x = at("interior", noise)
    quiet = problem.model_copy(update={"noise": problem.noise.model_copy(update={"on": ("f.x", "g.x")})})
    reading = CONSTANT.choose(noise_pairing=pairing)
    parameters = OracleParameters(lower_level_steps=200, N_g=4)
    runs, _ = f2csa_ref.hypergradient_runs(
        quiet, x, OracleCall(0.5, reading, parameters), rng=np.random.default_rng(0), replications=20_000
    )
    lower = f2csa_ref.lower_level(quiet, x)
    pair = {"y_star": lower.y_star, "lam": lower.lam, "rho": np.zeros(1)}
    y = f2csa_ref.penalty_minimiser(f2csa_ref.PenaltyLagrangian.at(quiet, x, alpha=0.5, **pair), tol=0.0).y
    samples = f2csa_ref.hypergradient_samples(
        quiet, x, OracleCall(0.5, reading, parameters, f2csa_ref.Stages(y_penalty=y, **pair)),
        rng=np.random.default_rng(1), replications=20_000,
    )  # fmt: skip
    assert runs.var(axis=0) == pytest.approx(samples.var(axis=0), rel=0.1)


def test_shared_samples_are_counted_once_a_gradient(at):
    problem, x = at("toy1")
    parameters = OracleParameters(lower_level_steps=10, shared_samples=7)
    _, shared = f2csa_ref.hypergradient_runs(
        problem, x, OracleCall(0.5, SHARED, parameters), rng=np.random.default_rng(0)
    )
    _, fresh = f2csa_ref.hypergradient_runs(
        problem, x, OracleCall(0.5, CONSTANT, parameters), rng=np.random.default_rng(0)
    )
    assert shared % 7 == 0
    assert shared > 7 * 10
    assert fresh < shared


def test_smooth_objectives_of_strangers_are_run_row_by_row(at):
    one = np.ones((1, 1))
    q = f2csa_ref.SmoothObjectives(
        grad_x_f=lambda x, y: 0 * x, grad_y_f=lambda x, y: np.ones(1), grad_x_g=lambda x, y: 0 * x,
        grad_y_g=lambda x, y: y, A=one, B=one, b=np.zeros(1), mu_g=1.0, C_g=1.0, C_f=0.0,
    )  # fmt: skip
    problem, x = at("toy1", None)
    ours = f2csa_ref.hypergradient_runs(problem, x, OracleCall(0.3), rng=np.random.default_rng(0), replications=3)[0]
    theirs = f2csa_ref.hypergradient_runs(q, x, OracleCall(0.3), rng=np.random.default_rng(0), replications=3)[0]
    assert theirs == pytest.approx(ours)


def test_wrong_arguments_are_refused(at):
    problem, x = at("toy1")
    with pytest.raises(InvalidInputError, match="replications"):
        f2csa_ref.hypergradient_runs(problem, x, OracleCall(0.1), rng=np.random.default_rng(0), replications=0)


def test_jump_noise_has_no_smooth_empirical_problem(at):
    problem, x = at("toy1", "jump")
    with pytest.raises(InvalidInputError, match=r"noise\.model"):
        f2csa_ref.hypergradient_runs(problem, x, OracleCall(0.1), rng=np.random.default_rng(0))


@pytest.mark.parametrize("shape", [(5, 7, 1), (5, 7, 3), (1, 40, 2), (30, 2, 4)])
def test_means_in_long_rows_are_the_means_bit_for_bit(shape):
    samples = np.random.default_rng(3).standard_normal(shape)
    assert _means(samples).tobytes() == samples.mean(axis=1).tobytes()
