"""Quantities of the inner solves and of the outer loop, by other routes; floors and positive parts everywhere."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.atlas import find
from spec.formulas import parse_formula
from spec.formulas.bounds import bound_of
from spec.formulas.tree import Node
from verify.truth.algebra.rationals import fractions
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.propositions.deciding import at_each, in_the_limit
from verify.truth.propositions.sites import WHOLE, Site
from verify.truth.propositions.valuation import value_of

ALPHA = Fraction(1, 10)
NAMES = ("two-of-three", "moving-box", "random-3x5x4", "scalar-rational")


@cache
def site(name: str) -> Site:
    instance = find(name)
    return Site(quadratic_of(instance.problem), tuple(map(Fraction, instance.x)))


def left(
    formula: str, name: str = "toy1", *, numbers: dict[str, Fraction] | None = None, doubles: bool = False
) -> float:
    here = site(name)
    place = Site(here.problem, here.x, numbers=numbers).at(ALPHA, doubles=doubles)
    return float(value_of(parse_formula(f"{formula} >= 0").args[0], place))


@pytest.mark.parametrize("name", NAMES)
def test_the_condition_numbers_are_those_of_the_hessians(name: str) -> None:
    here = site(name)
    lower = lower_level.solve(here.problem, here.x)
    a, weights = here.problem.arrays, np.diag([float(min(max(10 * lam, 0), 1)) for lam in lower.lam])
    H = a.f_yy + 100 * a.g_yy + 10_000 * a.B.T @ weights @ a.B
    for formula, matrix in (("kappa_pen", H), ("kappa_g", a.g_yy)):
        values = np.linalg.eigvalsh(matrix)
        assert left(formula, name) == pytest.approx(values[-1] / values[0], rel=1e-9)
    rows = a.B[list(lower.active)]
    assert left("sigma_min_B", name) == pytest.approx(np.linalg.svd(rows, compute_uv=False)[-1], rel=1e-12)


def test_the_dual_function_is_the_least_value_of_the_lagrangian() -> None:
    # By hand on scalar-rational: q = 3/2, c = 1/2, g_y = 1, a = 2/3, b = 4/5, β = 1/7, x = 1.
    slope, a_x = Fraction(3, 2), Fraction(2, 3) - Fraction(1, 7)
    place = site("scalar-rational").at(ALPHA)

    def value(lam: Fraction) -> Fraction:
        y = (Fraction(4, 5) * lam - slope) / Fraction(3, 2)
        return slope * y + Fraction(3, 4) * y**2 + lam * (a_x - Fraction(4, 5) * y)

    def dual(lam: Fraction) -> Fraction:
        here = place.with_given(lam_any=place.arithmetic.vector([lam]))
        found = value_of(parse_formula("dual_value(lam_any) >= 0").args[0], here).rational
        assert found is not None
        return Fraction(found)

    few, many = Fraction(1, 3), Fraction(7, 5)
    assert dual(many) - dual(few) == value(many) - value(few)


@pytest.mark.parametrize("name", NAMES)
def test_a_dual_step_rests_at_the_multipliers_and_the_other_way_does_not_climb(name: str) -> None:
    here = site(name)
    place = here.at(ALPHA)
    rests = value_of(parse_formula("dual_step(lam_star) == lam_star").args[0], place)
    assert tuple(fractions(rests)) == lower_level.solve(here.problem, here.x).lam
    down = parse_formula("dual_value(positive(lam_any - dual_size * h(y_dual(lam_any)))) >= dual_value(lam_any)")
    sites = [Site(here.problem, here.x, seed=seed) for seed in range(8)]
    assert not all(outcome.holds for one in sites for outcome in at_each(down, one, [Fraction(1)]))


@given(st.fractions("1/9", 9), st.fractions("1/99", 1))
def test_the_least_batch_is_enough_and_one_less_is_not(sigma: Fraction, alpha: Fraction) -> None:
    here = Site(site("toy1").problem, site("toy1").x, numbers={"sigma": sigma})
    batch = int(float(value_of(parse_formula("least_batch >= 0").args[0], here.at(alpha))))
    assert sigma**2 <= batch * alpha**2
    assert batch == 1 or sigma**2 > (batch - 1) * alpha**2


@given(st.fractions(-9, 9, max_denominator=9))
def test_floors_are_those_of_the_integers(value: Fraction) -> None:
    exact = left("floor(sigma)", numbers={"sigma": value})
    assert exact == math.floor(value)
    if value.denominator > 1:
        assert left("floor(sigma)", numbers={"sigma": value}, doubles=True) == exact


@pytest.mark.parametrize(
    ("formula", "exponent", "coefficient"),
    [("floor(1 / alpha) >= Omega(alpha^-1)", -1, 1.0), ("floor(3 - alpha) == Theta(1)", 0, 2.0),
     ("floor(3 + alpha) == Theta(1)", 0, 3.0), ("-floor(-alpha) == Theta(1)", 0, 1.0)],
)  # fmt: skip
def test_floors_have_first_terms(formula: str, exponent: int, coefficient: float) -> None:
    outcome = in_the_limit(parse_formula(formula), site("toy1"))
    assert (outcome.holds, outcome.exponent, outcome.coefficient) == (True, exponent, coefficient)


def test_positive_parts_are_cut_at_zero_in_every_arithmetic() -> None:
    node = parse_formula("norm(positive(y_any)) >= Omega(1)")
    cut = node.args[0].args[0]
    assert isinstance(cut, Node)
    here = site("random-3x5x4")
    free = fractions(value_of(cut.args[0], here.at(ALPHA)))
    wanted = [max(value, Fraction(0)) for value in free]
    assert min(free) < 0 < max(free)
    assert list(fractions(value_of(cut, here.at(ALPHA)))) == wanted
    assert value_of(cut, here.at(ALPHA, doubles=True)).value[:, 0] == pytest.approx([float(value) for value in wanted])
    outcome = in_the_limit(node, here)
    assert outcome.coefficient == pytest.approx(math.sqrt(sum(value**2 for value in wanted)))


def test_whole_numbers_are_drawn_anew_at_every_seed() -> None:
    here = site("toy1")
    for name, most in WHOLE.items():
        drawn = {float(Site(here.problem, here.x, seed=seed).at(ALPHA).given[name]) for seed in range(20)}
        assert len(drawn) > 3
        assert drawn <= set(range(1, most + 1))


def test_a_bound_tends_where_its_variables_do() -> None:
    assert bound_of(parse_formula('observed("steps") <= O(M^(1/2))'))["toward"] == "infinity"
    assert bound_of(parse_formula('observed("steps") <= O(epsilon^-3 / goldstein_radius)'))["toward"] == "zero"
    with pytest.raises(ValueError, match="in what tends to one limit"):
        bound_of(parse_formula('observed("steps") <= O(epsilon * M)'))
