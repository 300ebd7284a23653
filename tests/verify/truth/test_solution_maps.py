"""The derivative in x of the printed Lagrangian where its stages are maps of x: exactly, by hand, by the reference."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from f2csa_ref import hypergradient
from f2csa_ref.algorithm_1 import Stages
from spec import REPAIRED, InvalidInputError, atlas, parse_problem
from verify.truth.algebra.rational_functions import ALPHA
from verify.truth.algebra.rings import FUNCTIONS
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, error
from verify.truth.functions_of_alpha.scenario import Scenario
from verify.truth.geometry import Geometry, quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.stages import ExactSetting, evaluate

REGULAR = ("toy1", "two-of-three", "scalar-rational", "absolute-moving", "random-2x3x4", "interior", "fixed-rows")
TERMS = ("frozen", "map", "both-maps", "cancelled")


def family(name):
    instance = atlas.find(name)
    return PenaltyFamily.at(quadratic_of(instance.problem), instance.x)


@pytest.mark.parametrize("name", REGULAR)
def test_with_exact_stages_a_map_of_y_star_gives_exactly_the_cancelled_estimator(name):
    found = {term: error(family(name), Scenario(dual_term=term), "T3") for term in TERMS}
    assert (found["map"] - found["cancelled"]).leading().exponent is None
    # Frozen, what is left is α₁Aᵀλ*, and nothing of it where no row that binds moves.
    there = family(name)
    moving = any(
        sum(row[j] * lam for row, lam in zip(there.problem.constraints.A.to_fractions(), there.lower.lam, strict=True))
        for j in range(there.problem.n)
    )
    assert found["frozen"].leading().exponent == (-2 if moving else found["cancelled"].leading().exponent)
    leading = found["both-maps"].leading().exponent
    assert leading is None or leading >= 2


def test_the_scalar_family_as_derived_by_hand():
    # n = m = p = 1, f_yy = p, f_xy = s, g_yy = q, and the row a x - b y <= 0 binds: at exact stages the estimate is off
    # by -α⁴(ap + bs)∇_yf / (b(b² + α²q + α⁴p)) where both are maps, and frozen by α⁻²aλ* more than cancelled.
    a, b, p, q, s = (Fraction(v) for v in (3, 2, 5, 7, 1))
    blocks = {name: [[str(value)]] for name, value in (("yy", p), ("xy", s))}
    problem = parse_problem(
        {
            "kind": "quadratic",
            "f": blocks | {"y": ["4"]},
            "g": {"yy": [[str(q)]]},
            "constraints": {"A": [[str(a)]], "B": [[str(b)]], "b": ["0"]},
        }
    )
    there = PenaltyFamily.at(quadratic_of(problem), (Fraction(1),))
    assert there.lower.strictly_active == (0,)
    f_y = p * there.lower.y_star[0] + s + 4
    found = {term: error(there, Scenario(dual_term=term), "T3") for term in TERMS}
    for alpha in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 37)):
        by_hand = -(alpha**4) * (a * p + b * s) * f_y / (b * (b**2 + alpha**2 * q + alpha**4 * p))
        assert found["both-maps"](alpha) == (by_hand,)
        assert found["map"](alpha) == found["cancelled"](alpha)
        assert found["frozen"](alpha) == (found["cancelled"](alpha)[0] + a * there.lower.lam[0] / alpha**2,)


@pytest.mark.parametrize("name", REGULAR)
def test_the_maps_are_the_derivatives_of_the_exact_solution(name):
    instance = atlas.find(name)
    problem, step = quadratic_of(instance.problem), Fraction(1, 10**6)
    of_y, of_lam = lower_level.solution_maps(problem, instance.x)
    for j in range(problem.n):
        ends = [
            lower_level.solve(problem, [v + sign * step * (k == j) for k, v in enumerate(instance.x)])
            for sign in (1, -1)
        ]
        assert [row[j] for row in of_y] == [
            (u - d) / (2 * step) for u, d in zip(*(e.y_star for e in ends), strict=True)
        ]
        assert [row[j] for row in of_lam] == [(u - d) / (2 * step) for u, d in zip(*(e.lam for e in ends), strict=True)]


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("name", ["toy1", "two-of-three", "random-2x3x4"])
def test_the_reference_computes_each_reading(name, term):
    instance = atlas.find(name)
    there, x = family(name), np.array([float(v) for v in instance.x])
    stages = [np.array([float(v) for v in part]) for part in (there.lower.y_star, there.lower.lam)]
    rho = np.array([float(i in there.lower.active) for i in range(there.problem.p)])
    geometry = Geometry(there.problem, x, 0.1, *stages, rho)
    given = Stages(y_star=stages[0], lam=stages[1], rho=rho, y_penalty=geometry.minimiser)
    asked = REPAIRED.choose(dual_term=term)
    found = hypergradient(instance.problem, x, alpha=0.1, reading=asked, given=given).hypergradient
    exact = there.lagrangian_over(FUNCTIONS, ALPHA, Scenario(dual_term=term))
    wanted = exact.estimate(exact.minimiser(), term)(Fraction(1, 10))
    assert found == pytest.approx([float(v) for v in wanted], rel=1e-9, abs=1e-9)
    assert geometry.estimate(geometry.minimiser, dual_term=term) == pytest.approx([float(v) for v in wanted], rel=1e-9)
    ones = tuple(map(Fraction, rho.tolist()))
    setting = ExactSetting(there.problem, there.x, Fraction(1, 10), asked, given={"rho": ones})
    assert evaluate(setting).hypergradient == tuple(wanted)


def test_a_map_needs_second_derivatives_and_independent_rows():
    holder = atlas.find("holder-1-2")
    reading = REPAIRED.choose(dual_term="map")
    with pytest.raises(InvalidInputError, match="no second derivatives"):
        hypergradient(holder.problem, np.zeros(1), alpha=0.1, reading=reading)
    with pytest.raises(InvalidInputError, match="must be a point where all active rows"):
        lower_level.solution_maps(quadratic_of(atlas.find("weakly-active").problem), atlas.find("weakly-active").x)
