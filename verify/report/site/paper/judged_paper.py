"""The paper's assertions beside a run: what became of each, and of the statements that judge it, in both readings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from spec.claims import Statement, find, load_claims
from spec.text.argument import ArgumentPassage, load_argument
from spec.text.assertions import GRANTED, IN_THE_TEXT, PaperAssertion, load_assertions
from verify.report import wording
from verify.report.findings.judged_assertions import KINDS, decided
from verify.report.findings.outline import StatementOutline
from verify.report.model import NAMED
from verify.report.signs import look
from verify.report.site.frame import SiteFrame
from verify.report.site.words import cell_numbers as numbers
from verify.report.site.words.cell_numbers import CellNumber
from verify.verdict import Verdict

ABSENT = "ABSENT"
"""Of a statement that the run has not, or that it judged for another program than the paper's."""
ASIDE = "ASIDE"
"""Of an assertion that no statement says in its own words: what stands beside it does not judge it."""
AT_ODDS = "AT_ODDS"
"""Of an assertion that another passage contradicts, where nothing else judges it: that makes neither of them false."""
SAID = {ABSENT: "not in this run", ASIDE: "not judged by its own words", AT_ODDS: "at odds with another passage",
        **{what.upper(): f"a {what}" for what in GRANTED}}  # fmt: skip

WORST_FIRST = (
    wording.FAULT, Verdict.REFUTED, Verdict.VACUOUS, wording.MIXED, ABSENT, Verdict.INCONCLUSIVE, wording.NOT_CHECKED,
    wording.LEFT_OPEN, Verdict.SUPPORTED, Verdict.NOT_APPLICABLE,
)  # fmt: skip
"""An assertion stands as the worst of the statements that say it: it holds where all of them do."""
PLAIN_ENOUGH = {"said": IN_THE_TEXT[:1], "implied": IN_THE_TEXT}
"""By how an assertion stands to the words: how a statement must, to judge it. What the words leave open, and what is
our consequence, any statement may judge."""


@dataclass(frozen=True)
class Standing:
    """What became of an assertion or a statement under one reading."""

    status: str
    told: str = field(default="", compare=False)
    """Words that suit the statement better: how many readings hold, or that the text does not say it."""

    @property
    def word(self) -> str:
        """In words."""
        return self.told or SAID.get(self.status) or numbers.word(self.status)

    @property
    def tone(self) -> str:
        """Its class in the style sheet."""
        return "none" if self.status in SAID else look(self.status).look

    @property
    def fails(self) -> bool:
        """Whether it is refuted, or cannot be met."""
        return self.status in (Verdict.REFUTED, Verdict.VACUOUS)

    @property
    def stumbles(self) -> bool:
        """Whether it fails, if only under some of its literal readings."""
        return self.fails or self.status == wording.MIXED


def _sides(written: Standing, repaired: Standing) -> tuple[Standing, ...]:
    return (written,) if written == repaired else (written, repaired)


