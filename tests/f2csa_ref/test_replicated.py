from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref import outer_loop, outer_loop_replicated
from spec import InvalidInputError, OuterParameters

SCHEDULE = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.05, eta=0.1, M=4, K=6)


def test_one_replication_is_the_plain_loop():
    oracle = lambda z: 3 * z - np.array([1.0, -2.0])  # noqa: E731  # a formula
    one = outer_loop(oracle, np.ones(2), parameters=SCHEDULE, rng=np.random.default_rng(3), keep_path=True)
    many = outer_loop_replicated(
        oracle, np.ones((1, 2)), parameters=SCHEDULE, rng=np.random.default_rng(3), keep_path=True
    )
    np.testing.assert_allclose(many.x_bar[:, 0], one.x_bar, rtol=1e-13)
    np.testing.assert_allclose(many.path[:, 0], one.path, rtol=1e-13)
    np.testing.assert_allclose(many.x_last[0], one.x_last, rtol=1e-13)


def test_replications_are_independent_and_outputs_are_blocks():
    made = outer_loop_replicated(np.sign, np.ones((5, 3)), parameters=SCHEDULE, rng=np.random.default_rng(0))
    assert made.x_bar.shape == (6, 5, 3)
    assert np.unique(made.x_bar[0, :, 0]).size == 5
    for r in range(5):
        assert any(np.array_equal(made.x_out[r], block) for block in made.x_bar[:, r])


def test_the_shortest_mean_answer_is_the_other_output_rule():
    made = outer_loop_replicated(
        lambda z: z, np.ones((4, 2)), parameters=SCHEDULE, rng=np.random.default_rng(0), output="smallest"
    )
    best = np.linalg.norm(made.grad_mean, axis=2).argmin(axis=0)
    np.testing.assert_array_equal(made.x_out, made.x_bar[best, np.arange(4)])


def test_a_run_ends_early_where_the_caller_says_so():
    made = outer_loop_replicated(
        np.zeros_like, np.ones((2, 1)), parameters=SCHEDULE, rng=np.random.default_rng(0), on_block=lambda k, _: k == 1
    )
    assert (len(made.x_bar), made.calls) == (2, 8)


def test_steps_never_exceed_the_clipping_length():
    made = outer_loop_replicated(
        lambda z: 100 * z, np.ones((3, 2)), parameters=SCHEDULE, rng=np.random.default_rng(0), keep_path=True
    )
    assert np.linalg.norm(np.diff(made.path, axis=0), axis=2).max() <= 0.05 * (1 + 1e-12)


@pytest.mark.parametrize(
    ("oracle", "start", "message"),
    [
        (np.zeros_like, np.ones(2), r"^x_0: must be finite, of shape"),
        (np.zeros_like, np.full((1, 1), np.inf), r"^x_0: must be finite"),
        (lambda z: z[0], np.ones((2, 2)), r"^oracle: must answer with shape \(2, 2\)"),
        (lambda z: z * np.nan, np.ones((2, 2)), r"^oracle: must answer with finite"),
    ],
)
def test_wrong_input_is_one_clear_line(oracle, start, message):
    with pytest.raises(InvalidInputError, match=message):
        outer_loop_replicated(oracle, start, parameters=SCHEDULE, rng=np.random.default_rng(0))
