"""Who asserts which order: every quantity of the proofs under one reading, asserted and as it really follows.

A quantity has two orders: the one the text asserts for it, and the one its own bound gives once every quantity that
bound rests on is replaced by what *its* bound gives. A step is judged by the first, the whole proof by the second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from spec.base_orders import BaseOrders
from spec.claims import Claim, Inference, ReadingName, Relation, Statement
from spec.errors import InvalidInputError
from verify.proofs.orders.expressions import evaluate, names_in, split
from verify.proofs.orders.order import ONE, LogInequality, NoOrderError, Order, at_least, solution, witness

ONCE = Fraction(1)
Level: TypeAlias = Literal["asserted", "derived", "granted"]
"""``asserted``: every quantity has the order its step asserts. ``derived``: the order its own bound gives, all the way
down. ``granted``: the same, but orders plugged in are taken as given."""


@dataclass(frozen=True)
class Context:
    """What names stand for while one inference is looked at; variables that do not vary are held fixed.

    By expression: ``chosen`` ties variables to others, ``given`` plugs in orders for quantities.
    """

    variables: tuple[str, ...]
    chosen: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OrderEntry:
    """One inference of a claim or step, with the order asserted as an expression."""

    full_id: str
    inference: Inference
    asserted: str
    context: Context


class OrderLedger:
    """All orders under one reading, refused if a quantity is asserted twice, or a name stands for nothing."""

    def __init__(self, claims: Mapping[str, Claim], base: BaseOrders, reading: ReadingName) -> None:
        self.base = base
        self.reading = reading
        self.definitions = base.definitions | (base.as_written if reading == "as-written" else base.repaired)
        self.entries: list[OrderEntry] = []
        self.sources: dict[tuple[str, Relation], OrderEntry] = {}
        for claim in claims.values():
            for full_id, statement in claim.statements():
                for inference in statement.assertion(reading).orders:
                    self._record(self._entry(full_id, statement, inference))
        for entry in self.entries:
            self._require_known(entry)
        self._open: list[tuple[str, Relation]] = []

    def order(self, text: str, context: Context, level: Level, side: Relation = "upper") -> Order:
        """The order of an expression at a level; there is none if a quantity has no bound from the side needed."""
        order = evaluate(text, lambda name, wanted: self._lookup(name, wanted, context, level), side)
        return order.dominant(self.limits(context.variables))

    def limits(self, variables: tuple[str, ...], margin: int = 0) -> list[LogInequality]:
        """The variables on their way to their limits: below 1, or above; with a margin, by any factor."""
        toward = [(name, self.base.limits[name]) for name in variables if name in self.base.limits]
        ends = [({}, {name: ONCE}) if limit == "zero" else ({name: ONCE}, {}) for name, limit in toward]
        return [at_least(larger, smaller, margin) for larger, smaller in ends]

    def is_variable(self, name: str) -> bool:
        """Whether orders may be powers of this name."""
        return name in self.base.limits or name in self.base.parameters

    def _entry(self, full_id: str, statement: Statement, inference: Inference) -> OrderEntry:
        exponents = statement.assertion(self.reading).bound.exponents
        own = " * ".join(f"{name}^({power})" for name, power in exponents.items())
        asserted = inference.asserted or own
        if inference.quantity and not asserted:
            raise InvalidInputError(f"{full_id}.orders", "need an asserted order", inference.quantity)
        variables = inference.variables or tuple(exponents) or ("alpha",)
        chosen = {name: text for name, text in inference.given.items() if self.is_variable(name)}
        plugged = {name: text for name, text in inference.given.items() if name not in chosen}
        return OrderEntry(full_id, inference, asserted, Context(variables, chosen, plugged))

    def _record(self, entry: OrderEntry) -> None:
        self.entries.append(entry)
        quantity, key = entry.inference.quantity, (entry.inference.quantity, entry.inference.relation)
        if not quantity:
            return
        if key in self.sources or quantity in self.definitions or self.is_variable(quantity):
            raise InvalidInputError(f"{entry.full_id}.orders", "must not bound a quantity twice", quantity)
        self.sources[key] = entry

    def _require_known(self, entry: OrderEntry) -> None:
        inference = entry.inference
        sides = [side for text in (*inference.hypotheses, *inference.provided) for side in split(text)]
        used = [inference.bound_by, entry.asserted, *inference.given.values(), *sides]
        names = [name for text in used if text for name in names_in(text)]
        known = {name for name, _ in self.sources} | {*self.definitions, *self.base.constants}
        for name in [*names, *inference.given, *entry.context.variables]:
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

    def _derived(self, source: OrderEntry, context: Context, level: Level) -> Order:
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
            others = {other: text for other, text in context.chosen.items() if other != name}
            return self.order(context.chosen[name], replace(context, chosen=others), level, side)
        if name in context.variables:
            return Order.of({name: ONCE})
        if name in self.base.links:
            return self.order(self.base.links[name], context, level, side)
        return ONE

    def _nested(self, source: OrderEntry, context: Context) -> Context:
        """The context of an inference used within another: its own choices, then those around it."""
        return Context(context.variables, {**context.chosen, **source.context.chosen}, source.context.given)

    def unmet_provisos(self, entry: OrderEntry) -> list[tuple[str, dict[str, Fraction]]]:
        """Inequalities the bound needs and the hypotheses do not give, with logarithms at which they fail."""
        premises, unmet = self.premises(entry), []
        for text in entry.inference.provided:
            larger, smaller = split(text)
            left = self.order(smaller, entry.context, "derived", "upper")
            right = self.order(larger, entry.context, "derived", "lower")
            for one in left.monomials:
                where = witness([at_least(other, one) for other in right.monomials], premises)
                if where is not None:
                    unmet.append((text, where))
        return unmet

    def premises(self, entry: OrderEntry) -> list[LogInequality]:
        """What may be assumed in an inference: its hypotheses, and its limit if one is taken."""
        limits = [] if entry.inference.everywhere else self.limits(entry.context.variables)
        return limits + [self._inequality(text, entry.context) for text in entry.inference.hypotheses]

    def conflict(self, entry: OrderEntry) -> str:
        """The first hypothesis that fails once the variables are near enough to their limits, or nothing."""
        if entry.inference.everywhere:
            return ""
        # However far along the way: a fixed lower limit is passed at some point.
        held = self.limits(entry.context.variables, margin=1)
        for text in entry.inference.hypotheses:
            held.append(self._inequality(text, entry.context))
            if solution(held) is None:
                return text
        return ""

    def _inequality(self, text: str, context: Context) -> LogInequality:
        """An inequality between two monomials."""
        orders = [self.order(side, context, "derived") for side in split(text)]
        if any(len(order.monomials) != 1 for order in orders):
            raise InvalidInputError("hypotheses", "must compare single products", text)
        (larger,), (smaller,) = (order.monomials for order in orders)
        return at_least(larger, smaller)

    def symbol(self, name: str) -> str:
        """A name in print."""
        return self.base.symbols.get(name, name)
