"""The phrases in one table: what each costs alone, what repairs it, and what is then proven under which hypotheses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from spec.claims import Premise, find
from verify.report.findings.proven import standing_of
from verify.report.site.causes.added_hypotheses import RATES, claims_below, hypothesis_texts
from verify.report.site.frame import SiteFrame
from verify.report.site.living.living_texts import Tab
from verify.report.site.living.orders_table import OtherRow, ReadingRow
from verify.report.site.living.phrases import Switch, tabs


@dataclass(frozen=True)
class Size:
    """A power as it is shown; ``known`` is false of a cost that the run did not count, an order ``None`` is 0."""

    order: int | None
    letter: str
    bad: bool
    about: bool = False
    known: bool = True


@dataclass(frozen=True)
class PhraseRow:
    """One phrase: the claim that it decides, its size with this phrase alone as written and repaired, what is proven.

    ``hypotheses`` are those of the repaired claim that the paper does not list, of the cost those of all rates: names,
    and what each asks for. ``grade`` links to the claim, ``gaps`` are premises of the theorems beyond the claim's,
    ``lacks`` what they leave out of it.
    """

    switch: Switch
    tab: Tab
    alone: Size
    repaired: Size
    grade: Markup
    gaps: tuple[str, ...]
    lacks: tuple[str, ...]
    hypotheses: Mapping[str, str]


def phrase_rows(
    site: SiteFrame, switches: Sequence[Switch], table: Sequence[ReadingRow], others: Sequence[OtherRow]
) -> list[PhraseRow]:
    """One for each switch, from the rows of the tables below it."""
    return [_row(site, switch, table, others) for switch in switches]


def _row(site: SiteFrame, switch: Switch, table: Sequence[ReadingRow], others: Sequence[OtherRow]) -> PhraseRow:
    tab = next(one for one in tabs() if one.id == switch.text.tab)
    if tab.id == "bias":
        alone, repaired = (_worst(tab, table, changed) for changed in ((switch.field,), ()))
    else:
        sizes = {one.value: _size(one) for one in others if one.switch.field == switch.field}
        alone, repaired = sizes[switch.as_written], sizes[switch.repaired]
    statement = switch.text.beyond.statement if switch.text.beyond else tab.statement
    standing = standing_of(statement)
    grade = site.link(statement, standing.grade) if standing else Markup("")
    return PhraseRow(
        switch, tab, alone, repaired, grade, standing.gaps if standing else (), standing.lacks if standing else (),
        _added(site, statement, tab),
    )  # fmt: skip


def _added(site: SiteFrame, full_id: str, tab: Tab) -> dict[str, str]:
    """Hypotheses of a repaired statement and of its claim that the paper lacks; of the cost those of all below it."""
    below = claims_below(site.claims, tab.statement)
    claims = [name for name in RATES if name in below] if tab.id == "cost" else [full_id, full_id.partition("/")[0]]
    return dict(
        _told(premise)
        for name in dict.fromkeys((*claims, full_id)) for premise in find(name).premises
        if premise.readings == ("repaired",)
    )  # fmt: skip


def _told(premise: Premise) -> tuple[str, str]:
    """A hypothesis by the name and in the words of the front page, where it stands there."""
    text = hypothesis_texts().get(premise.id)
    if text is not None:
        return text.title, text.asks
    return premise.id.replace("-", " ").capitalize(), premise.words("repaired")


def _worst(tab: Tab, table: Sequence[ReadingRow], changed: tuple[str, ...]) -> Size:
    """The worst instance of the reading in which these switches alone are as written."""
    row = next(
        one for one in table
        if tuple(each.field for each in one.changed) == changed
        and all(one.values[each.field] == each.as_written for each in one.changed)
    )  # fmt: skip
    orders = [order for _, order in row.orders if isinstance(order, int)]
    worst = min(orders, default=None)
    return Size(worst, tab.letter, bad=worst is not None and worst < tab.claimed)


def _size(row: OtherRow) -> Size:
    return Size(row.order, row.tab.letter, row.bad, row.about, row.known)
