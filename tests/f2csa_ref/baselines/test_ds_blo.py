"""DS-BLO line by line."""

from __future__ import annotations

import math

import numpy as np
import pytest

from f2csa_ref import objectives_of
from f2csa_ref.baselines import DsBloParameters, ds_blo_step
from f2csa_ref.baselines.ds_blo import DsBloMethod
from f2csa_ref.baselines.iterates import IterateState, Surroundings
from spec import InvalidInputError, OuterParameters
from spec.atlas import find

SPEC = DsBloParameters(beta=0.5, gamma_1=1.0, gamma_2=3.0)
OUTER = OuterParameters(goldstein_radius=1.0, epsilon=1.0, D=0.5, eta=1.0, M=2, K=3)


def identity(asked):
    def oracle(x):
        asked.append(float(x[0]))
        return x

    return oracle


def test_three_calls_by_hand():
    # Oracle g(x) = x from x_1 = 2, every s = 1/2.
    asked, state = [], IterateState.start(np.array([2.0]))
    step = lambda: ds_blo_step(state, identity(asked), SPEC, 3, np.array([0.5]))  # noqa: E731  # three times alike
    step()  # m_1 = g_1 = 2; x stays.
    assert (state.x[0], state.memory["m"][0]) == (2.0, 2.0)
    step()  # eta = 1/(1*2 + 3) = 0.2; x = 2 - 0.4 = 1.6; x_bar = 1.8; m = (2 + 1.8) / 2 = 1.9.
    assert state.x[0] == pytest.approx(1.6)
    assert state.memory["m"][0] == pytest.approx(1.9)
    step()  # eta = 1/4.9; x = 1.6 - 1.9/4.9; x_bar = 1.6 - 0.95/4.9; m = (1.9 + x_bar) / 2.
    assert state.x[0] == pytest.approx(1.6 - 1.9 / 4.9)
    assert asked == pytest.approx([2.0, 1.8, 1.6 - 0.95 / 4.9])
    assert state.grad_mean[0][0] == pytest.approx((1.9 + 1.6 - 0.95 / 4.9) / 2)
    assert state.x_bar[0][0] == 2.0


def test_no_step_is_longer_than_its_bound():
    # |eta m| = |m| / (gamma_1 |m| + gamma_2) < 1 / gamma_1, however long m is; small m: m / gamma_2.
    for length, expected in ((1e9, 1.0), (1e-9, 1e-9 / 3)):
        state = IterateState.start(np.zeros(2))
        state.memory["m"] = length * np.array([0.6, 0.8])
        ds_blo_step(state, lambda x: x, SPEC, 5, np.array([0.5]))
        assert np.linalg.norm(state.x) == pytest.approx(expected, rel=1e-6)
        assert np.linalg.norm(state.x) < 1.0


def test_the_point_is_one_scalar_on_the_segment():
    asked = []

    def oracle(x):
        asked.append(x)
        return np.zeros(2)

    state = IterateState.start(np.array([1.0, -1.0]))
    state.memory["m"] = np.array([3.0, 4.0])
    ds_blo_step(state, oracle, SPEC, 5, np.array([0.25]))
    # eta = 1/8: the segment runs by (-3/8, -1/2).
    np.testing.assert_allclose(asked[0], [1 - 0.25 * 3 / 8, -1 - 0.25 / 2], rtol=1e-15)


@pytest.mark.parametrize(("option", "sampled"), [("I", False), ("II", True)])
def test_q_is_fresh_in_each_call_and_only_option_two_samples_f(option, sampled):
    around = Surroundings(objectives_of(find("experiment-5d").problem), OUTER)
    method = DsBloMethod(SPEC.model_copy(update={"option": option, "perturbation": 2.0}), around)
    tilts, sources = [], []

    def recorded(x, q, rng):
        tilts.append(q)
        sources.append(rng)
        return x

    method.gradient = recorded
    rng = np.random.default_rng(3)
    state = method.start(np.ones(5), rng)
    for _ in range(3):
        method.step(state, rng)
    # One generator: s first, then q of scale 2.
    again = np.random.default_rng(3)
    for tilt in tilts:
        again.random(1)
        np.testing.assert_array_equal(tilt, 2.0 * again.standard_normal(5))
    assert [source is rng for source in sources] == [sampled] * 3
    assert all(source is None for source in sources) != sampled


def test_the_theorems_parameters_by_hand():
    # epsilon = delta_v = L = 1, radius 1/10: beta = 1 - 1/(960*3), K = ln 96 / ln(2880/2879), about 4.564348 * 2879.5.
    made = DsBloParameters.of_theorem(goldstein_radius=0.1, epsilon=1, noise=1, lipschitz=1)
    assert made.beta == pytest.approx(2879 / 2880, rel=1e-15)
    K = 4.564348191 * 2879.5
    assert made.gamma_1 == pytest.approx(10 * K, rel=1e-7)
    assert made.gamma_2 == pytest.approx(120 * K, rel=1e-7)


def test_a_chosen_memory_keeps_the_relations():
    made = DsBloParameters.of_memory(goldstein_radius=0.1, epsilon=1, noise=1, lipschitz=1, K=20)
    assert math.log(96) / math.log(1 / made.beta) == pytest.approx(20)
    assert (made.gamma_1, made.gamma_2) == (pytest.approx(200), pytest.approx(2400))


def test_refusals():
    with pytest.raises(InvalidInputError, match="epsilon: must be below 32"):
        DsBloParameters.of_theorem(goldstein_radius=0.1, epsilon=1e4, noise=1, lipschitz=1)
    with pytest.raises(InvalidInputError, match="goldstein_radius: must be > 0"):
        DsBloParameters.of_theorem(goldstein_radius=0, epsilon=1, noise=1, lipschitz=1)
    with pytest.raises(InvalidInputError, match="oracle: must answer with a finite vector"):
        ds_blo_step(IterateState.start(np.ones(1)), lambda x: x * np.nan, SPEC, 1, np.ones(1))
