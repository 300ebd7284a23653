"""At which problems a check can be asked: its own instances of the atlas, and draws of their kind."""

from __future__ import annotations

from spec.drawn import Family, is_drawn
from spec.drawn import family_of as family_of_draw
from verify.checks.measuring.case import Check, of_family

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
    """Whether a check can be asked there: one of its own instances, or a draw of their kind."""
    return can_draw(check, family_of_draw(instance)) if is_drawn(instance) else instance in check.instances
