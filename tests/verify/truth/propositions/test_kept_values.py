"""Values kept for several formulas, choices and errors are those that are found where nothing is kept."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec.atlas import find as instance
from spec.claims import find
from spec.formulas import parse_formula
from verify.truth.geometry import quadratic_of
from verify.truth.propositions import deciding, sites
from verify.truth.propositions.deciding import at_each, in_the_limit
from verify.truth.propositions.sites import LITERAL_CHOICES, REPAIRED_CHOICES, Site
from verify.truth.propositions.valuation import value_of

CHOICES = [REPAIRED_CHOICES, LITERAL_CHOICES, *(
    REPAIRED_CHOICES | {field: LITERAL_CHOICES[field]} for field in ("dual_term", "ramp_width", "multiplier_width")
)]  # fmt: skip


def forget() -> None:
    sites._shared.cache_clear()
    deciding._in_the_limit.cache_clear()
    deciding._is_met.cache_clear()


def site(name: str) -> Site:
    found = instance(name)
    return Site(quadratic_of(found.problem), tuple(map(Fraction, found.x)))


@pytest.mark.parametrize("full_id", ["bias-bound", "bias-bound/T1", "bias-bound/T3", "bias-bound/ramp"])
@pytest.mark.parametrize("name", ["toy1", "two-of-three"])
def test_under_one_choice_after_another_an_order_is_as_asked_alone(full_id, name):
    formula, where = find(full_id).as_written.proposition, site(name)
    forget()
    together = [in_the_limit(formula, where, choices) for choices in (*CHOICES, *reversed(CHOICES))]
    alone = []
    for choices in CHOICES:
        forget()
        alone.append(in_the_limit(formula, where, choices))
    assert together == [*alone, *reversed(alone)]
    assert len({str(outcome) for outcome in alone}) > 1


def test_errors_change_what_hangs_on_them_and_nothing_else():
    formula = parse_formula("norm(y_min(y_star + alpha^3 * e_ys, lam_star) - y_star) <= alpha")
    where, alpha = site("two-of-three"), Fraction(1, 10)
    forget()
    (kept,) = at_each(formula, where, [alpha])
    sides = []
    for one in deciding.tried(formula, where):
        forget()
        sides.append(float(value_of(formula.args[0], one.at(alpha))))
    assert len(set(sides)) > 1
    assert kept.holds
    assert kept.left == max(sides)


def test_sites_that_differ_in_one_thing_share_nothing():
    here = site("toy1")
    others = [
        Site(here.problem, (here.x[0] + 1,)),
        Site(here.problem, here.x, seed=1),
        Site(here.problem, here.x, numbers={"C_lambda": Fraction(2)}),
        Site(here.problem, here.x, shares=1),
    ]
    assert len({here.key, *(other.key for other in others)}) == 5
    assert Site(here.problem, here.x).key == here.key
