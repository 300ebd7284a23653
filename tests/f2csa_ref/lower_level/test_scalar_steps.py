"""A run of one component in plain floats is the run in arrays, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref.lower_level.primal_dual import _last, iterates, lower_level_runs, pairs_of_runs, seen_by_runs
from f2csa_ref.lower_level.scalar_steps import ScalarProgram
from f2csa_ref.objectives import objectives_of
from spec import REPAIRED, InvalidInputError, Noise, OracleParameters

X = np.array([0.7])


@pytest.fixture
def one_row(make):
    """g = 3y²/2 - xy/2 + y/5 over 2x - 3y - 1/4 <= 0."""
    g = {"yy": [[3]], "xy": [["-1/2"]], "y": ["1/5"]}
    return make({}, g, {"A": [[2]], "B": [[3]], "b": ["1/4"]})


def seen(problem, model, solver, sign, steps):
    noisy = problem.model_copy(update={"noise": Noise(model=model, sigma_f=1, sigma_g=1)})
    reading = REPAIRED.choose(inner_solver=solver, primal_dual_sign=sign)
    rng = np.random.default_rng(5)
    parameters = OracleParameters(lower_level_steps=steps, shared_samples=4)
    return seen_by_runs(objectives_of(noisy), 1, reading, parameters, rng), reading, parameters, rng


@pytest.mark.parametrize("model", ["none", "additive"])
@pytest.mark.parametrize("solver", ["constant-step", "averaged", "shared-sample"])
@pytest.mark.parametrize(("sign", "steps"), [("minus", 1), ("minus", 700), ("plus", 12), ("plus", 1001)])
def test_floats_and_arrays_agree_bit_for_bit(one_row, model, solver, sign, steps):
    q, reading, parameters, rng = seen(one_row, model, solver, sign, steps)
    assert ScalarProgram.of(q, X, plus=sign == "plus") is not None
    made = pairs_of_runs(q, X, 1, reading, parameters, rng)
    q, reading, parameters, rng_of_arrays = seen(one_row, model, solver, sign, steps)
    pairs = iterates(q, X, reading, parameters, rng_of_arrays, (np.zeros((1, 1)), np.zeros((1, 1))))
    wanted = _last(pairs, reading, parameters)[:2]
    assert [part.tobytes() for part in made] == [part.tobytes() for part in wanted]
    assert [part.shape for part in made] == [(1, 1), (1, 1)]
    assert rng.bit_generator.state == rng_of_arrays.bit_generator.state


@pytest.mark.parametrize("model", ["matrix", "jump"])
def test_noise_that_moves_with_y_goes_through_arrays(one_row, model):
    q, *_ = seen(one_row, model, "averaged", "minus", 3)
    assert ScalarProgram.of(q, X, plus=False) is None


def test_more_than_one_component_goes_through_arrays(at):
    problem, x = at("two-of-three")
    q, *_ = seen(problem, "additive", "averaged", "minus", 3)
    assert ScalarProgram.of(q, x, plus=False) is None


def test_leaving_the_range_of_doubles_is_refused(one_row):
    steps = OracleParameters(lower_level_steps=2000, eta_y=10.0, eta_lam=10.0)
    with pytest.raises(InvalidInputError, match="out of the range of doubles"):
        lower_level_runs(one_row, X, reading=REPAIRED.choose(inner_solver="constant-step"), parameters=steps)
