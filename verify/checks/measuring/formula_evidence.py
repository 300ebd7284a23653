"""What the formula of a statement decides, exactly, where its case asks it; and which of its premises hold there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, cast

from spec import Holder
from spec.claims import Premise, ReadingName, Statement, find
from spec.formulas import Node, names_within, plain_text
from verify.checks.measuring.case import Case, Measurement, compare
from verify.evidence.model import VALUE, ComparisonEvidence, PremiseEvidence, RateEvidence
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.deciding import REFUSED, AtOnePlace, at_each, has_order, in_the_limit, is_met
from verify.truth.propositions.places import Site, Stated

PLACES = 4
"""Alphas of the sweep, the largest ones, at which a relation is decided."""
LARGEST = Fraction(1000)
"""The largest alpha that parameters may have."""
DIGITS = 10**6
"""Denominators of the alphas asked: round ones keep rational arithmetic short."""


def site_of(case: Case) -> Site | None:
    """Where the case's formulas are asked; none on a problem that is not quadratic."""
    if isinstance(case.instance.problem, Holder):
        return None
    return Site(quadratic_of(case.instance.problem), tuple(map(Fraction, case.instance.x)))


def premises_site_of(case: Case) -> Site | Stated:
    """Where its premises are decided."""
    if isinstance(case.instance.problem, Holder):
        return Stated({"hessian_exponent": Fraction(case.instance.problem.s)})
    return site_of(case) or Stated({})


def choices_of(case: Case) -> dict[str, str]:
    """The value of every choice under the case's reading."""
    return {**case.reading.model_dump(), **case.sense.model_dump()}


def alphas_of(case: Case) -> list[Fraction]:
    """Where a relation is decided: the largest alphas of the sweep, as short rationals."""
    return [Fraction(alpha).limit_denominator(DIGITS) for alpha in case.profile.alphas[:PLACES]]


def by_formula(case: Case) -> Measurement:
    """The check of a statement that its formula alone decides.

    Raises:
        NoValueError: If it has no value at this place.
    """
    node, site = find(case.claim).assertion(case.reading_name).proposition, site_of(case)
    if node is None or site is None:
        raise ValueError(f"{case.claim} has no formula that could be asked of {case.instance.name}")
    return Measurement(tuple(exact_evidence(case, node, site)), shown_values(case, node, site))


def exact_evidence(case: Case, node: Node, site: Site) -> Iterator[RateEvidence | ComparisonEvidence]:
    """What a formula decides: a derived exponent for each variable of its order, or at how many alphas it fails."""
    choices = choices_of(case)
    if node.order is not None:
        for variable in case.bound.exponents:
            outcome = in_the_limit(node, site, choices, variable)
            exponent = math.inf if outcome.exponent is None else float(outcome.exponent)
            yield RateEvidence(
                quantity=plain_text(node.args[0]), variable=variable, points=(), exponent=exponent,
                interval=(exponent, exponent), rung="symbolic", coefficient=outcome.coefficient,
            )  # fmt: skip
        return
    outcomes = list(at_each(node, site, alphas_of(case), choices))
    failing = [outcome for outcome in outcomes if not outcome.holds]
    shown = (failing or outcomes)[0]
    yield compare(
        f"{plain_text(node)}: number of α at which it fails, of {len(outcomes)}", len(failing), "==", 0,
        rung="certified", context={"alpha": float(shown.alpha)},
    )  # fmt: skip
    if shown.left is not None and shown.right is not None:
        yield _sides(node, shown)


def _sides(node: Node, shown: AtOnePlace) -> ComparisonEvidence:
    """Both sides as doubles, beside the exact decision."""
    relation = cast(Any, node.name if node.name in ("<=", ">=", "==") else node.name + "=")
    return compare(
        plain_text(node.args[0]), shown.left or 0.0, relation, shown.right or 0.0, rung="certified", role="support",
        context={"alpha": float(shown.alpha)},
    )  # fmt: skip


def shown_values(case: Case, node: Node, site: Site) -> dict[str, float | str]:
    """What a counterexample shows: both sides at one alpha."""
    if node.order is not None or node.kind != "relation" or node.args[0].shape:
        return {}
    shown = next(at_each(node, site, alphas_of(case)[:1], choices_of(case)))
    left, right = (plain_text(side) for side in node.args)
    return {"alpha": float(shown.alpha), left: shown.left or 0.0, right: shown.right or 0.0}


def premises_asked(statement: Statement, claim: Statement, reading: ReadingName) -> dict[str, Premise]:
    """The premises of a statement under a reading, by id: its own, and its claim's but those that it goes without."""
    inherited = [premise for premise in claim.premises if premise.id not in statement.goes_without]
    return {p.id: p for p in (*inherited, *statement.premises) if reading in p.readings}


def without_value(case: Case) -> PremiseEvidence | None:
    """Where what the statement's formula names has no value at the case's point: that, and why; else nothing."""
    node, site = find(case.claim).assertion(case.reading_name).proposition, site_of(case)
    why = site.lacks(names_within(node)) if node is not None and site is not None else ""
    return PremiseEvidence(premise=VALUE, holds=False, finding=why) if why else None


def premises_decided(case: Case, asked: Mapping[str, Premise]) -> Iterator[PremiseEvidence]:
    """Each premise that has a formula and a value here: whether it holds for all small alpha.

    One that holds at the largest alpha there is and at no small one cannot be met where alpha tends to 0.
    """
    site, choices = premises_site_of(case), choices_of(case)
    reading: ReadingName = "as-written" if case.as_written else "repaired"
    for premise in asked.values():
        node = premise.predicate(reading)
        if node is None:
            continue
        try:
            met = is_met(node, site, None, choices)
            satisfiable = met or has_order(node) or not is_met(node, site, LARGEST, choices)
        except REFUSED:
            continue
        where = " for all small α" if "alpha" in names_within(node) else ""
        finding = f"{plain_text(node)} {'holds' if met else 'fails'}{where}"
        yield PremiseEvidence(premise=premise.id, holds=met, satisfiable=satisfiable, finding=finding)
