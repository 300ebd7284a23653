"""Many runs at once: the same laws as one run at a time."""

from __future__ import annotations

import numpy as np
import pytest

import f2csa_ref
from f2csa_ref.sampling.batches import batch_of, share_each
from spec import REPAIRED, InvalidInputError, Noise, OracleParameters
from spec.atlas import find

NOISES = {model: Noise.model_validate({"model": model, "sigma_f": "1/10", "sigma_g": "1/10"})
          for model in ("additive", "matrix", "jump")}  # fmt: skip
CONSTANT = REPAIRED.choose(inner_solver="constant-step")
SHARED = REPAIRED.choose(inner_solver="shared-sample")


def at(name, noise="additive"):
    instance = find(name).with_noise(NOISES[noise]) if noise else find(name)
    return instance.problem, np.array([float(v) for v in instance.x])


@pytest.mark.parametrize("solver", ["constant-step", "averaged"])
@pytest.mark.parametrize("sign", ["plus", "minus"])
def test_without_noise_every_run_is_the_single_iteration(solver, sign):
    problem, x = at("two-of-three", None)
    reading = REPAIRED.choose(inner_solver=solver, primal_dual_sign=sign)
    parameters = OracleParameters(lower_level="primal-dual", lower_level_steps=37)
    y, lam = f2csa_ref.lower_level_runs(problem, x, reading=reading, parameters=parameters, replications=2)
    one = f2csa_ref.primal_dual(f2csa_ref.objectives_of(problem), x, reading=reading, parameters=parameters)
    assert y == pytest.approx(np.tile(one.y_star, (2, 1)), rel=1e-9)
    assert lam == pytest.approx(np.tile(one.lam, (2, 1)), rel=1e-9)


@pytest.mark.parametrize("noise", ["additive", "matrix", "jump"])
def test_noisy_runs_scatter_as_single_iterations_do(noise):
    problem, x = at("toy1", noise)
    parameters = OracleParameters(lower_level_steps=30, eta_y=0.3, eta_lam=0.3)
    y, lam = f2csa_ref.lower_level_runs(
        problem, x, reading=CONSTANT, parameters=parameters, rng=np.random.default_rng(0), replications=4000
    )
    rng = np.random.default_rng(1)
    q = f2csa_ref.objectives_of(problem)
    single = np.array([f2csa_ref.primal_dual(q, x, reading=CONSTANT, parameters=parameters, rng=rng).y_star[0]
                       for _ in range(300)])  # fmt: skip
    assert y.mean() == pytest.approx(single.mean(), abs=6 * single.std() / 300**0.5)
    assert y.std() == pytest.approx(single.std(), rel=0.3)
    assert (lam >= 0).all()


def test_a_diverging_run_stays_a_number():
    problem, x = at("toy1", None)
    reading = REPAIRED.choose(inner_solver="constant-step", primal_dual_sign="plus")
    y, lam = f2csa_ref.lower_level_runs(problem, x, reading=reading, parameters=OracleParameters())
    assert np.isfinite(y).all()
    assert np.isfinite(lam).all()
    assert abs(y[0, 0]) > 1e50


@pytest.mark.parametrize("noise", ["additive", "matrix"])
def test_a_shared_sample_is_the_mean_of_its_draws(noise):
    problem, x = at("two-of-three", noise)
    q = f2csa_ref.objectives_of(problem)
    batch = share_each(batch_of(q, x, 5000), 25, np.random.default_rng(0))
    y = np.zeros((5000, q.m))
    scatter = (batch.grad_y_g(y) - batch_of(q, x, 5000).grad_y_g(y)).std()
    length = 1.0 if noise == "additive" else float(np.linalg.norm(x))
    assert scatter == pytest.approx(0.1 / 5 * length, rel=0.05)
    change = batch.grad_x_g_change(y, y + 1) - batch_of(q, x, 5000).grad_x_g_change(y, y + 1)
    assert change.std() == pytest.approx(0.0 if noise == "additive" else 0.02 * 3**0.5, abs=1e-3)


def test_svrg_converges_linearly_on_a_finite_sum_and_stalls_on_an_expectation():
    problem, x = at("two-of-three", "matrix")
    lower = f2csa_ref.lower_level(problem, x)
    given = {"alpha": 0.3, "y_star": lower.y_star, "lam": lower.lam, "rho": (lower.lam > 0).astype(float)}
    exact = f2csa_ref.penalty_minimiser(problem, x, tol=0.0, **given).y

    def distances(reading, epochs, N):
        parameters = OracleParameters(penalty_steps=epochs, shared_samples=N)

        def run(count):
            p = parameters.model_copy(update={"penalty_steps": count})
            return f2csa_ref.penalty_runs(
                problem, x, reading=reading, parameters=p, rng=np.random.default_rng(3), replications=50, **given
            )

        y, calls = run(epochs)
        end = run(40)[0] if reading is SHARED else exact
        return float(np.sqrt(((y - end) ** 2).sum(axis=1).mean())), calls

    (near, calls), (nearer, more) = distances(SHARED, 3, 32), distances(SHARED, 6, 32)
    assert more == 2 * calls
    assert nearer < 1e-2 * near
    few, many = distances(CONSTANT, 10, 64)[0], distances(CONSTANT, 10, 1024)[0]
    assert many == pytest.approx(few / 4, rel=0.4)


