from __future__ import annotations

import itertools
import json
import subprocess
import sys
from fractions import Fraction
from pickle import dumps, loads
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import InvalidInputError
from tests.verify.truth.problems import KINK, TOY1, quadratic, random_rows, regular_families, regular_instances
from verify.truth.certificates import certification
from verify.truth.certificates.certificate import Certificate, Convexity
from verify.truth.certificates.certification import NoCertificateError, WantedBound
from verify.truth.certificates.checker import RejectedCertificateError, check
from verify.truth.functions_of_alpha import closed_forms, series
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, convex_up_to, error
from verify.truth.functions_of_alpha.scenario import Quantity, Scenario, exact_error

INSTANCES = regular_instances()


def certify(family, scenario, quantity="bias", *, alpha_0=None, **wanted) -> Certificate:
    """Certified on (0, alpha_0], by default up to the first of 1/4, 1/8, ... where the Lagrangian is convex."""
    bound = WantedBound(quantity=quantity, **wanted)
    weights = family.fitted(scenario).rho, family.exact_stages.rho
    ends = [alpha_0] if alpha_0 is not None else [Fraction(1, 4 << k) for k in range(12)]
    convex = (all(convex_up_to(family.problem, rho, end, bound.modulus) for rho in weights) for end in ends)
    end = next((end for end, holds in zip(ends, convex, strict=True) if holds), ends[-1])
    return certification.certify(family, scenario, bound, end)


SMALL = [(name, family) for name, family in INSTANCES if family.problem.m <= 3]


@pytest.mark.parametrize(("name", "family"), INSTANCES)
def test_the_repaired_bias_is_certified_at_its_true_order_on_every_instance(name, family):
    found = certify(family, Scenario(), exponent=2)
    check(Certificate.model_validate_json(found.model_dump_json()))
    leading = error(family, Scenario()).leading()
    assert found.constant_squared >= leading.norm_squared
    assert 1 <= found.tightness <= 1.000001
    # O(alpha) is then certified too, and no O(alpha**3) is.
    check(certify(family, Scenario(), exponent=1))
    with pytest.raises(NoCertificateError, match="no constant works"):
        certify(family, Scenario(), exponent=3)


@pytest.mark.parametrize(("name", "family"), SMALL)
def test_as_written_the_frozen_term_is_bounded_from_below_where_rows_move(name, family):
    frozen = Scenario(dual_term="frozen")
    if error(family, frozen).leading().exponent == -2:
        found = certify(family, frozen, exponent=-2, side="lower")
        check(found)
        assert found.constant > 0
        with pytest.raises(NoCertificateError, match="no constant works"):
            certify(family, frozen, exponent=1)
    else:
        with pytest.raises(NoCertificateError, match="no positive constant works"):
            certify(family, frozen, exponent=-2, side="lower")


@pytest.mark.parametrize(("name", "family"), SMALL)
def test_every_quantity_is_certified_at_its_leading_exponent_with_worst_errors(name, family):
    spent = series.worst_scenario(family, Scenario(), dict.fromkeys(get_args(series.Spent), 3))
    for quantity in get_args(Quantity):
        leading = error(family, spent, quantity).leading()
        if leading.exponent is not None:
            check(certify(family, spent, quantity, exponent=leading.exponent))


@settings(max_examples=15)
@given(regular_families(), st.sampled_from(["upper", "lower"]))
def test_a_certified_bound_holds_at_sampled_alphas_and_its_best_constant_is_met(family, side):
    leading = error(family, Scenario()).leading()
    if leading.exponent is None:
        return
    try:
        found = certify(family, Scenario(), exponent=leading.exponent, side=side)
    except NoCertificateError:
        # From below the error may vanish inside the interval.
        assert side == "lower"
        return
    bias = error(family, Scenario())
    for k in range(1, 30):
        alpha = found.alpha_0 * k / 29
        squared = sum(v * v for v in bias(alpha))
        bound = found.constant_squared * alpha ** (2 * leading.exponent)
        assert squared <= bound if side == "upper" else squared >= bound
    assert found.tightness <= 1.00001


