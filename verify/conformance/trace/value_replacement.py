"""Which expression, if it had the value that it should have, would make a wrong stage right?

Every expression that ran is exchanged for every quantity of its shape, and the stage is asked again. Where every wrong
question is then right, the mistake can be put right there ("value replacement": Jeffrey, Gupta, Gupta, Fault
localization using value replacement, ISSTA 2008). Blamed is the one that is first not what it should be.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.conformance.trace.named_values import GIVEN, SCALED, SUM, Named
from verify.conformance.trace.quantity_fits import Fit, Table, fits_of, is_same, multiplied, partly
from verify.conformance.trace.seen_values import ExchangedPlace, Key, SeenValues, TooLongError, ValueWatch
from verify.conformance.trace.source_sites import SourceSite
from verify.conformance.trace.traced_calls import TracedQuestion
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls

SCALES = (1.0, -1.0, 2.0, 0.5)
"""By what a quantity is multiplied before it is tried."""
RUN_SECONDS = 0.2
"""For one run with a value exchanged, as far as Python is asked."""
FEWEST = 2
"""Wrong questions that must be put right."""
WHOLE_LINES = frozenset({"h(x, ỹ*)", "∇_y f", "∇_x f(x, ỹ)"})
"""Sums that are whole as they are, in the use of others too."""
FACTORS_OF_WEIGHTS = frozenset({"σ_h(h)", "σ_λ(λ̃)"})
"""What ρ is a product of."""
AFFINE = 12
"""Entries of a value up to which its influence on the answer is measured, so that few quantities need be tried."""


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
    is_stretched: bool = False
    wants: Sequence[Any] = ()

    @property
    def order(self) -> tuple[bool, int, float, int, int]:
        """First what is first not what it should be; what is right but for terms of other weights comes last."""
        return self.is_stretched, self.first, SCALES.index(self.scale), self.named.kind, len(self.named.name)


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


class OutOfTimeError(Exception):
    """The time for looking is over."""


class Replacement:
    """Exchanges values in a subject's runs.

    Args:
        make: Makes the subject as new.
        watch: What its rewritten source calls.
        until: When looking ends, by the monotonic clock.
        before_run: Told before every run with a value exchanged which expression's; answers whether to run.
        after_run: Called after each.
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

    def excess(self, question: TracedQuestion) -> float:
        """How far an answer is off; beyond 1 it is wrong. Raises where the subject refuses it."""
        return self._judged(question, lambda stages: question.run(stages, self.watch))[0]

    def _judged(self, question: TracedQuestion, run: Callable[[StageCalls], Any]) -> tuple[float, Any]:
        try:
            with np.errstate(all="ignore"):
                answer = run(StageCalls(self.make()))
                excess = question.excess(answer)
        except (MissingCapabilityError, NotImplementedError):
            raise
        except (SubjectFaultError, TooLongError, ArithmeticError, ValueError):
            return np.inf, None
        return (excess if excess == excess else np.inf), answer

    def recorded(self, question: TracedQuestion) -> Traced:
        """A question's run with all values on the way."""
        (_, answer), record = self.watch.record(
            lambda: self._judged(question, lambda stages: question.run(stages, self.watch))
        )
        named = question.named(answer) if answer is not None or question.stage != "optimise" else []
        return _traced(question, record, Table(named))

    def again(self, traced: Traced, suspect: Suspect, fit: Fit) -> Traced:
        """A question's run with one value exchanged and all values on the way."""
        _, record = self.watch.record(lambda: self.exchanged(traced, [(suspect, fit)]))
        return _traced(traced.question, record, traced.table)

    def exchanged(
        self, traced: Traced, places: Sequence[tuple[Suspect, Fit]], factor: float = 1.0
    ) -> tuple[float, Any, list[Any]]:
        """How wrong a question is with values exchanged, its answer, and what the last place computed by itself."""
        if time.monotonic() > self.until:
            raise OutOfTimeError
        if not self.before_run(places[-1][0].k):
            return np.inf, None, []
        computed: list[Any] = []
        exchanges: dict[int, ExchangedPlace] = {}
        for suspect, fit in places:
            exchange = fit.exchange

            def noted(turn: int, clock: int, value: Any, exchange: Any = exchange) -> Any:
                computed.append(np.array(value) if isinstance(value, np.ndarray) else value)
                substitute = exchange(turn, clock, value)
                return substitute if factor == 1.0 or substitute is value else _bent(substitute, factor)

            exchanges[suspect.k] = ExchangedPlace(noted, suspect.caller)
        most = 400 * traced.length + 100_000

        def run(stages: StageCalls) -> Any:
            return self.watch.exchanged(
                lambda: traced.question.run(stages, self.watch), exchanges, most=most, seconds=RUN_SECONDS
            )

        try:
            excess, answer = self._judged(traced.question, run)
        except (MissingCapabilityError, NotImplementedError):
            return np.inf, None, computed
        finally:
            self.after_run()
        return excess, answer, computed


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
    names = {one.name for one in (*known, *turned)}
    for named in traced.table.candidates(seen):
        if named.name in names:
            continue
        lacks = site.is_whole and is_part(known, named)
        # Only what is handed over is read by a wrong name: of anything else its making may be wrong.
        # One that is only given another name is read rightly: its use is wrong.
        is_other = not site.is_whole and any(one.kind == GIVEN for one in known)
        misread = named.kind == GIVEN and (not site.is_read or is_other)
        if known and not lacks and not misread:
            continue
        if turned and not known and not (site.is_whole and is_part(turned, named)):
            # What has the sign that its use wants.
            continue
        for scale in (1.0,) if known or named.kind == SCALED else SCALES:
            scaled = named if scale == 1.0 else Named(named.name, multiplied(named.value, scale), named.kind)
            for fit in (*fits_of(scaled, seen), *(partly(scaled, seen) if scale == 1.0 else ())):
                first = next(
                    (at for at, v, w in zip(seen.when, seen.values, fit.wants, strict=True) if not is_same(v, w)), None
                )
                if first is not None and not (differs and fit.how == ""):
                    stretched = bool(known) and not site.is_read and _is_far(known, named)
                    yield Suspect(*key, named, scale, fit.how, first, stretched, fit.wants)


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
