"""Against the exact layer, which shares no line with the method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from f2csa_ref import objectives_of
from f2csa_ref.baselines import LinearSolveError, implicit_gradient
from f2csa_ref.lower_level import lower_level
from spec import Generated, InvalidInputError, Noise, parse_problem
from spec.atlas import find
from verify.truth.lower_level.lower_level import hypergradient as exact_hypergradient

KINDS = ("naive", "standard", "best", "cg")
ATLAS = (
    "absolute-moving", "box-rational", "crossing-kinks", "experiment-5d", "fixed-rows", "ill-conditioned", "interior",
    "moving-box", "random-4x6x6", "rows-nearly-dependent", "swapping-rows", "toy2", "two-of-three",
)  # fmt: skip


def floats(values):
    return np.array([float(v) for v in values])


@pytest.mark.parametrize("name", ATLAS)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_exact_gradient_of_the_atlas(name, kind):
    instance = find(name)
    problem = getattr(instance.problem, "quadratic", instance.problem)
    found = implicit_gradient(problem, floats(instance.x), linear_algebra=kind)
    expected = floats(exact_hypergradient(problem, instance.x))
    np.testing.assert_allclose(found.hypergradient, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_exact_gradient_of_random_rows(kind, seed):
    problem = Generated(family="random-rows", n=4, m=8, p=6, seed=seed).quadratic
    found = implicit_gradient(problem, np.zeros(4), linear_algebra=kind)
    assert len(found.active) >= 2
    expected = floats(exact_hypergradient(problem, [0] * 4))
    np.testing.assert_allclose(found.hypergradient, expected, rtol=1e-9)


def box(free, fixed):
    """g = ½ yᵀGy - sᵀy over y <= 1, G tridiagonal; s pushes the last ``fixed`` coordinates against their bound."""
    m = free + fixed
    G = [[4 if i == j else 1 if abs(i - j) == 1 else 0 for j in range(m)] for i in range(m)]
    push = [0] * free + [-100] * fixed
    return parse_problem({
        "kind": "quadratic", "f": {"yy": np.eye(m, dtype=int).tolist(), "y": [1] * m},
        "g": {"yy": G, "y": push, "xy": [[1] * m]},
        "constraints": {"A": [[0]] * m, "B": (-np.eye(m, dtype=int)).tolist(), "b": [1] * m},
    })  # fmt: skip


def test_work_is_counted_by_kind_and_size():
    problem = box(5, 3)
    work = {kind: implicit_gradient(problem, np.zeros(1), linear_algebra=kind) for kind in KINDS}
    assert work["naive"].factorisations == {("lu", 11): 1}
    assert work["standard"].factorisations == {("cholesky", 8): 1, ("cholesky", 3): 1}
    assert work["best"].factorisations == {("cholesky", 5): 1}
    assert work["best"].counts["hessian_products"] == 1
    assert work["cg"].factorisations == {}
    common = {
        "lower_level_solves": 1,
        "quadratic_programs": 1,
        "grad_x_f": 1,
        "grad_y_f": 1,
        "cross_products": 1,
        "row_products": 1,
    }
    assert all(common.items() <= found.counts.items() for found in work.values())
    for found in work.values():
        np.testing.assert_allclose(found.hypergradient, work["naive"].hypergradient, rtol=1e-12)


class CountedOperator:
    """Multiplies, and nothing else."""

    def __init__(self, matrix):
        self.operator, self.shape, self.products = aslinearoperator(matrix), matrix.shape, 0

    def __matmul__(self, v):
        self.products += 1
        return self.operator @ v


def test_conjugate_gradients_take_products_alone_and_count_each(as_callables):
    problem = box(6, 2)
    q = objectives_of(problem)
    H = CountedOperator(q.g_yy)
    smooth = replace(as_callables(problem), hess_yy_g=lambda x, y: H, hess_xy_g=lambda x, y: aslinearoperator(q.g_xy))
    lower = lower_level(problem, np.zeros(1))
    found = implicit_gradient(smooth, np.zeros(1), linear_algebra="cg", lower=lower)
    assert H.products == found.counts["hessian_products"] > 1
    expected = implicit_gradient(problem, np.zeros(1)).hypergradient
    np.testing.assert_allclose(found.hypergradient, expected, rtol=1e-12)
    with pytest.raises(InvalidInputError, match="hess_yy_g: must be an array where it is factorised"):
        implicit_gradient(smooth, np.zeros(1), lower=lower)


def test_python_objectives_give_their_second_derivatives(as_callables):
    problem = find("random-3x5x4").problem
    quadratic = getattr(problem, "quadratic", problem)
    x, q = np.zeros(3), quadratic.arrays
    smooth = replace(as_callables(quadratic), hess_yy_g=lambda x, y: q.g_yy, hess_xy_g=lambda x, y: q.g_xy)
    np.testing.assert_allclose(
        implicit_gradient(smooth, x).hypergradient, implicit_gradient(quadratic, x).hypergradient, rtol=1e-8
    )
    with pytest.raises(InvalidInputError, match="hess_yy_g: must be given"):
        implicit_gradient(as_callables(quadratic), x)
    wrong = replace(smooth, hess_xy_g=lambda x, y: q.g_xy.T)
    with pytest.raises(InvalidInputError, match=r"hess_xy_g: must return shape \(3, 5\)"):
        implicit_gradient(wrong, x)
    indefinite = replace(smooth, hess_yy_g=lambda x, y: -q.g_yy)
    for kind in ("standard", "best", "cg"):
        with pytest.raises(LinearSolveError, match="must be positive definite here"):
            implicit_gradient(indefinite, x, linear_algebra=kind)


@pytest.mark.parametrize("x", [0.0, 0.125, -0.25])
def test_hoelder_problems_have_theirs_in_closed_form(x):
    problem, h = find("holder-1-2").problem, 1e-6
    ends = [lower_level(problem, np.array([x + step])).y_star[0] for step in (-h, h)]
    # F = y*: a difference quotient checks, nothing more.
    slope = (ends[1] - ends[0]) / (2 * h)
    assert implicit_gradient(problem, np.array([x])).hypergradient[0] == pytest.approx(
        slope, abs=5e-3 if x == 0 else 1e-6
    )


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("weakly-active", "y\\* is differentiable; active with multiplier 0 are rows"),
        ("licq-fails", "rows are independent"),
    ],
)
def test_degenerate_points_are_refused(name, why):
    instance = find(name)
    with pytest.raises(InvalidInputError, match=why):
        implicit_gradient(instance.problem, floats(instance.x))


def test_other_refusals():
    toy = find("toy1").problem
    with pytest.raises(InvalidInputError, match="linear_algebra: must be one of naive, standard, best, cg"):
        implicit_gradient(toy, np.ones(1), linear_algebra="qr")
    with pytest.raises(InvalidInputError, match="samples: must be >= 1"):
        implicit_gradient(toy, np.ones(1), samples=0)
    with pytest.raises(InvalidInputError, match="x: must have shape"):
        implicit_gradient(toy, np.ones(2))


def test_a_sampled_answer_is_the_gradient_plus_the_noise_of_f():
    noise = Noise(model="additive", sigma_f="1/2", sigma_g=3)
    problem = find("interior").with_noise(noise).problem
    x = floats(find("interior").x)
    exact = implicit_gradient(problem, x)
    rng = np.random.default_rng(0)
    answers = np.array(
        [implicit_gradient(problem, x, lower=exact.lower_level, rng=rng).hypergradient for _ in range(400)]
    )
    # d(grad F) = noise of f.x plus dy' times that of f.y: covariance sigma² (I + dy' dy); g's noise plays no part.
    q = objectives_of(problem)
    dy = -np.linalg.solve(q.g_yy, q.g_xy.T)
    expected = 0.25 * (np.eye(q.n) + dy.T @ dy)
    error = answers.mean(axis=0) - exact.hypergradient
    assert (np.abs(error) < 5 * np.sqrt(np.diag(expected) / 400)).all()
    np.testing.assert_allclose(
        np.cov(answers.T).reshape(q.n, q.n), expected, atol=5 * expected.max() * np.sqrt(2 / 400)
    )
    batch = implicit_gradient(problem, x, rng=rng, samples=10)
    assert batch.counts["grad_x_f"] == batch.counts["grad_y_f"] == 10
