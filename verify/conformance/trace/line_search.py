"""The search for the lines of one wrong stage: one place, two at once, or one after another."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from verify.conformance.trace.joint_search import JointSearch
from verify.conformance.trace.line_words import StageLine
from verify.conformance.trace.named_values import SUM
from verify.conformance.trace.patches.clean_copy import CleanCopy
from verify.conformance.trace.patches.patch_search import Confirms, Patch, PatchSearch
from verify.conformance.trace.patches.running_functions import Codes
from verify.conformance.trace.place_search import PlaceSearch
from verify.conformance.trace.quantity_fits import Fit, is_same
from verify.conformance.trace.suspects import Suspect, fit_of, suspects
from verify.conformance.trace.traced_questions.traced_calls import TracedQuestion
from verify.conformance.trace.value_replacement import FEWEST, OutOfTimeError, RepairingPlace, Replacement
from verify.conformance.trace.wrong_turns import where_of
from verify.subjects import MissingCapabilityError
from verify.subjects.faults import described

Questions = Sequence[TracedQuestion]
MOST_CHANGES = 6
"""Of what is written, up to which two quantities at once are believed."""
ODD = 2
"""Changes of what is written from which on one quantity may be less plain than two."""
MOST_OTHERS = 3
"""Quantities that a place is tried to be instead, with another place after it."""
SHARE = (0.8, 0.3)
"""Of the time that is left, for two places: where there is no single one that is sure, and where there is."""
PATCHED = 0.6
"""The same for changes of the source, before that."""


def find_line(
    replacement: Replacement, stage: str, questions: Sequence[TracedQuestion], *, copy: CleanCopy | None = None,
    is_patched: bool = True,
) -> StageLine | None:  # fmt: skip
    """The lines of a stage's mistakes; ``None`` where nothing that is asked here shows the stage wrong.

    Args:
        replacement: Exchanges values in the subject's runs.
        stage: Its name.
        questions: All about it.
        copy: The program as new, where what is found is confirmed; without, it is not.
        is_patched: Whether changes of the source are tried, too.

    Raises:
        OutOfTimeError: If time is over before anything is seen.
    """
    answers = {
        kind: _asked(replacement, [q for q in questions if q.kind == kind and not q.is_further])
        for kind in dict.fromkeys(question.kind for question in questions)
    }
    off = {kind: (wrong, right) for kind, (wrong, right) in answers.items() if wrong}
    if not off:
        return None
    kind, (wrong, right) = next(
        ((k, both) for k, both in off.items() if len(both[0]) >= FEWEST), next(iter(off.items()))
    )
    here = StageLine(stage, len(wrong), len(wrong) + len(right))
    further = [q for q in questions if q.is_further]
    every = _Asked(
        [q for both in answers.values() for q in both[0]], [q for both in answers.values() for q in both[1]], further
    )
    if len(every.wrong) < FEWEST:
        return here
    if len(wrong) < FEWEST:
        here = StageLine(stage, len(every.wrong), len(every.wrong) + len(every.right))
    if is_patched:
        numbers = {question: k for k, question in enumerate(questions)}

        def is_confirmed(codes: Mapping[str, Codes], which: Questions) -> bool:
            return copy is None or copy.is_right(codes, [numbers[question] for question in which])

        here, patches, doubtful = _patched(replacement, every, here, is_confirmed)
        if patches:
            return replace(here, patches=patches, where=where_of(wrong, right))
        # What is told where nothing else is found.
        otherwise = replace(here, patches=doubtful, is_doubtful=bool(doubtful), where=where_of(wrong, right))
    else:
        doubtful, otherwise = (), here
    if len(wrong) < FEWEST:
        return otherwise
    search = _PlacesSearch(replacement, wrong, right, [q for q in further if q.kind == kind])
    try:
        places = search.single() if doubtful else search.places()
    except OutOfTimeError:
        return replace(otherwise, late=not doubtful)
    where = where_of(wrong, right)
    return replace(here, places=tuple(replace(one, where=where + one.where) for one in places)) if places else otherwise


@dataclass(frozen=True)
class _Asked:
    """All questions of a stage."""

    wrong: Questions
    right: Questions
    further: Questions


def _patched(
    replacement: Replacement, every: _Asked, here: StageLine, is_confirmed: Confirms
) -> tuple[StageLine, tuple[Patch, ...], tuple[Patch, ...]]:
    """Changes of the source that put all questions right, and one that does though it is of something right."""
    sites = replacement.watch.sites

    def is_right(patch: Patch) -> bool:
        line, text = patch.edit.around()
        traced = replacement.recorded(every.wrong[0])
        around = [
            (k, seen) for (k, caller), seen in traced.values.items()
            if caller is None and (sites[k].line, sites[k].text, sites[k].file) == (line, text, patch.file)
        ]  # fmt: skip
        return any(one.kind <= SUM for _, seen in around for one in traced.table.names_of(seen))

    try:
        with replacement.hurried(PATCHED):
            patches, doubtful = PatchSearch(
                replacement.make, replacement.watch, every.wrong, every.right, every.further, replacement.until,
                replacement.before_run, replacement.after_run, is_right, is_confirmed,
            ).found()  # fmt: skip
    except Exception as error:  # of a source that is unlike others values may tell more
        return replace(here, failed=described(error)), (), ()
    return here, patches, () if doubtful is None else (doubtful,)


def _asked(
    replacement: Replacement, questions: Sequence[TracedQuestion]
) -> tuple[list[TracedQuestion], list[TracedQuestion]]:
    """The wrong and the right ones of those that are answered."""
    wrong: list[TracedQuestion] = []
    right: list[TracedQuestion] = []
    for question in questions:
        if time.monotonic() > replacement.until:
            raise OutOfTimeError
        try:
            (wrong if replacement.excess(question) > 1 else right).append(question)
        except (MissingCapabilityError, NotImplementedError):
            continue
    return wrong, right


class _PlacesSearch:
    """Two places, each found as a single one is while the other is put right."""

    def __init__(self, replacement: Replacement, wrong: Questions, right: Questions, further: Questions) -> None:
        self.replacement, self.wrong, self.right, self.further = replacement, wrong, right, further
        self.search = PlaceSearch(replacement, wrong, right, further)
        self.joint = JointSearch(replacement, self.search.wrong, self.search.right, self.search.sites)

    def single(self) -> tuple[RepairingPlace, ...]:
        """The one place, if there is one."""
        place = self.search.found()
        return () if place is None else (place,)

    def places(self) -> tuple[RepairingPlace, ...]:
        """One place, or two where one would have to make up for both."""
        single = self.search.found()
        changes = None if single is None else self.joint.parts.changes(single.suspect)
        if single is not None and changes is not None and not self._is_odd(single):
            return (single,)
        try:
            with self.replacement.hurried(SHARE[single is not None and not single.unknown]):
                for pair in chain(self._beside(single), self._partly(), self._at_once()):
                    if any(place.unknown for place in pair.places):
                        continue  # where a third thing is wrong before, two make up for it
                    if changes is None or (single is not None and single.unknown) or pair.changes <= changes:
                        return pair.places
        except OutOfTimeError:
            if single is None:
                raise
        return () if single is None else (single,)

    def _is_odd(self, place: RepairingPlace) -> bool:
        """Whether two places may be plainer."""
        return bool(place.unknown) or place.suspect.scale != 1.0 or self.joint.parts.changes(place.suspect) >= ODD

    def _at_once(self) -> Iterator[_Pair]:
        """From pairs that put the first question right."""
        tried: set[frozenset[int]] = set()
        for pair in self.joint.found():
            lines = frozenset(self.joint.sites[one.k].line for one in pair)
            if self.joint.changes(pair)[0] > MOST_CHANGES or lines in tried:
                continue
            tried.add(lines)
            for known in sorted(pair, key=lambda one: -one.first):
                yield from self._from(known)

    def _partly(self) -> Iterator[_Pair]:
        """From what puts a part of the first answer right."""
        changes = self.joint.parts.changes
        for one in sorted(self.search.partial, key=lambda one: (changes(one), one.first)):
            if changes(one) <= MOST_CHANGES:
                yield from self._from(one)

    def _from(self, known: Suspect) -> Iterator[_Pair]:
        first = self._single(known)
        second = None if first is None else self._single(first.suspect)
        first = None if second is None else self._single(second.suspect)  # beside what is named, not what led there
        if first is not None and second is not None and self.joint.holds((first.suspect, second.suspect)):
            yield self._pair(first, second)

    def _single(self, known: Suspect) -> RepairingPlace | None:
        """The place while another is put right."""
        return PlaceSearch(self.replacement.putting(known), self.wrong, self.right, self.further).found()

    def _beside(self, single: RepairingPlace | None) -> Iterator[_Pair]:
        """From what a place is a multiple of, where another after it lacks the factor."""
        if single is None or single.unknown or single.suspect.scale == 1.0:
            return
        primary, changes = self.search.wrong[0], self.joint.parts.changes
        others = [
            one for group in suspects(primary, self.search.sites) for one in group
            if (one.k, one.caller, one.scale) == (single.suspect.k, single.suspect.caller, 1.0)
            and _are_multiples(one, single.suspect)
        ]  # fmt: skip
        for one in sorted(others, key=lambda one: (changes(one), one.order))[:MOST_OTHERS]:
            second = self._single(one)
            if second is None or second.unknown or second.site.line == single.site.line:
                continue
            if self._is_second(one, second):
                yield self._pair(replace(single, suspect=one, computed=()), second)

    def _is_second(self, one: Suspect, second: RepairingPlace) -> bool:
        """Whether a place that is computed from another is wrong, too: moved by what it lacks then, all is right."""
        for traced, (computed, _) in zip(self.search.wrong, second.computed, strict=True):
            fits = fit_of(one, traced), fit_of(second.suspect, self.replacement.putting(one).recorded(traced.question))
            if fits[0] is None or fits[1] is None or not computed.when:
                return False
            moves = [np.reshape(w, np.shape(v)) - v for v, w in zip(computed.values, fits[1].wants, strict=True)]
            moved = second.suspect, Fit(second.suspect.named, "by", moves)
            alone = (
                self.replacement.exchanged(traced, [moved]).excess,
                self.replacement.exchanged(traced, [(one, fits[0])]).excess,
            )
            if not self.replacement.exchanged(traced, [(one, fits[0]), moved]).excess <= 1 or min(alone) <= 1:
                return False
        return True

    def _pair(self, first: RepairingPlace, second: RepairingPlace) -> _Pair:
        ordered = sorted((first, second), key=lambda place: place.site.line)
        places = tuple(
            replace(place, beside=_at(other)) for place, other in zip(ordered, reversed(ordered), strict=True)
        )
        return _Pair(self.joint.changes((first.suspect, second.suspect))[0], places)


@dataclass(frozen=True)
class _Pair:
    """Two places, and how much of what is written they change."""

    changes: int
    places: tuple[RepairingPlace, ...]


def _are_multiples(one: Suspect, other: Suspect) -> bool:
    """Whether what two would be is not the same but for a factor."""
    if one.how != other.how or len(one.wants) != len(other.wants) or isinstance(one.wants[0], tuple):
        return False
    a, b = (np.concatenate([np.ravel(want) for want in suspect.wants]) for suspect in (one, other))
    if a.shape != b.shape or is_same(a, b) or not a.any():
        return False
    return is_same(b, a * float(a @ b) / float(a @ a))


def _at(place: RepairingPlace) -> str:
    return f"{place.site.file}:{place.site.line}"