@dataclass(frozen=True)
class JudgedStatement:
    """One statement that judges an assertion, with its numbers under both readings where the run has them."""

    id: str
    statement: Statement
    outline: StatementOutline | None
    numbers: Mapping[str, CellNumber]

    def standing(self, reading: str) -> Standing:
        """What became of it: of a claim by its own check, for its parts say other words of the paper's."""
        if self.outline and reading in self.numbers:
            outcome = self.outline.named[reading].own
            return Standing(outcome.shown or ABSENT, outcome.word if outcome.is_told else "")
        return Standing((self.outline.missing if self.outline else "") or ABSENT)

    def counts(self, reading: str) -> bool:
        """Whether it counts for or against what the text says; of the repaired text every statement does."""
        outcome = self.outline.named.get(reading) if self.outline else None
        return outcome is None or outcome.counts or reading == "repaired"

    def share(self, reading: str) -> float:
        """Of its literal readings, the part that holds; 1 where it has none to choose from."""
        literal = self.outline.named[reading].literal if self.outline and reading in self.outline.named else None
        return 1.0 if literal is None or not literal.judged else literal.holding / literal.judged

    @property
    def compares(self) -> bool:
        """Whether it holds passages against each other, and so tells of no one of them that it is false."""
        return load_claims()[self.id.split("/")[0]].kind == "consistency"

    @property
    def sides(self) -> tuple[Standing, ...]:
        """As written and repaired; one where they agree."""
        return _sides(self.standing("as-written"), self.standing("repaired"))

    @property
    def same(self) -> bool:
        """Whether nothing is to be told twice: the same came out of the same assertion, in the same words."""
        if self.outline is None or not self.numbers:
            return True
        written, repaired = (self.outline.named.get(name) for name in NAMED)
        if written is None or repaired is None:
            return False
        apart = {(outcome.status, outcome.sentence, outcome.assertion and outcome.assertion.bound.model_dump_json())
                 for outcome in (written, repaired)}  # fmt: skip
        return len(apart) == 1

    @property
    def compared(self) -> str:
        """What was compared, where the numbers are not orders, which say it themselves."""
        number = self.numbers.get("as-written")
        return number.quantity.rstrip(",. ") if number is not None and number.claimed[:1] in ("=", "≤", "≥") else ""


@dataclass(frozen=True)
class StandingAssertion:
    """One assertion of the paper, and what became of it."""

    entry: PaperAssertion
    judges: tuple[JudgedStatement, ...]

    @property
    def anchor(self) -> str:
        """Its place among the evidence."""
        return f"a{self.entry.number}"

    @property
    def own(self) -> tuple[JudgedStatement, ...]:
        """The statements that say what it says: no sentence is called wrong for words it does not have."""
        enough = PLAIN_ENOUGH.get(self.entry.kind)
        judging = (one for one in self.judges if one.id not in self.entry.beside)
        of_it = (one for one in judging if not (one.compares and self.entry.quote))
        return tuple(one for one in of_it if enough is None or one.statement.relation in enough)

    @property
    def at_odds(self) -> bool:
        """Whether another passage contradicts it."""
        compared = (one for one in self.judges if one.compares and self.entry.quote)
        return any(one.standing("as-written").fails for one in compared)

    @property
    def beside(self) -> tuple[JudgedStatement, ...]:
        """The others: what it takes for granted, leaves unsaid, or what we conclude from it."""
        own = {one.id for one in self.own}
        return tuple(one for one in self.judges if one.id not in own)

    def standing(self, reading: str) -> Standing:
        """The worst of what says it; of what is granted, or what nothing can decide, that it is so."""
        if self.entry.granted:
            return Standing(self.entry.granted.upper())
        if self.entry.reason:
            return Standing(wording.LEFT_OPEN)
        if not self.own:
            return Standing(AT_ODDS if self.at_odds else ASIDE)
        return self.decider(reading).standing(reading)

    def decider(self, reading: str) -> JudgedStatement:
        """The statement that decides under a reading: the worst of those that say it, and that count, if any do."""
        counting = [one for one in self.own if one.counts(reading)] or self.own
        return min(counting, key=lambda one: (WORST_FIRST.index(one.standing(reading).status), one.share(reading)))

    @property
    def written(self) -> Standing:
        """As written."""
        return self.standing("as-written")

    @property
    def repaired(self) -> Standing:
        """Repaired."""
        return self.standing("repaired")

    @property
    def is_said(self) -> bool:
        """Whether the paper's words say it: only then it is counted among what holds or fails."""
        return self.entry.kind == "said"

    @property
    def fails(self) -> bool:
        """Whether the text's own words fail as written: not what they take for granted or leave open."""
        return self.is_said and self.written.fails and self.decider("as-written").counts("as-written")

    @property
    def fails_in_part(self) -> bool:
        """Whether it fails while other statements that say it hold."""
        alike = {one.standing("as-written").status for one in self.own if one.counts("as-written")}
        return self.fails and Verdict.SUPPORTED in alike

    @property
    def sides(self) -> tuple[Standing, ...]:
        """As written and repaired; one where they agree."""
        return _sides(self.written, self.repaired)

    @property
    def note(self) -> str:
        """How it stands to the words: granted, an open choice, why nothing decides, or contradicted by a passage."""
        entry, told = self.entry, KINDS[self.entry.kind]
        if entry.granted:
            words = decided(entry)
            told = f"{words[:1].upper()}{words[1:]}: nothing to decide."
        elif entry.reason:
            told = f"Nothing decides it: {entry.reason}"
        odds = "Another passage does not go together with it, which makes neither false." if self.at_odds else ""
        return " ".join(filter(None, (told, odds)))


