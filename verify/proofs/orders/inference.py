"""One inference judged: does its asserted order follow from the bound it is read off?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from typing import get_args

from pydantic import BaseModel, ConfigDict

from spec.claims import ReadingName
from spec.orders import Relation
from verify.proofs.notation import expression, power
from verify.proofs.orders.expressions import names_in, split
from verify.proofs.orders.ledger import Context, Entry, Ledger, Level
from verify.proofs.orders.order import NoOrderError, Order


class Following(StrEnum):
    """How an asserted order stands to what it is inferred from; the worst comes first."""

    CONTRADICTION = "contradiction"
    DOES_NOT_FOLLOW = "does not follow"
    INHERITS = "rests on a broken step"
    FOLLOWS = "follows"


class OrderRow(BaseModel):
    """One inference, judged.

    Args:
        claim: Id of the claim.
        step: Full id of the step, or of the claim itself for its conclusion.
        reading: ``as-written`` or ``repaired``.
        quantity: What is bounded, in print; empty where only hypotheses are collected.
        bound_by: The bound it is inferred from, in print.
        asserted: The order asserted.
        derived: The order that follows once nothing rests on a broken step; empty where none does.
        following: Whether the assertion follows.
        why: The same in a sentence.
        broken_by: Full ids of the steps an inherited break comes from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._rows: dict[int, OrderRow] = {}

    def row(self, entry: Entry) -> OrderRow:
        """The verdict on one inference; memoised, since inherited breaks look up their sources."""
        key = id(entry)
        if key not in self._rows:
            self._rows[key] = self._judge(entry)
        return self._rows[key]

    def _judge(self, entry: Entry) -> OrderRow:
        ledger, inference = self.ledger, entry.inference
        context = ledger.context(entry)
        conflict = ledger.conflict(entry)
        if conflict:
            why = f"Assumes {self._print(conflict)}, which {self._limits(entry)} violates: {inference.by}"
            return self._row(entry, Following.CONTRADICTION, "", why)
        if not inference.quantity:
            return self._row(entry, Following.FOLLOWS, "", f"The hypotheses can be met together: {inference.by}")
        derived = self._order(entry, context, "derived")
        culprits = tuple(dict.fromkeys(self._culprits(entry)))
        faults = [*self._plugged(entry, context), *(self._unprovided(entry) or self._too_large(entry, context))]
        if faults:
            result, why = self._result(entry, context), "; ".join(faults)
            return self._row(entry, Following.DOES_NOT_FOLLOW, result, why, culprits)
        if derived is None or not self._holds(derived, entry, context):
            result = self._result(entry, context)
            do, orders = ("does", "order") if len(culprits) == 1 else ("do", "orders")
            instead = f"; with the {orders} found there it is {result}" if result else ""
            why = f"Follows only if {_listed(culprits)} {do}{instead}"
            return self._row(entry, Following.INHERITS, result, why, culprits)
        slack = self._slack(derived, entry, context)
        why = f"{self._print(inference.bound_by)} is {self._relation(entry, derived)}{slack}: {inference.by}"
        return self._row(entry, Following.FOLLOWS, self._relation(entry, derived), why)

    def _row(
        self, entry: Entry, following: Following, derived: str, why: str, broken_by: tuple[str, ...] = ()
    ) -> OrderRow:
        inference, context = entry.inference, self.ledger.context(entry)
        return OrderRow(
            claim=entry.full_id.partition("/")[0],
            step=entry.full_id,
            reading=self.ledger.reading,
            quantity=self.ledger.symbol(inference.quantity),
            bound_by=self._print(inference.bound_by) if inference.bound_by else "",
            asserted=self._relation(entry, self._asserted(entry, context)) if inference.quantity else "",
            derived=derived,
            following=following,
            why=f"{why}.",
            broken_by=broken_by,
        )

    def _result(self, entry: Entry, context: Context) -> str:
        """What really follows, in print; empty where nothing does."""
        derived = self._order(entry, context, "derived")
        if derived is not None:
            return self._relation(entry, derived)
        granted = self._order(entry, context, "granted")
        if granted is None:
            return ""
        return f"{self._relation(entry, granted)}, granting what is plugged in"

    def _limits(self, entry: Entry) -> str:
        limits = self.ledger.base.limits
        return ", ".join(
            f"{self.ledger.symbol(name)} → {'0' if limits[name] == 'zero' else '∞'}"
            for name in entry.variables
            if name in limits
        )

    def _plugged(self, entry: Entry, context: Context) -> Iterator[str]:
        """Orders plugged in that their source does not provide."""
        for name, text in context.given.items():
            used = self.ledger.order(text, context, "asserted")
            for relation in get_args(Relation):
                source = self.ledger.sources.get((name, relation))
                if source is None:
                    continue
                provided = self.ledger.order(name, Context(context.variables, context.chosen), "asserted", relation)
                if not self._within(provided, used, relation, entry.variables):
                    yield (
                        f"Uses {self.ledger.symbol(name)} = {_letter(relation)}({self._shown(used)}), while "
                        f"{source.full_id} asserts {_letter(relation)}({self._shown(provided)})"
                    )

    def _unprovided(self, entry: Entry) -> list[str]:
        found = []
        for text, where in self.ledger.unmet_provisos(entry):
            larger, smaller = split(text)
            needed = f"{self._print(smaller)} ≤ {self._print(larger)}"
            premises = ", ".join(map(self._print, entry.inference.hypotheses))
            given = f"{premises} does not give" if premises else "nothing assumed gives"
            found.append(f"Needs {needed}, which {given} ({self._where(where, entry)}): {entry.inference.by}")
        return found

    def _too_large(self, entry: Entry, context: Context) -> Iterator[str]:
        """The bound itself, every earlier assertion granted."""
        inference = entry.inference
        try:
            order = self.ledger.order(inference.bound_by, context, "asserted", inference.relation)
        except NoOrderError as error:
            yield f"{error}: {inference.by}"
            return
        if not self._holds(order, entry, context):
            relation = self._relation(entry, order)
            asserted = self._relation(entry, self._asserted(entry, context))
            yield f"{self._print(inference.bound_by)} is {relation}, not {asserted}: {inference.by}"

    def _order(self, entry: Entry, context: Context, level: Level) -> Order | None:
        """The order of the bound at a level; ``None`` where there is none."""
        if self.ledger.unmet_provisos(entry):
            return None
        try:
            return self.ledger.order(entry.inference.bound_by, context, level, entry.inference.relation)
        except NoOrderError:
            return None

    def _asserted(self, entry: Entry, context: Context) -> Order:
        return self.ledger.order(entry.asserted, context, "asserted", entry.inference.relation)

    def _holds(self, order: Order, entry: Entry, context: Context) -> bool:
        asserted = self._asserted(entry, context)
        premises = self.ledger.premises(entry)
        relation = entry.inference.relation
        return order.is_within(asserted, premises) if relation == "upper" else asserted.is_within(order, premises)

    def _within(self, provided: Order, used: Order, relation: Relation, variables: tuple[str, ...]) -> bool:
        premises = self.ledger.limits(variables)
        return provided.is_within(used, premises) if relation == "upper" else used.is_within(provided, premises)

    def _culprits(self, entry: Entry) -> Iterator[str]:
        """The steps that break by themselves among all an inference rests on."""
        used = names_in(entry.inference.bound_by)
        for name in used:
            for relation in get_args(Relation):
                source = self.ledger.sources.get((name, relation))
                if source is None:
                    continue
                row = self.row(source)
                if row.following is Following.INHERITS:
                    yield from row.broken_by
                elif row.following is not Following.FOLLOWS:
                    yield source.full_id

    def _slack(self, derived: Order, entry: Entry, context: Context) -> str:
        """How many orders the bound is better than asserted, in one variable."""
        asserted = self._asserted(entry, context)
        if len(entry.variables) != 1 or len(derived.monomials) != 1 or len(asserted.monomials) != 1:
            return ""
        name = entry.variables[0]
        powers = [dict(next(iter(order.monomials))).get(name, Fraction(0)) for order in (derived, asserted)]
        spare = abs(powers[0] - powers[1])
        return f", better than asserted by {spare} order{'' if spare == 1 else 's'}" if spare else ""

    def _relation(self, entry: Entry, order: Order) -> str:
        return f"{_letter(entry.inference.relation)}({self._shown(order)})" if order.monomials else "0"

    def _where(self, logarithms: Mapping[str, Fraction], entry: Entry) -> str:
        """A direction in which the needed inequality fails, as a family of examples."""
        if not entry.inference.everywhere:
            return "it fails in the limit"
        zero = Fraction(0)
        moved = ", ".join(
            f"{self.ledger.symbol(name)} = {power('t', logarithms.get(name, zero))}" for name in entry.variables
        )
        return f"it fails for {moved}, t large"

    def _shown(self, order: Order) -> str:
        return order.shown(self.ledger.base.symbols)

    def _print(self, text: str) -> str:
        return expression(text, self.ledger.base.symbols)


def _letter(relation: Relation) -> str:
    return "O" if relation == "upper" else "Ω"


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
