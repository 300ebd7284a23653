"""The orders of every reading as rows of tables, for readers without the script."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from spec.claims import load_claims
from spec.reading import CHOICES, Choice, DualTerm
from verify.report.site.living.counted_costs import Cost
from verify.report.site.living.erring_stages import DUAL_TERMS, StageText
from verify.report.site.living.living_texts import Tab
from verify.report.site.living.page_data import HANGS_ON
from verify.report.site.living.phrases import Switch, switches, tabs
from verify.report.site.living.states_of_alpha import TEXTS, Living, Measured

NO_MAP = ""
"""Stands for the order where a reading asks for a derivative that there is not."""


@dataclass(frozen=True)
class ReadingRow:
    """The orders of the bias under one reading, by instance."""

    values: Mapping[str, str]
    words: Mapping[str, str]
    orders: tuple[tuple[str, int | str | None], ...]

    @property
    def key(self) -> str:
        return ",".join(self.values[field] for field in HANGS_ON)

    @property
    def address(self) -> str:
        """Where the page shows it: the repaired text but for what differs."""
        changed = [f"{one.field}={self.values[one.field]}" for one in self.changed]
        return "#" + "&".join(["repaired", *changed])

    @property
    def changed(self) -> tuple[Switch, ...]:
        """The switches that it has otherwise than the repaired text."""
        return tuple(one for one in switches() if one.field in self.values and self.values[one.field] != one.repaired)

    def holds(self, claimed: int) -> bool:
        """Whether it meets the claim on all instances on which it can be read."""
        return all(order is None or (isinstance(order, int) and order >= claimed)
                   for _, order in self.orders if order != NO_MAP)  # fmt: skip


def reading_rows(places: Sequence[Living]) -> tuple[ReadingRow, ...]:
    """Every reading of the bias's switches, dual term by dual term."""
    return tuple(_reading_row(places, *one) for one in itertools.product(DUAL_TERMS, TEXTS))


def _reading_row(places: Sequence[Living], dual_term: DualTerm, text: StageText) -> ReadingRow:
    values = dict(zip(HANGS_ON, (dual_term, *text), strict=True))
    words = {one.field: {value.value: value.words for value in one.values} for one in switches()}
    orders = tuple(
        (one.place.name, one.states[dual_term, text].lead.order if (dual_term, text) in one.states else NO_MAP)
        for one in places
    )
    return ReadingRow(values, {field: words[field][value] for field, value in values.items()}, orders)


@dataclass(frozen=True)
class OtherRow:
    """What another claim comes to under one value of the switch that decides it, on the worst instance.

    ``known`` is false of a cost that the run did not count.
    """

    tab: Tab
    switch: Switch
    value: str
    words: str
    order: int | None
    about: bool = False
    settled: bool = True
    known: bool = True

    @property
    def is_changed(self) -> bool:
        """Whether this is not the repaired value, and no row of the bias's table has it."""
        return self.value != self.switch.repaired and self.tab.id != "gradient"

    @property
    def bad(self) -> bool:
        return self.order is not None and self.order < self.tab.claimed


def other_rows(places: Sequence[Living], costs: Sequence[Cost]) -> tuple[OtherRow, ...]:
    """Variance, error of the Lagrangian's gradient, and cost."""
    return tuple(_other_rows(places, costs))


def _other_rows(places: Sequence[Living], costs: Sequence[Cost]) -> Iterator[OtherRow]:
    known = {tab.id: tab for tab in tabs()}
    counted = {cost.value: cost for cost in costs}
    for switch in switches():
        tab = known[switch.text.tab]
        for value in switch.values:
            if tab.id == "cost":
                cost = counted.get(value.value)
                if cost is None:
                    yield OtherRow(tab, switch, value.value, value.words, None, known=False)
                else:
                    yield OtherRow(tab, switch, value.value, value.words, cost.order, not cost.derived, cost.settled)
            elif tab.id in ("variance", "gradient"):
                yield OtherRow(tab, switch, value.value, value.words, _worst(places, tab.id, value.value))


def _worst(places: Sequence[Living], tab: str, value: str) -> int | None:
    measured = [cast(Mapping[str, Measured], one.variance if tab == "variance" else one.reach)[value] for one in places]
    orders = [one.lead.order for one in measured if one.lead.order is not None]
    return min(orders, default=None)


def unswitched() -> list[tuple[Choice, tuple[str, ...]]]:
    """The open choices that are no switches, each with the statements whose text makes it."""
    shown = {switch.field for switch in switches()}
    statements = [pair for claim in load_claims().values() for pair in claim.statements()]
    return [
        (choice, tuple(full for full, one in statements if choice.field in one.choices))
        for choice in CHOICES if choice.field not in shown
    ]  # fmt: skip
