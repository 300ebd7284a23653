"""Two places at once: values of two expressions that together put all questions right, while neither does alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from verify.conformance.trace.influences import NEAR, Influence, influence_of, put, value_of
from verify.conformance.trace.quantity_fits import is_same
from verify.conformance.trace.source_sites import SourceSite
from verify.conformance.trace.suspects import Suspect, Traced, fit_of, suspects
from verify.conformance.trace.value_replacement import Replacement
from verify.conformance.trace.written_parts import WrittenParts

MOST_INSTEAD = 40
"""Quantities that one expression may be instead, those that change least of what is written first."""
MOST_RUNS = 3000
"""Runs for one pair of expressions neither of which the answer follows in an affine way."""
Both = tuple[Suspect, Suspect]


class JointSearch:
    """Pairs of exchanges that put the first wrong question right, tested on all."""

    def __init__(
        self, replacement: Replacement, wrong: Sequence[Traced], right: Sequence[Traced], sites: Sequence[SourceSite]
    ) -> None:
        self.replacement, self.wrong, self.right, self.sites = replacement, wrong, right, sites
        self.primary = wrong[0]
        self.parts = WrittenParts(self.primary, sites)
        self.affine: list[Influence] = []
        self.others: list[list[Suspect]] = []

    def found(self) -> Iterator[Both]:
        """The plainest first; of those that are found by foreseen answers first."""
        self._measure()
        pairs = self.replacement.in_time(combinations(self.affine, 2))
        yield from self._tested([both for a, b in pairs for both in self._foreseen(a, b)])
        for group in self.others:
            yield from self._tested([both for one in self.affine for both in self._stepwise(group, one)])
        for first, second in combinations(self.others, 2):
            yield from self._tested([*self._one_by_one(first, second)])

    def _measure(self) -> None:
        """The influence of each expression that is computed, once for those that hand on one value."""
        seen: list[tuple[Any, int]] = []
        for group in self.replacement.in_time(suspects(self.primary, self.sites)):
            group = [one for one in group if any(map(np.any, one.wants))]  # nothing would only switch things off
            if not group:
                continue
            k, caller = group[0].k, group[0].caller
            values = self.primary.values[k, caller].values
            if self.sites[k].is_read and any(len(values) == n and is_same_form(values[0], one) for one, n in seen):
                continue
            seen.append((values[0], len(values)))
            group = sorted(group, key=self.parts.changes)[:MOST_INSTEAD]
            influence = influence_of(self.replacement, self.primary, group)
            if influence is None:
                self.others.append(group)
            elif influence.slope.any():
                self.affine.append(influence)
        self.others.sort(key=lambda group: (self._is_known(group[0]), len(group)))

    def _is_known(self, suspect: Suspect) -> bool:
        seen = self.primary.values[suspect.k, suspect.caller]
        return bool(self.primary.table.names_of(seen))

    def changes(self, pair: Both) -> tuple[int, int]:
        """How much of what is written two quantities would change, and how long they are to say."""
        return sum(map(self.parts.changes, pair)), sum(one.named.kind * 100 + len(one.named.name) for one in pair)

    def _off(self, answers: Any) -> Any:
        """How far answers are off, in what foreseeing may be off by."""
        expected = np.asarray(self.primary.question.expected)
        limit = NEAR * (1 + np.abs(expected) + np.abs(answers))
        return (np.abs(answers - expected) / limit).max(axis=-1)

    def _foreseen(self, a: Influence, b: Influence) -> Iterator[Both]:
        """Pairs whose answers, bilinear in both values, would be right."""
        one, two = a.group[0], b.group[0]
        value, other = (np.asarray(value_of(self.primary, suspect)) for suspect in (one, two))

        def answer(move: Any, by: Any) -> Any:
            return self.replacement.answer(
                self.primary, put(one, value + move.reshape(value.shape)), put(two, other + by.reshape(other.shape))
            )

        none, nothing = np.zeros(value.size), np.zeros(other.size)
        base = answer(none, nothing)
        of_a = [answer(unit, nothing) for unit in np.eye(value.size)]
        of_b = [answer(none, unit) for unit in np.eye(other.size)]
        if any(not isinstance(one, np.ndarray) for one in (base, *of_a, *of_b)):
            return
        by_a, by_b = np.array(of_a) - base, np.array(of_b) - base
        if not by_a.any() or not by_b.any():
            return  # one hides the other
        grid = [[answer(unit, step) for step in np.eye(other.size)] for unit in np.eye(value.size)]
        both = np.array(grid) - base - by_a[:, None] - by_b[None, :]
        answers = (
            base + (a.moves @ by_a)[:, None] + (b.moves @ by_b)[None, :]
            + np.einsum("ai,ijk,bj->abk", a.moves, both, b.moves)
        )  # fmt: skip
        alone_a, alone_b = self._off(base + a.moves @ by_a) <= 1, self._off(base + b.moves @ by_b) <= 1
        right = (self._off(answers) <= 1) & ~alone_a[:, None] & ~alone_b[None, :]
        yield from ((a.group[int(i)], b.group[int(j)]) for i, j in np.argwhere(right))

    def _stepwise(self, group: Sequence[Suspect], b: Influence) -> Iterator[Both]:
        """Each of a group in force, in turn, and the answer as an affine function of the other."""
        two = b.group[0]
        other = np.asarray(value_of(self.primary, two))
        before = None
        for suspect in group:
            fit = fit_of(suspect, self.primary)
            if fit is None:
                continue
            puts = [(suspect, fit)]
            base = self.replacement.answer(self.primary, *puts, put(two, other))
            if not isinstance(base, np.ndarray):
                continue
            if before is not None and is_same(base, before):
                return  # it hides the group
            before = base
            units = [
                self.replacement.answer(self.primary, *puts, put(two, other + unit.reshape(other.shape)))
                for unit in np.eye(other.size)
            ]
            if any(not isinstance(one, np.ndarray) for one in units):
                continue
            slope = np.array(units) - base
            right = self._off(base + b.moves @ slope) <= 1
            yield from ((suspect, b.group[int(i)]) for i in np.flatnonzero(right))

    def _one_by_one(self, first: Sequence[Suspect], second: Sequence[Suspect]) -> Iterator[Both]:
        """All pairs, where there are not too many."""
        if len(first) * len(second) > MOST_RUNS:
            return
        for a in first:
            for b in second:
                if self._is_right([a, b], self.primary):
                    yield a, b

    def _tested(self, pairs: Sequence[Both]) -> Iterator[Both]:
        """Those that hold, the plainest first."""
        yield from filter(self.holds, sorted(pairs, key=self.changes))

    def holds(self, pair: Both) -> bool:
        """Whether all questions are right with both put right, and not all with either alone."""
        return all(self._is_right(pair, traced) for traced in (*self.wrong, *self.right)) and not any(
            all(self._is_right([one], traced) for traced in self.wrong) for one in pair
        )

    def _is_right(self, pair: Sequence[Suspect], traced: Traced) -> bool:
        fits = [(one, fit_of(one, traced)) for one in pair]
        puts = [(one, fit) for one, fit in fits if fit is not None]
        if len(puts) < len(pair) and traced.question in {one.question for one in self.wrong}:
            return False
        return not puts or self.replacement.exchanged(traced, puts).excess <= 1


def is_same_form(a: Any, b: Any) -> bool:
    """Whether two values are of one shape and the same."""
    return type(a) is type(b) and np.shape(a) == np.shape(b) and not isinstance(a, tuple) and is_same(a, b)
