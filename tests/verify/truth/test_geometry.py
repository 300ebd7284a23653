from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import Generated
from spec.atlas import find
from verify.checks.measuring.premises import PremiseUnmetError, regular_truth
from verify.truth.enclosures.pair import exact_bias, geometry_at_truth
from verify.truth.geometry import Geometry, quadratic_of, ramp, spectral_norm
from verify.truth.propositions.arithmetic import NoValueError


def geometry(name="two-of-three", alpha=0.1):
    instance = find(name)
    truth = regular_truth(instance)
    return instance, truth, geometry_at_truth(instance, truth, alpha, alpha**3, 0.1)


@pytest.mark.parametrize("name", ["toy1", "two-of-three", "box-rational", "random-4x6x6", "interior"])
@pytest.mark.parametrize("alpha", [0.2, 0.05])
def test_the_minimiser_has_no_gradient_and_the_exact_bias_is_seen_in_doubles(name, alpha):
    instance, truth, g = geometry(name, alpha)
    assert np.linalg.norm(g.gradient_y(g.minimiser)) <= 1e-9 * spectral_norm(g.H) * (1 + np.linalg.norm(g.minimiser))
    a, y = g.a, g.minimiser
    h = g.h - a.B @ (y - g.y_star)
    estimate = a.f_xx @ g.x + a.f_xy @ y + a.f_x + alpha**-2 * a.g_xy @ (y - g.y_star) + alpha**-4 * a.A.T @ (g.rho * h)
    exact = exact_bias(instance, truth, g, dual_term="cancelled")
    assert np.linalg.norm(estimate - truth.grad_F) == pytest.approx(exact, abs=4 * g.rounding(y, dual_term="cancelled"))


@given(st.integers(0, 2**32), st.sampled_from(["toy1", "two-of-three", "random-3x5x4", "box-rational"]))
def test_no_random_error_moves_the_estimate_more_than_the_worst_one(seed, name):
    _, _, g = geometry(name)
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal(len(g.y_star))
    worst = np.linalg.norm(g.E @ g.worst_y_within(1.0))
    assert np.linalg.norm(g.E @ drawn) <= worst * np.linalg.norm(drawn) * (1 + 1e-9)
    by_gradient = np.linalg.norm(g.E @ g.worst_y_with_gradient(1.0))
    assert np.linalg.norm(g.E @ drawn) <= by_gradient * np.linalg.norm(g.H @ drawn) * (1 + 1e-9)


@given(st.integers(0, 2**32), st.sampled_from(["two-of-three", "random-3x5x4", "box-rational"]))
def test_no_error_of_the_multipliers_moves_a_response_more_than_the_worst_of_the_whole_ball(seed, name):
    _, _, g = geometry(name)
    for response in (g.lam_to_estimate(dual_term="frozen"), g.lam_to_minimiser()):
        error = g.worst_lam_within(1e-3, response)
        assert np.linalg.norm(error) == pytest.approx(1e-3)
        worst = np.linalg.norm(response @ error)
        assert worst == pytest.approx(1e-3 * np.linalg.norm(response, 2))
        drawn = np.random.default_rng(seed).standard_normal(len(error))
        assert 1e-3 * np.linalg.norm(response @ drawn) <= worst * np.linalg.norm(drawn) * (1 + 1e-9)
    only = np.array([1.0, *[0.0] * (len(g.lam) - 1)])
    assert np.flatnonzero(g.worst_lam_within(1e-3, response, rows=only)).tolist() == [0]
    assert not g.worst_lam_within(1e-3, 0 * response).any()


def test_derivatives_in_a_multiplier_on_its_ramp_have_the_weights_move():
    instance, truth, _ = geometry("two-of-three")
    width = 4 * truth.lam.max()

    def at(lam):
        return geometry_at_truth(instance, replace(truth, lam=lam), 0.1, 0.1, width)

    def value(lam):
        return np.concatenate([at(lam).estimate(at(lam).minimiser, dual_term="cancelled"), at(lam).minimiser])

    step = 1e-6 * truth.active * np.array([1.0, 2.0, 0.0])
    slope = (value(truth.lam + step) - value(truth.lam - step)) / 2
    here = at(truth.lam)
    response = np.vstack([here.lam_to_estimate(dual_term="cancelled", lam_width=width),
                          here.lam_to_minimiser(lam_width=width)])  # fmt: skip
    held = np.vstack([here.lam_to_estimate(dual_term="cancelled"), here.lam_to_minimiser()])
    assert slope == pytest.approx(response @ step, rel=1e-5, abs=1e-12)
    assert held @ step != pytest.approx(slope, rel=1e-4, abs=1e-12)


def test_derivative_in_the_multipliers_matches_a_difference():
    _, _, g = geometry("two-of-three")
    step = 1e-6 * np.array([1.0, 2.0, 0.0])
    moved = replace(g, lam=g.lam + step)

    def value(at: Geometry) -> np.ndarray:
        a, y = at.a, at.minimiser
        h = at.h - a.B @ (y - at.y_star)
        return a.f_xy @ y + at.alpha**-2 * a.g_xy @ (y - at.y_star) + at.alpha**-4 * a.A.T @ (at.rho * h)

    assert value(moved) - value(g) == pytest.approx(g.lam_to_estimate(dual_term="cancelled") @ step, rel=1e-4, abs=1e-9)


def test_ramp_values():
    h = np.array([-2.0, -1.0, -0.5, 0.0, 3.0, 0.0, 0.0])
    lam = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.05, 0.0])
    assert ramp(h, lam, 1.0, 0.1).tolist() == [0, 0, 0.5, 1, 1, 0.5, 0]


def test_dependent_rows_are_a_premise_unmet():
    with pytest.raises(PremiseUnmetError) as caught:
        regular_truth(find("licq-fails"))
    assert caught.value.evidence.premise == "licq"
    assert not caught.value.evidence.holds


def test_what_has_no_value_at_a_point_says_why():
    with pytest.raises(NoValueError, match=r"y\* has no value here: the lower level is infeasible here: 1·h_0"):
        regular_truth(find("infeasible"))
    truth = regular_truth(find("weakly-active"))
    assert truth.lam.tolist() == [0]
    with pytest.raises(NoValueError, match=r"∇F has no value here: .* gradients \(0\) and \(1\)"):
        _ = truth.grad_F


def test_a_family_member_is_drawn_once_and_other_kinds_have_no_quadratic_geometry():
    problem = Generated(family="random-rows", n=2)
    assert quadratic_of(problem) is quadratic_of(problem)
    with pytest.raises(TypeError, match="holder"):
        quadratic_of(find("holder-1-4").problem)
