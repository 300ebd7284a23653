"""What a formula says of a problem: its order, or at which alphas it holds, and where its premises do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product

from spec import InvalidInputError
from spec.formulas import Node, choices_within, names_within
from verify.truth.algebra.reals import ExactReal, UndecidedSignError
from verify.truth.propositions.arithmetic import NoValueError
from verify.truth.propositions.germs import Germ
from verify.truth.propositions.sites import GROWING, REPAIRED_CHOICES, Site, Stated
from verify.truth.propositions.valuation import value_of

ERRORS = ("e_ys", "e_lam", "e_y")
LARGE = 16
"""Most variables of a problem on which free errors are tried: each takes an exact solve of their number."""


@dataclass(frozen=True)
class AtOnePlace:
    """A relation at one alpha: whether it holds, exactly, and its two sides as doubles where it has two numbers."""

    alpha: Fraction
    holds: bool
    left: float | None = None
    right: float | None = None


@dataclass(frozen=True)
class InTheLimit:
    """The first term of a quantity in a variable, and whether it is of the order asserted.

    Args:
        holds: Whether it is.
        exponent: The variable's power; ``None`` where the quantity is exactly 0.
        coefficient: Of the first term, where it is known.
    """

    holds: bool
    exponent: Fraction | None
    coefficient: float | None


def in_the_limit(
    formula: Node, site: Site, choices: Mapping[str, str] = REPAIRED_CHOICES, variable: str = "alpha"
) -> InTheLimit:
    """Decide ``left <= O(right)``, or the like, as a variable of the right side tends to its limit.

    Where errors of the stages stand in it outside of a ``sup``, the worst of those tried decides; see :func:`tried`.

    Raises:
        NoValueError: If it has no value on this site.
    """
    decide = _in_the_limit if _is_plain(site) else _in_the_limit.__wrapped__
    return decide(formula, site, own_choices(formula, choices), variable)


def own_choices(node: Node, choices: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The choices that reach a formula: its own, and how the weights are taken, which says what errors are tried.

    Readings that differ in others alone share its value.
    """
    return tuple((field, choices[field]) for field in sorted({*choices_within(node), "weights"}) if field in choices)


def _is_plain(site: Site | Stated) -> bool:
    """Whether nothing is free at a site that a mapping holds: then its answers are kept."""
    return isinstance(site, Stated) or (site.errors is None and site.numbers is None)


@lru_cache(maxsize=4096)
def _in_the_limit(formula: Node, site: Site, own: tuple[tuple[str, str], ...], variable: str) -> InTheLimit:
    order, choices = formula.order, dict(own)
    if order is None:
        raise NoValueError("it has no order")
    outcomes = []
    for one in tried(formula, site, choices):
        place = one.in_the_limit(choices, variable)
        left, right = value_of(formula.args[0], place), value_of(order.args[0], place)
        holds = place.arithmetic.order(order.name, left, right)
        if holds is None:
            raise NoValueError("its order is not decided")
        outcomes.append((holds, left, right))
    holds, left, right = min(outcomes, key=lambda outcome: (outcome[0], _rank(outcome[1])))
    exponent = left.order if left.order is None or variable not in GROWING else -left.order
    return InTheLimit(holds, exponent, _number(left.coefficient))


def at_each(
    formula: Node, site: Site, alphas: Sequence[Fraction], choices: Mapping[str, str] = REPAIRED_CHOICES
) -> Iterator[AtOnePlace]:
    """Decide a relation exactly at each alpha, at the worst of the errors tried: one at which it fails, or the largest.

    Raises:
        NoValueError: If it has no value there.
    """
    sides = formula.kind == "relation" and not formula.args[0].shape
    for alpha in alphas:
        worst: AtOnePlace | None = None
        for one in tried(formula, site, choices):
            place = one.at(alpha, choices)
            truth = _decided(value_of(formula, place))
            left, right = (float(value_of(side, place)) for side in formula.args) if sides else (None, None)
            larger = worst is None or (left or 0.0) > (worst.left or 0.0)
            if worst is None or (worst.holds and (larger or not truth)):
                worst = AtOnePlace(alpha, truth, left, right)
        if worst is not None:
            yield worst


def is_met(
    premise: Node, site: Site | Stated, alpha: Fraction | None, choices: Mapping[str, str] = REPAIRED_CHOICES
) -> bool:
    """Whether a premise holds on a site: at one alpha, or, without one, for all small enough; at all errors tried.

    Raises:
        NoValueError: If it has no value there.
    """
    decide = _is_met if _is_plain(site) else _is_met.__wrapped__
    return decide(premise, site, alpha, own_choices(premise, choices))


@lru_cache(maxsize=16384)
def _is_met(premise: Node, site: Site | Stated, alpha: Fraction | None, own: tuple[tuple[str, str], ...]) -> bool:
    choices = dict(own)
    sites = tried(premise, site, choices) if isinstance(site, Site) else [site]
    places = (one.in_the_limit(choices) if alpha is None else one.at(alpha, choices) for one in sites)
    return all(_decided(value_of(premise, place)) for place in places)


def has_order(formula: Node) -> bool:
    """Whether a statement, or a part of it, is about a limit."""
    return any(part.is_order for part in formula.walk())


def tried(formula: Node, site: Site, choices: Mapping[str, str] = REPAIRED_CHOICES) -> Iterator[Site]:
    """The site with each error that stands free in the formula: none, and each coordinate alone, up and down.

    Where the derivative sees the weights, errors that end inside of a ramp are, too: half as large, and half of a share
    τ, which is how narrow a ramp may be.

    Raises:
        NoValueError: If there are such errors and the problem is too large to try them all.
    """
    spent = {part.args[1].name for part in formula.walk() if part.kind == "function" and part.name == "sup"}
    free = sorted(names_within(formula) & set(ERRORS) - spent)
    if site.errors:
        yield site
        return
    if free and site.problem.n + site.problem.m > LARGE:
        raise NoValueError(f"it has more errors to try than problems of {LARGE} variables have")
    yield site
    sizes = {"e_ys": site.problem.m, "e_lam": site.problem.p, "e_y": site.problem.m}
    whole, half = Fraction(1), Fraction(1, 2)
    lengths = [(whole, 0)] if choices.get("weights") != "map" else [(whole, 0), (half, 0), (half, 1)]
    for name in free:
        for i in range(sizes[name]):
            for sign, (length, shares) in product((1, -1), lengths):
                error = tuple(sign * length * int(i == j) for j in range(sizes[name]))
                yield replace(site, errors={name: error}, shares=shares)


def _decided(truth: bool | None) -> bool:
    if truth is None:
        raise NoValueError("it is not decided here")
    return truth


def _rank(germ: Germ) -> tuple[bool, Fraction, float]:
    """The larger for small values of the variable, the earlier."""
    if germ.order is None:
        return True, Fraction(0), 0.0
    return False, germ.order, -(_number(germ.coefficient) or 0.0)


def _number(value: ExactReal | None) -> float | None:
    return None if value is None else float(value)


REFUSED = (NoValueError, InvalidInputError, UndecidedSignError)
"""What says that a formula has no value at a place."""
