"""Formulas decide: orders in the limit, relations at each alpha, premises, and the choices that matter."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec.atlas import find
from spec.formulas import parse_formula
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.arithmetic import NoValueError
from verify.truth.propositions.axes import axes
from verify.truth.propositions.deciding import at_each, in_the_limit, is_met, tried
from verify.truth.propositions.sites import LITERAL_CHOICES, REPAIRED_CHOICES, Site

SHIFT = parse_formula("sup(norm(y_min(y_star, lam_star) - y_min(y_star, lam_t)), e_lam) <= O(alpha^3)")
MONOTONE = parse_formula(
    "eig_min(hess_yy_L(y_star, lam_star)) * norm(y_min(y_star, lam_star) - y_min(y_star, lam_t)) <= "
    "norm(grad_y_L(y_star, lam_star, y_min(y_star, lam_t)) - grad_y_L(y_star, lam_t, y_min(y_star, lam_t)))"
)
EXTRACTION = parse_formula("norm(grad_y_L(y_star, lam_star, y_any) - grad_y_L(y_star, lam_t, y_any)) <= O(alpha^-1)")


def site(name: str) -> Site:
    instance = find(name)
    return Site(quadratic_of(instance.problem), tuple(map(Fraction, instance.x)))


def test_the_worst_multiplier_is_not_kept_above_zero() -> None:
    # As an outside computation has it, 0.010879 at alpha = 0.2 on box-rational; with multipliers >= 0 it is 0.00769.
    left = parse_formula("sup(norm(y_min(y_star, lam_star) - y_min(y_star, lam_t)), e_lam) <= 1")
    outcomes = {outcome.alpha: outcome for outcome in at_each(left, site("box-rational"), [Fraction(1, 5)])}
    assert outcomes[Fraction(1, 5)].left == pytest.approx(0.010879, rel=1e-3)


@pytest.mark.parametrize("name", ["toy1", "box-rational", "random-3x5x4"])
def test_the_shift_is_of_order_three_or_more(name: str) -> None:
    outcome = in_the_limit(SHIFT, site(name))
    assert outcome.holds
    assert outcome.exponent is not None
    assert outcome.exponent >= 3


def test_monotonicity_holds_on_problems_where_both_sides_are_equal() -> None:
    for seed in (505, 0, 1, 2):
        outcomes = list(at_each(MONOTONE, site(f"drawn:rows:{seed}"), [Fraction(1, 10), Fraction(1, 80)]))
        assert all(outcome.holds for outcome in outcomes)
        if seed == 505:
            strict = parse_formula(
                "eig_min(hess_yy_L(y_star, lam_star)) * norm(y_min(y_star, lam_star) - y_min(y_star, lam_t)) < "
                "norm(grad_y_L(y_star, lam_star, y_min(y_star, lam_t)) - grad_y_L(y_star, lam_t, y_min(y_star, lam_t)))"
            )
            assert not any(outcome.holds for outcome in at_each(strict, site("drawn:rows:505"), [Fraction(1, 10)]))


def test_a_stronger_factor_is_refuted() -> None:
    stronger = parse_formula(
        "2 * eig_min(hess_yy_L(y_star, lam_star)) * norm(y_min(y_star, lam_star) - y_min(y_star, lam_t)) <= "
        "norm(grad_y_L(y_star, lam_star, y_min(y_star, lam_t)) - grad_y_L(y_star, lam_t, y_min(y_star, lam_t)))"
    )
    assert not any(outcome.holds for outcome in at_each(stronger, site("toy1"), [Fraction(1, 10)]))


@pytest.mark.parametrize("seed", [502, 19, 21, 45])
def test_a_weakly_active_row_s_weight_is_spent_whatever_its_number(seed: int) -> None:
    name = f"drawn:weakly-active:{seed}"
    literal = in_the_limit(EXTRACTION, site(name), LITERAL_CHOICES)
    assert not literal.holds
    assert literal.exponent == -4
    assert in_the_limit(EXTRACTION, site(name), REPAIRED_CHOICES).exponent == -1


def test_a_free_error_is_tried_along_each_coordinate() -> None:
    assert len(list(tried(EXTRACTION, site("toy1")))) == 3
    assert len(list(tried(SHIFT, site("toy1")))) == 1


def test_premises_are_decided_where_alpha_is_small() -> None:
    clear = parse_formula("all(lam_star[active] >= lam_width + C_lambda * delta)")
    assert is_met(clear, site("toy1"), None)
    assert not is_met(clear, site("weakly-active"), None)
    literal = parse_formula("alpha >= 2 * C_f / mu_g")
    assert not is_met(literal, site("concave-upper"), None)
    assert is_met(literal, site("concave-upper"), Fraction(1000))
    assert is_met(literal, site("toy1"), None)  # f is linear there


def test_what_hangs_on_several_samples_is_taken_to_infinity() -> None:
    averaged = parse_formula("sigma^2 / N_g <= O(N_g^-1)")
    outcome = in_the_limit(averaged, site("toy1"), variable="N_g")
    assert outcome.holds
    assert outcome.exponent == -1
    assert not in_the_limit(parse_formula("sigma^2 / N_g <= O(N_g^-2)"), site("toy1"), variable="N_g").holds


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("norm(T3) <= O(alpha)", "toy1", {"dual_term"}),
        ("sup(norm(T1), e_y) <= O(alpha)", "toy1", {"inner_stop"}),
        ("norm(jac_h) <= norm(A) + norm(B)", "toy1", set()),
        ("norm(grad_y_L(y_star, lam_star, y_any) - grad_y_L(y_star, lam_t, y_any)) <= O(alpha^-1)",
         "drawn:weakly-active:502", {"multiplier_width"}),
    ],
)  # fmt: skip
def test_the_choices_that_matter_are_found_by_evaluation(text: str, name: str, expected: set[str]) -> None:
    assert set(axes(parse_formula(text), [site(name)])) == expected


def test_a_sum_that_is_not_affine_in_the_error_is_refused() -> None:
    with pytest.raises(NoValueError, match="affine"):
        in_the_limit(parse_formula("sup(norm(h(y_star + e_y) * h(y_star + e_y)), e_y) <= O(alpha)"), site("toy1"))
