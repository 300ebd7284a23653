from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from f2csa_ref import Draws, draw_shapes, objectives_of, sample_draws
from f2csa_ref import sampling as module
from f2csa_ref.sampling import (
    BULK,
    check_draws,
    compiled,
    noise_x_f,
    noise_x_g_difference,
    noise_y,
    normals,
    one_by_one,
    one_row_a_run,
    share,
)
from spec import InvalidInputError, Noise

SAMPLES = 40_000
Y = np.array([0.5, 1.0, 2.0])
X, W = np.array([1.0, -2.0]), np.array([0.3, 0.0, -0.4])


@pytest.fixture
def noisy(random_rows):
    def made(model, **more):
        noise = Noise(model=model, sigma_f="1/2", sigma_g=2, **more)
        return objectives_of(random_rows(2, 3, 2, 0).model_copy(update={"noise": noise}))

    return made


def variances(noise):
    """Component variances with a mean check at five standard errors."""
    assert np.abs(noise.mean(axis=0)).max() <= 5 * noise.std(axis=0).max() / np.sqrt(len(noise))
    return noise.var(axis=0)


@pytest.mark.parametrize(
    ("model", "pairing", "f_size", "g_variance"),
    [
        ("additive", "common", 1.0, 0.0),
        ("additive", "independent", 1.0, 8.0),
        ("matrix", "common", X @ X + (Y + W) @ (Y + W), 4 * (W @ W)),
        ("matrix", "independent", X @ X + (Y + W) @ (Y + W),
         4 * (2 * X @ X + (Y + W) @ (Y + W) + Y @ Y)),
    ],
)  # fmt: skip
def test_gaussian_noise_has_the_stated_variance(noisy, model, pairing, f_size, g_variance):
    q = noisy(model)
    draws = sample_draws(q, SAMPLES, pairing, np.random.default_rng(0))
    np.testing.assert_allclose(variances(noise_x_f(q, X, Y + W, draws)), 0.25 * f_size, rtol=0.05)
    made = noise_x_g_difference(q, X, Y, W, pairing, draws)
    if g_variance == 0:
        assert made is None
    else:
        np.testing.assert_allclose(variances(made), g_variance, rtol=0.05)


@pytest.mark.parametrize("pairing", ["common", "independent"])
def test_jump_noise_has_the_stated_variance(noisy, pairing):
    q = noisy("jump")
    draws = sample_draws(q, SAMPLES, pairing, np.random.default_rng(1))
    here, there = norm.cdf(Y[0] + W[0]), norm.cdf(Y[0])
    gap = here - there
    expected = gap * (1 - gap) if pairing == "common" else here * (1 - here) + there * (1 - there)
    made = noise_x_g_difference(q, X, Y, W, pairing, draws)
    assert made.shape == (SAMPLES, 1)
    np.testing.assert_allclose(variances(made), 4 * expected, rtol=0.05)


def test_drawing_in_o_of_d_matches_drawing_the_matrix(noisy):
    q = noisy("matrix")
    rng = np.random.default_rng(2)
    W_xx, W_xy = rng.standard_normal((SAMPLES, 2, 2)), rng.standard_normal((SAMPLES, 2, 3))
    here, there = W_xx @ X + W_xy @ (Y + W), W_xx @ X + W_xy @ Y
    draws = sample_draws(q, SAMPLES, "common", rng)
    made = noise_x_g_difference(q, X, Y, W, "common", draws)
    np.testing.assert_allclose(np.cov(made.T), np.cov(2 * (here - there).T), atol=0.04)


@pytest.mark.parametrize(("model", "size"), [("additive", 1.0), ("matrix", X @ X + Y @ Y), ("jump", None)])
def test_noise_of_the_lower_gradient(noisy, model, size):
    q = noisy(model)
    rng = np.random.default_rng(3)
    width = 1 if model == "jump" else 3
    made = np.array([noise_y(q, "g.y", X, Y, rng.standard_normal(width)) for _ in range(4000)])
    if model == "jump":
        phi = norm.cdf(Y[0])
        assert not made[:, 1:].any()
        np.testing.assert_allclose(variances(made)[0], 4 * phi * (1 - phi), rtol=0.15)
    else:
        np.testing.assert_allclose(variances(made), 4 * size, rtol=0.15)


def test_shapes_say_what_is_used_and_nothing_else(noisy):
    assert draw_shapes(noisy("additive"), 5, "common") == {"f_x": (5, 2)}
    assert draw_shapes(noisy("additive"), 5, "independent") == {"f_x": (5, 2), "g_x": (5, 2), "g_x_star": (5, 2)}
    assert draw_shapes(noisy("matrix"), 5, "common") == {"f_x": (5, 2), "g_x": (5, 2)}
    assert draw_shapes(noisy("jump"), 5, "independent") == {"f_x": (5, 2), "g_x": (5, 1), "g_x_star": (5, 1)}
    assert draw_shapes(noisy("matrix", on=("f.x",)), 5, "independent") == {"f_x": (5, 2)}
    assert draw_shapes(noisy("none"), 5, "independent") == {}


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        (Draws(), "draws.f_x: must have shape"),
        (Draws(f_x=np.zeros((3, 2))), "draws.g_x: must have shape"),
        (Draws(f_x=np.zeros((3, 2)), g_x=np.zeros((2, 2))), "draws.g_x: must have shape"),
        (Draws(f_x=np.full((3, 2), np.nan), g_x=np.zeros((3, 2))), "draws.f_x: must be finite"),
    ],
)
def test_unfit_draws_are_refused(noisy, draws, message):
    with pytest.raises(InvalidInputError, match=message):
        check_draws(draws, noisy("matrix"), 3, "common")


def test_independent_draws_need_both_points(noisy):
    with pytest.raises(InvalidInputError, match=r"draws.g_x_star"):
        noise_x_g_difference(noisy("matrix"), X, Y, W, "independent", Draws(g_x=np.zeros((1, 2))))


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


def generators():
    return [np.random.Generator(kind(3)) for kind in (np.random.PCG64, np.random.SFC64)]


@pytest.mark.parametrize("shape", [(3, 4), (BULK // 4, 5), (0, 3)])
def test_normals_are_numpys_own(shape):
    for ours, theirs in zip(generators(), generators(), strict=True):
        assert (normals(ours, shape) == theirs.standard_normal(shape)).all()
        assert ours.standard_normal() == theirs.standard_normal()


def test_the_loop_that_is_compiled_draws_the_same(monkeypatch):
    monkeypatch.setattr(module, "compiled", lambda: one_by_one)
    for ours, theirs in zip(generators(), generators(), strict=True):
        assert (normals(ours, (BULK, 1)) == theirs.standard_normal((BULK, 1))).all()


def test_without_numba_there_is_nothing_compiled(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    compiled.cache_clear()
    try:
        assert compiled() is None
    finally:
        compiled.cache_clear()


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
