"""Statements on costs that a formula decides: what says a little else does not hold."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec.atlas import find
from spec.claims import find as statement
from spec.formulas import parse_formula
from tests.verify.checks.asking import case_of, verdict
from verify.checks.measuring.formula_evidence import exact_evidence, right_side, site_of
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.deciding import at_each, in_the_limit
from verify.truth.propositions.sites import Site
from verify.verdict import Verdict

EVERYWHERE = ("convergence-experiment/gradients-in-x", "inner-loop-remark/penalty-solve")
OTHERWISE = {
    "inner-cost/strong-convexity": "eig_min(hess_yy_L(y_star, lam_star)) >= 2 * alpha_1 * mu_g",
    "inner-cost/final-arithmetic": "1 / (alpha * delta) == (1 / alpha)^3 and C_g + alpha_1 <= 2 * alpha_1",
    "inner-cost/batch-integer": "floor(sigma^2 / alpha^2) >= 1 and sigma^2 / floor(sigma^2 / alpha^2) <= alpha^2",
    "inner-cost/dual-step": "dual_value(dual_step(lam_any)) >= dual_value(lam_any) and dual_step(lam_any) == lam_any",
    "goldstein-convergence/step-length": "norm(direction_x) <= D",
    "goldstein-convergence/whole-steps": "ceil(budget / M) * M == budget",
}
"""In place of a repaired formula: another constant, power or rounding."""


@pytest.mark.parametrize("claim", OTHERWISE)
def test_another_constant_power_or_rounding_fails(claim):
    (first, *_) = statement(claim).asked_on
    case = case_of(claim, "repaired", first)
    counted = next(exact_evidence(case, parse_formula(OTHERWISE[claim]), site_of(case)))
    assert counted.measured > 0


@pytest.mark.parametrize("claim", EVERYWHERE)
def test_it_is_refuted_as_written_and_supported_repaired(claim):
    assert verdict(claim, "as-written") is Verdict.REFUTED
    assert verdict(claim) is Verdict.SUPPORTED


def on(name):
    instance = find(name)
    return Site(quadratic_of(instance.problem), tuple(map(Fraction, instance.x)))


@pytest.mark.parametrize(
    "formula",
    [
        # A weight 1/α of the gap, and the gradient at the minimiser alone.
        "norm(grad_x_f(y_min(y_star, lam_star)) + 1 / alpha * (grad_x_g(y_min(y_star, lam_star)) - grad_x_g(y_star))"
        " - grad_F) <= O(alpha^2)",
        "norm(grad_x_f(y_min(y_star, lam_star)) + alpha_1 * grad_x_g(y_min(y_star, lam_star)) - grad_F) <= O(alpha^2)",
    ],
)
def test_a_penalty_of_another_weight_or_without_the_difference_is_no_proxy(formula):
    assert not in_the_limit(parse_formula(formula), on("interior")).holds


def test_without_inner_solves_the_calls_would_fade_with_the_noise():
    alone = parse_formula("outer_steps * sigma^2 / alpha^2 <= O(sigma^2)")
    assert in_the_limit(alone, on("two-of-three"), variable="sigma").holds


def test_no_step_size_gives_a_smaller_regret_bound_than_the_repaired_one():
    bound = "2 * D^2 / ({0}) + ({0}) * M * moment_bound / 2"
    best = bound.format("2 * D / sqrt(moment_bound * M)")
    for other in ("eta", "D / sqrt(M)", "4 * D / sqrt(moment_bound * M)"):
        node = parse_formula(f"{best} <= {bound.format(other)}")
        assert all(outcome.holds for outcome in at_each(node, on("kink"), [Fraction(1)]))


def test_the_reach_of_a_block_is_the_formulas():
    for reading, reach in (("as-written", Fraction(2, 5)), ("repaired", Fraction(21, 100))):
        case = case_of("goldstein-convergence/block-radius", reading, "kink")
        assert right_side(case.claim, case, M=20, D=0.02) == pytest.approx(float(reach))
