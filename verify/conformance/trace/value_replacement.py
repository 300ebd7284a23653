"""Which expression, if it had the value that it should have, would make a wrong stage right?

Every expression that ran is exchanged for every quantity of its shape, and the stage is asked again. Where every wrong
question is then right, the mistake can be put right there ("value replacement": Jeffrey, Gupta, Gupta, Fault
localization using value replacement, ISSTA 2008). Blamed is the one that is first not what it should be.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from verify.conformance.trace.quantity_fits import Fit, Table
from verify.conformance.trace.seen_values import ExchangedPlace, Key, SeenValues, TooLongError, ValueWatch
from verify.conformance.trace.source_sites import SourceSite
from verify.conformance.trace.suspects import Put, Suspect, Traced, fit_of
from verify.conformance.trace.traced_questions.traced_calls import TracedQuestion
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls

MOST_VALUES = 400_000
"""That may come by in one run with a value exchanged."""
RUN_SECONDS = 0.2
"""For one run with a value exchanged, as far as Python is asked."""
FEWEST = 2
"""Wrong questions that must be put right."""


@dataclass(frozen=True)
class RepairingPlace:
    """A place where every wrong question was put right."""

    suspect: Suspect
    site: SourceSite
    wrong: int
    total: int
    computed: Sequence[tuple[SeenValues, Table]]
    unknown: tuple[str, ...]
    from_nothing: bool
    where: str = ""
    misread: str = ""
    beside: str = ""


T = TypeVar("T")


class OutOfTimeError(Exception):
    """The time for looking is over."""


class Ran(NamedTuple):
    """A run: how far each part of its answer is off, the answer, and what the last exchanged expression computed."""

    parts: tuple[float, ...]
    answer: Any = None
    computed: Sequence[Any] = ()

    @property
    def excess(self) -> float:
        """Beyond 1 it is wrong."""
        return max(self.parts)

    @property
    def wrong(self) -> frozenset[int]:
        """The parts that are wrong."""
        return frozenset(i for i, one in enumerate(self.parts) if not one <= 1)


NO_ANSWER = Ran((np.inf,))


class Replacement:
    """Exchanges values in a subject's runs.

    Args:
        make: Makes the subject as new.
        watch: What its rewritten source calls.
        until: When looking ends, by the monotonic clock.
        before_run: Told before every run with a value exchanged which expression's; answers whether to run.
        after_run: Called after each.
        parent: The same without the expressions of ``in_force``.
        in_force: Expressions that are exchanged in every run.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        watch: ValueWatch,
        until: float,
        before_run: Callable[[int], bool] = lambda _: True,
        after_run: Callable[[], None] = lambda: None,
    ) -> None:
        self.make, self.watch, self.until = make, watch, until
        self.before_run, self.after_run = before_run, after_run
        self.parent: Replacement | None = None
        self.in_force: Sequence[Suspect] = ()
        self._puts: dict[TracedQuestion, list[Put]] = {}
        self._known: dict[TracedQuestion, Ran] = {}
        self._recorded: dict[TracedQuestion, Traced] = {}
        self._tables: dict[TracedQuestion, Table] = {}

    def putting(self, *suspects: Suspect) -> Replacement:
        """The same with values of more expressions exchanged in every run."""
        other = copy(self)
        other.parent, other.in_force, other._puts, other._known, other._recorded = self, suspects, {}, {}, {}
        return other

    @contextmanager
    def hurried(self, share: float) -> Iterator[None]:
        """With a share of the time that is left."""
        until = self.until
        self.until = time.monotonic() + share * (until - time.monotonic())
        try:
            yield
        finally:
            self.until = until

    def in_time(self, each: Iterable[T]) -> Iterator[T]:
        """One after another while there is time."""
        for one in each:
            if time.monotonic() > self.until:
                raise OutOfTimeError
            yield one

    def puts(self, question: TracedQuestion) -> list[Put]:
        """What is exchanged in every run of a question."""
        if self.parent is None:
            return []
        if question not in self._puts:
            traced = self.parent.recorded(question)
            own = [(one, fit) for one in self.in_force if (fit := fit_of(one, traced)) is not None]
            self._puts[question] = [*self.parent.puts(question), *own]
        return self._puts[question]

    def excess(self, question: TracedQuestion) -> float:
        """How far an answer is off; beyond 1 it is wrong. Raises where the subject refuses it."""
        return self.judged(question).excess

    def judged(self, question: TracedQuestion) -> Ran:
        """A question's run, once. Raises where the subject refuses it."""
        if question not in self._known:
            self._known[question] = self._run(question, ())
        return self._known[question]

    def _judged(self, question: TracedQuestion, run: Callable[[StageCalls], Any]) -> Ran:
        try:
            with np.errstate(all="ignore"):
                answer = run(StageCalls(self.make()))
                parts = question.parts(answer)
        except (MissingCapabilityError, NotImplementedError):
            raise
        except (SubjectFaultError, TooLongError, ArithmeticError, ValueError):
            return NO_ANSWER
        return Ran(tuple(one if one == one else np.inf for one in parts), answer)

    def recorded(self, question: TracedQuestion) -> Traced:
        """A question's run with all values on the way, once."""
        if question in self._recorded:
            return self._recorded[question]
        self.puts(question)  # records a run of its own
        ran, record = self.watch.record(lambda: self._run(question, ()))
        if question.stage == "optimise":
            table = Table(question.named(ran.answer) if ran.answer is not None else [])
        else:
            table = self._tables[question] if question in self._tables else Table(question.named(ran.answer))
            self._tables[question] = table
        self._recorded[question] = _traced(question, record, table)
        return self._recorded[question]

    def again(self, traced: Traced, suspect: Suspect, fit: Fit) -> Traced:
        """A question's run with one value exchanged and all values on the way."""
        _, record = self.watch.record(lambda: self.exchanged(traced, [(suspect, fit)]))
        return _traced(traced.question, record, traced.table)

    def answer(self, traced: Traced, *puts: Put) -> Any:
        """What comes of a question with values put in the places of others."""
        return self.exchanged(traced, puts).answer

    def exchanged(self, traced: Traced, places: Sequence[Put], factor: float = 1.0) -> Ran:
        """A question's run with values exchanged, the last times a factor."""
        computed: list[Any] = []
        try:
            ran = self._run(traced.question, places, factor, computed)
        except (MissingCapabilityError, NotImplementedError):
            ran = NO_ANSWER
        return ran._replace(computed=computed)

    def _run(
        self, question: TracedQuestion, places: Sequence[Put], factor: float = 1.0, computed: list[Any] | None = None
    ) -> Ran:
        """A run with these values exchanged beside those in force."""
        every = (*self.puts(question), *places)
        if not every:
            return self._judged(question, lambda stages: question.run(stages, self.watch))
        if time.monotonic() > self.until:
            raise OutOfTimeError
        if not self.before_run(every[-1][0].k):
            return NO_ANSWER
        exchanges = {suspect.k: ExchangedPlace(fit.exchange, suspect.caller) for suspect, fit in every}
        if places:
            last, fit = places[-1]
            exchange = fit.exchange

            def noted(turn: int, clock: int, value: Any) -> Any:
                if computed is not None:
                    computed.append(np.array(value) if isinstance(value, np.ndarray) else value)
                substitute = exchange(turn, clock, value)
                return substitute if factor == 1.0 or substitute is value else _bent(substitute, factor)

            exchanges[last.k] = ExchangedPlace(noted, last.caller)

        def run(stages: StageCalls) -> Any:
            return self.watch.exchanged(
                lambda: question.run(stages, self.watch), exchanges, most=MOST_VALUES, seconds=RUN_SECONDS
            )

        try:
            return self._judged(question, run)
        finally:
            self.after_run()


