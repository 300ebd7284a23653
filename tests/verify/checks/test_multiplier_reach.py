"""What a multiplier's error can do: what is found, and what other constants, steps and ranges make of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from spec.atlas import find
from spec.claims import find as statement
from tests.verify.checks.verdicts_of import REFUTED, SUPPORTED, number, under, verdict
from verify.campaign.plan import DEFAULT_SEED
from verify.checks.lagrangian_gradient.multiplier_reach import ReachPair, dual_ascent, with_upper_slope
from verify.checks.measuring.case import Case, find_profile
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level


@pytest.mark.parametrize(
    ("claim", "instance", "as_written"),
    [
        ("dual-extraction/fixed-point", "weakly-active", REFUTED),
        ("stochastic-oracles/dual-accuracy", "toy1", REFUTED),
        ("stochastic-oracles/dual-accuracy", "two-of-three", REFUTED),
        ("solution-error/constants", "weakly-active", REFUTED),
        ("solution-error/convexity-source", "concave-upper", REFUTED),
        ("solution-error/convexity-source", "experiment-1d", SUPPORTED),
        ("solution-error/y-part", "two-of-three", SUPPORTED),
        ("solution-error/y-part", "weakly-active", SUPPORTED),
    ],
)
def test_verdicts(claim, instance, as_written):
    assert verdict(claim, "as-written", instance) is as_written
    assert verdict(claim, "repaired", instance) is SUPPORTED


@pytest.mark.parametrize(
    ("claim", "reading", "variable", "power"),
    [("dual-extraction/fixed-point", "repaired", "radius", "1/2"),
     ("solution-error/constants", "repaired", "alpha", "1/2"),
     ("solution-error/constants", "as-written", "alpha", "-1/2")],
)  # fmt: skip
def test_half_an_order_more_is_refuted(claim, reading, variable, power):
    bound = statement(claim).assertion(reading).bound.model_copy(update={"exponents": {variable: Fraction(power)}})
    assert under(claim, reading, "weakly-active", bound) is REFUTED


def case(name):
    asked = statement("stochastic-oracles/dual-accuracy")
    return Case(
        claim="stochastic-oracles/dual-accuracy", bound=asked.repaired.bound, reading_name="repaired",
        reading=asked.reading("repaired"), instance=find(name), stages=StageCalls(ReferenceSubject()),
        profile=find_profile("ci"), rng=np.random.default_rng(DEFAULT_SEED),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["toy1", "two-of-three", "box-rational"])
def test_dual_ascent_comes_to_the_exact_multipliers(name):
    instance = find(name)
    exact = [float(v) for v in lower_level.solve(quadratic_of(instance.problem), instance.x).lam]
    a = quadratic_of(instance.problem).arrays
    eta = 0.5 / float(np.linalg.norm(a.B @ np.linalg.solve(a.g_yy, a.B.T), 2))
    far, near = (np.linalg.norm(dual_ascent(case(name), eta, steps) - exact) for steps in (4, 400))
    assert near < 1e-10 < far


def test_the_two_lagrangians_differ_as_the_formula_says():
    # λ* = 0 and λ̃ = δ on y >= x at x = 0, ε_λ = 1/10, y one unit beyond: Δρ = 10δ, α₂Δρh in x and the negative of it,
    # with α₁δ, in y.
    instance, alpha = find("weakly-active"), Fraction(1, 10)
    pair = ReachPair(quadratic_of(instance.problem), instance.x, alpha, 0, Fraction(1, 10))
    in_x, in_y = pair.change((Fraction(-1),))
    assert in_x == pytest.approx([10_000 * 10 * 0.001])
    assert in_y == pytest.approx([-10_000 * 10 * 0.001 - 100 * 0.001])


def test_an_error_on_no_row_moves_nothing():
    instance = find("toy1")
    pair = ReachPair(quadratic_of(instance.problem), instance.x, Fraction(1, 10), 0, Fraction(1, 10))
    assert pair.shift() > 0
    assert replace(pair, row=7).shift() == 0


def test_a_steeper_upper_level_only_changes_its_slope():
    problem = quadratic_of(find("weakly-active").problem)
    steeper = with_upper_slope(problem, Fraction(9))
    assert steeper.f.y.to_fractions() == [[9]]
    assert steeper.model_copy(update={"f": problem.f}) == problem


def test_early_stopping_is_off_by_more_the_smaller_delta():
    assert number("stochastic-oracles/dual-accuracy", "as-written", "toy1", "δ") > 1e6
    assert number("stochastic-oracles/dual-accuracy", "repaired", "toy1", "δ") < 1e-3
