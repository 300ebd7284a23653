from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import Holder
from tests.verify.truth.problems import TOY1, TOY2, hessian, quadratic, small_fractions
from verify.truth import closed_forms as cf
from verify.truth.penalty_functions import Family, error, estimator, minimiser
from verify.truth.scenario import Scenario

positive = st.builds(Fraction, st.integers(1, 6), st.integers(1, 4))


def test_the_bias_of_the_active_scalar_instance_comes_out_factored():
    a, b, c, p, q, s, u = cf.a, cf.b, cf.c, cf.p, cf.q, cf.s, cf.alpha**2
    expected = -u * cf.f_y * (a * q + c * b + u * (a * p + b * s)) / (b * (b**2 * cf.rho + u * q + u**2 * p))
    found = cf.scalar_forms()
    assert sp.simplify(found.bias - expected) == 0
    assert found.bias.func is sp.Mul
    assert sp.simplify(found.bias_frozen - expected - a * cf.lam / u) == 0
    assert found.leading() == (2, sp.factor(-cf.f_y * (a * q + b * c) / (b**3 * cf.rho)))
    assert found.leading(frozen=True) == (-2, a * cf.lam)
    assert found.sensitivity == a / b


def test_the_inactive_instance_has_no_row_in_it():
    found = cf.scalar_forms(active=False)
    assert found.bias.free_symbols <= {cf.alpha, cf.c, cf.p, cf.q, cf.s, cf.f_y}
    assert found.leading()[0] == 2
    assert sp.simplify(found.bias - found.bias_frozen) == 0


@settings(max_examples=20)
@given(st.lists(positive, min_size=4, max_size=4), st.lists(small_fractions, min_size=7, max_size=7), st.booleans())
def test_letters_and_rationals_agree(positives, numbers, active):
    q, b, rho, gap = positives
    a, c, p, s, f_y, x, y = numbers
    lam = gap if active else Fraction(0)
    h = Fraction(0) if active else -gap
    # Linear terms chosen so that y is the solution at x with this multiplier and row value.
    problem = quadratic(
        {"xy": [[s]], "yy": [[p]], "y": [f_y - s * x - p * y]},
        {"xy": [[c]], "yy": [[q]], "y": [b * lam - c * x - q * y]},
        [[a]],
        [[b]],
        [a * x - b * y - h],
    )
    family = Family.at(problem, [x])
    assert family.lower.y_star == (y,)
    forms = cf.scalar_forms(active=active)
    letters = {
        cf.a: a,
        cf.b: b,
        cf.c: c,
        cf.p: p,
        cf.q: q,
        cf.s: s,
        cf.f_y: f_y,
        cf.f_x: s * y,
        cf.lam: lam,
        cf.rho: rho,
    }
    assert cf.evaluate(forms.hypergradient, letters) == family.hypergradient[0]
    for alpha in (Fraction(1, 5), Fraction(2, 7)):
        at = letters | {cf.alpha: alpha}
        if alpha**4 * p + alpha**2 * q + (b**2 * rho if active else 0) == 0:
            continue
        for dual_term, form in (("cancelled", forms.bias), ("frozen", forms.bias_frozen)):
            scenario = Scenario(dual_term=dual_term, rho=(rho if active else Fraction(0),))
            assert cf.evaluate(form, at) == error(family, scenario)(alpha)[0]
        assert cf.evaluate(forms.shift, at) == minimiser(family, scenario)(alpha)[0] - y


def test_toy1_takes_its_two_values_at_one_tenth():
    family = Family.at(TOY1, [1])
    for frozen, value in ((False, "0.990099"), (True, "100.990099")):
        form = cf.toy1_estimator(frozen=frozen)
        assert f"{float(cf.evaluate(form, {cf.alpha: Fraction(1, 10)})):.6f}" == value
        scenario = Scenario(dual_term="frozen" if frozen else "cancelled")
        at = Fraction(1, 3)
        assert cf.evaluate(form, {cf.alpha: at}) == estimator(family, scenario)(at)[0]


def test_near_a_kink_the_bias_is_one_half_for_every_alpha():
    form = cf.weak_activation_bias()
    assert sp.simplify(form.subs(cf.x, cf.alpha**2 * cf.width)) == sp.Rational(1, 2)
    x, width, alpha = Fraction(1, 70), Fraction(1, 10), Fraction(1, 4)
    family = Family.at(TOY2, [x])
    exact = error(family, Scenario(rho=(x / width,)))(alpha)[0]
    assert cf.evaluate(form, {cf.x: x, cf.width: width, cf.alpha: alpha}) == exact


def test_a_hessian_that_is_only_hoelder_has_bias_alpha_to_the_two_s():
    assert sp.simplify(cf.holder_bias() + cf.alpha ** (2 * cf.s_holder)) == 0
    # At s = 1 and written out in doubles: grad_x g(0, y) = y + y |y|.
    holder, alpha = Holder(s=1), 0.1
    y = -(alpha**2)
    bias = (y + y * abs(y) ** float(holder.s)) / alpha**2 - (-1.0)
    assert bias == pytest.approx(float(cf.holder_bias().subs({cf.alpha: alpha, cf.s_holder: 1})))


def test_a_letter_without_a_value_is_an_error():
    with pytest.raises(TypeError):
        cf.evaluate(cf.scalar_forms().bias, {cf.alpha: 1})


def test_the_lagrangian_is_the_one_of_the_penalty_module():
    # Second derivative in y, the one entry the module's Hessian has.
    w = next(symbol for symbol in cf.scalar_forms().lagrangian.free_symbols if symbol.name == "w")
    curvature = sp.diff(cf.scalar_forms().lagrangian, w, 2)
    letters = {cf.b: 2, cf.q: 3, cf.p: -1, cf.rho: Fraction(1, 2), cf.alpha: Fraction(1, 3)}
    problem = quadratic({"yy": [[-1]]}, {"yy": [[3]]}, [[1]], [[2]], [0])
    assert cf.evaluate(curvature, letters) == Fraction(hessian(problem, Fraction(1, 3), [Fraction(1, 2)])[0, 0])
