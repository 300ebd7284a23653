"""Orders told from samples: by a formula that they have, within a class that was tested and is named, or not at all."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spec.claims import Bound
from verify.evidence.budget import Share
from verify.evidence.rates.orders import AGREES, EMPTY, SEEN, Rational, bent, has_its_values, held_to_formula, in_class
from verify.evidence.rates.rates import SweepEstimate, fit_power_law
from verify.verdict import Verdict, decide

SHARE = Share(1e-9)
ALPHAS = tuple(0.2 / 2**k for k in range(5))
POLYNOMIAL = Rational(0, 3)


def bound(tag, exponent):
    return Bound(quantity="q", tag=tag, exponents={"alpha": str(exponent)})


def sampled(law, dof=1 << 18, formula=None, seed=0):
    rng = np.random.default_rng(seed)
    estimates = [
        SweepEstimate({"alpha": a}, law(a) * rng.chisquare(dof) / dof, float(dof), samples=dof,
                 predicted=None if formula is None else formula(a))
        for a in ALPHAS
    ]  # fmt: skip
    return fit_power_law(estimates, SHARE, quantity="q")["alpha"], estimates


def verdict(rate, tag, exponent):
    return decide(bound(tag, exponent), [rate]).verdict


LAWS = [
    lambda a: a / (a + 0.001), lambda a: a, lambda a: a + 1e-4, lambda a: a**0.9,
    lambda a: a * (2 + math.sin(math.log(a))),
]  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dof", [4096, 1 << 20])
def test_samples_tell_no_order_without_a_class(law, dof):
    rate, _ = sampled(law, dof)
    for tag in ("upper", "lower", "tight"):
        for exponent in (0, 1, 2):
            found = decide(bound(tag, exponent), [rate])
            assert found.verdict is Verdict.INCONCLUSIVE
            assert "no class of functions is known in which that tells an order" in found.sentence


@pytest.mark.parametrize("s", [0.1, 3e-3, 1e-3, 1e-4])
def test_a_saturating_law_whose_pole_is_known_is_not_refuted_as_what_it_is(s):
    rate, estimates = sampled(lambda a: a / (a + s))
    known = in_class(rate, estimates, SHARE, Rational(0, 3, (s, 1.0)))
    assert known.class_orders[1] >= 1
    assert verdict(known, "upper", 1) is Verdict.INCONCLUSIVE  # a floor may always be too small to be seen
    assert verdict(known, "upper", 2) is Verdict.REFUTED


def test_what_no_coefficients_above_zero_make_has_no_order_in_the_class():
    for law in (lambda a: a * (2 + math.sin(math.log(a))), lambda a: a * (1 - 4 * a)):
        rate, estimates = sampled(law)
        failed = in_class(rate, estimates, SHARE, POLYNOMIAL)
        assert failed.class_orders == EMPTY
        found = decide(bound("upper", 2), [failed])
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "is no function of the class" in found.sentence


def test_a_class_is_tested_before_it_refutes():
    rate, estimates = sampled(lambda a: a + 0.1, dof=4096)
    dim = in_class(rate, estimates, SHARE, POLYNOMIAL)
    assert dim.class_orders == (0.0, math.inf)
    found = decide(bound("upper", 1), [dim])
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "is not tested yet" in found.sentence
    rate, estimates = sampled(lambda a: a + 0.1)
    seen = decide(bound("upper", 1), [in_class(rate, estimates, SHARE, POLYNOMIAL)])
    assert seen.verdict is Verdict.REFUTED
    assert f"with coefficients ≥ 0, tested to {SEEN:.0%}" in seen.sentence


def test_a_term_that_is_there_bounds_from_below():
    rate, estimates = sampled(lambda a: a + 30 * a**2)
    found = in_class(rate, estimates, SHARE, POLYNOMIAL)
    assert found.class_orders == (0.0, 1.0)
    assert verdict(found, "lower", 1) is Verdict.SUPPORTED
    assert verdict(found, "tight", 1) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("scale", [1.0, 0.2])
def test_a_formula_that_samples_have_decides_by_its_own_order_alone(scale):
    def formula(a):
        return a / (a + 0.001)

    rate, estimates = sampled(lambda a: scale * formula(a), formula=formula)
    held = held_to_formula(rate, estimates, SHARE, 1.0)
    assert has_its_values(held)
    assert held.agreement < AGREES
    assert verdict(held, "tight", 1) is Verdict.SUPPORTED
    assert verdict(held, "upper", 2) is Verdict.REFUTED
    loose = decide(bound("upper", 0), [held])
    assert loose.verdict is Verdict.SUPPORTED
    assert loose.loose_by == pytest.approx(1)
    assert "is of order α by its formula, exactly; samples have its values" in loose.sentence


def test_what_leaves_the_formula_has_not_its_order():
    rate, estimates = sampled(lambda a: a**0.95, formula=lambda a: a)
    held = held_to_formula(bent(rate), estimates, SHARE, 1.0)
    assert held.agreement is None
    found = decide(bound("upper", 1), [held])
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "samples leave the values of the formula" in found.sentence
    few, estimates = sampled(lambda a: a, dof=8192, formula=lambda a: a)
    dim = held_to_formula(bent(few), estimates, SHARE, 1.0)
    assert dim.agreement > AGREES
    assert "samples have the values of the formula, of order α^1, within" in decide(bound("upper", 1), [dim]).sentence


def test_an_exponent_towards_infinity_is_that_of_the_reciprocal():
    rng = np.random.default_rng(1)
    sizes, dof = (1, 2, 4, 16, 64), 1 << 18
    estimates = [
        SweepEstimate({"N_g": float(n)}, (1 / n + 0.05) * rng.chisquare(dof) / dof, float(dof), samples=dof)
        for n in sizes
    ]
    rate = fit_power_law(estimates, SHARE, quantity="q")["N_g"]
    found = in_class(rate, estimates, SHARE, Rational(0, 2))
    assert found.class_orders == (0.0, 0.0)
    claim = Bound(quantity="q", tag="upper", exponents={"N_g": "-1"}, toward="infinity")
    assert decide(claim, [found]).verdict is Verdict.REFUTED
