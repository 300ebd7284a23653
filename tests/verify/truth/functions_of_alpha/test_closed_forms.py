from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import Holder, Noise
from spec.atlas import find
from tests.verify.truth.problems import TOY1, TOY2, quadratic, regular_families, regular_instances, small_fractions
from verify.truth.enclosures.pair import holder_bias
from verify.truth.functions_of_alpha.closed_forms import CLOSED, LARGEST, LONGEST, closed_form, closed_variance
from verify.truth.functions_of_alpha.noise import variance_function
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, error
from verify.truth.functions_of_alpha.scenario import Scenario, exact_error
from verify.truth.geometry import quadratic_of

positive = st.builds(Fraction, st.integers(1, 6), st.integers(1, 4))
ALPHA = sp.Symbol("alpha", positive=True)
NOISE = {"sigma_f": "1/10", "sigma_g": "1/3"}


def family(name: str) -> PenaltyFamily:
    found = find(name)
    return PenaltyFamily.at(quadratic_of(found.problem), found.x)


def read(text: str) -> sp.Expr:
    """The printed formula as sympy reads it, no code of the printer shared: superscripts, roots and bars."""
    from sympy.parsing.sympy_parser import implicit_multiplication_application, parse_expr, standard_transformations

    text = text.split(" = ")[-1].replace("−", "-").replace("α", " alpha").replace("·", "*")
    for sign, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True):
        text = text.replace(sign, f"^{digit}")
    while "^" in text:
        start = text.index("^")
        end = start
        while end < len(text) and (text[end] == "^" or (text[end].isdigit() and text[end - 1] == "^")):
            end += 1
        text = f"{text[:start]}**{text[start:end].replace('^', '')} {text[end:]}"
    parts = text.split("|")
    text = parts[0] + "".join((" Abs(" if i % 2 == 0 else ") ") + part for i, part in enumerate(parts[1:]))
    digits = "0123456789"
    while "√" in text:
        start = text.index("√") + 1
        if text[start] in digits:
            end = start
            while end < len(text) and text[end] in digits:
                end += 1
            text = f"{text[: start - 1]} sqrt({text[start:end]}) {text[end:]}"
        else:
            text = f"{text[: start - 1]} sqrt{text[start:]}"
    rules = (*standard_transformations, implicit_multiplication_application)
    return parse_expr(text, local_dict={"alpha": ALPHA}, transformations=rules)


def test_toy1_has_the_bias_everybody_can_derive_by_hand():
    (bias, frozen) = (
        closed_form(PenaltyFamily.at(TOY1, [1]), Scenario(dual_term=d), "T3") for d in ("cancelled", "frozen")
    )
    assert bias.printed.text == "|−α²/(1 + α²)| = α²/(1 + α²)"
    assert bias.printed.latex == r"|-\frac{\alpha^{2}}{1 + \alpha^{2}}| = \frac{\alpha^{2}}{1 + \alpha^{2}}"
    assert frozen.printed.text == "|(1 + α² − α⁴)/(α²(1 + α²))| = |1 + α² − α⁴|/(α²(1 + α²))"
    assert (bias.leading(), frozen.leading()) == ((2, (-1,)), (-2, (1,)))


def test_another_instance_has_another_formula():
    halved = quadratic({"y": [1]}, {"yy": [[1]]}, [[1]], [["1/2"]], [0])
    assert (
        closed_form(PenaltyFamily.at(halved, [1]), Scenario(), "T3").printed.text == "|−8α²/(1 + 4α²)| = 8α²/(1 + 4α²)"
    )


