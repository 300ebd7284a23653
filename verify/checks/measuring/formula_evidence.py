"""What the formula of a statement decides, exactly, where its case asks it; and which of its premises hold there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

from spec import Holder
from spec.claims import Premise, find, premises_of
from spec.formulas import Node, choices_within, names_within, plain_text, words_observed
from spec.reading import KEEPING, chosen_by
from verify.checks.measuring.case import Case, Measurement, checks, compare
from verify.evidence.model import VALUE, ComparisonEvidence, Evidence, PremiseEvidence, RateEvidence, Relation, Rung
from verify.truth.algebra.reals import ExactReal
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.arithmetic import NoSolutionError, NoValueError, holds
from verify.truth.propositions.deciding import ERRORS, REFUSED, AtOnePlace, at_each, has_order, in_the_limit, is_met
from verify.truth.propositions.sites import FREE, PLAIN, WHOLE, Site, Stated
from verify.truth.propositions.valuation import Place, value_of
from verify.verdict import DISAGREE, EXACT, RungDisagreementError

PLACES = 4
"""Alphas of the sweep, the largest ones, at which a relation is decided."""
LARGEST = Fraction(1000)
"""The largest alpha that parameters may have."""
POWERS = (*(Fraction(4) ** k for k in range(-4, 5)), LARGEST)
"""Further alphas, for premises that ask for small or for large ones."""
SHORT = 64
"""Largest denominator of an alpha at which premises are looked for to end exactly."""
DRAWN = 8
"""Drawn points at which a relation between any points is decided: one after the other at each alpha."""
NOWHERE = Fraction(1)
"""The alpha of a place whose formula does not have it."""
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
        return Stated((("hessian_exponent", Fraction(case.instance.problem.s)),))
    return site_of(case) or Stated(())


def choices_of(case: Case) -> dict[str, str]:
    """The value of every choice under the case's reading."""
    return {**case.reading.model_dump(), **case.sense.model_dump()}


def alphas_of(case: Case) -> list[Fraction]:
    """Where a relation is decided: the largest alphas of the sweep, as short rationals.

    Where premises are about one alpha, these, powers of 2 up to the largest there may be, and where the premises end.
    """
    sweep, bounds = [Fraction(alpha).limit_denominator(DIGITS) for alpha in case.profile.alphas[:PLACES]], _bounds(case)
    site = site_of(case)
    if not bounds or site is None:
        return sweep

    def met(alpha: Fraction) -> bool:
        return all(is_met(node, site, alpha, choices_of(case)) for node in bounds)

    tried = {alpha: met(alpha) for alpha in sorted({*sweep, *POWERS})}
    edges = [_edge(met, *ends) for ends in pairwise(tried) if tried[ends[0]] != tried[ends[1]]]
    return [*(alpha for alpha in sweep if tried[alpha]), *edges, *(a for a in POWERS if tried[a] and a not in sweep)]


def _edge(met: Callable[[Fraction], bool], low: Fraction, high: Fraction) -> Fraction:
    """The last alpha, up to a share of a thousandth, at which premises hold that do so at one end alone.

    Where they end at a short rational, it is that.
    """
    inside, outside = (low, high) if met(low) else (high, low)
    for _ in range(10):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if met(middle) else (inside, middle)
    short = ((inside + outside) / 2).limit_denominator(SHORT)
    return short if met(short) else inside


def _bounds(case: Case) -> list[Node]:
    """The premises about one alpha, where the statement is no limit."""
    if case.bound.exponents:
        return []
    nodes = (_predicate(case, premise) for premise in premises_asked(case))
    return [node for node in nodes if node is not None and _is_about_one_alpha(node)]


def _is_about_one_alpha(node: Node) -> bool:
    names = names_within(node)
    return "alpha" in names and names.isdisjoint(ERRORS) and not has_order(node)


def premises_asked(case: Case) -> tuple[Premise, ...]:
    """The premises of the case's statement under its reading."""
    return premises_of(case.claim, "as-written" if case.as_written else "repaired")


def _predicate(case: Case, premise: Premise) -> Node | None:
    """A premise's formula; none where the text is kept with a literal choice that this very premise excludes."""
    node = premise.predicate("as-written" if case.as_written else "repaired", choices_of(case))
    left = chosen_by(case.reading_name) if case.reading_name.startswith(KEEPING) else {}
    return None if node is None or left.keys() & {*choices_within(node)} else node


