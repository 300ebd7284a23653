"""The bias lemma's formulas: held to the suite's own exact numbers, and its premises to what deleting them changes."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from spec import claims, parse_problem
from spec.atlas import find
from spec.files import package_text
from spec.formulas import load_quantities, parse_formula
from spec.formulas.parser import Reader
from verify.campaign import plan
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.checks.bias_bound.printed_formula import printed_lagrangian
from verify.checks.measuring import formula_evidence
from verify.checks.measuring.formula_evidence import premises_asked, premises_decided
from verify.subjects import ReferenceSubject
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, error
from verify.truth.functions_of_alpha.scenario import Scenario, exact_error
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.point_values import PointValues, derivative, quiet_step
from verify.truth.propositions.deciding import at_each, in_the_limit
from verify.truth.propositions.sites import Site
from verify.truth.propositions.valuation import value_of
from verify.verdict import Verdict

from .asking import case_of

TENTH = Fraction(1, 10)


def site(name: str) -> Site:
    instance = find(name)
    return Site(quadratic_of(instance.problem), tuple(map(Fraction, instance.x)))


def formula(claim: str, reading: str = "repaired"):
    return claims.find(claim).assertion(reading).proposition


@pytest.mark.parametrize("name", ["toy1", "two-of-three", "scalar-rational", "box-rational", "interior"])
@pytest.mark.parametrize("choice", ["cancelled", "frozen"])
def test_t3_is_the_error_function_of_exact_stages(name, choice):
    instance = find(name)
    leading = error(
        PenaltyFamily.at(quadratic_of(instance.problem), instance.x), Scenario(dual_term=choice), "T3"
    ).leading()
    found = in_the_limit(formula("bias-bound/T3"), site(name), {"dual_term": choice})
    assert found.exponent == leading.exponent
    assert found.coefficient == pytest.approx(float(leading.norm_squared) ** 0.5, rel=1e-12)
    assert found.holds is (leading.exponent >= 2)


@pytest.mark.parametrize("name", ["toy1", "scalar-rational"])
def test_of_one_coordinate_the_worst_errors_are_that_one(name):
    instance = find(name)
    family, ends = PenaltyFamily.at(quadratic_of(instance.problem), instance.x), {}
    ends["T1"] = Scenario(gradient_error=(exact_error(1, (1,)),))
    ends["T2"] = Scenario(lam_error=(exact_error(3, (1,)),))
    for term, scenario in ends.items():
        leading, found = (
            error(family, scenario, term).leading(),
            in_the_limit(formula(f"bias-bound/{term}"), site(name)),
        )
        assert (found.holds, found.exponent) == (True, leading.exponent)
        assert found.coefficient == pytest.approx(float(leading.norm_squared) ** 0.5, rel=1e-12)


@pytest.mark.parametrize("name", ["toy1", "two-of-three", "random-2x3x4"])
def test_the_parents_gradient_is_the_derivative_of_the_lagrangian_it_is_named_after(name):
    place, instance = site(name).at(TENTH), find(name)
    problem, x = quadratic_of(instance.problem), instance.x
    lower = lower_level.solve(problem, x)
    rho = tuple(Fraction(int(i in lower.active)) for i in range(problem.p))
    y = tuple(Fraction(int(v.p), int(v.q)) for v in value_of(of_quantity("y_min(y_star, lam_star)"), place).entries())
    L = printed_lagrangian(PointValues(problem), y, rho, lambda z: lower_level.solve(problem, z).y_star,
                           lambda _: lower.lam)  # fmt: skip
    found = value_of(of_quantity("parent_gradient"), place).entries()
    assert tuple(Fraction(int(v.p), int(v.q)) for v in found) == derivative(L, x, quiet_step(problem, x))


def of_quantity(text: str):
    return Reader(load_quantities(), "quantity").read(text)


@pytest.mark.parametrize("step", ["triangle", "T2-split"])
@pytest.mark.parametrize("reading", ["as-written", "repaired"])
@pytest.mark.parametrize("name", ["toy1", "scalar-rational"])
def test_sums_of_norms_are_decided_with_equality_too(step, reading, name):
    choices = {} if step == "T2-split" else {"dual_term": "frozen"}
    assert all(one.holds for one in at_each(formula(f"bias-bound/{step}", reading), site(name), [TENTH], choices))


def test_a_split_without_the_weights_is_none_where_a_multiplier_is_on_its_ramp():
    text = claims.find("bias-bound/T2-split").repaired.formula
    assert all(one.holds for one in at_each(parse_formula(text), site("weakly-active"), [TENTH]))
    shorter = parse_formula(text[: text.index(" + alpha_2")])
    assert not all(one.holds for one in at_each(shorter, site("weakly-active"), [TENTH]))


def decided(claim: str, reading: str, name: str) -> dict[str, bool]:
    case = case_of(claim, reading, name)
    return {premise.premise: premise.holds for premise in premises_decided(case, premises_asked(case))}


def test_premises_are_decided_where_they_are_asked_for():
    met = decided("bias-bound", "repaired", "toy1")
    assert set(met) >= {"feasible", "licq", "strict-complementarity", "hessian-lipschitz", "penalty-strong-convexity"}
    assert all(met.values())
    assert "strict-complementarity" not in decided("bias-bound", "as-written", "weakly-active")
    assert not decided("bias-bound", "repaired", "weakly-active")["strict-complementarity"]
    # One multiplier is 1/20: positive, and on its ramp.
    assert not decided("bias-bound", "repaired", "experiment-5d")["strict-complementarity"]
    assert not decided("bias-bound", "as-written", "licq-fails")["licq"]
    assert decided("bias-bound", "repaired", "infeasible") == {"feasible": False, "hessian-lipschitz": True}
    assert [decided("bias-bound/hessian-lipschitz", "repaired", f"holder-{s}")["hessian-lipschitz"]
            for s in ("1-4", "1-2", "3-4", "1")] == [False, True, True, True]  # fmt: skip
    assert "strict-complementarity" not in decided("bias-bound/hard-activation", "repaired", "weakly-active")


@pytest.mark.parametrize("claim", ["bias-bound", "bias-bound/T3", "bias-bound/ramp"])
def test_as_written_a_kink_leaves_no_value_and_no_premise_is_blamed(claim):
    result = performed(claim, "as-written", "weakly-active")
    assert result.verdict is Verdict.NOT_APPLICABLE
    assert result.sentence.startswith("Not applicable: ∇F has no value here: the adjoining pieces have gradients (0)")


def test_where_pieces_meet_smoothly_there_is_a_value():
    # The row's multiplier is 0, and F = 0 on either side of it.
    instance = find("weakly-active")
    flat = {**instance.problem.to_dict(), "f": {"y": [0]}}
    place = Site(quadratic_of(parse_problem(flat)), (Fraction(0),))
    assert place.lacks({"y_star", "grad_F"}) == ""
    assert "∇F has no value" in site("weakly-active").lacks({"y_star", "grad_F"})
    assert site("weakly-active").lacks({"y_star"}) == ""
    assert site("infeasible").lacks({"y_star"}).startswith("y* has no value here: the lower level is infeasible")
    assert site("infeasible").lacks({"alpha"}) == ""


def performed(claim: str, reading: str, name: str):
    return perform(Task(claim, reading, name, "reference", "smoke", DEFAULT_SEED), ReferenceSubject())


@pytest.fixture
def with_premises_deleted(monkeypatch):
    """The lemma's file with two of its hypotheses deleted, wherever they stand in it."""
    text = package_text("claims/bias-bound.toml")
    for name in ("strict-complementarity", "hessian-lipschitz"):
        text = re.sub(rf'\[\[(steps\.)?premises\]\]\nid = "{name}"\n.*?\n(?=\[)', "", text, flags=re.DOTALL)
        text = text.replace(f'goes_without = ["{name}"]\n', "")
    edited, find = dict(claims._load("bias-bound", text).statements()), claims.find

    def find_edited(name: str) -> claims.Statement:
        return edited.get(name) or find(name)

    monkeypatch.setattr(plan, "find_claim", find_edited)
    monkeypatch.setattr(formula_evidence, "find", find_edited)
    monkeypatch.setattr(claims, "find", find_edited)  # premises_of looks there


CHANGES = [
    ("bias-bound", "weakly-active", Verdict.NOT_APPLICABLE, "Not applicable: ∇F has no value here"),
    ("bias-bound/T3", "weakly-active", Verdict.NOT_APPLICABLE, "Not applicable: ∇F has no value here"),
    ("bias-bound", "experiment-5d", Verdict.SUPPORTED, ""),
    ("bias-bound/T2", "weakly-active", Verdict.SUPPORTED, ""),
    ("bias-bound/hessian-lipschitz", "holder-1-4", Verdict.REFUTED, ""),
]


@pytest.mark.parametrize(("claim", "name", "verdict", "sentence"), CHANGES)
def test_deleting_a_premise_changes_what_it_excluded(with_premises_deleted, claim, name, verdict, sentence):
    result = performed(claim, "repaired", name)
    assert result.fault is None, result.fault
    assert result.verdict is verdict
    assert result.sentence.startswith(sentence)


@pytest.mark.parametrize(("claim", "name"), [change[:2] for change in CHANGES])
def test_with_its_premises_it_says_nothing_there(claim, name):
    result = performed(claim, "repaired", name)
    assert result.verdict is Verdict.NOT_APPLICABLE
    assert result.sentence.startswith("Premise “")
