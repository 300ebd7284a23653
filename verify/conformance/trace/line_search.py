"""The search for the line of one wrong stage, and the rules that keep it from naming a wrong one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verify.conformance.trace.named_values import SUM
from verify.conformance.trace.quantity_fits import Fit, is_same
from verify.conformance.trace.seen_values import SeenValues
from verify.conformance.trace.source_sites import SourceSite
from verify.conformance.trace.traced_calls import TracedQuestion
from verify.conformance.trace.value_replacement import (
    AFFINE,
    FEWEST,
    OutOfTimeError,
    RepairingPlace,
    Replacement,
    Suspect,
    Traced,
    fit_of,
    is_part,
    suspects,
)
from verify.subjects import MissingCapabilityError

NEAR = 1e-7
"""Relative difference of a foreseen answer up to which it may be right."""
CONDITIONS: dict[str, Callable[[tuple[int, ...]], bool]] = {
    "n = m": lambda s: s[0] == s[1], "p = n": lambda s: s[0] == s[2], "p = m": lambda s: s[1] == s[2],
    "n > m": lambda s: s[0] > s[1], "n < m": lambda s: s[0] < s[1], "p > m": lambda s: s[2] > s[1],
    "p > n": lambda s: s[2] > s[0], "n = m = p": lambda s: s[0] == s[1] == s[2],
}  # fmt: skip
"""What a question may be, by its sizes n, m and p."""


@dataclass(frozen=True)
class StageLine:
    """What came of the search for one stage.

    Args:
        stage: The stage.
        wrong: Wrong questions of the innermost kind that is wrong.
        total: All of that kind.
        places: The places where all are put right: one; two, for two mistakes; none.
        late: Whether time ran out.
    """

    stage: str
    wrong: int
    total: int
    places: tuple[RepairingPlace, ...] = ()
    late: bool = False


def find_line(replacement: Replacement, stage: str, questions: Sequence[TracedQuestion]) -> StageLine | None:
    """The line of a stage's mistake; ``None`` where nothing that is asked here shows the stage wrong.

    Raises:
        OutOfTimeError: If time is over before anything is seen.
    """
    for kind in dict.fromkeys(question.kind for question in questions):
        count = 0
        wrong: list[TracedQuestion] = []
        right: list[TracedQuestion] = []
        for question in questions:
            if question.kind != kind:
                continue
            if time.monotonic() > replacement.until:
                raise OutOfTimeError
            try:
                excess = replacement.excess(question)
            except (MissingCapabilityError, NotImplementedError):
                continue
            count += 1
            (wrong if excess > 1 else right).append(question)
        if wrong:
            if len(wrong) < FEWEST:
                return StageLine(stage, len(wrong), count)
            try:
                places = _Search(replacement, wrong, right, count).found()
            except OutOfTimeError:
                return StageLine(stage, len(wrong), count, late=True)
            return StageLine(stage, len(wrong), count, places)
    return None


class _Search:
    def __init__(
        self, replacement: Replacement, wrong: Sequence[TracedQuestion], right: Sequence[TracedQuestion], count: int
    ) -> None:
        self.replacement = replacement
        self.sites: list[SourceSite] = replacement.watch.sites
        self.wrong = [replacement.recorded(question) for question in sorted(wrong, key=lambda q: not q.is_general)]
        self.right = [replacement.recorded(question) for question in right]
        self.total = count

    def found(self) -> tuple[RepairingPlace, ...]:
        """The place where every wrong question is put right; nothing where there is none, or no line may be told."""
        primary = self.wrong[0]
        groups = [self._influential(primary, group) for group in suspects(primary, self.sites)]
        listed = sorted((suspect for group in groups for suspect in group), key=lambda suspect: suspect.order)
        for suspect in listed:
            computed = self._repairs(suspect)
            if computed is None:
                continue
            site = self.sites[suspect.k]
            if self._is_right_all_in_all(suspect, site) or self._spoils(suspect):
                continue
            if self._compensates(suspect, computed[0], site) or not self._matters(suspect):
                continue
            suspect = self._last_before_use(suspect, listed)
            site = self.sites[suspect.k]
            if site.is_read and not self._is_known(suspect):
                if self._is_known_first(suspect):
                    continue  # right where it is first to be something else, it is wrong in later rounds alone
                return ()  # what makes it is wrong, or has no name
            handed = self._handed_by(suspect, site)
            if handed is None:
                return ()
            site = handed
            unknown, is_call_wrong = self._unknown_parts(suspect, site)
            if len(unknown) > 1 or is_call_wrong:
                return ()
            nothing = all(not np.any(v) for v in computed[0].values if not isinstance(v, tuple))
            if nothing and not (site.is_whole and site.next_loop):
                continue  # where nothing stands, anything can make up for a mistake elsewhere
            every = [(values, traced.table) for values, traced in zip(computed, self.wrong, strict=True)]
            return (
                RepairingPlace(
                    suspect,
                    site,
                    len(self.wrong),
                    self.total,
                    every,
                    unknown,
                    nothing,
                    self._where(),
                ),
            )
        return ()

    def _influential(self, traced: Traced, group: Sequence[Suspect]) -> list[Suspect]:
        """Those that could put the question right, where the answer is an affine function of the value: a few runs."""
        if not group:
            return []
        seen = traced.values[group[0].k, group[0].caller]
        value = seen.values[0]
        size = np.size(value) if not isinstance(value, tuple) else 0
        if len(seen.values) != 1 or not 1 <= size <= AFFINE or len(group) <= 2 * size + 2:
            return list(group)
        answers = [self._answer(traced, group[0], value)]
        units = np.eye(size).reshape(size, *np.shape(value))
        answers += [self._answer(traced, group[0], value + unit) for unit in units]
        away = [value + np.linspace(1.0, 2.0, size).reshape(np.shape(value)) * 0.37]
        chosen = (fit_of(group[at], traced) for at in (0, len(group) // 3, 2 * len(group) // 3, len(group) - 1))
        away += [np.reshape(fit.wants[0], np.shape(value)) for fit in chosen if fit is not None]
        checks = [self._answer(traced, group[0], one) for one in away]
        if any(not isinstance(answer, np.ndarray) for answer in (*answers, *checks)):
            return list(group)
        base, slope = answers[0], np.array([answer - answers[0] for answer in answers[1:]])
        foreseen = [base + np.ravel(one - value) @ slope for one in away]
        if not all(map(is_same, checks, foreseen)):
            return list(group)
        if not slope.any():
            return []  # nothing hangs on it
        wants = np.array([np.ravel(suspect.wants[0]) for suspect in group])
        answers_there = base + (wants - np.ravel(value)) @ slope
        expected = traced.question.expected
        if expected is None:
            return list(group)
        # To rounding of the measured slopes, which is not the subject's.
        limit = NEAR * (1 + np.abs(expected) + np.abs(base) + np.abs(answers_there))
        return [group[int(i)] for i in np.flatnonzero((np.abs(answers_there - expected) <= limit).all(axis=1))]

    def _answer(self, traced: Traced, suspect: Suspect, value: Any) -> Any:
        return self.replacement.exchanged(traced, [(suspect, Fit(suspect.named, "", [value]))])[1]

    def _repairs(self, suspect: Suspect) -> list[SeenValues] | None:
        """What the expression computes where its exchange puts every wrong question right and no right one wrong."""
        values: list[SeenValues] = []
        for traced in self.wrong:
            fit = fit_of(suspect, traced)
            if fit is None:
                return None
            excess, _, computed = self.replacement.exchanged(traced, [(suspect, fit)])
            if not excess <= 1:
                return None
            seen = traced.values[suspect.k, suspect.caller]
            same = len(computed) == len(seen.values)
            values.append(SeenValues(computed, seen.when, seen.clocks) if same else SeenValues(computed, [], []))
        for traced in self.right:
            fit = fit_of(suspect, traced)
            if fit is not None and not self.replacement.exchanged(traced, [(suspect, fit)])[0] <= 1:
                return None
        return values

    def _matters(self, suspect: Suspect) -> bool:
        """Whether it is the quantity that puts things right, and not just any other value."""
        for traced in self.wrong:
            fit = fit_of(suspect, traced)
            if fit is not None and self.replacement.exchanged(traced, [(suspect, fit)], 1.1)[0] > 1:
                return True
        return False

    def _is_right_all_in_all(self, suspect: Suspect, site: SourceSite) -> bool:
        """Whether a right value stands in a whole expression that is right: exchanged, it only makes up for another.

        Nor does a helper that several lines call lack what one of them should add.
        """
        primary = self.wrong[0]
        known = primary.table.names_of(primary.values[suspect.k, suspect.caller])
        if not known:
            return False
        if suspect.caller is not None and not site.is_read:
            return True
        if not site.is_read or (site.is_parameter and primary.is_called_by_user(suspect.k)):
            return False
        around = [k for k in range(suspect.k + 1, len(self.sites)) if self.sites[k].first <= suspect.k]
        whole = next((k for k in around if self.sites[k].is_whole), None)
        seen = None if whole is None else primary.values.get((whole, None))
        return seen is not None and any(one.kind <= SUM for one in primary.table.names_of(seen))

    def _is_known(self, suspect: Suspect) -> bool:
        """Whether the expression's values are a quantity."""
        primary = self.wrong[0]
        known = primary.table.names_of(primary.values[suspect.k, suspect.caller])
        return any(one.kind <= SUM for one in known)

    def _is_known_first(self, suspect: Suspect) -> bool:
        """Whether the value is a quantity where it is first to be another."""
        primary = self.wrong[0]
        seen = primary.values[suspect.k, suspect.caller]
        return primary.table.is_known_at(seen, seen.when.index(suspect.first), either_sign=False)

    def _handed_by(self, suspect: Suspect, site: SourceSite) -> SourceSite | None:
        """Where a parameter that should be something else is handed over; the place itself if it is no parameter."""
        primary = self.wrong[0]
        while site.is_read and site.is_parameter and primary.is_called_by_user(suspect.k):
            k, caller = suspect.k, suspect.caller
            line = next(iter(primary.callers[k])) if caller is None else caller
            seen = primary.values[k, caller]
            handed = [
                (j, above) for (j, above), values in primary.values.items()
                if self.sites[j].called == site.function and self.sites[j].line == line and _are_alike(values, seen)
            ]  # fmt: skip
            above = [replace(suspect, k=j, caller=at) for j, at in handed]
            repairing = [one for one in above if self._repairs(one) is not None]
            if len({one.k for one in repairing}) != 1:
                # Handed on by what uses it rightly itself, the argument is where it is wrong; a parameter never is.
                return site if site.is_argument else None
            suspect, site = repairing[0], self.sites[repairing[0].k]
        return site

    def _spoils(self, suspect: Suspect) -> bool:
        """Whether a right value that is exchanged turns another right one into no quantity at all."""
        primary = self.wrong[0]
        fit = fit_of(suspect, primary)
        if fit is None or not primary.table.names_of(primary.values[suspect.k, suspect.caller]):
            return False
        after = self.replacement.again(primary, suspect, fit)
        for key, seen in primary.values.items():
            k, there = key[0], after.values.get(key)
            if k <= suspect.k or there is None or not self.sites[k].is_whole or self.sites[k].first <= suspect.k:
                continue
            was = any(one.kind <= SUM for one in primary.table.names_of(seen))
            if was and not primary.table.names_of(there):
                return True
        return False

    def _compensates(self, suspect: Suspect, computed: SeenValues, site: SourceSite) -> bool:
        """Whether the expression, all before it right, computes a quantity itself: it only makes up for another."""
        if not computed.when:
            return False
        table = self.wrong[0].table
        known = [one for one in table.names_of(computed) if one.kind <= SUM]
        turned = [one for one in table.names_of(computed, -1.0) if one.kind <= SUM]
        if site.is_read or (site.is_whole and is_part([*known, *turned], suspect.named)):
            return False
        return bool(known or (site.is_subtracted and turned))

    def _last_before_use(self, suspect: Suspect, listed: Sequence[Suspect]) -> Suspect:
        """Of a right term that lacks the rest of its sum, the last place that hands it on: a helper may be right."""
        primary = self.wrong[0]
        seen = primary.values[suspect.k, suspect.caller]
        table = primary.table
        known = [one for sign in (1.0, -1.0) for one in table.names_of(seen, sign) if one.kind <= SUM]
        if self.sites[suspect.k].is_read or not known:
            return suspect
        alike = [
            other for other in listed
            if (other.named, other.scale) == (suspect.named, suspect.scale) and self.sites[other.k].is_whole
            and not self.sites[other.k].is_read
            and _are_same(primary.values[other.k, other.caller], seen)
        ]  # fmt: skip
        return next((other for other in reversed(alike) if self._repairs(other) is not None), suspect)

    def _where(self) -> str:
        """The one condition on sizes that parts wrong questions from right ones, in words."""
        wrong, right = ([traced.question.sizes for traced in group] for group in (self.wrong, self.right))
        if not right or not all((*wrong, *right)):
            return ""
        for word, holds in CONDITIONS.items():
            if all(holds(sizes) for sizes in wrong) and not any(holds(sizes) for sizes in right):
                return f", those with {word}"
        return ""

    def _unknown_parts(self, suspect: Suspect, site: SourceSite) -> tuple[tuple[str, ...], bool]:
        """What is read within it that is no quantity where it first deviates, and whether a call is among that."""
        parts: dict[str, None] = {}
        is_call_wrong = False
        for traced in self.wrong[:2]:
            first = first_of(suspect, traced)
            called_from = frozenset[int]().union(*traced.callers.values())
            for j in range(site.first, suspect.k):
                part = self.sites[j]
                seen = traced.values.get((j, None))
                is_read = part.is_read and part.text.replace(".", "").isidentifier()
                is_own_call = part.is_own_call or (part.is_call and part.line in called_from)
                if seen is None or not (is_read or is_own_call):
                    continue
                before = [i for i, at in enumerate(seen.when) if at <= first]
                if before and not traced.table.is_known_at(seen, before[-1], either_sign=not part.is_added):
                    parts[part.text] = None
                    # What an object has of itself may be computed where it is asked for; a parameter is the caller's.
                    is_call_wrong = is_call_wrong or is_own_call or part.text.startswith("self.")
                    is_call_wrong = is_call_wrong or (part.is_parameter and traced.is_called_by_user(j))
        return tuple(parts), is_call_wrong


def first_of(suspect: Suspect, traced: Traced) -> int:
    """When an expression is first not what it should be; after all where it never is."""
    fit, seen = fit_of(suspect, traced), traced.values.get((suspect.k, suspect.caller))
    if fit is None or seen is None:
        return traced.length
    rows = zip(seen.when, seen.values, fit.wants, strict=True)
    return next((at for at, value, want in rows if not is_same(value, want)), traced.length)


def _are_alike(a: SeenValues, b: SeenValues) -> bool:
    """Whether two expressions have one and the same value all the time."""
    return all(is_same(value, b.values[0]) for value in (*a.values, *b.values))


def _are_same(a: SeenValues, b: SeenValues) -> bool:
    return len(a.values) == len(b.values) and all(map(is_same, a.values, b.values))
