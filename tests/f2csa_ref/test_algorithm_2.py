from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2csa_ref import box_projection, clip, hypergradient, outer_loop
from f2csa_ref.algorithm_2 import OuterState, advance
from spec import InvalidInputError, OuterParameters


def schedule(**changes):
    return OuterParameters(
        **({"goldstein_radius": 0.2, "epsilon": 0.1, "D": 0.05, "eta": 0.1, "M": 4, "K": 6} | changes)
    )


def literal(oracle, x_0, D, eta, M, K, rng):
    """Algorithm 2 line by line, keeping everything."""
    x, step, zs = x_0, np.zeros_like(x_0), []
    for _ in range(M * K):
        s = rng.random()
        x, z = x + step, x + s * step
        zs.append(z)
        v = step - eta * oracle(z)
        step = min(1, D / np.linalg.norm(v)) * v
    return np.array(zs).reshape(K, M, -1).mean(axis=1), x


def test_it_follows_algorithm_2():
    oracle = lambda z: 3 * z - np.array([1.0, -2.0])  # noqa: E731  # a formula
    made = outer_loop(oracle, np.ones(2), parameters=schedule(), rng=np.random.default_rng(0))
    x_bar, x_last = literal(oracle, np.ones(2), 0.05, 0.1, 4, 6, np.random.default_rng(0))
    np.testing.assert_allclose(made.x_bar, x_bar)
    np.testing.assert_allclose(made.x_last, x_last)
    np.testing.assert_array_equal(made.x_out, made.x_bar[made.block])
    np.testing.assert_allclose(made.grad_mean, np.array([oracle(z) for z in made.x_bar]))  # affine: mean of images
    assert made.calls == 24


def test_the_output_block_is_uniform():
    picks = [
        outer_loop(np.zeros_like, np.ones(1), parameters=schedule(M=1, K=4), rng=np.random.default_rng(seed)).block
        for seed in range(2000)
    ]
    assert np.abs(np.bincount(picks, minlength=4) / 2000 - 0.25).max() < 0.05


def test_every_sampled_point_of_a_block_lies_in_the_ball_around_its_mean():
    seen = []

    def oracle(z):
        seen.append(z)
        return np.sign(z) + 0.1

    made = outer_loop(oracle, np.full(3, 0.3), parameters=schedule(K=30), rng=np.random.default_rng(0))
    blocks = np.array(seen).reshape(30, 4, 3)
    assert np.linalg.norm(blocks - made.x_bar[:, None], axis=2).max() <= 0.2


def test_the_reference_oracle_brings_toy1_down(make):
    # F(x) = x²/2 with y* = x: f = xy - x²/2.
    problem = make({"xy": [[1]], "xx": [[-1]]}, {"yy": [[1]], "y": [1]}, {"A": [[1]], "B": [[1]]})
    made = outer_loop(
        lambda z: hypergradient(problem, z, alpha=0.05).hypergradient,
        np.ones(1), parameters=schedule(K=40), rng=np.random.default_rng(0),
    )  # fmt: skip
    assert abs(made.x_bar[-5:]).max() < 0.2
    assert np.linalg.norm(made.grad_mean[-1]) < 0.2


def test_progress_is_told_block_by_block():
    told = []
    outer_loop(np.zeros_like, np.ones(2), parameters=schedule(), rng=np.random.default_rng(0),
               on_block=lambda k, x_bar: told.append((k, x_bar.copy())))  # fmt: skip
    assert [k for k, _ in told] == list(range(6))
    np.testing.assert_allclose(told[0][1], 1)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=4), st.floats(1e-3, 1e3))
def test_clip_shortens_only_what_is_longer(values, D):
    v = np.array(values)
    made = clip(v, D)
    assert np.linalg.norm(made) <= D * (1 + 1e-12)
    if np.linalg.norm(v) <= D * (1 - 1e-12):
        np.testing.assert_array_equal(made, v)
    else:
        np.testing.assert_allclose(made * np.linalg.norm(v), v * np.linalg.norm(made), atol=1e-6)


@pytest.mark.parametrize(
    ("oracle", "start", "message"),
    [
        (np.zeros_like, np.array([np.nan]), r"^x_0: must be finite"),
        (np.zeros_like, np.full((1, 1), np.inf), r"^x_0: must be finite"),
        (np.zeros_like, 1.0, r"^x_0: must have shape \(n,\), or \(R, n\) for R runs"),
        (np.zeros_like, ["a"], r"^x_0: must be a vector of numbers"),
        (lambda z: z * np.nan, np.ones(1), r"^oracle: must answer with a finite vector of shape \(1,\)"),
        (lambda z: z[0], np.ones((2, 2)), r"^oracle: must answer with a finite matrix of shape \(2, 2\)"),
        (lambda z: z * np.nan, np.ones((2, 2)), r"^oracle: must answer with a finite"),
    ],
)
def test_wrong_input_is_one_clear_line(oracle, start, message):
    with pytest.raises(InvalidInputError, match=message):
        outer_loop(oracle, start, parameters=schedule(), rng=np.random.default_rng(0))


