"""At which problems a check can be asked: its own instances of the atlas, draws of their kind, and files like those."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from spec.atlas import Instance, find, is_file
from spec.drawn import FAMILIES, Family, draw, is_drawn, name_of
from spec.drawn import family_of as family_of_draw
from spec.errors import InvalidInputError
from verify.checks.measuring.case import Check, of_family
from verify.truth.strata import strata_of, strata_of_draw

ON_CHOSEN = {
    "convergence-experiment": "it is about the problems of the paper's own experiment",
    "scaling-experiment": "it is about the problems of the paper's own experiment",
    "smoothness/experiment-data": "it is about the problems of the paper's own experiment",
    "sfo-complexity": "its order is attained on the problems chosen, and need not be on every one",
    "inner-cost/linear-rate": "its sweep makes problems of its own from its instance's rows",
    "inner-loop-remark/noise-free": "its sweep makes problems of its own from its instance's curvature",
    "dual-extraction/T2": "it looks at the slope of one row's ramp, where that row alone is active",
    "bias-bound/first-order-only": "its twin problem needs a direction across the error: two dimensions of y",
}
"""Statements, by claim or step, that are asked about chosen problems alone, and why."""


def can_draw(check: Check, family: Family) -> bool:
    """Whether a check can be asked about a family's draws."""
    made_for = not set(family.like).isdisjoint(check.instances)
    return made_for and check.decisions == 0 and not of_family(check.claim, ON_CHOSEN)


def is_place_of(check: Check, instance: str) -> bool:
    """Whether a check can be asked there: one of its own instances, or a draw or a file of their kind."""
    if is_file(instance):
        return any(can_draw(check, FAMILIES[kind]) for kind in kinds_of(find(instance)))
    return can_draw(check, family_of_draw(instance)) if is_drawn(instance) else instance in check.instances


DEGENERATE = frozenset({"infeasible", "licq-fails", "weakly-active"})
"""Strata that are a family's own: a problem of one is like no draw of another family."""


def kinds_of(instance: Instance) -> tuple[str, ...]:
    """The families whose draws a quadratic instance is like: it is of the strata that they ensure, derived exactly.

    Raises:
        InvalidInputError: If it is not quadratic, or g is not strongly convex in y.
    """
    return _kinds_of(instance.name, instance.seeds_as)


@lru_cache(maxsize=256)
def _kinds_of(name: str, _content: str) -> tuple[str, ...]:
    strata = strata_of(find(name))
    like = [family for family, ensured in _ensured().items() if ensured <= strata]
    return tuple(family for family in like if strata & DEGENERATE <= _ensured()[family])


@lru_cache(maxsize=1)
def _ensured() -> dict[str, frozenset[str]]:
    """Strata that every draw of a family is of."""
    firsts = {family: name_of(family, 0) for family in FAMILIES}
    return {family: draw(name)[1].strata | (strata_of_draw(name) & {"box"}) for family, name in firsts.items()}


def require_asked(files: Collection[str], instances: Collection[str], claims: Sequence[str]) -> None:
    """Refuse a file of an instance that none of the statements chosen is asked about.

    Raises:
        InvalidInputError: On the first.
    """
    for name in files:
        if name not in instances:
            who = claims[0] if len(claims) == 1 else "a statement chosen"
            like = ", ".join(kinds_of(find(name))) or "no drawn family"
            rule = f"must be of a kind that {who} is asked about without samples; it is like {like}"
            raise InvalidInputError("instance", rule, name)
