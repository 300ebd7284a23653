"""A closed form is evidence only where it agrees with what was derived without it; a disagreement is a fault."""

from __future__ import annotations

import math
from dataclasses import fields
from fractions import Fraction

import pytest

from spec.atlas import find
from tests.verify.own_results import own_results
from verify.checks.measuring.agreement import held
from verify.conformance.bugs.bent_subject import DropsImplicitTerm
from verify.evidence.model import RateEvidence
from verify.subjects import ReferenceSubject
from verify.truth.algebra.products import field, scalar
from verify.truth.algebra.rings import SYMBOLS
from verify.truth.formulas import Lagrangian
from verify.truth.functions_of_alpha import closed_forms
from verify.truth.functions_of_alpha.closed_forms import closed_form
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, error
from verify.truth.functions_of_alpha.scenario import Scenario
from verify.truth.geometry import quadratic_of
from verify.verdict import RungDisagreementError

ALPHAS = (0.2, 0.1)


@pytest.fixture(autouse=True)
def derived_anew():
    def clear():
        closed_forms._closed_form.cache_clear()
        closed_forms._closed_variance.cache_clear()

    clear()
    yield
    clear()


def run(claim: str, instance: str, reading: str = "repaired", subject=None):
    return own_results(claim, subject, readings=[reading], instances=[instance])[0]


def forms(result) -> list:
    return [e.closed_form for e in result.evidence if isinstance(e, RateEvidence) and e.closed_form]


@pytest.mark.parametrize(
    ("claim", "instance", "text"),
    [
        ("bias-bound/T3", "toy1", "|−α²/(1 + α²)| = α²/(1 + α²)"),
        ("solution-error", "toy1", "α⁵/(1 + α²)"),
        ("dual-extraction/constraint-difference", "toy2", "|−α⁴/(1 + α²)| = α⁴/(1 + α²)"),
        ("variance-bound/g-noise-only", "toy1", "α⁴/(100(1 + α²)²)"),
        ("variance-bound", "two-of-three", "1/50·N_g⁻¹"),
    ],
)
def test_small_instances_carry_their_formula_with_its_values(claim, instance, text):
    (form,) = forms(run(claim, instance))
    assert form.text == text
    assert form.whole
    assert form.measured
    assert len(form.values) >= 2


def bend(monkeypatch, alpha_1=1, drop=None):
    """The formulas as the closed forms read them, with a weight off or a part left out; nobody else sees it."""

    class Bent(Lagrangian):
        def terms(self, y, *more):
            terms = super().terms(y, *more)
            return terms | ({drop: terms[drop] - terms[drop]} if drop else {})

    def bent(family, ring, alpha, scenario):
        true = right(family, ring, alpha, scenario)
        if ring is not SYMBOLS:
            return true
        given = {field.name: getattr(true, field.name) for field in fields(Lagrangian)}
        return Bent(**given | {"alpha_1": scalar(alpha_1) * given["alpha_1"]})

    right = PenaltyFamily.lagrangian_over
    monkeypatch.setattr(PenaltyFamily, "lagrangian_over", bent)


@pytest.mark.parametrize(
    ("claim", "instance", "reading", "changes"),
    [
        ("bias-bound/T3", "toy1", "repaired", {"alpha_1": 2}),
        ("bias-bound/T3", "interior", "repaired", {"drop": "g_difference"}),
        ("bias-bound/T3", "two-of-three", "as-written", {"drop": "dual"}),
        ("bias-bound/T3", "scalar-rational", "as-written", {"drop": "penalty"}),
        ("solution-error", "toy1", "repaired", {"alpha_1": Fraction(1, 2)}),
        ("dual-extraction/constraint-difference", "toy2", "repaired", {"alpha_1": 2}),
        ("variance-bound/per-sample", "toy1", "repaired", {"alpha_1": 2}),
    ],
)
def test_a_bent_formula_is_a_fault_and_no_verdict(monkeypatch, claim, instance, reading, changes):
    bend(monkeypatch, **changes)
    result = run(claim, instance, reading)
    assert result.verdict is None
    assert "closed form" in result.fault


def test_a_formula_that_begins_rightly_and_ends_wrongly_is_a_fault_too():
    toy1 = find("toy1")
    family = PenaltyFamily.at(quadratic_of(toy1.problem), toy1.x)
    right, exact = closed_form(family, Scenario(), "T3"), error(family, Scenario(), "T3")
    values = held(right, exact, ALPHAS, "T₃", measured=True).values
    assert values == tuple((a, pytest.approx(a**2 / (1 + a**2), rel=1e-15)) for a in ALPHAS)
    alpha = field().gens[0]
    for bent, words in ((1 + scalar(Fraction(1, 10**30)) * alpha**9, "at alpha = 0.2"), (scalar(2), "begins unlike")):
        wrong = closed_forms.DerivedForm([right.entries[0].element * bent])
        with pytest.raises(RungDisagreementError, match=words):
            held(wrong, exact, ALPHAS, "T₃", measured=True)


def test_wrong_factors_of_the_printed_norm_are_a_fault():
    found = find("absolute-moving")
    family = PenaltyFamily.at(quadratic_of(found.problem), found.x)
    formula = closed_forms.DerivedForm([e.element for e in closed_form(family, Scenario(), "T3").entries])
    constant, power, factors = formula.square.factors
    formula.square.__dict__["factors"] = (constant * 2, power, factors)
    with pytest.raises(RungDisagreementError, match="leaves its exact value"):
        held(formula, error(family, Scenario(), "T3"), ALPHAS, "T₃", measured=True)


def test_a_reference_whose_samples_leave_the_formula_is_a_fault(monkeypatch):
    right = ReferenceSubject.hypergradient_samples
    monkeypatch.setattr(
        ReferenceSubject, "hypergradient_samples", lambda self, *call: 1.5 * right(self, *call)
    )  # fmt: skip
    result = run("variance-bound/f-noise-only", "toy1")
    assert result.verdict is None
    assert "the reference leaves the closed form" in result.fault


def test_another_implementation_that_leaves_the_formula_gets_its_verdict_from_the_evidence():
    result = run("bias-bound/T3", "two-of-three", subject=DropsImplicitTerm())
    assert result.verdict is not None
    (form,) = forms(result)
    assert not form.measured
    assert math.isclose(form.values[0][1], forms(run("bias-bound/T3", "two-of-three"))[0].values[0][1])
