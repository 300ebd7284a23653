"""Rules that give weights as a subject gave them: single changes first, then pairs, then what pairs come nearest to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np

from verify.conformance.blame.activation.profiles import Scans
from verify.conformance.blame.activation.ramp_edits import RampEdit, measured_edits, plain_edits
from verify.conformance.blame.activation.ramps import RIGHT_WEIGHTS, WeightRule
from verify.conformance.blame.activation.weighed_rows import WeighedRows
from verify.conformance.blame.measuring import fitted

TRIED = 40
"""Rules of a list that are tried on the answers."""
CLOSE = 1e-9
"""Rows within this are given as the rule says."""
FAR = 0.1
"""Beyond this one row is as wrong as another."""
ALIKE = 1e-6
"""Two profiles whose places differ by less than this together are the same."""
SIDED = 40
"""Rules with the right profiles whose factor is measured."""
NEAREST = 8
"""Rules that are taken further, with a number measured too, or with a third change."""


@lru_cache(maxsize=1)
def _plain() -> tuple[RampEdit, ...]:
    return tuple(plain_edits())


@lru_cache(maxsize=1)
def _measured() -> tuple[RampEdit, ...]:
    return tuple(measured_edits())


def _second() -> list[RampEdit]:
    """Those measured beside another change: shapes are found by :func:`two_sided`."""
    return [edit for edit in _measured() if edit.part != "both" and edit.measured != "sharpness"]


def _scales() -> list[RampEdit]:
    """The factor that profiles leave open."""
    return [edit for edit in _measured() if ("afterwards", "scaled") in edit.values]


def searched_rules(rows: WeighedRows, scans: Callable[[], Scans | None]) -> Iterator[list[WeightRule]]:
    """Lists of rules that may be it, those of fewer changes first; each is cheap to try before the next is made."""
    singles = _changed([RIGHT_WEIGHTS])
    near = nearest(singles, rows)
    yield near[:TRIED]
    yield nearest(_with_numbers([RIGHT_WEIGHTS], rows), rows)[:TRIED]
    measured = scans()
    if measured is not None:
        sided = two_sided(measured)
        yield nearest([*sided, *_with_numbers(sided[:SIDED], rows, edits=_scales())], rows)[:TRIED]
    pairs = nearest(_paired(), rows)
    yield pairs[:TRIED]
    numbered = nearest(_with_numbers([RIGHT_WEIGHTS, *near[:NEAREST]], rows, edits=_second()), rows)
    yield numbered[:TRIED]
    yield nearest(_changed([*numbered[: NEAREST // 2], *pairs[: 2 * NEAREST]]), rows)[:TRIED]


def _changed(rules: Iterable[WeightRule]) -> list[WeightRule]:
    changed_rules = {edit.apply(rule): None for rule in rules for edit in _plain()}
    return [rule for rule in changed_rules if rule is not None]


@lru_cache(maxsize=1)
def _paired() -> tuple[WeightRule, ...]:
    """Two changes, those of two brackets row by row excepted: :func:`two_sided` finds them."""
    parts = {edit: edit.part for edit in _plain()}
    rules: dict[WeightRule | None, None] = {}
    for (first, part), (second, other) in combinations(parts.items(), 2):
        if part == other or "rule" in (part, other) or first.mixes or second.mixes:
            changed = first.apply(RIGHT_WEIGHTS)
            rules[None if changed is None else second.apply(changed)] = None
    return tuple(rule for rule in rules if rule is not None)


def nearest(rules: Sequence[WeightRule], rows: WeighedRows) -> list[WeightRule]:
    """The rules in order of how many rows they miss, then by how much."""
    scored = []
    for k, rule in enumerate(rules):
        off = rows.off(rule)
        missed = int(np.count_nonzero(off > CLOSE))
        scored.append((missed, float(np.minimum(off, FAR).sum()), rule.edits, k))
    return [rules[k] for *_, k in sorted(scored)]


def two_sided(scans: Scans) -> list[WeightRule]:
    """Rules whose two brackets, each changed once or not at all, have the profiles that were measured, up to a factor.

    What cannot be seen at one width of each ramp is told apart later.
    """
    of_h, of_lam = (
        [rule for rule in _with_numbers([RIGHT_WEIGHTS], rows, proportional) + _changed([RIGHT_WEIGHTS])
         if proportional(rows, rule) <= ALIKE and getattr(rule, other) == getattr(RIGHT_WEIGHTS, other)]
        for rows, other in ((WeighedRows.of([scans.h]), "lam"), (WeighedRows.of([scans.lam]), "h"))
    )  # fmt: skip
    of_h, of_lam = ([RIGHT_WEIGHTS, *rules] for rules in (of_h, of_lam))
    return [replace(first, lam=second.lam) for first in of_h for second in of_lam]


def distance_in_all(rows: WeighedRows, rule: WeightRule) -> float:
    """How far a rule is off, a row that is far off counting no more than any other."""
    return float(np.minimum(rows.off(rule), FAR).sum())


def proportional(rows: WeighedRows, rule: WeightRule) -> float:
    """How far a rule is off after its weights are multiplied by what suits them best."""
    weights = rows.weights(rule)
    size = float(weights @ weights) if np.isfinite(weights).all() else 0.0
    if size == 0:
        return FAR * len(weights)
    return float(np.minimum(np.abs(rows.rho - (weights @ rows.rho) / size * weights), FAR).sum())


def _with_numbers(
    rules: Sequence[WeightRule],
    rows: WeighedRows,
    off: Callable[[WeighedRows, WeightRule], float] = distance_in_all,
    edits: Sequence[RampEdit] | None = None,
) -> list[WeightRule]:
    """The rules with one more change whose number fits best."""
    fitted_rules = []
    for rule in rules:
        without = off(rows, rule)
        for edit in _measured() if edits is None else edits:
            if edit.apply(rule, edit.high) is None:
                continue

            def changed_off(value: float, rule: WeightRule = rule, edit: RampEdit = edit) -> float:
                changed = edit.apply(rule, value)
                assert changed is not None  # asked above
                return off(rows, changed)

            enough = CLOSE * len(rows.h)
            best = fitted(changed_off, edit.low, edit.high, without=without, signed=edit.signed, enough=enough)
            changed = None if best is None else edit.apply(rule, best)
            fitted_rules += [] if changed is None else [changed]
    return fitted_rules
