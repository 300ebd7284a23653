"""Which choices of the paper's a formula's value depends on: found by evaluating it, not listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from spec.formulas import Node, choices_within
from spec.reading import find_choice
from verify.truth.propositions.deciding import REFUSED, at_each, in_the_limit
from verify.truth.propositions.sites import LITERAL_CHOICES, REPAIRED_CHOICES, Site
from verify.truth.propositions.valuation import value_of

ALPHA = Fraction(1, 10)
"""Where what is no order is evaluated."""


def axes(formula: Node, sites: Iterable[Site]) -> tuple[str, ...]:
    """The choices that change what is measured on one of these sites, all others literal or all repaired.

    Only those that some quantity in it is defined by can; a value under which there is none is left out.
    """
    possible, sites = choices_within(formula), list(sites)
    return tuple(field for field in possible if any(_changes(formula, site, field) for site in sites))


def _changes(formula: Node, site: Site, field: str) -> bool:
    choice = find_choice(field)
    values = dict.fromkeys([*choice.values, choice.repaired])
    return any(
        len({text for value in values for text in _identity(formula, site, {**base, field: value})}) > 1
        for base in (REPAIRED_CHOICES, LITERAL_CHOICES)
    )


def _identity(formula: Node, site: Site, choices: Mapping[str, str]) -> Iterator[str]:
    """What is measured, at the worst of the errors tried, and what it is held against; nothing without a value."""
    try:
        if formula.order is None:
            yield str(next(at_each(formula, site, [ALPHA], choices)))
            return
        worst, right = in_the_limit(formula, site, choices), value_of(formula.order.args[0], site.in_the_limit(choices))
        scale = right.coefficient and float(right.coefficient)
        yield f"{worst.exponent} {worst.coefficient} against {right.order} {scale}"
    except REFUSED:
        return
