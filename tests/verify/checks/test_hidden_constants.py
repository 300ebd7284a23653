"""What the bias bound's constants hide: what is found, exactly, and what other scales and orders make of it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import Holder, load_claims
from spec.atlas import find
from spec.claims import find as statement
from spec.text.extract import Passage, load_extract
from tests.verify.checks.verdicts_of import REFUTED, SUPPORTED, number, result, under, verdict
from verify.checks.bias_bound import spent_errors
from verify.checks.bias_bound.hidden_constants import with_rows_scaled
from verify.checks.bias_bound.regularity import orders_of_T3
from verify.checks.bias_bound.spent_errors import BOUNDS, Spent, bias_bound
from verify.checks.measuring.extracted import constants_of
from verify.evidence.model import RateEvidence
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, error
from verify.truth.functions_of_alpha.scenario import Scenario
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level


@pytest.mark.parametrize(
    ("claim", "instance", "as_written", "repaired"),
    [
        ("bias-bound/from-two-lemmas", "kink", REFUTED, SUPPORTED),
        ("bias-bound/from-two-lemmas", "toy1", SUPPORTED, SUPPORTED),
        ("bias-bound/constants", "toy1", REFUTED, SUPPORTED),
        ("bias-bound/constants", "scalar-rational", REFUTED, SUPPORTED),
        ("bias-bound/hard-activation", "toy1", REFUTED, SUPPORTED),
        ("bias-bound/hard-activation", "weakly-active", SUPPORTED, SUPPORTED),
        ("bias-bound/explicit", "two-of-three", REFUTED, SUPPORTED),
        ("bias-bound/holder-order", "holder-1-4", REFUTED, SUPPORTED),
        ("bias-bound/holder-order", "holder-1-2", SUPPORTED, SUPPORTED),
        ("bias-bound/holder-order", "holder-1", SUPPORTED, SUPPORTED),
    ],
)
def test_verdicts(claim, instance, as_written, repaired):
    assert verdict(claim, "as-written", instance) is as_written
    assert verdict(claim, "repaired", instance) is repaired


@pytest.mark.parametrize(("claim", "instance"), [("bias-bound/from-two-lemmas", "fixed-rows"),
                                                 ("bias-bound/constants", "toy1"),
                                                 ("bias-bound/hard-activation", "toy1")])  # fmt: skip
def test_half_an_order_more_is_refuted(claim, instance):
    bound = statement(claim).repaired.bound
    raised = bound.model_copy(update={"exponents": {"alpha": bound.exponents["alpha"] + Fraction(1, 2)}})
    assert under(claim, "repaired", instance, raised) is REFUTED


@given(st.fractions(min_value="1/1000", max_value="1/5", max_denominator=1000))
def test_rows_scaled_by_alpha_leave_a_bias_of_exactly_one_half(alpha):
    toy = find("toy1")
    scaled = with_rows_scaled(quadratic_of(toy.problem), alpha)
    assert error(PenaltyFamily.at(scaled, toy.x), Scenario(), "T3")(alpha) == (Fraction(-1, 2),)
    assert lower_level.solve(scaled, toy.x).lam == (1 / alpha,)
    assert lower_level.hypergradient(scaled, toy.x) == lower_level.hypergradient(quadratic_of(toy.problem), toy.x)


def test_no_named_constant_grows_with_the_scale_but_the_one_that_no_line_sizes():
    assert number("bias-bound/constants", "as-written", "scalar-rational", "largest ratio") == pytest.approx(1)
    values = result("bias-bound/constants", "as-written", "toy1").counterexample.values
    needed = [size for name, size in values.items() if name.startswith("least C_pen")]
    assert needed[-1] > 10 * needed[0] > 10


def test_a_constant_that_may_grow_with_the_scale_does_not_fell_the_lemma():
    assert statement("bias-bound/constants").relation == "consequence"
    assert "bias-bound/constants" not in load_claims()["bias-bound"].parts("as-written")
    assert statement("bias-bound/T3-uniform").relation == "consequence"


def test_a_hard_set_is_worse_at_a_weakly_active_row_alone():
    for instance, power in (("weakly-active", 0), ("toy1", None)):
        rates = [e for e in result("bias-bound/hard-activation", "repaired", instance).evidence
                 if isinstance(e, RateEvidence)]  # fmt: skip
        # The formula's own order stands beside what is measured.
        assert [rate.role for rate in rates] == ["conclusion", "support", "conclusion"]
        if power is not None:
            assert rates[1].exponent == pytest.approx(power, abs=0.05)


def test_constants_that_all_have_a_size_would_do(monkeypatch):
    own = statement("bias-bound/explicit").as_written.bound
    assert under("bias-bound/explicit", "as-written", "toy1", own) is REFUTED
    unsized = [name for name, size in constants_of(load_extract(), BOUNDS).items() if not size]
    assert {"C_{bias}", "C_{pen}", "L_{H,y}", "L_{H,λ}", "C_λ", "c_μ"} == set(unsized)
    sized = [Passage(kind="definition", line=1, name=name, says="1") for name in unsized]
    whole = load_extract().model_copy(update={"passages": (*load_extract().passages, *sized)})
    assert all(constants_of(whole, BOUNDS).values())
    monkeypatch.setattr(spent_errors, "load_extract", lambda: whole)
    assert under("bias-bound/explicit", "as-written", "toy1", own) is SUPPORTED
    # Without a bound to look at nothing is said.
    monkeypatch.setattr(spent_errors, "BOUNDS", ())
    assert under("bias-bound/explicit", "as-written", "toy1", own) is not SUPPORTED


def test_a_size_is_a_formula_a_bound_or_an_assumption_and_no_mention():
    sizes = constants_of(load_extract(), (*BOUNDS, "lemma:solution_approx", "thm:convergence-stochastic-grad"))
    assert all(sizes[name] for name in ("σ", "C_g", "L_F", "μ_g"))
    assert not sizes["C_{sol}"]


def test_errors_beyond_the_premises_break_the_explicit_bound():
    instance = find("toy1")
    problem, alpha = quadratic_of(instance.problem), Fraction(1, 100)
    spent = Spent(problem, instance.x, Fraction(2))
    exact = lower_level.hypergradient(problem, instance.x)
    none = (Fraction(0),)

    def bias(off_y, left):
        (found,) = spent.estimate(alpha, (Fraction(off_y),), none, (Fraction(left),))
        return abs(float(found - exact[0])) / bias_bound(problem, instance.x, alpha)

    assert bias(1, 1) <= 1  # within the premises
    assert bias(0, 10) > 1  # stopped ten times too early
    assert bias(3, 0) > 1  # further inside than the ramp is wide


@pytest.mark.parametrize("quarters", [1, 2, 3, 4])
def test_the_order_is_twice_the_exponent_and_no_other(quarters):
    orders = orders_of_T3(Holder(s=Fraction(quarters, 4)))
    assert orders == [quarters / 2] * len(orders)
