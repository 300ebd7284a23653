"""The rivals answer what checks ask."""

from __future__ import annotations

import numpy as np
import pytest

import f2csa_ref.baselines as rivals
from spec import OuterParameters
from spec.atlas import find
from verify.subjects.loading import load_subject
from verify.subjects.protocol import Call, Stages
from verify.truth.lower_level import hypergradient as exact_hypergradient

NAMES = ("Implicit", "Ssigd", "DsBlo", "DsBlo2", "Pigd", "Parent", "ZerothOrder")
OUTER = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.05, eta=0.1, M=4, K=5)
CLOSE = {"Implicit": 1e-12, "Ssigd": 1e-3, "DsBlo": 1e-3, "DsBlo2": 1e-3, "Pigd": 0.05, "Parent": 0.05}


def stages(name):
    return Stages(load_subject(f"f2csa_ref.baselines:{name}"))


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


def test_the_implicit_gradient_is_an_oracle_alone():
    assert not stages("Implicit").offers("optimise")
    assert not stages("Implicit").offers("penalty_minimiser")


def test_given_stages_are_used(toy1):
    # F = y*: with no multiplier given, no row is active and y* does not move.
    call = Call(alpha=0.1, y_star=np.ones(1), lam=np.zeros(1))
    assert rivals.Implicit().hypergradient(toy1, np.ones(1), call, None)[0] == pytest.approx(0)
