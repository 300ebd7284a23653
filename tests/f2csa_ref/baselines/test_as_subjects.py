"""The rivals answer what checks ask."""

from __future__ import annotations

import numpy as np
import pytest

import f2csa_ref.baselines as rivals
from spec import AS_WRITTEN, Noise, OuterParameters
from spec.atlas import find
from verify.subjects.loading import load_subject
from verify.subjects.protocol import Call, MissingCapabilityError, StageCalls
from verify.truth.lower_level.lower_level import hypergradient as exact_hypergradient

NAMES = ("Implicit", "Ssigd", "DsBlo", "DsBlo2", "Pigd", "Parent", "ZerothOrder")
OUTER = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.05, eta=0.1, M=4, K=5)
CLOSE = {"Implicit": 1e-12, "Ssigd": 1e-3, "DsBlo": 1e-3, "DsBlo2": 1e-3, "Pigd": 0.05, "Parent": 0.05}


def stages(name):
    return StageCalls(load_subject(f"f2csa_ref.baselines:{name}"))


@pytest.mark.parametrize("name", NAMES)
def test_each_answers_with_its_own_gradient(name):
    instance = find("random-3x5x4")
    problem = getattr(instance.problem, "quadratic", instance.problem)
    x = np.array([float(v) for v in instance.x])
    y, lam = stages(name).lower_level(problem, x)
    assert (y.shape, lam.shape) == ((5,), (4,))
    exact = np.array([float(v) for v in exact_hypergradient(problem, instance.x)])
    rng = np.random.default_rng(0)
    found = stages(name).hypergradient(problem, x, Call(alpha=0.01), rng)
    if name == "ZerothOrder":
        # One direction: n (w' grad F) w, along w.
        w = found / np.linalg.norm(found)
        np.testing.assert_allclose(found, 3 * (w @ exact) * w, rtol=1e-3)
    else:
        np.testing.assert_allclose(found, exact, atol=CLOSE[name] * np.linalg.norm(exact))


@pytest.mark.parametrize("name", NAMES[1:])
def test_each_has_the_outer_loop_of_its_own(name):
    runs = stages(name)
    run = runs.optimise(lambda z: z, np.ones(2), OUTER, np.random.default_rng(0))
    assert run.x_bar.shape == (5, 2)
    assert run.path.shape == (21, 2)
    assert np.linalg.norm(run.path[-1]) < 1.3
    again = runs.optimise(lambda z: z, np.ones(2), OUTER, np.random.default_rng(0))
    np.testing.assert_array_equal(run.path, again.path)


@pytest.mark.parametrize("name", NAMES[1:])
def test_several_runs_go_side_by_side(name):
    starts = np.array([[1.0, 0.0], [0.5, -2.0], [1.0, 0.0]])
    means, path = stages(name).optimise_runs(lambda z: z, starts, OUTER, np.random.default_rng(0), keep_path=True)
    assert means.shape == (5, 3, 2)
    np.testing.assert_array_equal(path[0], starts)
    # Each row is a run of its own: none is longer than its start allows, and equal starts draw apart, if they draw.
    lengths = np.linalg.norm(path, axis=-1)
    assert (lengths[-1] < lengths[0]).all()
    if name == "Ssigd":
        np.testing.assert_array_equal(path[:, 0], path[:, 2])
        np.testing.assert_allclose(path[-1], starts * 0.9**20)
    else:
        assert (means[:, 0] != means[:, 2]).any()


def test_the_implicit_gradient_is_an_oracle_alone():
    assert not stages("Implicit").offers("optimise")
    assert not stages("Implicit").offers("penalty_minimiser")


@pytest.mark.parametrize("name", ["Implicit", "Ssigd", "DsBlo2", "ZerothOrder"])
def test_what_makes_no_penalty_estimate_refuses_its_stages(name, toy1):
    call = Call(alpha=0.1, y_star=np.ones(1), lam=np.ones(1))
    with pytest.raises(MissingCapabilityError, match="no penalty estimate from a given y_star, lam"):
        stages(name).hypergradient(toy1, np.ones(1), call, np.random.default_rng(0))


def test_a_kink_is_not_the_implicit_gradients_fault():
    instance = find("weakly-active")
    with pytest.raises(MissingCapabilityError, match="not known to be differentiable"):
        stages("Implicit").hypergradient(instance.problem, np.array([float(v) for v in instance.x]), Call(alpha=0.1))


def test_the_parent_uses_given_stages_and_says_what_it_is_not(toy1):
    # ∇_x L at y = 0.9 with ρ = 1, x = 1: α₂ h = 10⁴ * 0.1.
    call = Call(alpha=0.1, y_star=np.ones(1), lam=np.ones(1), rho=np.ones(1), y_penalty=np.array([0.9]))
    assert stages("Parent").hypergradient(toy1, np.ones(1), call)[0] == pytest.approx(1e3)
    with pytest.raises(MissingCapabilityError, match="those of the exact pair"):
        stages("Parent").hypergradient(toy1, np.ones(1), Call(alpha=0.1, y_star=np.ones(1), lam=np.ones(1)))
    with pytest.raises(MissingCapabilityError, match="multiplier cancel"):
        stages("Parent").hypergradient(toy1, np.ones(1), Call(alpha=0.1, reading=AS_WRITTEN))
    noisy = toy1.model_copy(update={"noise": Noise(model="additive", sigma_f=1)})
    with pytest.raises(MissingCapabilityError, match="takes no noisy problem"):
        stages("Parent").hypergradient(noisy, np.ones(1), Call(alpha=0.1))


def test_the_parents_stages_are_its_estimate(toy1):
    x = np.array([0.05])
    assert stages("Parent").hypergradient(toy1, x, Call(alpha=0.1)) == pytest.approx(
        rivals.penalty_gradient(toy1, x, alpha=0.1).hypergradient
    )
