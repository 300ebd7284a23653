"""Which choices of the paper's a statement's formula depends on: found by evaluating it, not listed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

from spec.claims import find, premises_of
from spec.formulas import Node, choices_within
from spec.reading import find_choice
from verify.truth.propositions.deciding import REFUSED, at_each, in_the_limit, is_met, own_choices
from verify.truth.propositions.sites import LITERAL_CHOICES, REPAIRED_CHOICES, Site
from verify.truth.propositions.valuation import value_of

ALPHA = Fraction(1, 10)
"""Where what is no order is evaluated."""


def axes(formula: Node, sites: Iterable[Site], premises: Iterable[Node] = (), stated: Iterable[str] = ()) -> set[str]:
    """The choices that change what is measured on one of these sites, where the premises admit it.

    Every value that the words allow, and the one that the choice is held at where a text does not make it, is held
    against the others. Of the choices ``stated`` all are literal, or all repaired; the rest is repaired.
    """
    possible, sites, premises = choices_within(formula), list(sites), list(premises)
    written = REPAIRED_CHOICES | {field: LITERAL_CHOICES[field] for field in stated}
    bases = [REPAIRED_CHOICES, written] if written != REPAIRED_CHOICES else [REPAIRED_CHOICES]

    def changes(field: str, site: Site, base: Mapping[str, str]) -> bool:
        choice, seen = find_choice(field), set[str]()
        for value in dict.fromkeys([choice.repaired, *choice.values]):
            choices = {**base, field: value}
            if _admits(premises, formula, site, choices):
                seen |= {*_identity(formula, site, own_choices(formula, choices))}
            if len(seen) > 1:
                return True
        return False

    return {field for field in possible if any(changes(field, site, base) for site in sites for base in bases)}


def axes_of(full_id: str, sites: Iterable[Site]) -> set[str]:
    """Those of a statement's literal text, its own and its claim's premises spent; none where it has no formula."""
    statement = find(full_id)
    formula = statement.as_written.proposition
    if formula is None:
        return set()
    # What is a hypothesis under one reading alone excludes nothing under the others.
    predicates = [one.predicate("as-written") for one in premises_of(full_id) if not one.under]
    return axes(formula, sites, [node for node in predicates if node is not None], statement.choices)


def _admits(premises: Iterable[Node], formula: Node, site: Site, choices: Mapping[str, str]) -> bool:
    """Whether no premise that has a value at a site fails there: for all small alpha where the formula is an order."""
    at = ALPHA if formula.order is None else None
    return all(_holds(premise, site, at, own_choices(premise, choices)) for premise in premises)


@lru_cache(maxsize=4096)
def _holds(premise: Node, site: Site, alpha: Fraction | None, own: tuple[tuple[str, str], ...]) -> bool:
    """Whether a premise holds or has no value, asked once for all statements of a claim and all their choices."""
    try:
        return is_met(premise, site, alpha, REPAIRED_CHOICES | dict(own))
    except REFUSED:
        return True


@lru_cache(maxsize=4096)
def _identity(formula: Node, site: Site, own: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """What is measured, at the worst of the errors tried, and what it is held against; nothing without a value."""
    choices = REPAIRED_CHOICES | dict(own)
    try:
        if formula.order is None:
            return (str(next(at_each(formula, site, [ALPHA], choices))),)
        worst, right = in_the_limit(formula, site, choices), value_of(formula.order.args[0], site.in_the_limit(choices))
        scale = right.coefficient and float(right.coefficient)
    except REFUSED:
        return ()
    return (f"{worst.exponent} {worst.coefficient} against {right.order} {scale}",)
