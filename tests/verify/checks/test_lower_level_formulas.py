"""Formulas of the assumptions and of the first two lemmas, against exact numbers found another way, and made false."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from pydantic import ValidationError

from spec import InvalidInputError
from spec.atlas import find
from spec.claims import Premise
from spec.claims import find as statement
from spec.formulas import load_quantities, parse_formula
from spec.formulas.parser import Reader
from tests.verify.checks.verdicts_of import UNMET, result, verdict
from verify.campaign.plan import DEFAULT_SEED
from verify.checks.measuring.case import Case, find_profile
from verify.checks.measuring.formula_evidence import (
    alphas_of,
    exact_evidence,
    premises_decided,
    site_of,
    without_value,
)
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.truth.geometry import Geometry, quadratic_of, ramp
from verify.truth.lower_level import lower_level
from verify.truth.propositions.arithmetic import NoSolutionError
from verify.truth.propositions.deciding import at_each, in_the_limit, is_met
from verify.truth.propositions.sites import LITERAL_CHOICES, REPAIRED_CHOICES, Site
from verify.truth.propositions.valuation import value_of

TENTH = Fraction(1, 10)


def site(name, **given):
    instance = find(name)
    return Site(quadratic_of(instance.problem), tuple(map(Fraction, instance.x)), **given)


def value(text, name, choices=REPAIRED_CHOICES, **given):
    node = Reader(load_quantities(), "test").read(text)
    found = value_of(node, site(name, **given).at(TENTH, choices))
    return [float(v.p) / float(v.q) for v in found.entries()] if node.shape else float(found)


def holds(text, name, alpha=TENTH, **given):
    return all(one.holds for one in at_each(parse_formula(text), site(name, **given), [alpha]))


def case(claim, reading, name):
    asked = statement(claim)
    told, sense = asked.interpreted(reading)
    return Case(
        claim=claim, bound=asked.assertion(reading).bound, reading_name=reading, reading=told, sense=sense,
        instance=find(name), stages=StageCalls(ReferenceSubject()), profile=find_profile("ci"),
        rng=np.random.default_rng(DEFAULT_SEED),
    )  # fmt: skip


def decided(claim, reading, name):
    asked = case(claim, reading, name)
    return list(exact_evidence(asked, statement(claim).assertion(reading).proposition, site_of(asked)))


@pytest.mark.parametrize("dual_term", ["frozen", "map", "cancelled"])
@pytest.mark.parametrize("name", ["two-of-three", "random-3x5x4"])
def test_the_whole_gradient_is_the_estimate_and_the_part_in_y(name, dual_term):
    here, choices = site(name), {**REPAIRED_CHOICES, "dual_term": dual_term}
    problem, lower = here.problem, lower_level.solve(here.problem, here.x)
    y_star, lam = (np.array([float(v) for v in values]) for values in (lower.y_star, lower.lam))
    y = value("y_any", name)
    rho = ramp(np.array([float(v) for v in lower.h]), lam, 1e-3, 0.1)
    at = Geometry(problem, np.array([float(v) for v in here.x]), 0.1, y_star, lam, rho)
    expected = [*at.estimate(np.array(y), dual_term=dual_term), *at.gradient_y(np.array(y))]
    assert value("grad_L(y_star, lam_star, y_any)", name, choices) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["toy1", "two-of-three", "random-3x5x4", "interior"])
def test_no_piece_is_steeper_than_any_set_of_rows_allows(name):
    here = site(name)
    J = lower_level.jacobian(here.problem, here.x)
    assert J in lower_level.row_set_slopes(here.problem)
    assert np.linalg.norm(np.array(J, dtype=float), 2) <= value("L_y", name) * (1 + 1e-12)
    assert value("L_y", "toy1") == 1


def test_too_many_sets_of_rows_are_refused(monkeypatch):
    monkeypatch.setattr(lower_level, "MOST_ROW_SETS", 3)
    with pytest.raises(InvalidInputError, match="at most 3 sets, to find L_y"):
        lower_level.row_set_slopes.__wrapped__(site("two-of-three").problem)


def test_the_other_given_quantities():
    assert value("feasible", "toy1") == 1
    assert value("feasible", "infeasible") == 0
    active = lower_level.solve(site("two-of-three").problem, site("two-of-three").x).active
    assert value("on_active", "two-of-three") == [float(i in active) for i in range(3)]
    every = {"e_lam": [Fraction(1, 2)] * 3}
    moved = value("lam_active_t - lam_star", "two-of-three", errors=every)
    assert moved == pytest.approx([0.0005 * (i in active) for i in range(3)])
    a = site("random-3x5x4").problem.arrays
    assert value("jac_bound", "random-3x5x4") == pytest.approx(max(np.linalg.norm(v, 2) for v in (a.A, a.B)))
    assert value("y_star + radius * direction_y", "toy1", numbers={"radius": 2}, seed=1) == pytest.approx(
        [v + 2 * w for v, w in zip(value("y_star", "toy1"), value("direction_y", "toy1", seed=1), strict=True)]
    )


@pytest.mark.parametrize(
    ("claim", "reading", "name", "exponent", "coefficient"),
    [
        ("solution-error", "repaired", "two-of-three", 3, 0.08**0.5),
        ("solution-error", "repaired", "toy1", 5, 1.0),
        ("solution-error/active-rows", "repaired", "scalar-rational", 5, 1.25),
        ("solution-error/gradient-difference", "as-written", "weakly-active", 0, 1.0),
        ("solution-error/gradient-difference", "repaired", "weakly-active", 1, 11.0),
        ("dual-extraction/constraint-difference", "as-written", "interior", 2, 11 / 12),
        ("dual-extraction/weighted-rows", "repaired", "moving-box", 4, 2.25),
        ("dual-extraction/linear-term", "as-written", "toy1", 1, 2**0.5),
        ("dual-extraction/linear-term", "repaired", "toy1", 1, 1.0),
    ],
)
def test_orders_and_first_terms(claim, reading, name, exponent, coefficient):
    (rate,) = decided(claim, reading, name)
    assert (rate.variable, rate.exponent) == ("alpha", exponent)
    assert rate.coefficient == pytest.approx(coefficient)


@pytest.mark.parametrize(
    ("claim", "choices", "exponent"),
    [("dual-extraction", {"multiplier_width": "shrinking"}, -4), ("dual-extraction", {"multiplier_width": "fixed"}, -1),
     ("dual-extraction/T1", {"multiplier_width": "shrinking"}, -4)],
)  # fmt: skip
def test_a_multiplier_that_leaves_zero_moves_its_weight(claim, choices, exponent):
    formula = statement(claim).as_written.proposition
    assert in_the_limit(formula, site("weakly-active"), {**LITERAL_CHOICES, **choices}).exponent == exponent


def test_the_difference_grows_with_the_distance():
    (rate,) = decided("dual-extraction/fixed-point", "as-written", "weakly-active")
    assert (rate.variable, rate.exponent) == ("radius", 1)
    assert statement("dual-extraction/fixed-point").as_written.bound.toward == "infinity"
    formula = statement("dual-extraction/fixed-point").as_written.proposition
    assert not in_the_limit(formula, site("weakly-active"), variable="radius").holds


@pytest.mark.parametrize(
    ("claim", "name", "right", "wrong"),
    [
        ("smoothness/f-smooth", "two-of-three", "C_f * norm", "C_f / 20 * norm"),
        ("smoothness/g-smooth", "two-of-three", "C_g * norm", "C_g / 20 * norm"),
        ("smoothness/strong-convexity", "two-of-three", ">= mu_g", ">= 9 * mu_g"),
        ("smoothness/strong-convexity", "two-of-three", "mu_g > 0", "mu_g > 9"),
        ("smoothness/lipschitz-bounds-gradient", "two-of-three", "2 * norm", "2.001 * norm"),
        ("dual-extraction/row-difference", "two-of-three", "ys_t - y_any", "y_any - ys_t"),
        ("dual-extraction/jacobian-bound", "toy1", "norm(A) + norm(B)", "norm(A)"),
        ("dual-extraction/weights-range", "toy1", "<= 1", "<= 0.9"),
        ("solution-error/y-part", "two-of-three", "norm(grad_y_L", "3 * norm(grad_y_L"),
        ("solution-error/monotonicity", "toy1", "eig_min", "1.01 * eig_min"),
        ("lipschitz-solution/from-smoothness", "toy1", "L_y *", "0.99 * L_y *"),
    ],
)
def test_it_holds_and_a_little_more_does_not(claim, name, right, wrong):
    formula = statement(claim).repaired.formula
    assert right in formula
    assert holds(formula, name, seed=1)
    assert not holds(formula.replace(right, wrong, 1), name, seed=1)


def test_dependent_rows_and_missing_solutions_are_told_by_the_premises():
    licq = parse_formula("rank(B[active]) == count(active)")
    assert is_met(licq, site("two-of-three"), None)
    assert not is_met(licq, site("licq-fails"), None)
    assert verdict("smoothness/uniqueness", "as-written", "licq-fails") is UNMET
    asked = case("dual-extraction", "as-written", "infeasible")
    licq_of_nothing = Premise(id="licq", text="-", formula="rank(B[active]) == 0")
    assert list(premises_decided(asked, [licq_of_nothing])) == []
    absent = without_value(asked)
    assert absent is not None
    assert absent.finding.startswith("y* has no value here")


def test_a_relation_is_asked_where_its_premises_on_alpha_hold():
    convex = "solution-error/strong-convexity"
    literal = alphas_of(case(convex, "as-written", "concave-upper"))
    assert min(literal) == 2
    assert max(literal) == 1000
    repaired = alphas_of(case(convex, "repaired", "concave-upper"))
    assert Fraction(4998, 10000) < max(repaired) ** 2 <= Fraction(1, 2)
    assert {Fraction(1, 5), TENTH} <= set(repaired)
    # The value chosen decides which of a premise's two formulas is asked, not the text's name.
    assert alphas_of(case(convex, "choose:alpha_range=upper-bound", "concave-upper")) == repaired
    assert alphas_of(case(convex, "keep:alpha_range=lower-bound", "concave-upper")) == literal


def test_an_order_in_a_range_without_small_alphas_is_vacuous():
    shown = result("solution-error", "as-written", "two-of-three")
    assert shown.verdict.value == "VACUOUS"
    assert verdict("solution-error", "as-written", "toy1").value == "SUPPORTED"


def test_a_text_kept_with_a_literal_choice_goes_without_the_premise_that_excludes_it():
    claim, premises = "solution-error/gradient-difference", statement("solution-error").premises[3:4]
    assert [one.holds for one in premises_decided(case(claim, "repaired", "toy1"), premises)] == [True]
    assert not list(premises_decided(case(claim, "keep:multiplier_width=shrinking", "weakly-active"), premises))


def test_a_premise_of_one_formula_has_no_choice():
    with pytest.raises(ValidationError, match="must come with a formula for each reading"):
        Premise(id="a", text="-", formula="mu_g > 0", choice="alpha_range")


def test_points_without_a_solution_are_no_places():
    formula = parse_formula("norm(y_star_other) >= 0")
    without = 0
    for seed in range(8):
        try:
            assert next(at_each(formula, site("random-2x3x4", seed=seed), [TENTH])).holds
        except NoSolutionError:
            without += 1
    assert 0 < without < 8
    item = decided("lipschitz-solution/from-smoothness", "repaired", "random-2x3x4")[0]
    assert item.holds
    assert item.quantity.endswith(f"of {8 - without}")