def _traced(question: TracedQuestion, record: Mapping[Key, SeenValues], table: Table) -> Traced:
    """Values by expression: of each caller where there are several, and of all."""
    values: dict[tuple[int, int | None], SeenValues] = {}
    callers: dict[int, set[int]] = {}
    for (k, caller), seen in record.items():
        callers.setdefault(k, set()).add(caller)
        values[k, caller] = seen
    for k, lines in callers.items():
        values[k, None] = _merged([values[k, line] for line in lines])
        if len(lines) == 1:
            del values[k, next(iter(lines))]
    length = sum(len(seen.values) for seen in record.values())
    called = {k: frozenset(lines) for k, lines in callers.items()}
    return Traced(question, values, table, length, called)


def _merged(parts: Sequence[SeenValues]) -> SeenValues:
    """Values of several callers in the order in which they came by."""
    rows = [row for seen in parts for row in zip(seen.when, seen.values, seen.clocks, strict=True)]
    rows.sort(key=lambda row: row[0])
    return SeenValues([value for _, value, _ in rows], [at for at, _, _ in rows], [clock for _, _, clock in rows])


def _bent(value: Any, factor: float) -> Any:
    """A value that is off by a tenth; nothing becomes something."""
    if isinstance(value, tuple):
        return tuple(_bent(part, factor) for part in value)
    return value * factor + (0.0 if np.any(value) else factor - 1.03)
