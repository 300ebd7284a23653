from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from f2csa_ref import objectives_of
from f2csa_ref.baselines import SsigdParameters, ssigd_step
from f2csa_ref.baselines.iterates import IterateState, Surroundings
from f2csa_ref.baselines.ssigd import SsigdMethod
from spec import OuterParameters, parse_problem

OUTER = OuterParameters(goldstein_radius=1.0, epsilon=1.0, D=0.5, eta=1.0, M=2, K=3)


@pytest.mark.parametrize(
    ("decay", "expected"), [("constant", 0.81), ("square-root", 0.9 * (1 - 0.1 / 2**0.5)), ("harmonic", 0.855)]
)
def test_two_steps_by_hand(decay, expected):
    # F = x²/2 from x = 1 with beta = 1/10: 1 -> 0.9 -> 0.9 - beta_1 0.9.
    spec, state = SsigdParameters(step_size=0.1, decay=decay), IterateState.start(np.ones(1))
    for _ in range(2):
        ssigd_step(state, lambda x: x, spec, 2)
    assert state.x[0] == pytest.approx(expected, rel=1e-15)
    # The block's point is where it began, its estimate the mean of its answers, 1 and 0.9.
    assert (state.x_bar[0][0], state.grad_mean[0][0]) == (1.0, pytest.approx(0.95))


def test_the_projection_ends_each_step():
    state = IterateState.start(np.ones(1))
    ssigd_step(state, lambda x: x, SsigdParameters(step_size=0.5), 1, lambda x: np.maximum(x, 0.75))
    assert state.x[0] == 0.75


def test_the_theorem_fixes_the_order_of_the_step():
    # gap 2, L_F 4, T 25: 2 / (16 * 5).
    assert SsigdParameters.of_theorem(gap=2, lipschitz_F=4, steps=25).step_size == pytest.approx(0.025)


def test_q_is_drawn_once_and_moves_the_lower_level():
    # g = y²/2 - xy + qy, no row active: y_q = x - q; f = y²/2: the answer is x - q, whatever the step.
    problem = parse_problem({
        "kind": "quadratic", "f": {"yy": [[1]]}, "g": {"yy": [[1]], "xy": [[-1]]},
        "constraints": {"A": [[0]], "B": [[1]], "b": [100]},
    })  # fmt: skip
    around = Surroundings(objectives_of(problem), OUTER, counts=Counter())
    method = SsigdMethod(SsigdParameters(step_size=0.25, perturbation=0.5), around)
    rng = np.random.default_rng(7)
    q = 0.5 * np.random.default_rng(7).standard_normal(1)[0]
    state = method.start(np.array([2.0]), rng)
    x = 2.0
    for _ in range(4):
        method.step(state, rng)
        x -= 0.25 * (x - q)
        assert state.x[0] == pytest.approx(x, rel=1e-12)
    kinds = ("quadratic_programs", "cholesky(1)", "grad_x_f", "grad_y_f", "cross_products", "row_products")
    assert around.counts == dict.fromkeys((*kinds, "lower_level_solves"), 4)
