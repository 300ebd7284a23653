from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref import objectives_of
from f2csa_ref.shared_sample import one_row_a_run, share

X, Y, W = np.array([1.0, -2.0]), np.array([0.5, 1.0, 2.0]), np.array([0.3, 0.0, -0.4])
GRADIENTS = ("grad_x_f", "grad_y_f", "grad_x_g", "grad_y_g")


@pytest.mark.parametrize("model", ["additive", "matrix", "jump"])
def test_a_shared_sample_is_noise_free_from_then_on(noisy, model):
    q = noisy(model)
    sampled = share(q, 4, np.random.default_rng(0))
    assert sampled.noise.model == "none"
    for name in GRADIENTS:
        once, again = (getattr(sampled, name)(X, Y) for _ in range(2))
        np.testing.assert_array_equal(once, again)
        assert not np.array_equal(once, getattr(q, name)(X, Y))
    for name in ("grad_x_g", "grad_y_g"):
        gradient = getattr(sampled, name)
        change = getattr(sampled, f"{name}_change")(X, Y, W)
        np.testing.assert_allclose(change, gradient(X, Y + W) - gradient(X, Y), atol=1e-12)
    for name in ("n", "m", "p", "mu_g", "C_g", "C_f", "B_norm", "A", "B", "b"):
        np.testing.assert_array_equal(getattr(sampled, name), getattr(q, name))
    assert sampled.f(X, Y) == q.f(X, Y)
    assert sampled.g(X, Y) == q.g(X, Y)
    np.testing.assert_array_equal(sampled.h(X, Y), q.h(X, Y))


@pytest.mark.parametrize(("model", "size"), [("additive", 1.0), ("matrix", X @ X + Y @ Y), ("jump", None)])
def test_the_mean_over_a_batch_has_a_batch_times_less_variance(noisy, model, size):
    q = noisy(model)
    rng = np.random.default_rng(1)
    exact = q.grad_y_g(X, Y)
    noise = np.array([share(q, 16, rng).grad_y_g(X, Y) - exact for _ in range(2000)])
    if model == "jump":
        assert not noise[:, 1:].any()
        noise, size = noise[:, :1], 0.6915 * 0.3085
    np.testing.assert_allclose(noise.var(axis=0), 4 * size / 16, rtol=0.15)


def test_silent_gradients_stay_exact(noisy):
    q = noisy("matrix", on=("f.x",))
    sampled = share(q, 1, np.random.default_rng(0))
    np.testing.assert_array_equal(sampled.grad_y_g(X, Y), q.grad_y_g(X, Y))
    np.testing.assert_array_equal(sampled.grad_x_g_change(X, Y, W), q.grad_x_g_change(X, Y, W))
    assert not np.array_equal(sampled.grad_x_f(X, Y), q.grad_x_f(X, Y))


@pytest.mark.parametrize("model", ["additive", "matrix"])
def test_each_run_shares_a_sample_of_its_own(noisy, model):
    q, rng = noisy(model), np.random.default_rng(0)
    sampled, quiet = share(q, 25, rng, (5000,)), one_row_a_run(q)
    y, w = np.tile(Y, (5000, 1)), np.tile(W, (5000, 1))
    noise = sampled.grad_y_g(X, y) - quiet.grad_y_g(X, y)
    np.testing.assert_allclose(noise.std(), 2 / 5 * (1.0 if model == "additive" else np.sqrt(X @ X + Y @ Y)), rtol=0.05)
    change = sampled.grad_x_g_change(X, y, w) - quiet.grad_x_g_change(X, y, w)
    np.testing.assert_allclose(change.std(), 0.0 if model == "additive" else 2 / 5 * np.sqrt(W @ W), rtol=0.05)


@pytest.mark.parametrize("model", ["additive", "matrix"])
def test_one_run_of_many_is_the_shared_sample_of_one(noisy, model):
    q = noisy(model)
    one, many = share(q, 4, np.random.default_rng(0)), share(q, 4, np.random.default_rng(0), (1,))
    for name in GRADIENTS:
        np.testing.assert_allclose(getattr(many, name)(X, Y[None])[0], getattr(one, name)(X, Y), rtol=1e-13)


def test_functions_of_strangers_are_asked_row_by_row(as_callables, random_rows):
    problem = random_rows(2, 3, 2, 5)
    ours, theirs = one_row_a_run(objectives_of(problem)), one_row_a_run(as_callables(problem))
    y = np.random.default_rng(0).standard_normal((4, 3))
    for name in (*GRADIENTS, "h"):
        np.testing.assert_allclose(getattr(theirs, name)(X, y), getattr(ours, name)(X, y), rtol=1e-12, atol=1e-12)
