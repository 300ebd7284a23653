"""The causes of the paper's failures: which they are, and their prose with the run's numbers in it."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import resources
from typing import Any

from markupsafe import Markup

from spec.claims import Bound
from spec.files import Frozen
from spec.reading import Choice, find_choice
from verify.report import wording
from verify.report.findings.outline import StatementOutline
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.findings.repairs import implies
from verify.report.site.frame import FOLDER, SiteFrame
from verify.report.site.words.cell_numbers import CellNumber, bare
from verify.report.wording import typeset
from verify.verdict import Verdict

_ALPHA, _SIGMA, _SMALL = Fraction(1, 10), Fraction(1, 2), Fraction(1, 10)
_BY_HAND = {
    "alpha": Markup("0.1"), "sigma": Markup("½"), "small": Markup("0.1"),
    "noise": Markup(wording.number(float(2 * _SMALL**2 / _ALPHA**4))),
    "square": Markup(wording.number(float(_SMALL**2))), "needed": Markup("{:,}").format(int(_SIGMA**2 / _ALPHA**6)),
    "logarithm": Markup(wording.number(3 * math.log(1 / _ALPHA), 2)),
}  # fmt: skip
"""Arithmetic to follow by hand at one α: 2α₁²σ² at a small σ, and σ²/δ² against log(1/δ) with δ = α³."""
_SLOT = re.compile(r"\{(\w+)\}")


class CauseText(Frozen):
    """What a cause's page says in words; see ``causes.toml`` for the numbers put into it.

    Args:
        name: The end of its address: ``cause-NAME.html``.
        statement: The statement that must fail as written for this to be a cause.
        repaired: The statement that shows the repair, where it is another one.
        counted: The statement whose two texts are drawn, where those two count in different units.
        choice: The open choice that it is about.
        origin: The claim where it enters, if that is not the statement's own.
        alone: A claim that is shown with this one choice as written.
        node: What stands for it where it is drawn.
        brief, problem, why, repair: Prose with slots for numbers.
        latex: The formula after ``problem``.
        before, after: The repair as a change of one line.
        hand: How to follow it by hand where no search for the smallest problem was made.
    """

    name: str
    title: str
    statement: str
    repaired: str = ""
    counted: str = ""
    choice: str
    alone: str
    node: str
    origin: str = ""
    brief: str
    problem: str
    latex: str
    why: str
    repair: str
    before: str
    after: str
    hand: str = ""


class CauseFinding(Frozen):
    """A row of the table of findings: which statements stand in its cells, and what the quantity is."""

    title: str
    note: str
    written: str
    repaired: str = ""


@lru_cache(maxsize=1)
def cause_texts() -> tuple[CauseText, ...]:
    """All of them, in the order in which they are told."""
    return tuple(CauseText(**row) for row in _table("causes"))


@lru_cache(maxsize=1)
def findings() -> tuple[CauseFinding, ...]:
    """All rows of the table, in order."""
    return tuple(CauseFinding(**row) for row in _table("findings"))


def _table(name: str) -> list[dict[str, Any]]:
    text = (resources.files("verify.report.site.causes") / f"{name}.toml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)[name]
    return rows


def put(text: str, values: Mapping[str, Markup | str]) -> Markup:
    """The text set as prose, its slots filled.

    Raises:
        KeyError: If a slot has no value.
    """
    parts = _SLOT.split(text)
    return Markup("").join(
        Markup("{}").format(values[part]) if index % 2 else typeset(part) for index, part in enumerate(parts)
    )


@dataclass(frozen=True)
class Cause:
    """A cause that the run shows: its text, and the statements whose verdicts are behind it."""

    number: int
    text: CauseText
    site: SiteFrame
    entry: StatementOutline
    mended: StatementOutline | None

    @property
    def drawn(self) -> tuple[ReadingOutline, ReadingOutline | None]:
        """Both texts as they are drawn: counted in one unit."""
        entry = self.site.statements.get(self.text.counted)
        if entry is not None and "as-written" in entry.named:
            return entry.named["as-written"], entry.named.get("repaired")
        return self.written, self.repaired

    @property
    def file(self) -> str:
        """Where its page goes, from the report's folder."""
        return f"{FOLDER}cause-{self.text.name}.html"

    @property
    def written(self) -> ReadingOutline:
        """The statement as written, which fails."""
        return self.entry.named["as-written"]

    @property
    def repaired(self) -> ReadingOutline | None:
        """What shows the repair, where it was run."""
        return self.mended.named.get("repaired") if self.mended else None

    @property
    def is_repaired(self) -> bool:
        """Whether the run shows that the repaired statement holds."""
        return self.repaired is not None and self.repaired.status == Verdict.SUPPORTED

    @property
    def choice(self) -> Choice:
        return find_choice(self.text.choice)

    @property
    def readings(self) -> Markup:
        """Of words that allow several readings: how the statement fares under them; empty of others."""
        literal = self.entry.literal
        if literal is None or len(literal.literal) < 2:
            return Markup("")
        summary = literal.said.replace("`", "").replace("all 2 literal", "both literal")
        own, parted, rest = summary.partition("by its own check ")
        told = f"its own check {rest}" if parted and not own else f"it {summary}"
        return self.site.sentence(f"Its words allow {len(literal.literal)} readings: {told}.")

    @property
    def alone(self) -> ReadingOutline | None:
        """The claim that is shown with this one choice as written, where it was run."""
        claim = self.site.statements.get(self.text.alone)
        return next((one for one in claim.isolated if one.choice == self.text.choice), None) if claim else None

    @property
    def values(self) -> dict[str, Markup]:
        """What goes into the slots of its prose."""
        site, slots = self.site, dict[str, Markup]()
        slots |= told_as(site.number(self.written), "written", "claimed")
        if self.repaired is not None:
            slots |= told_as(site.number(self.repaired), "repaired", "mended")
        if self.alone is not None:
            slots |= told_as(site.number(self.alone), "alone", "asserted")
        fresh = self.entry.named.get("repaired")
        if fresh is not None:
            slots |= told_as(site.number(fresh), "fresh", "freshly")
        if self.mended is not None and self.mended.statement is not None and self.entry.statement is not None:
            lead = change(self.mended.statement.repaired.bound, self.entry.statement.as_written.bound)
            slots["change"] = Markup(lead)  # words of ours
        return slots | _BY_HAND

    @property
    def hand(self) -> Markup:
        """How to follow it by hand; empty where the smallest problem says it."""
        return put(self.text.hand, self.values)

    @property
    def brief(self) -> Markup:
        """In two sentences: what goes wrong, and how much; and that other readings of the words hold, where they do."""
        literal, told = self.entry.literal, put(self.text.brief, self.values)
        if not self.written.is_mixed or literal is None:
            return told
        other = wording.counted(literal.holding, "other reading")
        return told + Markup(" Under {} of the words the claim holds.").format(other)

    @property
    def problem(self) -> Markup:
        return put(self.text.problem, self.values)

    @property
    def why(self) -> Markup:
        return put(self.text.why, self.values)

    @property
    def repair(self) -> Markup:
        """The repair with its number; of one that the run does not show, that it does not."""
        slots = set(_SLOT.findall(self.text.repair))
        if self.is_repaired and slots <= self.values.keys():
            return put(self.text.repair, self.values)
        told = "was not run" if self.repaired is None else f"comes out as {self.repaired.word}"
        return Markup("The repaired statement {}, so this run shows no repair.").format(told)


