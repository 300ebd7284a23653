from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import InvalidInputError
from tests.verify.truth.problems import (
    KINK,
    TOY1,
    ExactLagrangian,
    quadratic,
    random_rows,
    regular_families,
    regular_instances,
    small_fractions,
)
from verify.truth.functions_of_alpha.penalty_functions import (
    PenaltyFamily,
    error,
    estimator,
    estimator_at_minimiser,
    minimiser,
    sampled_point,
)
from verify.truth.functions_of_alpha.scenario import Scenario, exact_error


@st.composite
def scenarios(draw, family: PenaltyFamily) -> Scenario:
    m, p = family.problem.m, family.problem.p

    def errors(size):
        powers = draw(st.lists(st.integers(0, 5), max_size=2))
        return tuple(exact_error(power, [draw(small_fractions) for _ in range(size)]) for power in powers)

    weights = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)])
    return Scenario(
        dual_term=draw(st.sampled_from(["cancelled", "frozen"])),
        rho=draw(st.one_of(st.none(), st.tuples(*[weights] * p))),
        y_star_error=errors(m),
        lam_error=errors(p),
        y_error=errors(m),
        gradient_error=errors(m),
    )


def inexact(start, errors, alpha):
    return [v + sum(e.direction[i] * alpha**e.power for e in errors) for i, v in enumerate(start)]


@settings(max_examples=60)
@given(regular_families().flatmap(lambda family: st.tuples(st.just(family), scenarios(family))))
def test_the_functions_of_alpha_take_the_values_computed_at_single_alphas(case):
    family, scenario = case
    problem, x = family.problem, family.x
    rho = family.fitted(scenario).rho
    for alpha in (Fraction(1, 7), Fraction(1, 1000)):
        lam = inexact(family.lower.lam, scenario.lam_error, alpha)
        star = inexact(family.lower.y_star, scenario.y_star_error, alpha)
        exact = ExactLagrangian(problem, x, alpha, star, lam, rho)
        y = exact.minimiser()
        assert minimiser(family, scenario)(alpha) == y
        # Stopping at gradient r is minimising L - r'y, which tilts f.
        left = inexact([0] * problem.m, scenario.gradient_error, alpha)
        data = problem.to_dict()
        data["f"]["y"] = [a - b for a, b in zip(problem.f.y.to_fractions()[0], left, strict=True)]
        tilted = type(problem).model_validate(data)
        stopped = inexact(ExactLagrangian(tilted, x, alpha, star, lam, rho).minimiser(), scenario.y_error, alpha)
        assert sampled_point(family, scenario)(alpha) == tuple(stopped)
        for function, at in ((estimator, stopped), (estimator_at_minimiser, y)):
            assert function(family, scenario)(alpha) == exact.estimate(at, scenario.dual_term)


@settings(max_examples=25)
@given(regular_families().flatmap(lambda family: st.tuples(st.just(family), scenarios(family))))
def test_the_three_parts_of_the_proof_sum_to_the_bias(case):
    family, scenario = case
    parts = [error(family, scenario, name) for name in ("T1", "T2", "T3")]
    assert parts[0] + parts[1] + parts[2] == error(family, scenario, "bias")


@pytest.mark.parametrize(("name", "family"), regular_instances())
def test_permuting_rows_or_rotating_y_by_a_rational_rotation_changes_no_error(name, family):
    problem = family.problem
    data = problem.to_dict()
    data["constraints"] = {key: block[::-1] for key, block in data["constraints"].items()}
    bias = error(family, Scenario())
    assert error(PenaltyFamily.at(type(problem).model_validate(data), family.x), Scenario()) == bias
    if problem.m < 2:
        return
    # y = Q z with the rotation by the 3-4-5 triangle in the first two coordinates.
    Q = [[Fraction(int(i == j)) for j in range(problem.m)] for i in range(problem.m)]
    Q[0][:2], Q[1][:2] = [Fraction(3, 5), Fraction(-4, 5)], [Fraction(4, 5), Fraction(3, 5)]

    def times(left, right):
        return [
            [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*right, strict=True)]
            for row in left
        ]

    Qt = [list(row) for row in zip(*Q, strict=True)]
    turned = problem.to_dict()
    for level in ("f", "g"):
        form = getattr(problem, level)
        turned[level] = {
            "xx": form.xx.to_fractions(),
            "x": form.x.to_fractions()[0],
            "xy": times(form.xy.to_fractions(), Q),
            "yy": times(Qt, times(form.yy.to_fractions(), Q)),
            "y": times(form.y.to_fractions(), Q)[0],
        }
    turned["constraints"]["B"] = times(problem.constraints.B.to_fractions(), Q)
    assert error(PenaltyFamily.at(type(problem).model_validate(turned), family.x), Scenario()) == bias


def test_toy1_is_one_over_one_plus_alpha_squared():
    family = PenaltyFamily.at(TOY1, [1])
    made = estimator(family, Scenario())
    assert [part.coeffs() for part in (*made.numerators, made.denominator)] == [[1], [1, 0, 1]]
    frozen = estimator(family, Scenario(dual_term="frozen"))
    assert frozen(Fraction(1, 10)) == (Fraction(100, 101) + 100,)


def test_at_a_kink_a_gradient_must_be_named():
    with pytest.raises(InvalidInputError, match="kink"):
        PenaltyFamily.at(KINK, [0])
    family = PenaltyFamily.at(KINK, [0], gradient=[1])
    assert error(family, Scenario(rho=(Fraction(0),))).is_zero
    assert error(family, Scenario(rho=(Fraction(1),))).leading().exponent == 0


def test_dependent_active_rows_are_no_obstacle():
    twice = quadratic({"y": [1]}, {"yy": [[1]]}, [[1], [2]], [[1], [2]], [0, 0])
    bias = error(PenaltyFamily.at(twice, [1]), Scenario()).leading()
    assert (bias.exponent, bias.coefficient) == (2, (Fraction(-1, 5),))


@pytest.mark.parametrize(
    ("scenario", "argument"),
    [
        (Scenario(y_error=(exact_error(3, [1, 2]),)), r"scenario\.y_error\[0\]\.direction: must have length 1; got 2"),
        (Scenario(lam_error=(exact_error(3, []),)), r"scenario\.lam_error\[0\]"),
        (Scenario(rho=(Fraction(-1),)), r"scenario\.rho"),
        (Scenario(rho=()), r"scenario\.rho"),
    ],
)
def test_scenarios_that_do_not_fit_are_refused(scenario, argument):
    with pytest.raises(InvalidInputError, match=argument):
        estimator(PenaltyFamily.at(TOY1, [1]), scenario)


def test_twenty_variables_and_rows_have_their_functions_too():
    family = PenaltyFamily.at(random_rows(20, 20, 20, 1), [0] * 20)
    assert error(family, Scenario()).leading().exponent == 2
