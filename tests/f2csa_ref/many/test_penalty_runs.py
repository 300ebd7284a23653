from __future__ import annotations

import numpy as np
import pytest

import f2csa_ref
from spec import REPAIRED, OracleParameters

CONSTANT = REPAIRED.choose(inner_solver="constant-step")
SHARED = REPAIRED.choose(inner_solver="shared-sample")


@pytest.fixture
def two_of_three(at):
    """L at toy stage values, for a noise model."""

    def made(noise):
        problem, x = at("two-of-three", noise)
        lower = f2csa_ref.lower_level(problem, x)
        rho = (lower.lam > 0).astype(float)
        return f2csa_ref.PenaltyLagrangian.at(problem, x, alpha=0.3, y_star=lower.y_star, lam=lower.lam, rho=rho)

    return made


def test_svrg_converges_linearly_on_a_finite_sum_and_stalls_on_an_expectation(two_of_three):
    lagrangian = two_of_three("matrix")
    exact = f2csa_ref.penalty_minimiser(lagrangian, tol=0.0).y

    def distances(reading, epochs, N):
        parameters = OracleParameters(penalty_steps=epochs, shared_samples=N)

        def run(count):
            p = parameters.model_copy(update={"penalty_steps": count})
            return f2csa_ref.penalty_runs(
                lagrangian, reading=reading, parameters=p, rng=np.random.default_rng(3), replications=50
            )

        y, calls = run(epochs)
        end = run(40)[0] if reading is SHARED else exact
        return float(np.sqrt(((y - end) ** 2).sum(axis=1).mean())), calls

    (near, calls), (nearer, more) = distances(SHARED, 3, 32), distances(SHARED, 6, 32)
    assert more == 2 * calls
    assert nearer < 1e-2 * near
    few, many = distances(CONSTANT, 10, 64)[0], distances(CONSTANT, 10, 1024)[0]
    assert many == pytest.approx(few / 4, rel=0.4)


def test_averaged_steps_reach_the_expectations_minimiser_at_the_rate_of_sampling(two_of_three):
    lagrangian = two_of_three("additive")
    exact = f2csa_ref.penalty_minimiser(lagrangian, tol=0.0).y
    squares = []
    for steps in (400, 1600):
        y, calls = f2csa_ref.penalty_runs(
            lagrangian, parameters=OracleParameters(penalty_steps=steps), rng=np.random.default_rng(0),
            replications=500,
        )  # fmt: skip
        assert calls == steps
        squares.append(((y - exact) ** 2).sum(axis=1).mean())
    assert squares[0] / squares[1] == pytest.approx(4, rel=0.35)


def test_a_run_whose_gradients_are_exact_ends_at_the_minimiser(two_of_three):
    lagrangian = two_of_three(None)
    exact = f2csa_ref.penalty_minimiser(lagrangian, tol=0.0).y
    parameters = OracleParameters(penalty_steps=60)
    for reading in (CONSTANT, SHARED):
        y, _ = f2csa_ref.penalty_runs(
            lagrangian, reading=reading, parameters=parameters, rng=np.random.default_rng(0), replications=2
        )
        assert y == pytest.approx(np.tile(exact, (2, 1)), rel=1e-9)