def right_side(claim: str, case: Case, *observed: float, **numbers: float) -> float:
    """The right side of a statement's formula under the case's reading, what it observes in order, others by name."""
    node, site = find(claim).assertion(case.reading_name).proposition, site_of(case)
    if node is None or site is None:
        raise ValueError(f"{claim} has no formula that could be asked of {case.instance.name}")
    place = site.at(NOWHERE, choices_of(case))
    told = dict(zip(words_observed(node.args[1]), observed, strict=True)) | numbers
    given = {name: place.arithmetic.number(Fraction(value)) for name, value in told.items()}
    return float(value_of(node.args[1], place.with_given(**given)))


def brought(
    case: Case,
    *numbers: Sequence[Fraction | int | ExactReal],
    rung: Rung = "certified",
    context: Mapping[str, float | str] | None = None,
    **given: Fraction | int,
) -> tuple[ComparisonEvidence, ...]:
    """What the statement's formula says of numbers that its check brings, decided exactly: one comparison a relation.

    Args:
        case: Whose statement it is.
        *numbers: At each place the numbers that the formula observes, in the order in which it first names them.
        rung: What they are.
        context: Where they were found.
        given: Quantities of the table by name, where the case has no others.

    Raises:
        ValueError: If these are not what the formula names.
    """
    node = find(case.claim).assertion(case.reading_name).proposition
    if node is None:
        raise ValueError(f"{case.claim} has no formula under {case.reading_name}")
    where = premises_site_of(case)
    unsaid = names_within(node) & {*PLAIN, *WHOLE} - given.keys() if isinstance(where, Site) else ()
    if unsaid:
        raise ValueError(f"{case.claim}: no problem determines {min(unsaid)}, and the check does not say")
    place = where.at(NOWHERE, choices_of(case))

    def there(values: Sequence[Fraction | int | ExactReal]) -> Place:
        told = {**dict(zip(words_observed(node), values, strict=True)), **given}
        exact = {name: v if isinstance(v, ExactReal) else ExactReal.of(Fraction(v)) for name, v in told.items()}
        return place.with_given(**exact)

    places, relations = [there(values) for values in numbers], node.args if node.name == "and" else (node,)
    try:
        shown = [_at_the_worst(relation, places) for relation in relations]
    except NoValueError as error:
        raise ValueError(f"{case.claim}: {error}") from None
    return tuple(compare(*sides, rung=rung, context=dict(context or {})) for sides in shown)


def _at_the_worst(relation: Node, places: Sequence[Place]) -> tuple[str, float, Relation, float]:
    """Both sides where a relation fails or comes nearest to it; of an equation over several places, its error there."""
    name = cast(Relation, relation.name)
    sides = [tuple(value_of(side, place) for side in relation.args) for place in places]
    over = [float(b - a if name == ">=" else a - b) for a, b in sides]
    errors = [abs(gap) for gap in over] if name == "==" else over
    fails = [not holds(name, (a - b).sign) for a, b in sides]
    worst = max(range(len(sides)), key=lambda k: (fails[k], errors[k]))
    a, b = map(float, sides[worst])
    seen = holds(name, (a > b) - (a < b)) is not fails[worst]
    if seen and (name != "==" or len(sides) == 1 or not words_observed(relation.args[1])):
        return plain_text(relation.args[0]), a, name, b
    # Doubles that are alike may stand for numbers that are not.
    return f"largest error of {plain_text(relation)}", errors[worst], "==" if name == "==" else "<=", 0.0


def by_formula(case: Case) -> Measurement:
    """The check of a statement that its formula alone decides.

    Raises:
        NoValueError: If it has no value at this place.
    """
    node, site = find(case.claim).assertion(case.reading_name).proposition, site_of(case)
    if node is None or site is None:
        raise ValueError(f"{case.claim} has no formula that could be asked of {case.instance.name}")
    evidence = tuple(exact_evidence(case, node, site))
    values: dict[str, float | str] = {}
    for item in evidence:
        if isinstance(item, ComparisonEvidence) and item.role == "support":
            # What a counterexample shows: both sides at one place.
            left, right = (plain_text(side) for side in node.args)
            values = {**item.context, left: item.measured, right: item.predicted}
    return Measurement(evidence, values)


