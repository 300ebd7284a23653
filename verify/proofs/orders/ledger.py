"""Who asserts which order: every quantity of the proofs under one reading, asserted and as it really follows.

A quantity has two orders: the one the text asserts for it, and the one its own bound gives once every quantity that
bound rests on is replaced by what *its* bound gives. A step is judged by the first, the whole proof by the second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from spec.claims import Claim, ReadingName, Statement
from spec.errors import InvalidInputError
from spec.orders import BaseOrders, Inference, Relation
from verify.proofs.orders.expressions import evaluate, names_in, split
from verify.proofs.orders.inequalities import LogInequality, at_least, solution, witness
from verify.proofs.orders.order import ONE, NoOrderError, Order

Level: TypeAlias = Literal["asserted", "derived", "granted"]
"""``asserted``: every quantity has the order its step asserts. ``derived``: the order its own bound gives, all the way
down. ``granted``: the same, but orders plugged in are taken as given."""


@dataclass(frozen=True)
class Entry:
    """One inference in its place.

    Args:
        full_id: The claim or step that draws it.
        statement: That claim or step.
        inference: The inference.
        asserted: The order asserted, as an expression.
        variables: What the order is meant in.
    """

    full_id: str
    statement: Statement
    inference: Inference
    asserted: str
    variables: tuple[str, ...]


@dataclass(frozen=True)
class Context:
    """What a name stands for while one inference is looked at.

    Args:
        variables: Variables that vary; all others are held fixed.
        chosen: Variables tied to others here, by expression.
        given: Orders plugged in for quantities here, by expression.
    """

    variables: tuple[str, ...]
    chosen: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)


class Ledger:
    """All orders under one reading.

    Args:
        claims: Claims by id.
        base: What every proof starts from.
        reading: Which assertions are meant.

    Raises:
        InvalidInputError: If a quantity is asserted twice, or a name stands for nothing.
    """

    def __init__(self, claims: Mapping[str, Claim], base: BaseOrders, reading: ReadingName) -> None:
        self.base = base
        self.reading = reading
        self.definitions = base.definitions | (base.as_written if reading == "as-written" else base.repaired)
        self.entries: list[Entry] = []
        self.sources: dict[tuple[str, Relation], Entry] = {}
        for claim in claims.values():
            for full_id, statement in claim.statements():
                for inference in statement.assertion(reading).orders:
                    self._record(self._entry(full_id, statement, inference))
        for entry in self.entries:
            self._require_known(entry)
        self._open: list[tuple[str, Relation]] = []

    def context(self, entry: Entry) -> Context:
        """What names stand for in an inference."""
        given = entry.inference.given
        chosen = {name: text for name, text in given.items() if self.is_variable(name)}
        plugged = {name: text for name, text in given.items() if name not in chosen}
        return Context(entry.variables, chosen, plugged)

    def order(self, text: str, context: Context, level: Level, side: Relation = "upper") -> Order:
        """The order of an expression at a level.

        Raises:
            NoOrderError: If a quantity in it has no bound from the side needed.
        """
        made = evaluate(text, lambda name, wanted: self._lookup(name, wanted, context, level), side)
        return made.dominant(self.limits(context.variables))

    def limits(self, variables: tuple[str, ...]) -> list[LogInequality]:
        """The variables on their way to their limits: below 1, or above."""
        made = []
        for name in variables:
            toward = self.base.limits.get(name)
            if toward is not None:
                unit = {name: Fraction(1)}
                made.append(at_least({}, unit) if toward == "zero" else at_least(unit, {}))
        return made

    def is_variable(self, name: str) -> bool:
        """Whether orders may be powers of this name."""
        return name in self.base.limits or name in self.base.parameters

    def _entry(self, full_id: str, statement: Statement, inference: Inference) -> Entry:
        exponents = statement.assertion(self.reading).bound.exponents
        own = " * ".join(f"{name}^({power})" for name, power in exponents.items())
        asserted = inference.asserted or own
        if inference.quantity and not asserted:
            raise InvalidInputError(f"{full_id}.orders", "need an asserted order", inference.quantity)
        variables = inference.variables or tuple(exponents) or ("alpha",)
        return Entry(full_id, statement, inference, asserted, variables)

    def _record(self, entry: Entry) -> None:
        self.entries.append(entry)
        inference = entry.inference
        if not inference.quantity:
            return
        key = (inference.quantity, inference.relation)
        if key in self.sources or inference.quantity in self.definitions or self.is_variable(inference.quantity):
            raise InvalidInputError(f"{entry.full_id}.orders", "must not bound a quantity twice", inference.quantity)
        self.sources[key] = entry

    def _require_known(self, entry: Entry) -> None:
        inference = entry.inference
        sides = [side for text in (*inference.hypotheses, *inference.provided) for side in split(text)]
        used = [inference.bound_by, entry.asserted, *inference.given.values(), *sides]
        names = [name for text in used if text for name in names_in(text)]
        known = {name for name, _ in self.sources} | {*self.definitions, *self.base.constants}
        for name in [*names, *inference.given, *entry.variables]:
            if name not in known and not self.is_variable(name):
                raise InvalidInputError(f"{entry.full_id}.orders", "must use known names", name)

    def _lookup(self, name: str, side: Relation, context: Context, level: Level) -> Order:
        if self.is_variable(name):
            return self._variable(name, side, context, level)
        if name in self.base.constants:
            return ONE
        if name in context.given and level != "derived":
            return self.order(context.given[name], context, level, side)
        if name in self.definitions:
            return self.order(self.definitions[name], context, level, side)
        source = self.sources.get((name, side))
        if source is None:
            raise NoOrderError(f"{self.symbol(name)} has no bound from {'above' if side == 'upper' else 'below'}")
        if level == "asserted":
            return self.order(source.asserted, self._nested(source, context), level, side)
        return self._derived(source, context, level)

    def _derived(self, source: Entry, context: Context, level: Level) -> Order:
        key = (source.inference.quantity, source.inference.relation)
        if key in self._open:
            raise InvalidInputError(f"{source.full_id}.orders", "must not rest on themselves", key[0])
        self._open.append(key)
        try:
            if self.unmet_provisos(source) or self.conflict(source):
                raise NoOrderError(f"{self.symbol(source.inference.quantity)} has no bound that follows")
            return self.order(source.inference.bound_by, self._nested(source, context), level, key[1])
        finally:
            self._open.pop()

    def _variable(self, name: str, side: Relation, context: Context, level: Level) -> Order:
        if name in context.chosen:
            inner = Context(context.variables, {k: v for k, v in context.chosen.items() if k != name}, context.given)
            return self.order(context.chosen[name], inner, level, side)
        if name in context.variables:
            return Order.of({name: Fraction(1)})
        if name in self.base.links:
            return self.order(self.base.links[name], context, level, side)
        return ONE

    def _nested(self, source: Entry, context: Context) -> Context:
        """The context of an inference used within another: its own choices, then those around it."""
        own = self.context(source)
        return Context(context.variables, {**context.chosen, **own.chosen}, own.given)

    def unmet_provisos(self, entry: Entry) -> list[tuple[str, dict[str, Fraction]]]:
        """Inequalities the bound needs and the hypotheses do not give, with logarithms at which they fail."""
        context, premises = self.context(entry), self.premises(entry)
        unmet = []
        for text in entry.inference.provided:
            larger, smaller = split(text)
            left = self.order(smaller, context, "derived", "upper")
            right = self.order(larger, context, "derived", "lower")
            for one in left.monomials:
                found = witness([at_least(dict(other), dict(one)) for other in right.monomials], premises)
                if found is not None:
                    unmet.append((text, found))
        return unmet

    def premises(self, entry: Entry) -> list[LogInequality]:
        """What may be assumed in an inference: its hypotheses, and its limit if one is taken."""
        made = self.limits(entry.variables) if not entry.inference.everywhere else []
        return made + [self.inequality(text, self.context(entry)) for text in entry.inference.hypotheses]

    def inequality(self, text: str, context: Context) -> LogInequality:
        """An inequality between two monomials."""
        larger, smaller = (self._one(side, context, text) for side in split(text))
        return at_least(larger, smaller)

    def conflict(self, entry: Entry) -> str:
        """The first hypothesis that fails once the variables are near enough to their limits, or nothing."""
        if entry.inference.everywhere:
            return ""
        context = self.context(entry)
        reached = [LogInequality(item.powers, Fraction(1)) for item in self.limits(entry.variables)]
        held: list[LogInequality] = []
        for text in entry.inference.hypotheses:
            # However far along the way: a fixed lower limit is passed at some point.
            held.append(self.inequality(text, context))
            if solution([*reached, *held]) is None:
                return text
        return ""

    def _one(self, text: str, context: Context, inequality: str) -> dict[str, Fraction]:
        order = self.order(text, context, "derived")
        if len(order.monomials) != 1:
            raise InvalidInputError("hypotheses", "must compare single products", inequality)
        return dict(next(iter(order.monomials)))

    def symbol(self, name: str) -> str:
        """A name in print."""
        return self.base.symbols.get(name, name)
