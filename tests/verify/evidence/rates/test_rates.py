"""Exponents with intervals, one variable or several, in the presence of noise, floors and bends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec.claims import Bound
from verify.evidence.budget import Share
from verify.evidence.model import Point
from verify.evidence.rates.orders import bent
from verify.evidence.rates.rates import SweepEstimate, fit_power_law, fit_rate, invert
from verify.verdict import decide

SHARE = Share(1e-6)
ALPHAS = tuple(0.2 / 2**j for j in range(5))


def sampled(law, dof, seed, settings_=None):
    rng = np.random.default_rng(seed)
    ats = settings_ or [{"alpha": a} for a in ALPHAS]
    return [SweepEstimate(at, law(**at) * rng.chisquare(dof) / dof, dof, samples=int(dof)) for at in ats]


def bound(tag, **exponents):
    return Bound(quantity="q", tag=tag, exponents=exponents)


@settings(max_examples=30)
@given(st.floats(-5, 5), st.floats(1e-6, 1e6), st.integers(0, 2**32))
def test_a_power_law_is_covered_and_resolved(k, c, seed):
    rate = fit_power_law(sampled(lambda alpha: c * alpha**k, 30_000.0, seed), SHARE, quantity="q")["alpha"]
    assert rate.interval[0] <= k <= rate.interval[1]
    assert rate.interval[1] - rate.interval[0] < 0.3
    assert rate.settled
    assert rate.error_rate == SHARE.error


def test_coverage_is_at_least_what_is_promised():
    missed = 0
    for seed in range(120):
        rate = fit_power_law(sampled(lambda alpha: alpha, 100.0, seed), Share(0.2), quantity="q")["alpha"]
        missed += not rate.interval[0] <= 1 <= rate.interval[1]
    assert missed <= 0.2 * 120


def test_two_variables_are_fitted_jointly():
    grid = [{"alpha": a, "N_g": float(N)} for a in ALPHAS[:3] for N in (1, 4, 16, 64)]
    rates = fit_power_law(sampled(lambda alpha, N_g: alpha**-4 / N_g, 1e5, 0, grid), SHARE, quantity="q")
    assert rates["alpha"].exponent == pytest.approx(-4, abs=0.05)
    assert rates["N_g"].exponent == pytest.approx(-1, abs=0.02)
    assert set(rates) == {"alpha", "N_g"}
    assert len(rates["N_g"].local_exponents) == 3


@pytest.mark.parametrize("variables", [{"eta": 0.1}, {"inner_tol": 1e-3}, {"epsilon": 0.5}])
def test_any_variable_may_be_swept(variables):
    ((name, start),) = variables.items()
    ats = [{name: start / 2**j} for j in range(4)]
    found = fit_power_law(sampled(lambda **at: at[name] ** 1.5, 1e5, 1, ats), SHARE, quantity="q")
    assert found[name].exponent == pytest.approx(1.5, abs=0.1)


def test_too_fast_is_reported_as_loose_and_never_passed_silently():
    fast = bent(fit_power_law(sampled(lambda alpha: alpha**2, 1e5, 0), SHARE, quantity="q")["alpha"])
    loose = decide(bound("upper", alpha="1"), [fast])
    assert str(loose.verdict) == "SUPPORTED"
    assert loose.loose_by == pytest.approx(1, abs=0.1)
    # A whole power less may be one with a zero beyond the sweep; none more than a power away is.
    assert str(decide(bound("tight", alpha="1"), [fast]).verdict) == "INCONCLUSIVE"
    assert str(decide(bound("tight", alpha="7/2"), [fast]).verdict) == "REFUTED"
    assert str(decide(bound("equality", alpha="7/2"), [fast]).verdict) == "REFUTED"


def test_too_few_samples_are_inconclusive_and_say_what_it_would_take():
    vague = bent(fit_power_law(sampled(lambda alpha: alpha, 1000.0, 0), SHARE, quantity="q")["alpha"])
    found = decide(bound("tight", alpha="1"), [vague])
    assert str(found.verdict) == "INCONCLUSIVE"
    assert "samples instead of 5,000" in found.sentence
    assert vague.samples_needed > 5000


def test_a_sweep_that_bends_is_not_taken_for_its_average_power():
    floor = fit_power_law(sampled(lambda alpha: alpha + 3e-3, 1e6, 0), SHARE, quantity="q")["alpha"]
    assert not floor.settled
    assert floor.interval[0] <= 0 <= floor.interval[1] < 1
    slow = fit_power_law(sampled(lambda alpha: alpha * (1 + alpha), 1e6, 0), SHARE, quantity="q")["alpha"]
    assert slow.interval[0] <= 1 <= slow.interval[1]


def test_points_at_the_noise_floor_are_marked_and_left_out():
    clean = sampled(lambda alpha: alpha, 1e5, 0)
    floor = SweepEstimate({"alpha": 1e-3}, 1.0, None, 0.0, 2.0)
    rate = fit_power_law([*clean, floor], SHARE, quantity="q")["alpha"]
    assert rate.floor == 1e-3
    assert [p.usable for p in rate.points] == [True] * 5 + [False]
    assert rate.exponent == pytest.approx(1, abs=0.05)


def test_nothing_throughout_has_an_infinite_exponent_and_too_few_points_decide_nothing():
    none = [SweepEstimate({"alpha": a}, 0.0, 100.0) for a in ALPHAS]
    assert fit_power_law(none, SHARE, quantity="q")["alpha"].exponent == math.inf
    few = fit_power_law(sampled(lambda alpha: alpha, 1e5, 0)[:2], SHARE, quantity="q")["alpha"]
    assert few.interval == (-math.inf, math.inf)


def test_boxes_are_taken_at_their_corners():
    boxes = [SweepEstimate({"alpha": a}, a**2, None, 0.95 * a**2, 1.05 * a**2) for a in ALPHAS]
    rate = fit_power_law(boxes, SHARE, quantity="q")["alpha"]
    assert rate.interval[0] < 2 < rate.interval[1]
    assert rate.interval[1] - rate.interval[0] < 0.3


def test_a_law_read_the_other_way():
    ats = [{"steps": float(4**k)} for k in range(3, 8)]
    squares = fit_power_law(sampled(lambda steps: 1 / steps, 1e5, 0, ats), SHARE, quantity="q")["steps"]
    calls = invert(squares, quantity="steps", variable="inner_tol", power=0.5)
    assert calls.variable == "inner_tol"
    assert calls.exponent == pytest.approx(-2, abs=0.03)
    assert calls.interval[0] < -2 < calls.interval[1]
    assert calls.points[0].measured == 64
    assert calls.points[0].at == pytest.approx(1 / 8, rel=0.02)
    undecided = squares.model_copy(update={"interval": (-1.0, 1.0)})
    assert invert(undecided, quantity="steps", variable="inner_tol").interval == (-math.inf, math.inf)


def test_what_an_inverse_detects_is_at_least_what_its_own_interval_needs():
    estimates = [
        SweepEstimate({"calls": float(n)}, 1.0 / n, None, 0.95 / n, 1.05 / n, 100, law="exponent (mean squares)")
        for n in (1, 4, 16, 64)
    ]
    squares = fit_power_law(estimates, Share(1e-6), quantity="mean square")["calls"]
    steps = invert(squares, quantity="steps", variable="inner_tol", power=0.5)
    half = (steps.interval[1] - steps.interval[0]) / 2
    assert steps.exponent == pytest.approx(-2.0)
    assert half < steps.detectable < 8 * half
    wide = squares.model_copy(update={"detectable": 0.7})
    assert invert(wide, quantity="steps", variable="inner_tol", power=0.5).detectable is None


def sweep(law, alphas=tuple(0.2 / 2**j for j in range(8)), uncertainty=0.0):
    return [Point(at=a, measured=law(a), uncertainty=uncertainty) for a in alphas]


@given(st.floats(-6, 6), st.floats(0.01, 100), st.floats(-0.5, 0.5))
def test_interval_covers_the_exponent_of_a_power_law_with_a_first_order_correction(k, c, d):
    rate = fit_rate(sweep(lambda a: c * a**k * (1 + d * a)), quantity="q", variable="alpha")
    assert rate.interval[0] - 1e-9 <= k <= rate.interval[1] + 1e-9
    assert rate.interval[1] - rate.interval[0] < 0.1


def test_points_below_the_floor_are_excluded_and_the_floor_is_said():
    points = [Point(at=a, measured=a**2 + 1e-6, uncertainty=1e-6) for a in (0.2, 0.1, 0.05, 0.025, 0.0125, 1e-3, 1e-4)]
    rate = fit_rate(points, quantity="q", variable="alpha")
    assert rate.floor == 1e-3
    assert [p.usable for p in rate.points] == [True] * 5 + [False] * 2
    assert rate.interval[0] < 2 < rate.interval[1]


def test_noise_beyond_the_floor_is_never_fitted_even_where_a_point_looks_fine():
    beyond = (Point(at=1e-3, measured=1.0, uncertainty=1.0), Point(at=1e-4, measured=1e9))
    points = [*sweep(lambda a: a**2)[:4], *beyond]
    assert fit_rate(points, quantity="q", variable="alpha").exponent == pytest.approx(2)


def test_exactly_zero_has_an_infinite_exponent():
    assert fit_rate(sweep(lambda a: 0.0, uncertainty=1e-12), quantity="q", variable="alpha").exponent == math.inf


def test_within_rounding_of_a_predicted_zero_counts_as_zero():
    points = [Point(at=a, measured=1e-17, uncertainty=1e-16, predicted=0.0) for a in (0.1, 0.05, 0.025)]
    assert fit_rate(points, quantity="q", variable="alpha").exponent == math.inf


def test_small_but_unpredicted_values_decide_nothing():
    points = [Point(at=a, measured=1e-17, uncertainty=1e-16) for a in (0.1, 0.05, 0.025)]
    rate = fit_rate(points, quantity="q", variable="alpha")
    assert rate.interval == (-math.inf, math.inf)
    assert not rate.settled


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_points_decide_nothing(count):
    assert fit_rate(sweep(lambda a: a + 1)[:count] or [Point(at=1, measured=1, uncertainty=1)], quantity="q",
                    variable="alpha").interval == (-math.inf, math.inf)  # fmt: skip


def test_a_sweep_that_crosses_over_is_not_settled_and_its_interval_is_wide():
    rate = fit_rate(sweep(lambda a: a**3 + 1e-4 * a), quantity="q", variable="alpha")
    assert rate.interval[0] <= 1 <= rate.interval[1]
    crossing = fit_rate(sweep(lambda a: a**3 + 1e-4 * a)[:5], quantity="q", variable="alpha")
    assert not crossing.settled
    assert crossing.interval[0] <= 1 <= crossing.interval[1]