def change(ours: Bound, theirs: Bound) -> str:
    """How the repaired claim stands to the printed one: the same, stronger, or weakened."""
    if ours.exponents == theirs.exponents and ours.tag == theirs.tag:
        return "claimed"
    return "claim sharpened to" if implies(ours, theirs) else "claim weakened to"


def told_as(number: CellNumber, measured: str, claimed: str) -> dict[str, Markup]:
    """What a number measures and what was claimed of it, under the names of the slots that they fill."""
    more = number.told.removeprefix(number.said)
    shown = Markup('<b class="{}">{}</b>{}').format(number.tone, number.said, Markup(more))  # ours, a part of it
    return {measured: shown, claimed: bare(number.claimed_html)}


def causes(site: SiteFrame) -> tuple[Cause, ...]:
    """The causes that this run shows, numbered from 1: statements that it refutes as written.

    One that falls with a part of its own is left out: what was measured there is the part's, and another fault.
    """
    if not site.report.is_of_the_paper:
        return ()
    shown: list[Cause] = []
    for text in cause_texts():
        entry = site.statements.get(text.statement)
        written = entry.named.get("as-written") if entry else None
        if entry is None or written is None or written.status != Verdict.REFUTED or site.number(written).part:
            continue
        shown.append(Cause(len(shown) + 1, text, site, entry, site.statements.get(text.repaired or text.statement)))
    return tuple(shown)
