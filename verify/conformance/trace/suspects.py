"""What each expression could be instead: every quantity of its shape, as far as the rules allow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.conformance.trace.named_values import GIVEN, SCALED, SUM, Named
from verify.conformance.trace.quantity_fits import Fit, Table, fits_of, is_same, multiplied, partly
from verify.conformance.trace.seen_values import SeenValues
from verify.conformance.trace.source_sites import SourceSite
from verify.conformance.trace.traced_questions.traced_calls import TracedQuestion

SCALES = (1.0, -1.0, 2.0, 0.5)
"""By what a quantity is multiplied before it is tried."""
TURNED = 2
"""Rank of what is right but for its sign."""
WHOLE_LINES = frozenset({"h(x, ỹ*)", "∇_y f", "∇_x f(x, ỹ)"})
"""Sums that are whole as they are, in the use of others too."""
FACTORS_OF_WEIGHTS = frozenset({"σ_h(h)", "σ_λ(λ̃)"})
"""What ρ is a product of."""
BLOCK = re.compile(r"([fg]_[xy]{1,2}|[ABb])ᵀ?")
"""A block of a problem, by name."""


@dataclass(frozen=True)
class Traced:
    """A wrong question's run: each expression's values, and the quantities."""

    question: TracedQuestion
    values: dict[tuple[int, int | None], SeenValues]
    table: Table
    length: int
    callers: Mapping[int, frozenset[int]]

    def is_called_by_user(self, k: int) -> bool:
        """Whether lines of the user's call the function of an expression."""
        return self.callers[k] != {0}


@dataclass(frozen=True)
class Suspect:
    """An expression, as called from one line or from all, and what it could be instead."""

    k: int
    caller: int | None
    named: Named
    scale: float
    how: str
    first: int
    rank: int = 0
    wants: Sequence[Any] = ()

    @property
    def order(self) -> tuple[int, int, float, int, int]:
        """First what is first not what it should be; then what is right but for terms of other weights, or its sign."""
        return self.rank, self.first, SCALES.index(self.scale), self.named.kind, len(self.named.name)


Put = tuple[Suspect, Fit]
"""An expression and what is put in the place of its values in one question."""


def fit_of(suspect: Suspect, traced: Traced) -> Fit | None:
    """What a suspect would have to be in another question."""
    seen = traced.values.get((suspect.k, suspect.caller))
    named = traced.table.by_name.get(suspect.named.name)
    if seen is None or named is None:
        return None
    scaled = named if suspect.scale == 1.0 else Named(named.name, multiplied(named.value, suspect.scale), named.kind)
    fits = [*fits_of(scaled, seen), *partly(scaled, seen)]
    return next((fit for fit in fits if fit.how == suspect.how), fits[0] if fits else None)


def suspects(traced: Traced, sites: Sequence[SourceSite]) -> Iterator[list[Suspect]]:
    """What each expression could be instead, as far as the rules allow."""
    for (k, caller), seen in traced.values.items():
        site = sites[k]
        if site.is_read and site.is_argument:
            continue
        known, minus = traced.table.names_of(seen), traced.table.names_of(seen, -1.0)
        plain = [one for one in known if one.kind <= SUM]
        turned = [one for one in minus if one.kind <= SUM]
        if not plain and _is_right_in_turn(traced, k, caller):
            continue
        may_be_right = site.is_read or site.is_whole
        if not may_be_right and (plain or (site.is_subtracted and turned)):
            continue
        is_handed = site.is_read and site.is_parameter and traced.is_called_by_user(k)
        is_shared = caller is None and len(traced.callers[k]) > 1
        if is_handed and (is_shared or not any(one.kind == GIVEN for one in plain)):
            # What a helper is handed: its caller may hand it the wrong thing, no more.
            continue
        yield [*_instead(traced, (k, caller), site, [plain, turned])]


def _is_right_in_turn(traced: Traced, k: int, caller: int | None) -> bool:
    """Whether a helper's value is right for each of its callers, or a sum that is built up is right in the end."""
    seen = traced.values[k, caller]
    if len(seen.values) < 2 or isinstance(seen.values[0], tuple):
        return False

    def is_right(turn: int) -> bool:
        one = SeenValues([seen.values[turn]], [seen.when[turn]], [seen.clocks[turn]])
        return any(n.kind <= SUM for sign in (1.0, -1.0) for n in traced.table.names_of(one, sign))

    if caller is None and len(traced.callers[k]) > 1:
        return all(map(is_right, range(len(seen.values))))
    return traced.question.stage != "optimise" and np.ndim(seen.values[-1]) > 0 and is_right(len(seen.values) - 1)


def _instead(
    traced: Traced, key: tuple[int, int | None], site: SourceSite, right: Sequence[Sequence[Named]]
) -> Iterator[Suspect]:
    seen, (known, turned) = traced.values[key], right
    # Of a helper that several lines call, no one quantity is right for all, unless all were given the same.
    is_shared = key[1] is None and len(traced.callers[key[0]]) > 1
    differs = is_shared and not all(is_same(value, seen.values[0]) for value in seen.values)
    names = {one.name for one in known}
    # The rest of a sum is lacking where it is summed up, not where a block of the problem is handed on.
    is_handed = site.is_read or site.text.startswith("-")
    is_block = is_handed and any(one.kind == GIVEN and BLOCK.fullmatch(one.name) for one in (*known, *turned))
    for named in traced.table.candidates(seen):
        if named.name in names:
            continue
        lacks = site.is_whole and not is_block and is_part(known, named)
        # Only what is handed over is read by a wrong name: of anything else its making may be wrong.
        # One that is only given another name is read rightly: its use is wrong.
        is_other = not site.is_whole and any(one.kind == GIVEN for one in known)
        misread = named.kind == GIVEN and (not site.is_read or is_other)
        if known and not lacks and not misread:
            continue
        is_turned = named in turned
        if turned and not known and not (site.is_whole and (is_turned or (not is_block and is_part(turned, named)))):
            # What has the sign that its use wants.
            continue
        for scale in (1.0,) if known or is_turned or named.kind == SCALED else SCALES:
            scaled = named if scale == 1.0 else Named(named.name, multiplied(named.value, scale), named.kind)
            for fit in (*fits_of(scaled, seen), *(partly(scaled, seen) if scale == 1.0 else ())):
                first = next(
                    (at for at, v, w in zip(seen.when, seen.values, fit.wants, strict=True) if not is_same(v, w)), None
                )
                if first is not None and not (differs and fit.how == ""):
                    stretched = bool(known) and not site.is_read and _is_far(known, named)
                    rank = TURNED if is_turned else int(stretched)
                    yield Suspect(*key, named, scale, fit.how, first, rank, fit.wants)


def _is_far(known: Sequence[Named], named: Named) -> bool:
    """Whether something right lacks terms of another weight, or a factor, or is a whole line of its own."""
    labels = {label[1:] for label in named.terms}
    whole = any(one.name in WHOLE_LINES for one in known)
    return whole or len(_weights(named)) > 1 or bool(labels & FACTORS_OF_WEIGHTS)


def _weights(named: Named) -> set[str]:
    """The weights that stand before a sum's terms."""
    return {label[1:3] if label[1:2] == "α" else "" for label in named.terms}


def is_part(known: Sequence[Named], named: Named) -> bool:
    """Whether something that is right lacks terms of a sum."""
    if not named.terms:
        return False
    for one in known:
        own = one.terms or frozenset({f"+{one.name}", f"−{one.name}"})
        if own < named.terms or (not one.terms and own & named.terms):
            return True
    return False
