"""One inference judged: does its asserted order follow from the bound it is read off?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from itertools import product
from typing import get_args

from spec.claims import ReadingName, Relation
from spec.files import Frozen
from spec.formulas.powers import raised
from verify.proofs.notation import expression
from verify.proofs.orders.expressions import names_in, split
from verify.proofs.orders.ledger import Level, OrderEntry, OrderLedger
from verify.proofs.orders.order import LogInequality, NoOrderError, Order


class Following(StrEnum):
    """How an asserted order stands to what it is inferred from; the worst comes first."""

    CONTRADICTION = "contradiction"
    DOES_NOT_FOLLOW = "does not follow"
    INHERITS = "rests on a broken step"
    FOLLOWS = "follows"


class OrderRow(Frozen):
    """One inference, judged; quantity, bounds and orders in print, ``why`` a sentence.

    ``step`` is a full id, of the claim itself for its conclusion. ``quantity`` is empty where only hypotheses are
    collected, ``derived`` (what follows once nothing rests on a broken step) where no order follows. An inherited break
    comes ``broken_by`` steps of these full ids.
    """

    claim: str
    step: str
    reading: ReadingName
    quantity: str
    bound_by: str
    asserted: str
    derived: str
    following: Following
    why: str
    broken_by: tuple[str, ...] = ()


class Judge:
    """Judges the inferences of one ledger."""

    def __init__(self, ledger: OrderLedger) -> None:
        self.ledger = ledger
        self._rows: dict[int, OrderRow] = {}

    def row(self, entry: OrderEntry) -> OrderRow:
        """The verdict on one inference; memoised, since inherited breaks look up their sources."""
        key = id(entry)
        if key not in self._rows:
            self._rows[key] = self._judge(entry)
        return self._rows[key]

    def _judge(self, entry: OrderEntry) -> OrderRow:
        ledger, inference = self.ledger, entry.inference
        conflict = ledger.conflict(entry)
        if conflict:
            why = f"Assumes {self._print(conflict)}, which {self._limits(entry)} violates: {inference.by}"
            return self._row(entry, Following.CONTRADICTION, "", why)
        if not inference.quantity:
            return self._row(entry, Following.FOLLOWS, "", f"The hypotheses can be met together: {inference.by}")
        derived = self._order(entry, "derived")
        culprits = tuple(dict.fromkeys(self._culprits(entry)))
        faults = [*self._plugged(entry), *(self._unprovided(entry) or self._too_large(entry))]
        if faults:
            return self._row(entry, Following.DOES_NOT_FOLLOW, self._result(entry), "; ".join(faults), culprits)
        if derived is None or not self._holds(derived, entry):
            result = self._result(entry)
            do, orders = ("does", "order") if len(culprits) == 1 else ("do", "orders")
            instead = f"; with the {orders} found there it is {result}" if result else ""
            why = f"Follows only if {_listed(culprits)} {do}{instead}"
            return self._row(entry, Following.INHERITS, result, why, culprits)
        result = self._relation(entry, derived)
        why = f"{self._print(inference.bound_by)} is {result}{self._slack(derived, entry)}: {inference.by}"
        return self._row(entry, Following.FOLLOWS, result, why)

    def _row(
        self, entry: OrderEntry, following: Following, derived: str, why: str, broken_by: tuple[str, ...] = ()
    ) -> OrderRow:
        inference = entry.inference
        return OrderRow(
            claim=entry.full_id.partition("/")[0],
            step=entry.full_id,
            reading=self.ledger.reading,
            quantity=self.ledger.symbol(inference.quantity),
            bound_by=self._print(inference.bound_by),
            asserted=self._relation(entry, self._asserted(entry)) if inference.quantity else "",
            derived=derived,
            following=following,
            why=f"{why}.",
            broken_by=broken_by,
        )

    def _result(self, entry: OrderEntry) -> str:
        """What really follows, in print; empty where nothing does."""
        derived, granted = self._order(entry, "derived"), self._order(entry, "granted")
        if derived is not None:
            return self._relation(entry, derived)
        return "" if granted is None else f"{self._relation(entry, granted)}, granting what is plugged in"

    def _limits(self, entry: OrderEntry) -> str:
        limits = self.ledger.base.limits
        return ", ".join(
            f"{self.ledger.symbol(name)} → {'0' if limits[name] == 'zero' else '∞'}"
            for name in entry.context.variables
            if name in limits
        )

    def _plugged(self, entry: OrderEntry) -> Iterator[str]:
        """Orders plugged in that their source does not provide."""
        ledger, context = self.ledger, entry.context
        premises = ledger.limits(context.variables)
        for (name, text), relation in product(context.given.items(), get_args(Relation)):
            source = ledger.sources.get((name, relation))
            if source is None:
                continue
            used = ledger.order(text, context, "asserted")
            provided = ledger.order(name, replace(context, given={}), "asserted", relation)
            if not _within(provided, used, relation, premises):
                letter = _LETTER[relation]
                yield (
                    f"Uses {ledger.symbol(name)} = {letter}({self._shown(used)}), while "
                    f"{source.full_id} asserts {letter}({self._shown(provided)})"
                )

    def _unprovided(self, entry: OrderEntry) -> list[str]:
        premises = ", ".join(map(self._print, entry.inference.hypotheses))
        given = f"{premises} does not give" if premises else "nothing assumed gives"
        sentences = []
        for text, where in self.ledger.unmet_provisos(entry):
            larger, smaller = split(text)
            needed = f"{self._print(smaller)} ≤ {self._print(larger)}"
            sentences.append(f"Needs {needed}, which {given} ({self._where(where, entry)}): {entry.inference.by}")
        return sentences

    def _too_large(self, entry: OrderEntry) -> Iterator[str]:
        """The bound itself, every earlier assertion granted."""
        inference = entry.inference
        try:
            order = self.ledger.order(inference.bound_by, entry.context, "asserted", inference.relation)
        except NoOrderError as error:
            yield f"{error}: {inference.by}"
            return
        if not self._holds(order, entry):
            derived, asserted = (self._relation(entry, item) for item in (order, self._asserted(entry)))
            yield f"{self._print(inference.bound_by)} is {derived}, not {asserted}: {inference.by}"

    def _order(self, entry: OrderEntry, level: Level) -> Order | None:
        """The order of the bound at a level; ``None`` where there is none."""
        if self.ledger.unmet_provisos(entry):
            return None
        try:
            return self.ledger.order(entry.inference.bound_by, entry.context, level, entry.inference.relation)
        except NoOrderError:
            return None

    def _asserted(self, entry: OrderEntry) -> Order:
        return self.ledger.order(entry.asserted, entry.context, "asserted", entry.inference.relation)

    def _holds(self, order: Order, entry: OrderEntry) -> bool:
        return _within(order, self._asserted(entry), entry.inference.relation, self.ledger.premises(entry))

    def _culprits(self, entry: OrderEntry) -> Iterator[str]:
        """The steps that break by themselves among all an inference rests on."""
        for key in product(names_in(entry.inference.bound_by), get_args(Relation)):
            source = self.ledger.sources.get(key)
            if source is None:
                continue
            row = self.row(source)
            if row.following is Following.INHERITS:
                yield from row.broken_by
            elif row.following is not Following.FOLLOWS:
                yield source.full_id

    def _slack(self, derived: Order, entry: OrderEntry) -> str:
        """How many orders the bound is better than asserted, in one variable."""
        orders, variables = (derived, self._asserted(entry)), entry.context.variables
        if len(variables) != 1 or any(len(order.monomials) != 1 for order in orders):
            return ""
        (one,), (other,) = (order.monomials for order in orders)
        spare = abs(dict(one).get(variables[0], Fraction(0)) - dict(other).get(variables[0], Fraction(0)))
        return f", better than asserted by {spare} order{'' if spare == 1 else 's'}" if spare else ""

    def _relation(self, entry: OrderEntry, order: Order) -> str:
        return f"{_LETTER[entry.inference.relation]}({self._shown(order)})" if order.monomials else "0"

    def _where(self, logarithms: Mapping[str, Fraction], entry: OrderEntry) -> str:
        """A direction in which the needed inequality fails, as a family of examples."""
        if not entry.inference.everywhere:
            return "it fails in the limit"
        moved = [
            f"{self.ledger.symbol(name)} = {raised('t', logarithms.get(name, Fraction(0)))}"
            for name in entry.context.variables
        ]
        return f"it fails for {', '.join(moved)}, t large"

    def _shown(self, order: Order) -> str:
        return order.shown(self.ledger.base.symbols)

    def _print(self, text: str) -> str:
        return expression(text, self.ledger.base.symbols)


_LETTER: dict[Relation, str] = {"upper": "O", "lower": "Ω"}


def _within(one: Order, other: Order, relation: Relation, premises: list[LogInequality]) -> bool:
    """Whether a bound of one order gives the other, from above or from below."""
    return one.is_within(other, premises) if relation == "upper" else other.is_within(one, premises)


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
