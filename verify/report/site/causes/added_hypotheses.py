"""Hypotheses that the repaired rates need and the paper does not list, each with what the run shows without it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from markupsafe import Markup

from spec.claims import Claim
from spec.files import Frozen
from verify.report import wording
from verify.report.findings.hypothesis_ledger import Hypothesis, ledgers
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.site.causes.failure_causes import put, told_as
from verify.report.site.frame import SiteFrame
from verify.report.site.words.cell_numbers import CellNumber
from verify.report.wording import typeset

RATES = ("bias-bound", "variance-bound", "hypergradient-accuracy", "goldstein-convergence", "sfo-complexity")
"""Claims whose added hypotheses count as those of the two rates."""
OF_STEPS, NOT_SHOWN = "Of single steps.", "Asked for, and not shown to be needed."
GRANTED = "Granted to the text as written, so that a step is asked where it is used."
LEADS = (OF_STEPS, NOT_SHOWN, GRANTED)
"""The words under which others than these stand, in their order."""


class HypothesisText(Frozen):
    """What the front page says of a hypothesis.

    Args:
        premise: Its id in a claim.
        title: A few words.
        asks: What it asks for, in a sentence.
        without: What goes wrong without it, with slots for what the run measured there and what was claimed.
    """

    premise: str
    title: str
    asks: str
    without: str


@dataclass(frozen=True)
class AddedHypothesis:
    """One that the run shows to be needed.

    Args:
        premise: Its id.
        title: A few words.
        asks: What it asks for.
        asking: Links to the claims that ask for it.
        claims: These claims.
        without: What goes wrong without it, with the run's number.
        instance: The instance that decides this.
        href: Address of the statement that goes without it; empty outside of the run.
    """

    premise: str
    title: str
    asks: Markup
    asking: Markup
    claims: tuple[str, ...]
    without: Markup
    instance: str
    href: str

    def claims_asking(self, site: SiteFrame, rates: Sequence[str]) -> set[str]:
        """Claims among some, or that these rest on, which ask for it."""
        return set().union(*(claims_below(site.claims, rate) for rate in rates)).intersection(self.claims)


@lru_cache(maxsize=1)
def hypothesis_texts() -> Mapping[str, HypothesisText]:
    """What is said of each, by id."""
    text = (resources.files("verify.report.site.causes") / "hypotheses.toml").read_text(encoding="utf-8")
    return {row["premise"]: HypothesisText(**row) for row in tomllib.loads(text)["hypotheses"]}


def added_hypotheses(site: SiteFrame) -> tuple[AddedHypothesis, ...]:
    """Each once, by its id; those of a step alone are that step's business."""
    hypotheses: dict[str, list[Hypothesis]] = {}
    for ledger in ledgers(site.report.summary, site.claims):
        if ledger.claim in RATES:
            for one in ledger.missing:
                if one.claim == ledger.claim:
                    hypotheses.setdefault(one.premise.id, []).append(one)
    return tuple(_told(site, some) for some in hypotheses.values())


def asked_by_rates(site: SiteFrame, added: Sequence[AddedHypothesis], rates: Mapping[str, str]) -> str:
    """Which of them each rate asks for, itself or by what it rests on, in a sentence; ``rates``: claims in words."""
    left, clauses = list(added), list[str]()
    for claim, words in rates.items():
        hypotheses = [one for one in left if one.claims_asking(site, (claim,))]
        left = [one for one in left if one not in hypotheses]
        if hypotheses:
            these = "these and " if clauses else ""
            clauses.append(
                f"{words} asks for {these}{wording.listing(_within_a_sentence(one.title) for one in hypotheses)}"
            )
    if left and clauses:
        asking = dict.fromkeys(claim.replace("-", " ") for one in left for claim in one.claims)
        titles = wording.listing(_within_a_sentence(one.title) for one in left)
        clauses.append(f"{wording.listing(asking)} asks for {titles} besides")
    text = "; ".join(clauses)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _within_a_sentence(title: str) -> str:
    return title[:1].lower() + title[1:]


def claims_below(claims: Mapping[str, Claim], claim: str) -> set[str]:
    """A claim and the claims that it rests on, whatever step of theirs it names."""
    below, left = set[str](), [claim]
    while left:
        name = left.pop()
        if name in claims and name not in below:
            below.add(name)
            left += [full.partition("/")[0] for full in claims[name].rests_on]
    return below


@dataclass(frozen=True)
class OtherHypothesis:
    """One that a repaired statement asks for and that is none of the rates' own, or not shown to be needed.

    Args:
        asks: What it asks for.
        asking: Links to the statements that ask for it.
        is_needed: Whether the run shows that these need it.
        is_granted: Whether the text as written is granted it wherever it is asked.
    """

    asks: Markup
    asking: Markup
    is_needed: bool
    is_granted: bool

    @property
    def lead(self) -> str:
        """The words under which it stands."""
        return GRANTED if self.is_granted else OF_STEPS if self.is_needed else NOT_SHOWN


def other_hypotheses(site: SiteFrame) -> tuple[OtherHypothesis, ...]:
    """Those of single steps, those of which nothing shows that they are needed, and those granted, in this order."""
    told = {one.premise for one in added_hypotheses(site)}
    asking: dict[str, list[Hypothesis]] = {}
    for ledger in ledgers(site.report.summary, site.claims):
        for one in ledger.hypotheses if ledger.claim in RATES else ():
            if not one.listed and one.premise.id not in told:
                asking.setdefault(one.premise.id, []).append(one)
    others = (
        OtherHypothesis(
            typeset(some[0].premise.words("repaired").rstrip(".")),
            _links(site, some),
            any(one.need == "needed" for one in some),
            all(one.granted for one in some),
        )
        for some in asking.values()
    )
    return tuple(sorted(others, key=lambda one: LEADS.index(one.lead)))


def _links(site: SiteFrame, some: Sequence[Hypothesis]) -> Markup:
    return Markup(", ").join(site.link(one.claim) for one in some)


def _told(site: SiteFrame, some: Sequence[Hypothesis]) -> AddedHypothesis:
    one = some[0]
    premise = one.premise
    reading = next(iter(_going_without(site, one)), None)
    number = site.number(reading) if reading is not None else None
    text = hypothesis_texts().get(premise.id) or HypothesisText(
        premise=premise.id, title=premise.id.replace("-", " ").capitalize(), asks=premise.words("repaired"), without="",
    )  # fmt: skip
    instance = number.instance if number is not None else ""
    return AddedHypothesis(
        premise.id, text.title, typeset(text.asks), _links(site, some), tuple(one.claim for one in some),
        _without(text, number), instance, site.href(premise.shown_by),
    )  # fmt: skip


def _going_without(site: SiteFrame, one: Hypothesis) -> Iterator[ReadingOutline]:
    """The statement that shows the need, under the reading that goes without the hypothesis."""
    entry = site.statements.get(one.premise.shown_by)
    if entry is not None:
        yield from (reading for reading in entry.readings if reading.reading == one.shown_under)


def _without(text: HypothesisText, number: CellNumber | None) -> Markup:
    if number is None:
        return Markup("")
    if not number.quantity or number.part:  # nothing was measured there that the sentence is about
        return Markup("the statement that shows its need comes out as {}").format(number.word)
    values = told_as(number, "measured", "claimed")
    if text.without:
        return put(text.without, values)
    return Markup("{}: {}, claimed {}").format(typeset(number.quantity), values["measured"], values["claimed"])
