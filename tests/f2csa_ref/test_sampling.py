from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from f2csa_ref import Draws, draw_shapes, sample_draws
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
)
from spec import InvalidInputError

SAMPLES = 40_000
Y = np.array([0.5, 1.0, 2.0])
X, W = np.array([1.0, -2.0]), np.array([0.3, 0.0, -0.4])


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


def generators():
    return [np.random.Generator(kind(3)) for kind in (np.random.PCG64, np.random.SFC64)]


@pytest.mark.parametrize("shape", [(3, 4), (BULK // 4, 5), (0, 3)])
def test_normals_are_numpys_own(shape):
    for ours, theirs in zip(generators(), generators(), strict=True):
        assert (normals(ours, shape) == theirs.standard_normal(shape)).all()
        assert ours.standard_normal() == theirs.standard_normal()


def test_the_loop_that_is_compiled_draws_the_same(monkeypatch):
    monkeypatch.setattr(module, "compiled", lambda loop: loop)
    for ours, theirs in zip(generators(), generators(), strict=True):
        assert (normals(ours, (BULK, 1)) == theirs.standard_normal((BULK, 1))).all()


def test_without_numba_there_is_nothing_compiled(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    compiled.cache_clear()
    try:
        assert compiled(one_by_one) is None
    finally:
        compiled.cache_clear()