def test_toy1_has_the_constants_of_its_closed_form():
    family = PenaltyFamily.at(TOY1, [1])
    found = certify(family, Scenario(), exponent=2, alpha_0=Fraction(1))
    # bias = -alpha**2 / (1 + alpha**2): the supremum of |bias| / alpha**2 is its limit 1.
    assert (found.constant_squared, found.attained_at, found.tightness) == (1, 0, 1.0)
    assert found.variable == "alpha^2"
    below = certify(family, Scenario(), exponent=2, side="lower", alpha_0=Fraction(1))
    assert below.constant_squared == pytest.approx(Fraction(1, 4), rel=1e-5)
    assert below.attained == Fraction(1, 4)


def test_a_given_constant_holds_up_to_where_the_closed_form_crosses_the_bound():
    # f = -y^2/2 over g = y^2/2 + xy: |bias| = alpha^2/(1 - alpha^2) = alpha at the golden ratio's inverse, 0.618034.
    concave = quadratic({"yy": [[-1]]}, {"yy": [[1]], "xy": [[1]]}, [[0]], [[1]], [10])
    family = PenaltyFamily.at(concave, [1])
    check(certify(family, Scenario(), exponent=1, constant_squared=Fraction(1), alpha_0=Fraction("0.618033")))
    with pytest.raises(NoCertificateError, match="must have C"):
        certify(family, Scenario(), exponent=1, constant_squared=Fraction(1), alpha_0=Fraction("0.618035"))
    # With a generous constant convexity is what ends it.
    check(certify(family, Scenario(), exponent=1, constant_squared=Fraction(10**20), alpha_0=Fraction("0.999999")))
    with pytest.raises(NoCertificateError, match="convex"):
        certify(family, Scenario(), exponent=1, constant_squared=Fraction(10**20), alpha_0=Fraction("1.000001"))


def test_strong_convexity_of_modulus_c_over_alpha_squared_is_a_premise_that_can_be_asked_for():
    family = PenaltyFamily.at(TOY1, [1])
    found = certify(family, Scenario(), exponent=1, modulus=Fraction(1, 2))
    assert found.convexity[0].modulus == Fraction(1, 2)
    check(found)
    with pytest.raises(NoCertificateError, match="convex"):
        certify(PenaltyFamily.at(KINK, [-1]), Scenario(rho=(Fraction(0),)), exponent=1, modulus=Fraction(2))


def test_a_bound_met_with_equality_everywhere_is_certified():
    # T1 is exactly the error times a monomial here.
    family = PenaltyFamily.at(TOY1, [1])
    spent = Scenario(y_error=(exact_error(3, [1]),))
    found = certify(family, spent, "T1", exponent=-1)
    assert (found.constant_squared, found.tightness) == (1, 1.0)
    check(found)
    zero = certify(family, Scenario(), "T1", exponent=5)
    assert zero.constant_squared == 0
    check(zero)


def test_the_constant_matches_the_symbolic_leading_coefficient():
    family = dict(INSTANCES)["scalar-rational"]
    exponent, (coefficient,) = closed_forms.closed_form(family, Scenario(), "T3").leading()
    found = certify(family, Scenario(), "T3", exponent=exponent)
    assert coefficient**2 <= found.constant_squared <= coefficient**2 * Fraction(11, 10)


def corruptions(good: Certificate):
    first = good.numerators[0]
    yield "numerators", {"numerators": ((first[0] + 1, *first[1:]), *good.numerators[1:])}
    yield "numerators", {"denominator": tuple(2 * v for v in good.denominator)}
    yield "numerators", {"variable": "alpha"}
    yield "numerators", {"scenario": good.scenario.model_copy(update={"dual_term": "frozen"})}
    yield "numerators", {"quantity": "T1"}
    yield "denominator", {"denominator": ()}
    yield "constant_squared|roots", {"constant_squared": good.constant_squared * Fraction(99, 100)}
    yield "constant_squared|roots", {"side": "lower"}
    yield "constant_squared|roots", {"exponent": 4}
    yield "alpha_0", {"alpha_0": Fraction(0)}
    yield "convexity", {"alpha_0": Fraction(50)}
    yield "convexity", {"convexity": ()}
    yield "convexity", {"convexity": (Convexity(rho=good.scenario.rho, determinant=(Fraction(1),)),)}
    yield "convexity", {"roots": good.roots | {"convexity[0]": 1}}
    yield "roots", {"roots": good.roots | {"bound": 1}}
    yield "denominator", {"roots": good.roots | {"denominator": 2}}
    yield "attained", {"attained": good.attained / 2}
    yield "y_star", {"y_star": tuple(v + 1 for v in good.y_star)}
    yield "y_star", {"lam": tuple(v + 1 for v in good.lam)}
    yield "reference", {"reference": tuple(v + 1 for v in good.reference)}
    yield "x", {"x": (*good.x, Fraction(0))}
    yield "numerators", {"numerators": good.numerators[1:]}


