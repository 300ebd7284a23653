from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2csa_ref import HolderObjectives, QuadraticObjectives, SmoothObjectives, objectives_of
from f2csa_ref.objectives import _known, as_vector
from f2csa_ref.second_derivatives.curvature import curvature
from spec import Generated, Holder, InvalidInputError
from spec.blocks.noise import Noise

STEP = 1e-6


def central_difference(value, point):
    made = np.zeros_like(point)
    for i in range(len(point)):
        e = np.zeros_like(point)
        e[i] = STEP
        made[i] = (value(point + e) - value(point - e)) / (2 * STEP)
    return made


@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), m=st.integers(1, 4))
def test_quadratic_gradients_are_those_of_the_values(seed, n, m):
    q = objectives_of(Generated(family="random-rows", n=n, m=m, p=2, seed=seed))
    rng = np.random.default_rng(seed)
    x, y, w = rng.standard_normal(n), rng.standard_normal(m), rng.standard_normal(m)
    for value, grad_x, grad_y in ((q.f, q.grad_x_f, q.grad_y_f), (q.g, q.grad_x_g, q.grad_y_g)):
        np.testing.assert_allclose(grad_x(x, y), central_difference(lambda v, q=value: q(v, y), x), atol=1e-6)
        np.testing.assert_allclose(grad_y(x, y), central_difference(lambda v, q=value: q(x, v), y), atol=1e-6)
    np.testing.assert_allclose(q.grad_x_g_change(x, y, w), q.grad_x_g(x, y + w) - q.grad_x_g(x, y), atol=1e-12)
    np.testing.assert_allclose(q.grad_y_g_change(x, y, w), q.grad_y_g(x, y + w) - q.grad_y_g(x, y), atol=1e-12)


def test_constants_are_spectral():
    problem = Generated(family="random-rows", n=2, m=5, p=3, seed=4)
    q, arrays = objectives_of(problem), problem.quadratic.arrays
    assert q.mu_g == pytest.approx(np.linalg.eigvalsh(arrays.g_yy)[0])
    assert q.C_g == pytest.approx(np.linalg.norm(arrays.g_yy, 2))
    assert q.C_f == pytest.approx(np.linalg.norm(arrays.f_yy, 2))
    assert q.B_norm == pytest.approx(np.linalg.norm(arrays.B, 2))
    assert (q.n, q.m, q.p) == (2, 5, 3)


def test_objectives_are_known_once_per_problem_and_forgotten_with_it(toy1, make):
    assert objectives_of(toy1) is objectives_of(toy1)
    noisy = toy1.model_copy(update={"noise": Noise(model="additive", sigma_g=1)})
    assert objectives_of(noisy).noise.model == "additive"
    other = make({}, {"yy": [[2]]}, {"B": [[1]], "A": [[0]]})
    key = id(other)
    objectives_of(other)
    assert key in _known
    del other
    gc.collect()
    assert key not in _known


def test_objectives_pass_through_and_strangers_are_refused(toy1, as_callables):
    q = as_callables(toy1)
    assert objectives_of(q) is q
    assert isinstance(objectives_of(toy1), QuadraticObjectives)
    assert isinstance(objectives_of(Holder(s=1)), HolderObjectives)
    with pytest.raises(InvalidInputError, match="grad_x_f is missing"):
        objectives_of(object())