@dataclass(frozen=True)
class JudgedPaper:
    """Every assertion by number, and every statement that the paper's page names."""

    assertions: Mapping[int, StandingAssertion]
    statements: Mapping[str, JudgedStatement]
    homes: Mapping[str, int]
    """By statement: the assertion beside which its evidence stands in full."""

    def of(self, passage: ArgumentPassage) -> tuple[StandingAssertion, ...]:
        """The assertions whose place a passage is."""
        return tuple(self.assertions[number] for number in passage.numbers)

    def failing(self, numbers_: tuple[int, ...]) -> tuple[StandingAssertion, ...]:
        """Those of some assertions whose own words fail as written."""
        return tuple(self.assertions[number] for number in numbers_ if self.assertions[number].fails)

    def stumbling(self, numbers_: tuple[int, ...]) -> tuple[StandingAssertion, ...]:
        """Those of which anything fails as written, if only under some literal readings."""
        return tuple(self.assertions[number] for number in numbers_ if self.assertions[number].written.stumbles)

    @property
    def said(self) -> tuple[StandingAssertion, ...]:
        """Those that the paper's words say."""
        return tuple(one for one in self.assertions.values() if one.is_said)

    def counts(self, reading: str) -> Counter[str]:
        """How many of what is said has each status."""
        return Counter(one.standing(reading).status for one in self.said)


def judged_paper(site: SiteFrame) -> JudgedPaper:
    """The paper's assertions as a run leaves them."""
    known: dict[str, JudgedStatement] = {}
    argument = load_argument()
    tied = [piece.statement for passage in argument.passages for piece in passage.ties if piece.statement]
    entries = load_assertions().assertions
    for full in (*(full for entry in entries for full in entry.covered_by), *tied):
        if full not in known:
            known[full] = _judged(site, full)
    assertions = {e.number: StandingAssertion(e, tuple(known[full] for full in e.covered_by)) for e in entries}
    front = {number for part in argument.parts if part.front for number in part.numbers}
    homes = {
        full: min(covering, key=lambda entry: _distance(entry, find(full), entry.number in front)).number
        for full, covering in _covering(entries).items()
    }
    return JudgedPaper(assertions, known, homes)


def _covering(entries: Iterable[PaperAssertion]) -> dict[str, list[PaperAssertion]]:
    covering: dict[str, list[PaperAssertion]] = {}
    for entry in entries:
        for full in entry.covered_by:
            covering.setdefault(full, []).append(entry)
    return covering


_TITLE = re.compile(r'"([^"]+)"')


def _distance(entry: PaperAssertion, statement: Statement, front: bool) -> tuple[bool, bool, bool, int]:
    """How far an assertion is from a statement's own place.

    Beside what is granted, where the paper announces or sums up, or outside of the lemma that the statement is of.
    """
    title = _TITLE.search(entry.section)
    return bool(entry.granted), front, title is None or title[1] not in statement.location, entry.number


def _judged(site: SiteFrame, full: str) -> JudgedStatement:
    statement, entry = find(full), site.statements.get(full)
    if entry is None or (statement.about == "subject" and not site.report.is_of_the_paper):
        return JudgedStatement(full, statement, None, {})
    cell_numbers = {name: site.number(entry.named[name]) for name in NAMED if name in entry.named}
    return JudgedStatement(full, statement, entry, cell_numbers)
