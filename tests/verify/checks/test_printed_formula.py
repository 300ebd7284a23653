"""The printed Lagrangian as a function of x: what is found, and that a term kept, dropped or misread shows."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.atlas import find
from tests.verify.checks.verdicts_of import REFUTED, SUPPORTED, UNMET, result, verdict
from verify.checks.bias_bound.printed_formula import printed_lagrangian, slope_jump, twin_of
from verify.conformance.bugs.catalogue import find as find_bug
from verify.evidence.model import ComparisonEvidence
from verify.method.exact_player import play, space_of
from verify.method.lines import edited
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.point_values import PointValues, derivative, quiet_step
from verify.truth.stages import ExactSetting, evaluate

ALPHA = Fraction(1, 10)


@pytest.mark.parametrize(
    ("claim", "instance", "as_written", "repaired"),
    [
        ("bias-bound/parent-limit", "toy1", REFUTED, SUPPORTED),
        ("bias-bound/parent-limit", "random-2x3x4", REFUTED, SUPPORTED),
        ("bias-bound/parent-limit", "box-rational", SUPPORTED, SUPPORTED),
        ("bias-bound/first-order-only", "two-of-three", SUPPORTED, SUPPORTED),
        ("bias-bound/first-order-only", "random-2x3x4", SUPPORTED, SUPPORTED),
        ("bias-bound/gradient-exists", "kink", REFUTED, SUPPORTED),
        ("bias-bound/gradient-exists", "weakly-active", REFUTED, UNMET),
        ("bias-bound/gradient-exists", "two-of-three", SUPPORTED, SUPPORTED),
    ],
)
def test_verdicts(claim, instance, as_written, repaired):
    assert verdict(claim, "as-written", instance) is as_written
    assert verdict(claim, "repaired", instance) is repaired


def test_the_difference_is_the_frozen_term():
    # TOY1 at α = 1/5: α₁Aᵀλ* = 25.
    (sides,) = [e for e in result("bias-bound/parent-limit", "as-written", "toy1").evidence
                if isinstance(e, ComparisonEvidence) and e.role == "support"]  # fmt: skip
    assert sides.measured == 25


@pytest.mark.parametrize("edits", [*(find_bug(id_).formulas["line_6"] for id_ in ("drops-g-difference", "one-sided-gap",
                                                                                  "drops-penalty-term")),
                                   {"alpha_2": "alpha ** -3"}])  # fmt: skip
def test_another_estimator_is_not_the_parents(edits):
    instance = find("two-of-three")
    problem, x = quadratic_of(instance.problem), instance.x
    lower = lower_level.solve(problem, x)
    rho = tuple(Fraction(int(i in lower.strictly_active)) for i in range(problem.p))
    right = evaluate(ExactSetting(problem, x, ALPHA, given={"rho": rho}))
    stages = {"y_star": right.y_star, "lam": right.lam, "rho": rho, "y_penalty": right.y_penalty}
    other, plain = (
        tuple(play(edited({"line_6": lines}), "line_6", space_of(problem, x, ALPHA, stages))["estimate"])
        for lines in (edits, {})
    )
    L = printed_lagrangian(PointValues(problem), right.y_penalty, rho,
                           lambda z: lower_level.solve(problem, z).y_star, lambda _: lower.lam)  # fmt: skip
    parent = derivative(L, x, quiet_step(problem, x))
    assert right.hypergradient == plain == parent
    assert other != parent


@given(st.lists(st.fractions(-3, 3, max_denominator=7), min_size=3, max_size=3), st.fractions(-2, 2))
def test_a_twin_has_the_same_gradients_along_a_line_and_other_curvature(along, t):
    instance = find("two-of-three")
    problem, x = quadratic_of(instance.problem), instance.x
    start = lower_level.solve(problem, x).y_star
    twin = twin_of(problem, x, start, tuple(along))
    at = tuple(a + t * b for a, b in zip(start, along, strict=True))
    assert PointValues(problem).gradient("g", x, at) == PointValues(twin).gradient("g", x, at)
    assert twin.g.yy != problem.g.yy
    assert twin.g.xy != problem.g.xy


@pytest.mark.parametrize(
    ("name", "x", "jump"), [("toy2", "0", 1), ("kink", "0", 2), ("toy2", "1/7", 0), ("kink", "-3", 0)]
)
def test_kinks_of_known_functions(name, x, jump):
    # F = min(x, 0) and F = |x|.
    assert slope_jump(quadratic_of(find(name).problem), (Fraction(x),), 0) == jump


@pytest.mark.parametrize("term", ["map", "both-maps"])
def test_where_stages_are_maps_second_derivatives_are_needed(term):
    assert verdict("bias-bound/first-order-only", f"choose:dual_term={term}", "two-of-three") is REFUTED
