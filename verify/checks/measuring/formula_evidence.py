"""What the formula of a statement decides, exactly, where its case asks it; and which of its premises hold there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, islice
from typing import Any, cast

from spec import Holder
from spec.claims import Premise, ReadingName, Statement, find
from spec.formulas import Node, names_within, plain_text
from verify.checks.measuring.case import Case, Measurement, checks, compare
from verify.evidence.model import ComparisonEvidence, Evidence, PremiseEvidence, RateEvidence
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.arithmetic import NoValueError
from verify.truth.propositions.deciding import REFUSED, AtOnePlace, at_each, has_order, in_the_limit, is_met
from verify.truth.propositions.places import Site
from verify.truth.propositions.valuation import value_of
from verify.verdict import DISAGREE, EXACT, RungDisagreementError

PLACES = 4
"""Alphas of the sweep, the largest ones, at which a relation is decided."""
LARGEST = Fraction(1000)
"""The largest alpha that parameters may have."""
NOWHERE = Fraction(1)
"""The alpha of a place whose formula does not have it."""
HALVINGS = 40
"""How often the smallest alpha of a sweep is halved in search of one at which premises hold."""
DIGITS = 10**6
"""Denominators of the alphas asked: round ones keep rational arithmetic short."""


def site_of(case: Case) -> Site | None:
    """Where the case's formulas are asked; none on a problem that is not quadratic."""
    if isinstance(case.instance.problem, Holder):
        return None
    return Site(quadratic_of(case.instance.problem), tuple(map(Fraction, case.instance.x)))


def choices_of(case: Case) -> dict[str, str]:
    """The value of every choice under the case's reading."""
    return {**case.reading.model_dump(), **case.sense.model_dump()}


def alphas_of(case: Case, site: Site) -> list[Fraction]:
    """Where a relation is decided: the largest alphas of the sweep, as short rationals, at which all premises hold.

    Where a premise asks for a smaller alpha than the sweep has, the sweep goes on.

    Raises:
        NoValueError: If premises hold at no alpha tried.
    """
    asked = premises_asked(find(case.claim), find(case.claim.split("/")[0]), reading_of(case))
    nodes = [node for premise in asked.values() if (node := premise.predicate(reading_of(case))) is not None]
    bounding = [node for node in nodes if "alpha" in names_within(node) and not has_order(node)]
    sweep = [Fraction(alpha).limit_denominator(DIGITS) for alpha in case.profile.alphas]
    below = (sweep[-1] / 2**k for k in range(1, HALVINGS))
    choices = choices_of(case)
    held = (a for a in chain(sweep, below) if all(is_met(node, site, a, choices) for node in bounding))
    alphas = list(islice(held, PLACES))
    if not alphas:
        raise NoValueError("its premises hold at no α tried")
    return alphas


def reading_of(case: Case) -> ReadingName:
    """The reading whose premises and assertion a case has."""
    return "as-written" if case.as_written else "repaired"


def right_side(claim: str, case: Case, **numbers: float) -> float:
    """The right side of a statement's formula under the case's reading, numbers of a run given by name."""
    node, site = find(claim).assertion(case.reading_name).proposition, site_of(case)
    if node is None or site is None:
        raise ValueError(f"{claim} has no formula that could be asked of {case.instance.name}")
    place = site.at(NOWHERE, choices_of(case))
    given = {name: place.arithmetic.number(Fraction(value)) for name, value in numbers.items()}
    return float(value_of(node.args[1], place.with_given(**given)))


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
    alphas = alphas_of(case, site) if "alpha" in names_within(node) else [NOWHERE]
    outcomes = list(at_each(node, site, alphas, choices))
    failing = [outcome for outcome in outcomes if not outcome.holds]
    shown = (failing or outcomes)[0]
    places = f"α at which it fails, of {len(outcomes)}" if len(outcomes) > 1 else "places at which it fails, of 1"
    yield compare(
        f"{plain_text(node)}: number of {places}", len(failing), "==", 0,
        rung="certified", context={"alpha": float(shown.alpha)},
    )  # fmt: skip
    if shown.left is not None and shown.right is not None:
        yield _sides(node, shown)


def beside(case: Case, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """What the statement's formula decides of the reference, where its check has derived no exponent of its own.

    Raises:
        RungDisagreementError: If the check has derived one, and the formula's is another.
    """
    node, site = find(case.claim).assertion(case.reading_name).proposition, site_of(case)
    if node is None or site is None or not case.stages.are_the_reference or checks()[case.claim].function is by_formula:
        return ()
    try:
        decided = tuple(exact_evidence(case, node, site))
    except REFUSED:
        return ()
    derived: dict[str, list[float]] = {}
    for item in evidence:
        if isinstance(item, RateEvidence) and item.rung in EXACT and item.role == "conclusion":
            derived.setdefault(item.variable, []).append(item.exponent)
    for item in decided:
        if isinstance(item, RateEvidence) and item.variable in derived:
            worst = (min if case.bound.toward == "zero" else max)(derived[item.variable])
            if worst != item.exponent:
                rule = f"the formula of {case.claim} has exponent {item.exponent:g} where its check derives {worst:g}"
                raise RungDisagreementError(f"{DISAGREE}; {rule}")
    return tuple(item for item in decided if not (isinstance(item, RateEvidence) and item.variable in derived))


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
    shown = next(at_each(node, site, alphas_of(case, site)[:1], choices_of(case)))
    left, right = (plain_text(side) for side in node.args)
    return {"alpha": float(shown.alpha), left: shown.left or 0.0, right: shown.right or 0.0}


def premises_asked(statement: Statement, claim: Statement, reading: ReadingName) -> dict[str, Premise]:
    """The premises that a statement has under a reading, its claim's among them, by id."""
    return {p.id: p for p in (*claim.premises, *statement.premises) if reading in p.readings}


def premises_decided(case: Case, asked: Mapping[str, Premise]) -> Iterator[PremiseEvidence]:
    """Each premise that has a formula and a value here: whether it holds for all small alpha.

    One that holds at the largest alpha there is and at no small one cannot be met where alpha tends to 0.
    """
    site, choices = site_of(case), choices_of(case)
    for premise in asked.values():
        node = premise.predicate(reading_of(case))
        if node is None or site is None:
            continue
        try:
            met = is_met(node, site, None, choices)
            satisfiable = met or not is_met(node, site, LARGEST, choices)
        except REFUSED:
            continue
        where = " for all small α" if "alpha" in names_within(node) else ""
        finding = f"{plain_text(node)} {'holds' if met else 'fails'}{where}"
        yield PremiseEvidence(premise=premise.id, holds=met, satisfiable=satisfiable, finding=finding)
