"""Quantities of the formula language have the values that the suite derives by its other routes."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from spec import Noise, Reading
from spec.atlas import find
from spec.formulas import load_quantities, parse_formula
from spec.formulas.tree import Node
from verify.truth.algebra.rationals import fractions
from verify.truth.functions_of_alpha import penalty_functions
from verify.truth.functions_of_alpha.noise import variance_function
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.functions_of_alpha.scenario import Scenario
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.propositions.arithmetic import NoValueError
from verify.truth.propositions.sites import Site
from verify.truth.propositions.valuation import Place, value_of
from verify.truth.stages import ExactSetting, evaluate

NAMES = ("toy1", "box-rational", "random-3x5x4", "rows-nearly-dependent", "drawn:rows:505")
DUAL_TERMS = ("frozen", "map", "both-maps", "cancelled")
ALPHA = Fraction(1, 10)


@cache
def site(name: str) -> Site:
    instance = find(name)
    return Site(quadratic_of(instance.problem), tuple(map(Fraction, instance.x)))


def quantity(name: str, *args: str) -> Node:
    """A quantity of the table at others."""
    return Node("quantity", name, tuple(quantity(arg) for arg in args), load_quantities()[name].shape)


def at(name: str, **choices: str) -> Place:
    return site(name).at(ALPHA, choices)


def test_whatever_a_site_names_it_gives_or_says_that_it_has_none() -> None:
    given = at("two-of-three").given
    assert {"A", "g_yy", "x", "alpha", "M", "sigma", "e_ys", "L_y"} <= {*given}
    assert len({*given}) == len(given)
    for name in given:
        assert given[name] is given[name]
    with pytest.raises(KeyError):
        given["nothing"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dual_term", DUAL_TERMS)
def test_the_estimator_is_that_of_the_exact_stages(name: str, dual_term: str) -> None:
    here = site(name)
    setting = ExactSetting(here.problem, here.x, ALPHA, reading=Reading(dual_term=dual_term))  # type: ignore[arg-type]  # by name
    values, place = evaluate(setting), at(name, dual_term=dual_term)
    minimiser = Node("quantity", "y_min", (quantity("y_star"), quantity("lam_star")), ("m",))
    assert fractions(value_of(minimiser, place)) == values.y_penalty
    # Evaluated on frozen stages and on the maps alike, but for the maps' own terms.
    assert fractions(value_of(quantity("rho", "y_star", "lam_star"), place)) == pytest.approx(
        [float(weight) for weight in values.rho], abs=1e-14
    )
    if dual_term in ("frozen", "cancelled"):
        assert fractions(value_of(quantity("exact_estimate"), place)) == values.hypergradient


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dual_term", DUAL_TERMS)
def test_its_error_is_the_function_of_alpha_that_the_suite_derives(name: str, dual_term: str) -> None:
    here = site(name)
    family = PenaltyFamily.at(here.problem, here.x)
    error = penalty_functions.error(family, Scenario(dual_term=dual_term), "T3")  # type: ignore[arg-type]  # by name
    assert value_of(quantity("T3"), here.in_the_limit({"dual_term": dual_term})) == error


@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_of_f_along_the_solution_is_the_exact_hypergradient(name: str) -> None:
    here = site(name)
    assert fractions(value_of(quantity("grad_F"), at(name))) == lower_level.hypergradient(here.problem, here.x)


@pytest.mark.parametrize("name", ["toy1", "box-rational", "random-3x5x4"])
@pytest.mark.parametrize("model", ["additive", "matrix"])
@pytest.mark.parametrize("pairing", ["independent", "common"])
def test_a_sample_has_the_variance_that_the_noise_model_gives(name: str, model: str, pairing: str) -> None:
    noise = Noise(model=model, sigma_f=Fraction(1, 5), sigma_g=Fraction(1, 3))  # type: ignore[arg-type]  # by name
    problem = quadratic_of(find(name).with_noise(noise).problem)
    place = Site(problem, site(name).x).in_the_limit({"noise_pairing": pairing})
    node = parse_formula("sample_variance(y_star, y_min(y_star, lam_star)) <= O(1)").args[0]
    exact = variance_function(PenaltyFamily.at(problem, site(name).x), pairing)  # type: ignore[arg-type]  # by name
    value = value_of(node, place)
    assert value.order == exact.leading().exponent
    assert float(value.coefficient) == pytest.approx(float(exact.leading().coefficient[0]))


def test_values_and_gradients_fit_each_other() -> None:
    # f(x, y) - f(x, 0) along a line is a quadratic: its slope at the middle is the difference quotient.
    node = parse_formula(
        "f(x, y_any) - f(x, y_other) == (grad_y_f(y_any) + grad_y_f(y_other)) @ (y_any - y_other) / 2"
        " and g(x, y_any) - g(x, y_other) == (grad_y_g(y_any) + grad_y_g(y_other)) @ (y_any - y_other) / 2"
        " and value_L(y_star, lam_star, y_any) - value_L(y_star, lam_star, y_other)"
        " == (grad_y_L(y_star, lam_star, y_any) + grad_y_L(y_star, lam_star, y_other)) @ (y_any - y_other) / 2"
    )
    for name in NAMES:
        assert value_of(node, at(name)) is True


def test_constants_are_norms_of_the_blocks() -> None:
    here = site("random-3x5x4")
    a = here.problem.arrays
    whole = np.block([[a.f_xx, a.f_xy], [a.f_xy.T, a.f_yy]])
    expected = {
        "C_f": np.linalg.norm(whole, 2), "mu_g": np.linalg.eigvalsh(a.g_yy)[0],
        "jac_bound": max(np.linalg.norm(a.A, 2), np.linalg.norm(a.B, 2)), "row_norm": np.linalg.norm(a.B, 2),
    }  # fmt: skip
    for name, value in expected.items():
        assert float(value_of(quantity(name), at("random-3x5x4"))) == pytest.approx(value, rel=1e-12)


def test_exact_values_lie_within_the_bounds_of_doubles() -> None:
    nodes = [
        parse_formula(text).args[0]
        for text in (
            "norm(y_min(y_star, lam_star) - y_star) <= 1", "eig_min(hess_yy_L(y_star, lam_star)) <= 1",
            "norm(T3) <= 1", "norm(hess_xy_L(y_star, lam_star)) <= 1", "norm(grad_y_L(y_star, lam_star, y_any)) <= 1",
        )
    ]  # fmt: skip
    for name in NAMES:
        for alpha in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 40)):
            exact, doubles = site(name).at(alpha), site(name).at(alpha, doubles=True)
            for node in nodes:
                rounded = value_of(node, doubles)
                assert abs(float(value_of(node, exact)) - float(rounded)) <= float(rounded.bound)


def test_on_a_path_to_a_kink_the_error_does_not_shrink_unless_both_stages_are_maps() -> None:
    # Beside the kink of toy2 at distance alpha**2/20: the weight of the row is one half.
    kink = Site(site("toy2").problem, (Fraction(0),), path=((Fraction(1, 20),), 2))
    orders = {
        choice: value_of(parse_formula("norm(T3) <= O(1)").args[0], kink.in_the_limit({"dual_term": choice})).order
        for choice in DUAL_TERMS
    }
    assert orders == {"frozen": 0, "map": 0, "both-maps": None, "cancelled": 0}


def test_what_has_no_value_says_why() -> None:
    weakly = site("weakly-active")
    with pytest.raises(NoValueError, match="y\\* has no derivative here"):
        value_of(quantity("grad_F"), weakly.at(ALPHA))
    with pytest.raises(NoValueError, match="is about a limit"):
        value_of(parse_formula("norm(T3) <= O(alpha)"), site("toy1").at(ALPHA))
