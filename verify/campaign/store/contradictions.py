"""Whether two results of the same inputs are one: words and verdicts are the same, numbers within bounds of rounding.

Another processor rounds otherwise: numpy and BLAS choose their code by it, libm may, and a sum's last digits are those
of its order. So each number that a result holds has a bound of its own, and two contradict each other where they are
further apart than both bounds together. What is fitted to numbers or decided by them is derived again from these before
a result is believed, and not compared once more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from verify.campaign.recheck.leaves import COUNTED, EXACT, groups
from verify.campaign.recheck.recorded_results import name_of_item, shipped
from verify.campaign.recheck.sketches import MOST_BESIDE, SketchLeaf
from verify.checks.measuring.long_runs import OUTCOMES
from verify.evidence.model import (
    CertifiedBound,
    ComparisonEvidence,
    Evidence,
    PremiseEvidence,
    RateEvidence,
)
from verify.report.model import Result

WRITTEN = 2.0**-50
"""Bound, relative, of an exact number that is written as a double: a norm's few roundings."""
OF_A_RUN = 2.0**-16
"""The same of what is measured at the end of a run of Algorithm 2, beside what it is held against: each step passes on
the roundings of those before it, and how much they grow nobody bounds. Seven millionths were seen."""
WORDS = (
    "claim", "reading", "instance", "verdict", "claimed", "quantity", "rung", "reproduce", "about", "effort", "fault",
)  # fmt: skip
"""Fields of a result that no rounding touches."""
GIVEN = ("predicted", "wanted", "coefficient")
"""Numbers that were derived, not measured: they move with what stands beside them only if they were seen to."""
_BESIDE_ONE = 4 * MOST_BESIDE
_BESIDE = ("counterexample", "pictures", "continuation")


def contradiction(one: Result, other: Result) -> str:
    """What of two results of the same inputs no rounding explains, in a few words; empty where there is nothing.

    Args:
        one: A result that follows from its evidence.
        other: Another one.
    """
    for name in WORDS:
        if getattr(one, name) != getattr(other, name):
            return name
    if len(one.evidence) != len(other.evidence):
        return "evidence"
    names = [*map(name_of_item, one.evidence), *_BESIDE]
    mine, theirs = bounded(one), bounded(other)
    spreads = shipped().spreads(one) or [[]] * len(mine)
    for place, (name, here, there, spread) in enumerate(zip(names, mine, theirs, spreads, strict=True)):
        apart = _apart(here, there, spread)
        if not apart and place < len(one.evidence):
            apart = _bounds_apart(one.evidence[place], other.evidence[place])
        if apart:
            return f"{name}: {apart}"
    return ""


def bounded(result: Result) -> list[list[SketchLeaf]]:
    """What a result holds, as :func:`groups` has it, each number with its bound as slack."""
    leaves = []
    for place, group in enumerate(groups(result)):
        item = result.evidence[place] if place < len(result.evidence) else None
        leaves.append([_bounded(leaf, least) for leaf, least in zip(group, _bounds(result, item, group), strict=True)])
    return leaves


def _bounded(leaf: SketchLeaf, least: float) -> SketchLeaf:
    return SketchLeaf(leaf.value, max(leaf.slack, least))


def _bounds(result: Result, item: Evidence | None, group: Sequence[SketchLeaf]) -> list[float]:
    """Bounds of an item's numbers, as far as these have no wider one of their own."""
    exact = item is not None and not isinstance(item, PremiseEvidence) and item.rung in EXACT
    relative = [WRITTEN if exact else COUNTED] * len(group)
    sizes = [abs(leaf.value) if isinstance(leaf.value, float) and math.isfinite(leaf.value) else 0.0 for leaf in group]
    if isinstance(item, ComparisonEvidence) and result.claim.partition("/")[0] in OUTCOMES:
        relative[0] = OF_A_RUN  # the first is what was measured
        sizes[0] = max(abs(item.measured), abs(item.predicted))
    return [one * size for one, size in zip(relative, sizes, strict=True)]


def _apart(mine: Sequence[SketchLeaf], theirs: Sequence[SketchLeaf], spreads: Sequence[float]) -> str:
    """The first values that are further apart than their bounds; empty where none are.

    ``spreads`` are what the record says that processors differ by.
    """
    before: object = None
    for one, other, spread in zip_longest(mine, theirs, spreads[: len(mine)]):
        if one is None or other is None:
            return "other values"
        if before in GIVEN and spread and isinstance(one.value, float) and spread <= _BESIDE_ONE * abs(one.value):
            spread = 0.0  # it was recorded so for what stands beside it
        if not _agree(one, other, spread or 0.0):
            return f"{_shown(one.value)} and {_shown(other.value)}"
        before = one.value
    return ""


def _agree(one: SketchLeaf, other: SketchLeaf, spread: float) -> bool:
    a, b = one.value, other.value
    if not (isinstance(a, float) and isinstance(b, float) and math.isfinite(a) and math.isfinite(b)):
        return repr(a) == repr(b) or math.isinf(one.slack + other.slack + spread)
    return abs(a - b) <= max(one.slack + other.slack, spread)


def _shown(value: object) -> str:
    return repr(value)[:40]


def _bounds_apart(one: Evidence, other: Evidence) -> str:
    """Proven bounds with the same certificates have the same numbers; with others, those that these prove."""
    if not (isinstance(one, RateEvidence) and isinstance(other, RateEvidence)):
        return ""
    for mine, theirs in zip(one.bounds, other.bounds, strict=False):
        if mine.certificates == theirs.certificates:
            pairs = zip(_numbers(mine), _numbers(theirs), strict=True)
            if difference := next((f"{a!r} and {b!r}" for a, b in pairs if abs(a - b) > WRITTEN * abs(a)), ""):
                return difference
    return ""


def _numbers(bound: CertifiedBound) -> Iterator[float]:
    yield from (bound.constant, bound.end, bound.tightness)
