"""Statements on costs that a formula decides: what says a little else does not hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from spec.atlas import find
from spec.claims import find as statement
from spec.formulas import parse_formula
from tests.verify.checks.asking import case_of, verdict
from verify.checks.measuring.case import checks
from verify.checks.measuring.formula_evidence import brought, exact_evidence, right_side, site_of
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.deciding import at_each, in_the_limit
from verify.truth.propositions.sites import Site
from verify.truth.propositions.valuation import value_of
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


def sides(found):
    return [(item.measured, item.relation, item.predicted, item.holds) for item in found]


def test_a_formula_decides_the_numbers_that_a_check_brings():
    case = case_of("goldstein-convergence/error-names", "repaired", "kink")
    given = {"eta": Fraction(1, 2), "D": Fraction(1, 4), "oracle_variance": 2, "oracle_bias": 1}
    noise, bias = brought(case, (Fraction(1, 2), Fraction(1, 3)), **given)
    assert sides((noise, bias)) == [(0.5, "==", 0.5, True), (1 / 3, "==", 0.5, False)]
    with pytest.raises(ValueError, match="error-names: no problem determines oracle_variance"):
        brought(case, (0, 0), eta=1, D=1, oracle_bias=1)
    with pytest.raises(ValueError, match="zip"):
        brought(case, (0,), **given)


def test_of_several_places_the_one_that_fails_is_shown():
    case = case_of("goldstein-convergence/estimate-split", "repaired", "kink")
    (alike,) = brought(case, (3, 1, 2), (0, 1, -1))
    (other,) = brought(case, (3, 1, 2), (1, 1, -1), (5, 2, 3))
    assert sides((alike, other)) == [(0.0, "==", 0.0, True), (1.0, "==", 0.0, False)]


def test_numbers_that_are_alike_as_doubles_alone_are_told_apart():
    close = 1 + Fraction(1, 10**30)
    for claim, reading, values in (
        ("hypergradient-accuracy/jensen", "repaired", (close,)),
        ("goldstein-convergence/orthogonality", "as-written", (2, 2 - close, 1)),
        ("background/nonsmooth", "repaired", (2 - close,)),
    ):
        (found,) = brought(case_of(claim, reading, checks()[claim].instances[0]), values)
        assert not found.holds
        assert abs(found.measured - found.predicted) == pytest.approx(1e-30, rel=1e-6)


def test_the_length_of_a_row_is_that_of_doubles():
    node, where = parse_formula("sqrt(max(row_squares(jac_h))) <= jac_bound / 2"), on("random-2x3x4")
    (found,) = at_each(node, where, [Fraction(1)])
    rows = np.hstack([where.problem.arrays.A, where.problem.arrays.B])
    assert found.left == pytest.approx(np.linalg.norm(rows, axis=1).max())
    assert not found.holds
    doubles = value_of(node.args[0], where.at(Fraction(1), doubles=True))
    assert abs(float(doubles) - found.left) <= float(doubles.bound)


def test_without_the_change_of_y_the_bound_on_F_is_too_small():
    assert all(outcome.holds for outcome in lipschitz("abs(F - F_other) <= (L_fx + L_fy * L_y) * norm(x - x_other)"))
    assert not all(outcome.holds for outcome in lipschitz("abs(F - F_other) <= L_fx * norm(x - x_other)"))


def lipschitz(formula):
    for seed in range(4):
        yield from at_each(parse_formula(formula), replace(on("toy1"), seed=seed), [Fraction(1)])


def test_the_reach_of_a_block_is_the_formulas():
    for reading, reach in (("as-written", Fraction(2, 5)), ("repaired", Fraction(21, 100))):
        case = case_of("goldstein-convergence/block-radius", reading, "kink")
        assert right_side(case.claim, case, M=20, D=0.02) == pytest.approx(float(reach))