@settings(max_examples=25, deadline=None)
@given(regular_families(largest=2), st.sampled_from(CLOSED), st.sampled_from(["cancelled", "frozen"]), st.data())
def test_it_equals_the_exact_function_with_errors_spent(made, quantity, dual_term, data):
    def spent(size: int):
        return (exact_error(3, data.draw(st.lists(small_fractions, min_size=size, max_size=size))),)

    m, p = made.problem.m, made.problem.p
    rho = tuple(data.draw(st.lists(positive, min_size=p, max_size=p)))
    scenario = Scenario(dual_term=dual_term, rho=rho, y_star_error=spent(m), lam_error=spent(p))
    formula, exact = closed_form(made, scenario, quantity), error(made, scenario, quantity)
    leading = exact.leading()
    assert formula.leading() == (leading.exponent, leading.coefficient)
    for alpha in (Fraction(1, 7), Fraction(0.1)):
        assert formula(alpha) == exact(alpha)
        assert formula.square(alpha) == exact.norm_squared()(alpha)[0]


@pytest.mark.parametrize("model", ["additive", "matrix"])
@pytest.mark.parametrize("pairing", ["independent", "common"])
def test_the_variance_from_the_draws_equals_the_one_from_the_noise_models(model, pairing):
    for _, made in regular_instances():
        noisy = PenaltyFamily.at(made.problem.model_copy(update={"noise": Noise(model=model, **NOISE)}), made.x)
        formula = closed_variance(noisy, pairing)
        if formula is None:
            continue
        exact = variance_function(noisy, pairing)
        assert formula(Fraction(1, 9)) == exact(Fraction(1, 9))
        assert formula.leading() == (exact.leading().exponent, exact.leading().coefficient)


@pytest.mark.parametrize("dual_term", ["cancelled", "frozen"])
def test_what_is_printed_is_the_formula(dual_term):
    seen = 0
    for name, made in regular_instances():
        formula = closed_form(made, Scenario(dual_term=dual_term), "T3")
        if formula is None:
            assert made.problem.n + made.problem.m + made.problem.p > LARGEST
            continue
        printed, at = formula.printed, Fraction(1, 50)
        assert len(printed.text) <= LONGEST, name
        if printed.whole:
            assert sp.simplify(read(printed.text).subs(ALPHA, sp.Rational(1, 50)) ** 2) == sp.Rational(
                formula.square(at)
            )
            seen += 1
        else:
            begun = read(printed.text.removesuffix(" + …"))
            near = float(begun.subs(ALPHA, sp.Rational(1, 10**4)))
            assert near == pytest.approx(float(formula.square(Fraction(1, 10**4))) ** 0.5, rel=1e-10)
    assert seen >= 12


def test_a_large_instance_and_a_jump_have_none():
    assert closed_form(family("experiment-5d"), Scenario(), "T3") is None
    jumping = TOY1.model_copy(update={"noise": Noise(model="jump", sigma_g=1)})
    assert closed_variance(PenaltyFamily.at(jumping, [1]), "common") is None


def test_near_a_kink_the_bias_is_one_half_for_every_alpha():
    width = Fraction(1, 10)
    for alpha in (Fraction(1, 4), Fraction(1, 90)):
        x = alpha**2 * width
        assert error(PenaltyFamily.at(TOY2, [x]), Scenario(rho=(x / width,)), "bias")(alpha) == (Fraction(1, 2),)


def test_a_hessian_that_is_only_hoelder_has_bias_alpha_to_the_two_s():
    x, y, s = sp.symbols("x y s", real=True)
    g = y**2 / 2 + x * y + x * y * (x**2 + y**2) ** (s / 2)
    # y*(0) = 0 with slope -1: the last term is o(|x| + |y|) times |x|.
    step = sp.solve(1 + sp.diff(g.subs(x, 0), y) / ALPHA**2, y)[0]
    bias = sp.diff(g, x).subs(x, 0).subs(y, step) / ALPHA**2 + 1
    assert sp.simplify(sp.powsimp(sp.expand(bias), force=True) + ALPHA ** (2 * s)) == 0
    assert holder_bias(Holder(s="1/4"), 0.1) == pytest.approx(float(-bias.subs({s: sp.Rational(1, 4), ALPHA: 0.1})))
