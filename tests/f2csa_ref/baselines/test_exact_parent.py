from __future__ import annotations

import math

import numpy as np
import pytest

from f2csa_ref import hypergradient
from f2csa_ref.baselines import PigdParameters, penalty_gradient, pigd_step
from f2csa_ref.baselines.exact_parent import in_unit_ball
from f2csa_ref.baselines.iterates import IterateState
from spec.atlas import find
from verify.truth.lower_level.lower_level import hypergradient as exact_hypergradient

ALPHA = 0.1


def test_the_estimate_by_hand(toy1):
    # F = x for x > 0: y_α = x - 1/(α₁ + α₂), and the answer is α₂ h = α₂ / (α₁ + α₂) = 1 / (1 + α²).
    found = penalty_gradient(toy1, np.ones(1), alpha=ALPHA)
    assert found.hypergradient[0] == pytest.approx(1 / (1 + ALPHA**2), rel=1e-12)
    # No row is active for x < 0: F = 0.
    assert penalty_gradient(toy1, -np.ones(1), alpha=ALPHA).hypergradient[0] == pytest.approx(0, abs=1e-12)


def test_the_active_set_is_hard_where_ours_is_smooth(toy1):
    # λ = 1/20 is half of the smooth ramp's width: ρ = 1/2 there, 1 here.
    x = np.array([0.05])
    assert penalty_gradient(toy1, x, alpha=ALPHA).hypergradient[0] == pytest.approx(1 / (1 + ALPHA**2), rel=1e-9)
    assert hypergradient(toy1, x, alpha=ALPHA).hypergradient[0] == pytest.approx(0.5 / (0.5 + ALPHA**2), rel=1e-9)


def test_a_row_that_is_only_weakly_active_is_left_out():
    instance = find("weakly-active")
    found = penalty_gradient(instance.problem, np.array([float(v) for v in instance.x]), alpha=ALPHA)
    assert found.lower_level.weakly_active.any()
    assert not found.active.any()


@pytest.mark.parametrize("name", ["experiment-5d", "random-3x5x4", "two-of-three"])
def test_its_bias_falls_with_alpha(name):
    instance = find(name)
    problem = getattr(instance.problem, "quadratic", instance.problem)
    x, exact = (np.array([float(v) for v in values])
                for values in (instance.x, exact_hypergradient(problem, instance.x)))  # fmt: skip
    coarse, fine = (np.linalg.norm(penalty_gradient(problem, x, alpha=a, tol=1e-9).hypergradient - exact)
                    for a in (0.02, 0.01))  # fmt: skip
    assert 0.2 * coarse < fine < 0.3 * coarse


def test_a_perturbed_step_by_hand():
    # g(x) = x at x + δ w = 2 + 0.5 * 0.4 = 2.2; η = 0.1: 2 - 0.22.
    state = IterateState.start(np.array([2.0]))
    pigd_step(state, lambda x: x, PigdParameters(step_size=0.1, radius=0.5), 1, np.array([0.4]))
    assert state.x[0] == pytest.approx(1.78)


def test_the_step_of_its_theorem_by_hand():
    # gap 3, δ = L = 1, n = 4, T = 2: √(2 * 4 * 1 / (2 * 2)) = √2.
    made = PigdParameters.of_theorem(gap=3, lipschitz_F=1, radius=1, steps=2, n=4)
    assert made.step_size == pytest.approx(math.sqrt(2))


def test_directions_are_uniform_in_the_ball():
    rng = np.random.default_rng(0)
    points = np.array([in_unit_ball(rng, 3) for _ in range(4000)])
    lengths = np.linalg.norm(points, axis=1)
    assert lengths.max() <= 1
    # P(|w| <= 1/2) = 1/8.
    assert (lengths <= 0.5).mean() == pytest.approx(0.125, abs=5 * math.sqrt(0.125 * 0.875 / 4000))
    assert np.abs(points.mean(axis=0)).max() < 5 * math.sqrt(0.2 / 4000)
