from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2csa_ref import clip, hypergradient, outer_loop
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


def test_wrong_input_is_one_clear_line():
    with pytest.raises(InvalidInputError, match=r"^x_0: must be finite"):
        outer_loop(np.zeros_like, np.array([np.nan]), parameters=schedule(), rng=np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match=r"^oracle: must answer with a finite vector of shape \(1,\)"):
        outer_loop(lambda z: z * np.nan, np.ones(1), parameters=schedule(), rng=np.random.default_rng(0))