def test_each_row_is_the_run_with_its_own_points_on_the_segments():
    oracle = lambda z: 3 * z - np.array([1.0, -2.0])  # noqa: E731  # a formula
    rows = OuterState.start(np.ones((3, 2)))
    runs = [OuterState.start(np.ones(2)) for _ in range(3)]
    box = box_projection(np.full(2, -0.5), np.full(2, 0.9))
    for s in np.random.default_rng(0).random((24, 3, 1)):
        advance(rows, s, oracle, parameters=schedule(), projection=box)
        for run, own in zip(runs, s, strict=True):
            advance(run, own, oracle, parameters=schedule(), projection=box)
    for name in ("x", "step", "x_bar", "grad_mean"):
        alone = np.stack([np.array(getattr(run, name)) for run in runs], axis=-2)
        np.testing.assert_array_equal(np.array(getattr(rows, name)), alone)


@pytest.mark.parametrize("runs", [(), (3,)])
def test_a_step_is_its_lines_in_floats_to_the_bit(runs):
    parameters, rng = schedule(D=0.03, eta=0.07, M=3, K=2), np.random.default_rng(1)
    state, answers = OuterState.start(np.ones((*runs, 2))), rng.standard_normal((6, *runs, 2))
    x, step, z_sum, x_bar = np.ones((*runs, 2)), np.zeros((*runs, 2)), 0.0, []
    for t, g in enumerate(answers):
        s = rng.random((*runs, 1)) if runs else rng.random()
        asked = []
        advance(state, s, lambda z, g=g, asked=asked: asked.append(z) or g, parameters=parameters)
        x, z, v = x + step, x + s * step, step - parameters.eta * g
        step = v * (parameters.D / np.maximum(np.sqrt((v * v).sum(axis=-1, keepdims=True)), parameters.D))
        z_sum = z_sum + z / parameters.M
        np.testing.assert_array_equal(asked[0], z)
        np.testing.assert_array_equal(state.x, x)
        np.testing.assert_allclose(state.step, step, rtol=1e-15)
        step = state.step
        if t % 3 == 2:
            x_bar.append(z_sum)
            z_sum = 0.0
    np.testing.assert_array_equal(np.array(state.x_bar), np.array(x_bar))


def test_many_runs_are_independent_and_their_outputs_are_blocks():
    made = outer_loop(np.sign, np.ones((5, 3)), parameters=schedule(), rng=np.random.default_rng(0))
    assert made.x_bar.shape == (6, 5, 3)
    assert np.unique(made.x_bar[0, :, 0]).size == 5
    np.testing.assert_array_equal(made.x_out, made.x_bar[made.block, np.arange(5)])


@pytest.mark.parametrize("shape", [(2,), (4, 2)])
def test_the_shortest_mean_answer_is_the_other_output_rule(shape):
    made = outer_loop(
        lambda z: z, np.ones(shape), parameters=schedule(), rng=np.random.default_rng(0), output="smallest"
    )
    best = np.linalg.norm(made.grad_mean, axis=-1).argmin(axis=0)
    np.testing.assert_array_equal(made.block, best)
    np.testing.assert_array_equal(made.x_out, made.x_bar[best, np.arange(4)] if len(shape) == 2 else made.x_bar[best])


def test_a_run_ends_early_where_the_caller_says_so():
    made = outer_loop(
        np.zeros_like,
        np.ones((2, 1)),
        parameters=schedule(),
        rng=np.random.default_rng(0),
        on_block=lambda k, _: k == 1,
    )
    assert (len(made.x_bar), made.calls) == (2, 8)


def test_steps_never_exceed_the_clipping_length():
    made = outer_loop(
        lambda z: 100 * z, np.ones((3, 2)), parameters=schedule(), rng=np.random.default_rng(0), keep_path=True
    )
    assert np.linalg.norm(np.diff(made.path, axis=0), axis=2).max() <= 0.05 * (1 + 1e-12)


@pytest.mark.parametrize("start", [np.ones(2), np.ones((3, 2))])
def test_a_step_beyond_the_range_of_doubles_is_clipped_like_any_other(start):
    direction = np.array([0.6, 0.8])
    for eta, size in ((1e300, 1.0), (1e10, 1e300), (1e308, 1e308)):
        huge = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.1, eta=eta, M=2, K=2)
        found = outer_loop(lambda z, size=size: np.broadcast_to(size * direction, z.shape), start,
                           parameters=huge, rng=np.random.default_rng(0), keep_path=True)  # fmt: skip
        np.testing.assert_allclose(np.diff(found.path, axis=0)[1:], np.broadcast_to(
            -0.1 * direction, (3, *start.shape)), rtol=1e-12)  # fmt: skip
