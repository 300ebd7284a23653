from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref import OracleCall
from f2csa_ref.objectives import objectives_of
from f2csa_ref.solver.schedules import (
    Constants,
    Pages,
    Vicinity,
    constants_by,
    estimate_constants,
    schedule,
    value_at,
    with_overrides,
)
from spec import InvalidInputError, Noise, OuterParameters, parse_problem
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
        OracleCall(0.1),
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
    made = estimate_constants(noisy.problem, np.ones(1), OracleCall(0.1), rng=np.random.default_rng(0))
    assert 0.1 < made.variance < 0.6


KINK = {"kind": "quadratic", "f": {"xx": [[1]], "y": [1]}, "g": {"yy": [[1]]}, "constraints": {"A": [[1]], "B": [[1]]}}


def estimated(problem, x_0, **given):
    how, where = Pages(objectives_of(problem)), Vicinity(radius=0.1)
    return constants_by(how, np.array(x_0), OracleCall(0.1), rng=np.random.default_rng(0), given=given, where=where)


def test_a_start_on_a_kink_sees_the_slopes_around_it():
    # F(x) = x²/2 + max(x, 0), least at 0: slopes within 0.1 reach 1.1, and nothing is lower.
    kink = parse_problem(KINK)
    assert estimated(kink, [0.0], gap=1.0).lipschitz_F == pytest.approx(1.1, abs=0.02)
    with pytest.raises(InvalidInputError, match=r"gap: must be given \(--gap\): no lower F was found from the start"):
        estimated(kink, [0.0])


def test_past_a_hump_the_descent_goes_on():
    # F(x) = -x²/2 + x⁺ at the hump 0, in the box: the descent from a lower point beside it goes to the end.
    hump = parse_problem(KINK | {"f": {"xx": [[-1]]}})
    made = estimated(hump, [0.0])
    assert made.gap > 0.1
    assert made.lipschitz_F > 0.4


def test_without_any_slope_a_constant_is_asked_for():
    flat = parse_problem(KINK | {"f": {"y": [0]}})
    with pytest.raises(InvalidInputError, match=r"lipschitz_F: must be given \(--lipschitz\)"):
        estimated(flat, [0.0], gap=1.0)


class Proportional:
    """Answers as large as alpha."""

    q = objectives_of(find("toy1").problem)

    def answers(self, call, rng, *, noisy=True):
        return lambda x: np.array([call.alpha])


@pytest.mark.parametrize("alpha", [0.3, 1.5e-30])
def test_at_the_least_alpha_the_bias_is_estimated_from_above(alpha):
    given = {"lipschitz_F": 1.0, "gap": 1.0, "variance": 0.0}
    made = constants_by(Proportional(), np.ones(1), OracleCall(alpha), rng=np.random.default_rng(0), given=given)
    assert made.bias == pytest.approx(alpha * (2 / 3 if alpha > 1e-20 else 1 / 3))