def smooth(**changes):
    one = np.ones((1, 1))
    zero = {name: (lambda *_: np.zeros(1)) for name in ("grad_x_f", "grad_y_f", "grad_x_g", "grad_y_g")}
    return SmoothObjectives(**(zero | {"A": one, "B": one, "b": np.zeros(1), "mu_g": 1, "C_g": 1, "C_f": 0} | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mu_g": 0}, "mu_g: must satisfy"),
        ({"C_g": 0.5}, "mu_g: must satisfy"),
        ({"C_f": -1}, "C_f: must be >= 0"),
        ({"b": np.zeros(2)}, "rows: must have shapes"),
    ],
)
def test_smooth_objectives_refuse_what_does_not_fit(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        smooth(**changes)


def test_smooth_values_are_optional_but_said_when_missing():
    with pytest.raises(InvalidInputError, match="f_value"):
        smooth().f(np.zeros(1), np.zeros(1))
    with pytest.raises(InvalidInputError, match="g_value"):
        smooth().g(np.zeros(1), np.zeros(1))
    assert smooth(g_value=lambda *_: 3.0).g(np.zeros(1), np.zeros(1)) == 3.0


def test_numbers_beyond_double_range_are_one_clear_line(make):
    from f2csa_ref import hypergradient

    problem = make({"y": [1]}, {"yy": [["1e150"]]}, {"A": [["1e150"]], "B": [[1]]})
    with pytest.raises(InvalidInputError, match=r"^problem: leads out of the range of doubles"):
        hypergradient(problem, np.ones(1), alpha=1e-30)


@pytest.mark.parametrize("s", ["1/4", "1/2", "1"])
@pytest.mark.parametrize("point", [(0.3, -0.2), (0.0, 0.4), (-0.5, 0.0), (3.0, -2.0), (-1.5, -4.0), (40.0, 9.0)])
def test_holder_gradients_are_those_of_the_value(s, point):
    q = objectives_of(Holder(s=s))
    x, y = np.array([point[0]]), np.array([point[1]])
    np.testing.assert_allclose(q.grad_x_g(x, y), central_difference(lambda v: q.g(v, y), x), atol=1e-6)
    np.testing.assert_allclose(q.grad_y_g(x, y), central_difference(lambda v: q.g(x, v), y), atol=1e-6)
    assert q.f(x, y) == y[0]


def test_holder_gradients_vanish_quietly_at_the_origin():
    q = objectives_of(Holder(s="1/2"))
    assert q.grad_x_g(np.zeros(1), np.zeros(1)) == 0
    assert q.grad_y_g(np.zeros(1), np.zeros(1)) == 0


@given(s=st.fractions("1/20", 1), angle=st.floats(0, 2 * np.pi), times=st.floats(1e-3, 1e3))
def test_a_holder_problem_is_strongly_convex_and_smooth_everywhere(s, angle, times):
    q = objectives_of(Holder(s=s))
    point = times * min(q.reach, 1e6) * np.array([np.cos(angle), np.sin(angle)])
    x, y = point[:1], point[1:]
    parts = curvature(q, x, y)
    assert q.mu_g - 1e-12 <= parts.yy[0, 0] <= q.C_g + 1e-12
    # The gradient as a map of both: q(r) is at most R^s (1 + s), which is 1/(3 s) + 1/3.
    assert abs(parts.xy[0, 0] - 1) <= 1 / (3 * s) + 1 / 3 + 1 / 2


@pytest.mark.parametrize("s", ["1/4", "1/2", "1"])
@pytest.mark.parametrize("times", [0.5, 0.999, 1.001, 3.0])
def test_holder_curvature_is_the_derivative_of_the_gradient(s, times):
    q = objectives_of(Holder(s=s))
    x, y = times * q.reach * np.array([0.6]), times * q.reach * np.array([-0.8])
    parts = curvature(q, x, y)
    np.testing.assert_allclose(parts.yy[0], central_difference(lambda v: q.grad_y_g(x, v)[0], y), atol=1e-6)
    np.testing.assert_allclose(parts.xy[0], central_difference(lambda v: q.grad_y_g(v, y)[0], x), atol=1e-6)


def test_rows_are_summed_beyond_double_precision(make):
    q = objectives_of(make({}, {"yy": [[1, 0], [0, 1]]}, {"A": [[1]], "B": [[1, 1]], "b": [0]}))
    h = q.h(np.array([1.0]), np.array([1.0, 2.0**-60]))
    if np.finfo(np.longdouble).eps < np.finfo(np.float64).eps:
        assert h == -(2.0**-60)


def test_the_norm_of_b_for_wide_and_tall_rows(random_rows):
    for m, p in ((5, 2), (2, 5)):
        problem = random_rows(1, m, p, 3)
        assert np.isclose(objectives_of(problem).B_norm, np.linalg.norm(problem.arrays.B, 2))


@pytest.mark.parametrize("value", [[1.0, 2.0], [np.nan], [np.inf], "a", [[1.0]], None])
def test_as_vector_names_the_argument(value):
    with pytest.raises(InvalidInputError, match=r"^x: must"):
        as_vector(value, 1, "x")