def test_averaged_steps_reach_the_expectations_minimiser_at_the_rate_of_sampling():
    problem, x = at("two-of-three")
    lower = f2csa_ref.lower_level(problem, x)
    given = {"alpha": 0.3, "y_star": lower.y_star, "lam": lower.lam, "rho": (lower.lam > 0).astype(float)}
    exact = f2csa_ref.penalty_minimiser(problem, x, tol=0.0, **given).y
    squares = []
    for steps in (400, 1600):
        y, calls = f2csa_ref.penalty_runs(
            problem, x, parameters=OracleParameters(penalty_steps=steps), rng=np.random.default_rng(0),
            replications=500, **given,
        )  # fmt: skip
        assert calls == steps
        squares.append(((y - exact) ** 2).sum(axis=1).mean())
    assert squares[0] / squares[1] == pytest.approx(4, rel=0.35)


def test_without_noise_a_complete_run_is_algorithm_1():
    problem, x = at("two-of-three", None)
    parameters = OracleParameters(lower_level="primal-dual", lower_level_steps=2000)
    for reading in (REPAIRED.choose(inner_solver="constant-step"), REPAIRED.choose(dual_term="frozen")):
        runs, calls = f2csa_ref.hypergradient_runs(
            problem, x, alpha=0.2, reading=reading, parameters=parameters, rng=np.random.default_rng(0), replications=2
        )
        one = f2csa_ref.hypergradient(problem, x, alpha=0.2, reading=reading, parameters=parameters, tol=0.0)
        assert runs == pytest.approx(np.tile(one.hypergradient, (2, 1)), rel=1e-6)
        assert calls > 2000


@pytest.mark.parametrize("pairing", ["common", "independent"])
@pytest.mark.parametrize("noise", ["additive", "matrix"])
def test_noise_of_a_complete_run_is_that_of_its_samples(pairing, noise):
    problem, x = at("interior", noise)
    quiet = problem.model_copy(update={"noise": problem.noise.model_copy(update={"on": ("f.x", "g.x")})})
    reading = CONSTANT.choose(noise_pairing=pairing)
    parameters = OracleParameters(lower_level_steps=200, N_g=4)
    runs, _ = f2csa_ref.hypergradient_runs(
        quiet, x, alpha=0.5, reading=reading, parameters=parameters, rng=np.random.default_rng(0), replications=20_000
    )
    lower = f2csa_ref.lower_level(quiet, x)
    pair = {"y_star": lower.y_star, "lam": lower.lam, "rho": np.zeros(1)}
    y = f2csa_ref.penalty_minimiser(quiet, x, alpha=0.5, tol=0.0, **pair).y
    samples = f2csa_ref.hypergradient_samples(
        quiet, x, alpha=0.5, reading=reading, parameters=parameters, rng=np.random.default_rng(1), replications=20_000,
        given=f2csa_ref.Stages(y_penalty=y, **pair),
    )  # fmt: skip
    assert runs.var(axis=0) == pytest.approx(samples.var(axis=0), rel=0.1)


def test_shared_samples_are_counted_once_a_gradient():
    problem, x = at("toy1")
    parameters = OracleParameters(lower_level_steps=10, shared_samples=7)
    _, shared = f2csa_ref.hypergradient_runs(
        problem, x, alpha=0.5, reading=SHARED, parameters=parameters, rng=np.random.default_rng(0)
    )
    _, fresh = f2csa_ref.hypergradient_runs(
        problem, x, alpha=0.5, reading=CONSTANT, parameters=parameters, rng=np.random.default_rng(0)
    )
    assert shared % 7 == 0
    assert shared > 7 * 10
    assert fresh < shared


def test_smooth_objectives_of_strangers_are_run_row_by_row():
    one = np.ones((1, 1))
    q = f2csa_ref.SmoothObjectives(
        grad_x_f=lambda x, y: 0 * x, grad_y_f=lambda x, y: np.ones(1), grad_x_g=lambda x, y: 0 * x,
        grad_y_g=lambda x, y: y, A=one, B=one, b=np.zeros(1), mu_g=1.0, C_g=1.0, C_f=0.0,
    )  # fmt: skip
    problem, x = at("toy1", None)
    ours = f2csa_ref.hypergradient_runs(problem, x, alpha=0.3, rng=np.random.default_rng(0), replications=3)[0]
    theirs = f2csa_ref.hypergradient_runs(q, x, alpha=0.3, rng=np.random.default_rng(0), replications=3)[0]
    assert theirs == pytest.approx(ours)


@pytest.mark.parametrize("function", [f2csa_ref.lower_level_runs, f2csa_ref.hypergradient_runs])
def test_wrong_arguments_are_refused(function):
    problem, x = at("toy1")
    extra = {"alpha": 0.1} if function is f2csa_ref.hypergradient_runs else {}
    with pytest.raises(InvalidInputError, match="replications"):
        function(problem, x, rng=np.random.default_rng(0), replications=0, **extra)


def test_jump_noise_has_no_smooth_empirical_problem():
    problem, x = at("toy1", "jump")
    with pytest.raises(InvalidInputError, match=r"noise\.model"):
        f2csa_ref.hypergradient_runs(problem, x, alpha=0.1, rng=np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="rng: must be given"):
        f2csa_ref.lower_level_runs(problem, x)
