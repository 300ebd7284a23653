"""A hypothesis is needed where a problem, or a path to a kink, breaks it alone and the statement with it."""

from __future__ import annotations

from fractions import Fraction

from spec.claims import Assertion, Premise, Statement, find
from verify.truth.propositions import needs
from verify.truth.propositions.dropped import DroppedCandidate, candidates, without

CLEAR = Premise(id="clear", text="clear of the ramp", formula="all(lam_star[active] >= lam_width + C_lambda * delta)")
LICQ = Premise(id="licq", text="independent rows", formula="rank(B[active]) == count(active)")
RANGE = Premise(id="range", text="small alpha", formula="2 * C_f * alpha^2 <= mu_g")
IDLE = Premise(id="idle", text="feasible rows", formula="all(h(y_star) <= 0)")


def statement(formula: str) -> Statement:
    asserted = Assertion.model_validate({"text": "words", "formula": formula})
    return find("bias-bound/T3").model_copy(update={"repaired": asserted})


def test_strict_complementarity_is_missed_on_a_path_to_a_kink() -> None:
    shown = without(statement("norm(T3) <= O(alpha^2)"), [CLEAR, LICQ], CLEAR)
    assert shown is not None
    assert "on the path" in shown.where
    assert shown.finding == "the quantity is of order 1"


def test_the_range_of_alpha_is_missed_where_alpha_is_large() -> None:
    convex = statement("eig_min(hess_yy_L(y_star, lam_star)) >= alpha_1 * mu_g / 2")
    shown = without(convex, [RANGE], RANGE)
    assert shown is not None
    assert shown.finding.startswith("it fails at α = ")


def test_what_always_holds_is_not_known_to_be_needed() -> None:
    assert without(statement("norm(jac_h) <= norm(A) + norm(B)"), [IDLE], IDLE) is None


def test_a_path_starts_at_a_kink_and_leaves_it() -> None:
    paths = [one for one in candidates() if one.site.path is not None and one.name.startswith("toy2")]
    assert {one.site.x for one in paths} == {(Fraction(0),)}
    assert len({one.name for one in paths}) == len(paths)


def test_on_record_is_what_a_search_shows_at_the_place_it_names() -> None:
    by_name: dict[str, DroppedCandidate] = {one.name: one for one in candidates()}
    for full_id, entry in list(needs.recorded().items())[:6]:
        premises = needs.premises_with_formulas(full_id)
        for need in entry.needs:
            if need.where:
                assert need.where in by_name, full_id
                dropped = next(one for one in premises if one.id == need.premise)
                assert without(find(full_id), premises, dropped, [by_name[need.where]]) is not None


def test_the_record_is_that_of_the_claims_formulas() -> None:
    assert set(needs.recorded()) == set(needs.statements_searched())
