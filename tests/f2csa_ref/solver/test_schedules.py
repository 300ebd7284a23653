from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref import Call
from f2csa_ref.solver.schedules import Constants, estimate_constants, schedule, value_at, with_overrides
from spec import InvalidInputError, Noise, OuterParameters
from spec.atlas import find

CONSTANTS = Constants(lipschitz_F=2.0, gap=3.0, bias=0.1, variance=0.5)


def test_the_repaired_schedule_is_the_theorems():
    made = schedule("repaired", CONSTANTS, goldstein_radius=0.5, epsilon=0.4)
    assert made == OuterParameters.repaired(
        goldstein_radius=0.5, epsilon=0.4, lipschitz_F=2.0, gap=3.0, bias=0.1, variance=0.5
    )
    assert schedule("paper", CONSTANTS, goldstein_radius=0.5, epsilon=0.4).T == OuterParameters.paper(
        goldstein_radius=0.5, epsilon=0.4, lipschitz_F=2.0, gap=3.0
    ).T  # fmt: skip


def test_the_budget_schedule_keeps_to_its_calls_and_beats_its_neighbours():
    made = schedule("budget", CONSTANTS, goldstein_radius=0.5, calls=20_000)
    assert 0.9 * 20_000 <= made.T <= 20_000
    assert pytest.approx(0.5, rel=1e-15) == made.D * made.M

    def bound(M):
        K = 20_000 // M
        G = np.sqrt(CONSTANTS.second_moment)
        return 3.0 / (0.5 * K) + (2 * G + np.sqrt(0.5)) / np.sqrt(M)

    assert made.epsilon == pytest.approx(bound(made.M))
    assert made.epsilon <= 1.02 * min(bound(M) for M in range(1, 5000, 7))


def test_a_smaller_budget_promises_less():
    few, many = (schedule("budget", CONSTANTS, goldstein_radius=0.5, calls=c).epsilon for c in (10, 100_000))
    assert few > many


@pytest.mark.parametrize(
    ("name", "given", "argument"),
    [("paper", {}, "epsilon"), ("budget", {}, "calls"), ("budget", {"calls": 0}, "calls"), ("other", {}, "schedule")],
)
def test_missing_targets_are_named(name, given, argument):
    with pytest.raises(InvalidInputError, match=f"^{argument}: "):
        schedule(name, CONSTANTS, goldstein_radius=0.5, **given)


def test_overrides_keep_the_radius():
    made = with_overrides(schedule("budget", CONSTANTS, goldstein_radius=0.5, calls=100), M=8, K=3, eta=None)
    assert (made.M, made.K, made.D) == (8, 3, 0.5 / 8)
    with pytest.raises(InvalidInputError, match="M"):
        with_overrides(made, M=0)


def test_given_constants_are_kept_and_the_rest_is_estimated_and_said():
    problem = find("experiment-1d").problem
    made = estimate_constants(
        problem,
        np.array([2.5]),
        Call(0.1),
        rng=np.random.default_rng(0),
        given={"lipschitz_F": 9.0, "variance": 0.25},
    )
    assert (made.lipschitz_F, made.variance) == (9.0, 0.25)
    assert made.estimated == ("gap", "bias")
    # F(2.5) - inf F on the right branch: F' = x - 1 there, a local minimum at the kink x = 2.
    assert made.gap >= value_at(problem, np.array([2.5])) - value_at(problem, np.array([2.0])) - 1e-3
    assert 0 < made.bias < 1


def test_the_variance_is_estimated_from_samples():
    noisy = find("toy1").with_noise(Noise(model="additive", sigma_f="1/2", sigma_g=0))
    made = estimate_constants(noisy.problem, np.ones(1), Call(0.1), rng=np.random.default_rng(0))
    assert 0.1 < made.variance < 0.6
