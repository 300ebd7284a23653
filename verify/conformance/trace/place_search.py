"""The search for the one place of a mistake, and the rules that keep it from naming a wrong one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from verify.conformance.trace.influences import promising
from verify.conformance.trace.named_values import SUM
from verify.conformance.trace.quantity_fits import is_same
from verify.conformance.trace.seen_values import SeenValues
from verify.conformance.trace.source_sites import SourceSite
from verify.conformance.trace.suspects import TURNED, Suspect, Traced, fit_of, is_part, suspects
from verify.conformance.trace.traced_questions.traced_calls import TracedQuestion
from verify.conformance.trace.value_replacement import RepairingPlace, Replacement
from verify.conformance.trace.wrong_turns import misread_row, when_of
from verify.subjects import MissingCapabilityError

CONVERTED = re.compile(r"(np\.(array|asarray|stack|vstack|hstack|concatenate)|list|tuple)\(\w+\)")
"""A list that is handed on as another kind of sequence."""


class PlaceSearch:
    """The place where all wrong questions of one kind are put right, if there is one."""

    def __init__(
        self, replacement: Replacement, wrong: Sequence[TracedQuestion], right: Sequence[TracedQuestion],
        further: Sequence[TracedQuestion],
    ) -> None:  # fmt: skip
        self.replacement = replacement
        self.sites: list[SourceSite] = replacement.watch.sites
        self.wrong = [replacement.recorded(question) for question in sorted(wrong, key=lambda q: not q.is_general)]
        self.right = [replacement.recorded(question) for question in right]
        self.further = further
        self.partial: list[Suspect] = []
        """What puts some parts of the first wrong answer right, and none wrong."""

    def found(self) -> RepairingPlace | None:
        """The place where every wrong question is put right; ``None`` where there is none, or no line may be told."""
        primary = self.wrong[0]
        every = self.replacement.in_time(suspects(primary, self.sites))
        groups = [promising(self.replacement, primary, group) for group in every]
        listed = sorted((suspect for group in groups for suspect in group), key=lambda suspect: suspect.order)
        is_blocked = False  # but what has another sign only
        for suspect in self.replacement.in_time(listed):
            if is_blocked and suspect.rank < TURNED:
                continue
            computed = self._repairs(suspect)
            if computed is None:
                continue
            site = self.sites[suspect.k]
            if CONVERTED.fullmatch(site.text) and not self._has_seen_parts(suspect.k):
                continue  # what it is made of is wrong
            if self._is_right_all_in_all(suspect, site) or self._spoils(suspect):
                continue
            if self._compensates(suspect, computed[0], site) or not self._matters(suspect):
                continue
            if not self._holds_further(suspect):
                continue
            suspect = self._last_before_use(suspect, listed)
            site = self.sites[suspect.k]
            misread = misread_row(suspect, self.wrong[0], self.sites)
            if site.is_read and not misread and not self._is_known(suspect):
                if self._is_known_first(suspect):
                    continue  # right where it is first to be something else, it is wrong in later rounds alone
                is_blocked = True
                continue  # what makes it is wrong, or has no name
            handed = self._handed_by(suspect, site)
            if handed is None:
                is_blocked = True
                continue
            site = handed
            unknown, is_call_wrong = self._unknown_parts(suspect, site)
            if len(unknown) > 1 or is_call_wrong:
                is_blocked = True
                continue
            nothing = all(not np.any(v) for v in computed[0].values if not isinstance(v, tuple))
            if nothing and not (site.is_whole and site.next_loop):
                continue  # where nothing stands, anything can make up for a mistake elsewhere
            told = [(values, traced.table) for values, traced in zip(computed, self.wrong, strict=True)]
            total = len(self.wrong) + len(self.right)
            when = when_of(suspect, self.wrong)
            return RepairingPlace(suspect, site, len(self.wrong), total, told, unknown, nothing, when, misread)
        return None

    def _repairs(self, suspect: Suspect) -> list[SeenValues] | None:
        """What the expression computes where its exchange puts every wrong question right and no right one wrong."""
        values: list[SeenValues] = []
        for traced in self.wrong:
            fit = fit_of(suspect, traced)
            if fit is None:
                return None
            ran = self.replacement.exchanged(traced, [(suspect, fit)])
            if not ran.excess <= 1:
                if traced is self.wrong[0] and ran.wrong < self.replacement.judged(traced.question).wrong:
                    self.partial.append(suspect)
                return None
            seen, computed = traced.values[suspect.k, suspect.caller], list(ran.computed)
            same = len(computed) == len(seen.values)
            values.append(SeenValues(computed, seen.when, seen.clocks) if same else SeenValues(computed, [], []))
        for traced in self.right:
            fit = fit_of(suspect, traced)
            if fit is not None and not self.replacement.exchanged(traced, [(suspect, fit)]).excess <= 1:
                return None
        return values

    def _matters(self, suspect: Suspect) -> bool:
        """Whether it is the quantity that puts things right, and not just any other value."""
        fits = [(traced, fit) for traced in self.wrong if (fit := fit_of(suspect, traced)) is not None]
        off = [self.replacement.exchanged(traced, [(suspect, fit)], 1.1).excess > 1 for traced, fit in fits]
        return 2 * sum(off) >= len(off)

    def _holds_further(self, suspect: Suspect) -> bool:
        """Whether questions that it was not found on are right with it."""
        for question in self.further:
            try:
                traced = self.replacement.recorded(question)
            except (MissingCapabilityError, NotImplementedError):
                continue
            fit = fit_of(suspect, traced)
            if fit is not None and not self.replacement.exchanged(traced, [(suspect, fit)]).excess <= 1:
                return False
        return True

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

    def _has_seen_parts(self, k: int) -> bool:
        return any((j, None) in self.wrong[0].values for j in range(self.sites[k].first, k))

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
