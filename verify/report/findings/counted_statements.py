"""How many statements came out how: what the text says, what it takes for granted and what it does not say apart.

Every page prints these counts and no others, so that one number is not called another's name elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from spec.claims import Statement
from verify.report import wording

WRITTEN, GRANTED, SUPPOSED, UNSAID, REPAIRED = "as-written", "granted", "supposed", "unsaid", "repaired"
TITLES = {
    WRITTEN: "As written", GRANTED: "Taken for granted", SUPPOSED: "Supposed", UNSAID: "Not in the text",
    REPAIRED: "Repaired",
}  # fmt: skip
"""In the order of print: how a line of counts begins. A hypothesis asserts nothing: asked is whether it can be met, and
that is no success of what the text says. What follows from the words is not in the text either."""


def group_of(statement: Statement | None, reading: str) -> str:
    """Where a statement is counted under a named reading; nowhere where it asks on which side an experiment falls."""
    if wording.asks_of_experiment(statement):
        return ""
    if reading == "repaired":
        return REPAIRED
    if not wording.is_said(statement):
        return UNSAID
    if statement is not None and statement.question == "can-be-met":
        return SUPPOSED
    return GRANTED if statement is not None and statement.relation == "implied" else WRITTEN


def counted_statements(outcomes: Iterable[tuple[Statement | None, str, str]]) -> Mapping[str, Mapping[str, int]]:
    """By group, those that have any: how many statements are shown as each status.

    Args:
        outcomes: Of each statement under each named reading: itself, the reading, and the status it is shown as.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in TITLES}
    for statement, reading, shown in outcomes:
        if group := group_of(statement, reading):
            counts[group][shown] += 1
    return {name: counter for name, counter in counts.items() if counter}
