"""The search for a small change of the source that puts every wrong question of a stage right, or for two of them."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from verify.conformance.trace.patches.running_functions import Codes, RunLines, RunningFunction, running_functions
from verify.conformance.trace.patches.source_edits import SourceEdit
from verify.conformance.trace.seen_values import ValueWatch
from verify.conformance.trace.traced_questions.traced_calls import TracedQuestion
from verify.subjects import MissingCapabilityError
from verify.subjects.protocol import StageCalls

RUN_SECONDS, FEWEST_SECONDS = 0.25, 0.03
"""For one run with changed source, as far as Python is asked: at most, and at least."""
MOST_ENDED = 12
"""Runs that take longer, after which no more are made."""
FIRST_NUMBER = 1 << 40
"""Runs with changed source are counted from here: below are expressions."""
TRIED_FIRST = 3
"""Wrong questions that a first of two changes is tried on; the others are asked where it puts one of these right."""
MORE = 0.25
"""How much less likely a change may be that is told rather than one of what is right as it is."""
LACKING = 1.6
"""Cost from which a change is tried by itself alone."""
FIRSTS = 4
"""Changes that put some wrong questions right, beside which a second one is looked for."""


MOST_RUN = 12
"""Wrong and right questions whose lines are watched as they run."""


Confirms = Callable[[Mapping[str, Codes], Sequence[TracedQuestion]], bool]
"""Whether questions come out right with changed code, by file, in a program that was asked nothing yet."""


class _EndedError(BaseException):
    """A run took too long."""


@dataclass(frozen=True, eq=False)
class Patch:
    """A change of one function's source."""

    function: RunningFunction
    edit: SourceEdit
    file: str

    @property
    def place(self) -> str:
        """``my_solver.py:52``."""
        return f"{self.file}:{self.edit.line}"

    def is_after(self, other: Patch) -> bool:
        """Whether it stands further down in the same function, or in one that calls the other's."""
        if self.function is other.function:
            return self.edit.line > other.edit.line
        return self.function.calls(other.function.name.rpartition(".")[2])