def is_beyond_programs(case: Case) -> bool:
    """Whether no program is told what a reading says, so that a statement's formula alone decides, where it has one.

    Weights that are maps of x are no stage's answer.
    """
    node = find(case.claim).assertion(case.reading_name).proposition
    says = node is not None and not words_observed(node)
    return says and case.sense.weights == "map" and site_of(case) is not None


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
    outcomes = list(_outcomes(case, node, site))
    if not outcomes:
        raise NoValueError("it has no value at any place tried")
    failing = [outcome for outcome in outcomes if not outcome.holds]
    shown = (failing or outcomes)[0]
    names = names_within(node)
    context: dict[str, float | str] = {"alpha": float(shown.alpha)} if "alpha" in names else {}
    # Exact values at some alphas, points and errors are no proof for all of them.
    rung: Rung = "certified" if names.isdisjoint({"alpha", *FREE, *ERRORS}) else "numeric"
    yield compare(
        f"{plain_text(node)}: number of places at which it fails, of {len(outcomes)}", len(failing), "==", 0,
        rung=rung, context=context,
    )  # fmt: skip
    if shown.left is not None and shown.right is not None:
        relation = cast(Any, node.name if node.name in ("<=", ">=", "==") else node.name + "=")
        yield compare(
            plain_text(node.args[0]), shown.left, relation, shown.right, rung=rung, role="support",
            context=context,
        )  # fmt: skip


def has_a_value(case: Case) -> bool:
    """Whether the statement's formula has one at the case's place, under its reading."""
    node, site = find(case.claim).assertion(case.reading_name).proposition, site_of(case)
    try:
        return node is not None and site is not None and bool(tuple(exact_evidence(case, node, site)))
    except REFUSED:
        return False


def _outcomes(case: Case, node: Node, site: Site) -> Iterator[AtOnePlace]:
    """A relation at each alpha, if it hangs on that, and at points drawn for those that may be any.

    A drawn point without a solution of the lower level is no place.
    """
    names = names_within(node)
    alphas = alphas_of(case) if "alpha" in names else [NOWHERE]
    for k in range(max(len(alphas), DRAWN) if names & FREE and alphas else len(alphas)):
        drawn = replace(site, seed=k % DRAWN)
        with suppress(NoSolutionError):
            yield from at_each(node, drawn, [alphas[k % len(alphas)]], choices_of(case))


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


def without_value(case: Case) -> PremiseEvidence | None:
    """Where what the statement's formula names has no value at the case's point: that, and why; else nothing."""
    node, site = find(case.claim).assertion(case.reading_name).proposition, site_of(case)
    why = site.lacks(names_within(node)) if node is not None and site is not None else ""
    return PremiseEvidence(premise=VALUE, holds=False, finding=why) if why else None


@lru_cache(maxsize=4096)
def _in_the_limit(node: Node, site: Site | Stated, choices: tuple[tuple[str, str], ...]) -> tuple[bool, bool]:
    """Whether a premise holds for all small alpha, and whether it can there; many statements ask for the same one."""
    met = is_met(node, site, None, dict(choices))
    return met, met or has_order(node) or not is_met(node, site, LARGEST, dict(choices))


def premises_decided(case: Case, premises: Iterable[Premise]) -> Iterator[PremiseEvidence]:
    """Each premise that has a formula and a value here: whether it holds for all small alpha, or at some.

    One that holds at the largest alpha there is and at no small one cannot be met where alpha tends to 0; where the
    statement is about each alpha, it is asked where the premise holds.
    """
    site, choices, bounds = premises_site_of(case), choices_of(case), _bounds(case)
    for premise in premises:
        node = _predicate(case, premise)
        if node is None:
            continue
        where, satisfiable = "", True
        try:
            if node in bounds:
                alphas = [alpha for alpha in POWERS if is_met(node, site, alpha, choices)]
                met = bool(alphas)
                where = f" at α = {float(min(alphas)):.3g} to {float(max(alphas)):.3g}" if met else " at every α tried"
            else:
                met, satisfiable = _in_the_limit(node, site, tuple((c, choices[c]) for c in choices_within(node)))
                where = " for all small α" if "alpha" in names_within(node) else ""
        except REFUSED:
            continue
        finding = f"{plain_text(node)} {'holds' if met else 'fails'}{where}"
        yield PremiseEvidence(premise=premise.id, holds=met, satisfiable=satisfiable, finding=finding)
