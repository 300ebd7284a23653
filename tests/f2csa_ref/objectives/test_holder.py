from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref import objectives_of
from spec import Holder

STEP = 1e-6


def central_difference(value, point):
    return np.array([(value(point + STEP) - value(point - STEP)) / (2 * STEP)]).reshape(point.shape)


@pytest.mark.parametrize("s", ["1/4", "1/2", "1"])
@pytest.mark.parametrize("point", [(0.3, -0.2), (0.0, 0.4), (-0.5, 0.0)])
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


def test_holder_curvature_stays_within_its_bounds_inside_the_stated_ball():
    s = 0.5
    q = objectives_of(Holder(s="1/2"))
    radius = (1 / (3 * s)) ** (1 / s)
    rng = np.random.default_rng(0)
    for angle in rng.uniform(0, 2 * np.pi, 50):
        x, y = radius * np.cos(angle) * np.ones(1), radius * np.sin(angle) * np.ones(1)
        g_yy = central_difference(lambda v, x=x: q.grad_y_g(x, v)[0], y)[0]
        assert q.mu_g <= g_yy <= q.C_g