@dataclass
class PatchSearch:
    """Looks for changes of the functions that run for wrong questions.

    Args:
        make: Makes the subject as new.
        watch: What its rewritten source calls.
        wrong: Questions that come out wrong.
        right: Those that come out right.
        further: Others, asked only about what was found.
        until: When looking ends, by the monotonic clock.
        before_run: Told before every run its number; answers whether to run.
        after_run: Called after each.
        is_right: Whether all that is assigned or returned around a change is right as it is.
        is_confirmed: Whether all comes out right with changed code, by file, in a program that was asked nothing yet.
    """

    make: Callable[[], Any]
    watch: ValueWatch
    wrong: Sequence[TracedQuestion]
    right: Sequence[TracedQuestion]
    further: Sequence[TracedQuestion]
    until: float
    before_run: Callable[[int], bool]
    after_run: Callable[[], None]
    is_right: Callable[[Patch], bool] = lambda _: False
    is_confirmed: Confirms = lambda _codes, _questions: True

    def found(self) -> tuple[tuple[Patch, ...], Patch | None]:
        """One change, or two where no single one will do, if there are any; and one of what is right as it is.

        The last may make up for a mistake elsewhere.
        """
        self.number, self.ended, self.was_ended = FIRST_NUMBER, 0, False
        self.changed_first: list[RunningFunction] = []
        with self._interruptible():
            # What the program refuses as it is says nothing of a change.
            self.further = [question for question in self.further if not self._is_refused(question)]
            patches, elsewhere = self._patches()
            doubtful: Patch | None = None
            for patch in self._in_time(patches):
                if doubtful is not None and patch.edit.cost > doubtful.edit.cost + MORE:
                    return (), doubtful
                if not self._has_right(patch, self.wrong):
                    continue
                if not self.is_right(patch):
                    return (patch,), None
                if doubtful is None or patch.is_after(doubtful):
                    doubtful = patch
            if doubtful is not None:
                return (), doubtful
            likely = [patch for patch in patches + elsewhere if patch.edit.cost < LACKING]
            partly = {patch: right for patch in self._in_time(likely) if (right := self._some_right(patch))}
            for first in sorted(partly, key=lambda one: (-partly[one], one.edit.cost))[:FIRSTS]:
                second = self._beside(first, likely)
                if second is not None and not self._has_right(second, self.wrong):
                    return (first, second), None
        return (), None

    def _beside(self, first: Patch, patches: Sequence[Patch]) -> Patch | None:
        """A change that puts right what another one leaves, while that is made."""
        with first.function.changed(first.edit):
            self.changed_first = [first.function]
            try:
                left = [question for question in self.wrong if not self._is_right(question)]
                each = (one for one in self._in_time(patches) if one is not first and self._has_right(one, left))
                return next(each, None)
            finally:
                self.changed_first = []

    def _in_time(self, patches: Iterable[Patch]) -> Iterator[Patch]:
        for patch in patches:
            self.number += 1
            if time.monotonic() > self.until or self.ended > MOST_ENDED:
                return
            yield patch

    def _patches(self) -> tuple[list[Patch], list[Patch]]:
        """Changes on lines that run for every wrong question, and on others that run for some.

        The likeliest first, then those that few right questions run.
        """
        timed = sorted(((self._ran(question), question) for question in self.wrong), key=lambda row: row[0].seconds)
        self.wrong = [question for _, question in timed]
        # Watched, a question takes many times its own time.
        self.seconds = {question: min(max(lines.seconds, FEWEST_SECONDS), RUN_SECONDS) for lines, question in timed}
        ran = [lines for lines, _ in timed[:MOST_RUN]]
        calm = [self._ran(question) for question in self.right[:MOST_RUN]]
        every = RunLines.joined(ran)
        ranked: list[tuple[bool, float, int, Patch]] = []
        for function in running_functions(self.watch.files, every):
            path, file = function.path, self.watch.named(Path(function.path))
            for edit in function.edits(every.lines[path]):
                is_elsewhere = not all(edit.line in one.lines.get(path, ()) for one in ran)
                often = sum(edit.line in one.lines.get(path, ()) for one in calm)
                ranked.append((is_elsewhere, edit.cost, often, Patch(function, edit, file)))
        ranked.sort(key=lambda row: row[:3])
        return [row[3] for row in ranked if not row[0]], [row[3] for row in ranked if row[0]]

    def _ran(self, question: TracedQuestion) -> RunLines:
        lines = RunLines()
        with suppress(Exception), lines.watching(self.watch.files), np.errstate(all="ignore"):
            self.watch.clock = 0
            question.run(StageCalls(self.make()), self.watch)
        return lines

    def _has_right(self, patch: Patch, wrong: Sequence[TracedQuestion]) -> bool:
        """Whether a change puts these questions right, beside what is changed now, and none wrong."""
        with suppress(SyntaxError, ValueError), patch.function.changed(patch.edit):
            # Those that are likeliest to be wrong still first, each once.
            every = [*dict.fromkeys((*wrong, *self.right, *self.wrong, *self.further))]
            if not all(map(self._is_right, every)):
                return False
            codes: dict[str, Codes] = {}
            for function in (*self.changed_first, patch.function):
                codes.setdefault(function.path, {}).update(function.compiled())
            return self.is_confirmed(codes, every)
        return False

    def _some_right(self, patch: Patch) -> int:
        """How many wrong questions a change puts right where it puts none wrong."""
        spread = self.wrong[:: max(len(self.wrong) // TRIED_FIRST, 1)][:TRIED_FIRST]
        with suppress(SyntaxError, ValueError), patch.function.changed(patch.edit):
            if any(map(self._is_right, spread)) and all(map(self._is_right, self.right)):
                return sum(map(self._is_right, self.wrong))
        return 0

    def _is_right(self, question: TracedQuestion) -> bool:
        """Whether a question comes out right as the source is now; one that is refused is not."""
        if not self.before_run(self.number):
            return False
        self.watch.clock = 0
        seconds = self.seconds.get(question, RUN_SECONDS)
        signal.signal(signal.SIGALRM, self._end)  # a program may have set its own
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
        try:
            with np.errstate(all="ignore"):
                return all(one <= 1 for one in question.parts(question.run(StageCalls(self.make()), self.watch)))
        except (_EndedError, Exception):  # whatever changed source does
            return False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.ended += self.was_ended
            self.was_ended = False
            self.after_run()

    def _is_refused(self, question: TracedQuestion) -> bool:
        self.watch.clock = 0
        try:
            question.run(StageCalls(self.make()), self.watch)
        except (MissingCapabilityError, NotImplementedError):
            return True
        except Exception:  # wrong it may be
            return False
        return False

    def _end(self, _number: int, frame: FrameType | None) -> None:
        """A run takes too long: it is ended, wherever Python is; within the collector's callbacks at the next ring."""
        if frame is not None and any(getattr(one, "__code__", None) is frame.f_code for one in gc.callbacks):
            return  # raised there it would be printed, and end nothing
        self.was_ended = True
        raise _EndedError

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        before = signal.getsignal(signal.SIGALRM)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