def test_every_corruption_is_rejected_where_it_was_made():
    family = dict(INSTANCES)["two-of-three"]
    good = certify(family, Scenario(), exponent=2)
    check(good)
    for part, change in corruptions(good):
        with pytest.raises(RejectedCertificateError, match=rf"^certificate\.({part})"):
            check(good.model_copy(update=change))


@settings(max_examples=40)
@given(st.data())
def test_no_single_changed_number_in_the_file_is_accepted(data):
    family = PenaltyFamily.at(random_rows(2, 2, 2, 1), [0, 0])
    good = certify(family, Scenario(dual_term="frozen"), exponent=-2, side="lower")
    fields = ("numerators", "denominator", "y_star", "lam", "reference", "attained", "attained_at")
    file = json.loads(good.model_dump_json())
    where: list[list] = []

    def collect(holder, key):
        if isinstance(holder[key], list):
            for k in range(len(holder[key])):
                collect(holder[key], k)
        else:
            where.append([holder, key])

    for name in fields:
        collect(file, name)
    holder, key = data.draw(st.sampled_from(where))
    holder[key] = str(Fraction(holder[key]) + data.draw(st.sampled_from([1, -1, Fraction(1, 10**9)])))
    with pytest.raises(InvalidInputError):
        check(Certificate.model_validate(file))


def test_a_problem_swapped_into_a_certificate_is_noticed():
    good = certify(PenaltyFamily.at(TOY1, [1]), Scenario(), exponent=1)
    other = certify(PenaltyFamily.at(KINK, [-1]), Scenario(), exponent=1)
    with pytest.raises(RejectedCertificateError):
        check(good.model_copy(update={"problem": other.problem}))
    with pytest.raises(RejectedCertificateError, match="quadratic"):
        check(good.model_copy(update={"problem": '{"kind": "holder", "s": "1/2"}'}))


def test_a_certificate_at_a_kink_names_a_piece():
    family = PenaltyFamily.at(KINK, [0], gradient=[1])
    found = certify(family, Scenario(rho=(Fraction(0),)), exponent=2)
    check(found)
    with pytest.raises(RejectedCertificateError, match="limit of its gradients"):
        check(found.model_copy(update={"reference": (Fraction(1, 2),)}))


def test_the_checker_loads_without_the_libraries_the_certificates_were_made_with():
    code = (
        "import sys, verify.truth.certificates.checker; "
        "print([name for name in ('flint', 'sympy', 'daqp', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_errors_survive_pickling():
    for original in (NoCertificateError("must hold", 2.0), RejectedCertificateError("roots", "must be 0")):
        assert str(loads(dumps(original))) == str(original)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha_0": Fraction(0)}, "alpha_0: must be > 0"),
        ({"constant_squared": Fraction(1, 100), "exponent": 2}, r"bound: must have C\*\*2 >="),
        ({"alpha_0": Fraction(1), "modulus": Fraction(2)}, "bound: needs the penalty Lagrangian convex"),
    ],
)
def test_what_cannot_be_certified_says_why(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        certify(PenaltyFamily.at(TOY1, [1]), Scenario(rho=(Fraction(1, 2),)), **({"exponent": 1} | arguments))


def test_ten_variables_and_five_rows_are_certified_and_checked():
    family = PenaltyFamily.at(random_rows(10, 10, 5, 1), [0] * 10)
    found = certify(family, Scenario(), exponent=1)
    check(found)
    assert len(list(itertools.chain(*found.numerators))) > 100
