"""The paper, annotated: its argument in its order, each assertion marked by what became of it under both readings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup, escape

from spec.text.argument import ArgumentPart, ArgumentPassage, ArgumentPiece, load_argument, pieces
from spec.text.assertions import GRANTED
from spec.text.extract import load_extract
from verify.report import prose, wording
from verify.report.model import NAMED
from verify.report.signs import SHADES, STATUSES
from verify.report.site.causes.failure_causes import Cause, causes
from verify.report.site.frame import FOLDER, Page, SiteFrame, drawn, render
from verify.report.site.paper.algorithm_code import CodeOfLine, code_of
from verify.report.site.paper.judged_paper import (
    ABSENT,
    ASIDE,
    AT_ODDS,
    SAID,
    WORST_FIRST,
    JudgedPaper,
    JudgedStatement,
    Standing,
    StandingAssertion,
    judged_paper,
)
from verify.report.site.words import cell_numbers as numbers
from verify.report.site.words.glossary import explained
from verify.verdict import Verdict

TITLE = "The paper, annotated"
FILE = "paper.html"
_WORDS = r"bias|pen|sol|out|fx|fy|∇h|\d+|[A-Za-zα-ω]"
_INDEX = re.compile(rf"([A-Za-zΑ-ωϵ∇∂ỹ]\u0303?\*?)_(\{{[^{{}}]*\}}|{_WORDS})")
_RAISED = re.compile(r"\^(\{[^{}]*\}|[-−]?\d+(?:\.\d+)?|[A-Za-z*])")


def set_words(text: str) -> Markup:
    """Words with indices and powers set: ``α_1 = α^-2``, ``y_{λ̃,α}``."""
    shown = _INDEX.sub(lambda match: f"{match[1]}<sub>{match[2].strip('{}')}</sub>", str(escape(text)))
    shown = _RAISED.sub(lambda match: f"<sup>{match[1].strip('{}').replace('-', '−')}</sup>", shown)
    return Markup(shown)  # escaped above


@dataclass(frozen=True)
class AnnotatedPaper:
    """What the template asks for; ``alone`` where there are no other pages to link to."""

    site: SiteFrame
    judged: JudgedPaper
    alone: bool = False

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """The paper's parts."""
        return load_argument().parts

    @property
    def last_line(self) -> int:
        """The last line of the source."""
        return load_extract().lines

    @property
    def legend(self) -> list[tuple[str, str]]:
        """Each status that assertions of this run have, and what it means."""
        seen = {one.standing(reading).status for one in self.judged.assertions.values() for reading in NAMED}
        meanings = {name: status.meaning for name, status in (*STATUSES.items(), *SHADES.items())}
        return [(str(status), meanings[status]) for status in WORST_FIRST if status in meanings and status in seen]

    def prose(self, text: str, *, repaired: bool = False) -> Markup:
        """A text with its ties marked; of what takes a line's place, by how that stands repaired alone.

        Symbols say what they mean when they are pointed at.
        """
        return explained(Markup("").join(self._piece(piece, repaired) for piece in pieces(text)))

    def _piece(self, piece: ArgumentPiece, repaired: bool) -> Markup:
        words = set_words(piece.words)
        if piece.statement:
            judge = self.judged.statements[piece.statement]
            sides = (judge.standing("repaired"),) if repaired else judge.sides
            return _marked(words, f"#{judge.id}", sides, heard(sides))
        if not piece.number:
            return words
        one = self.judged.assertions[piece.number]
        ours = Markup("") if one.entry.quote else Markup(' <span class="quiet">(our words)</span>')
        return _marked(words, f"#{one.anchor}", one.sides, heard(one.sides)) + ours

    def felled(self, text: str) -> list[tuple[str, JudgedStatement]]:
        """Statements that fail as written and to which a text is tied, each with the place of its evidence."""
        felled: dict[str, tuple[str, JudgedStatement]] = {}
        for piece in pieces(text):
            if piece.statement:
                at, judge = piece.statement, self.judged.statements[piece.statement]
            elif piece.number:
                one = self.judged.assertions[piece.number]
                if not one.written.stumbles:
                    continue
                at, judge = one.anchor, one.decider("as-written")
            else:
                continue
            if judge.standing("as-written").stumbles:
                felled.setdefault(judge.id, (at, judge))
        return list(felled.values())

    def restated(self, judge: JudgedStatement) -> str:
        """How the repaired claim differs from the printed one, ``claim weakened to O(α⁻¹)``."""
        whole = judge.outline is not None and not any(number.part for number in judge.numbers.values())
        return self.site.restated(judge.outline) if judge.outline and whole else ""

    def span(self, first: int, last: int) -> str:
        """``Line 5``, or ``Lines 5 to 7``."""
        return f"Line {first}" if first == last else f"Lines {first} to {last}"

    def quoted(self, one: StandingAssertion) -> str:
        """Where the paper's own words for it stand: ``line 51, words 1 to 29``; or that there are none."""
        quote = one.entry.quote
        if quote is None:
            return "in our words alone"
        words = f", words {quote.words[0]} to {quote.words[1]}" if quote.words else ""
        return f"{self.span(*quote.lines).lower()}{words}"

    def link(self, judge: JudgedStatement) -> Markup:
        """A statement's id, linked to its claim's page where there is one."""
        name = Markup("<code>{}</code>").format(judge.id)
        return name if self.alone or judge.outline is None else self.site.link(judge.id, name)

    def sentence(self, text: str) -> Markup:
        """A sentence of the run's; statements that it names are linked where there are pages for them."""
        return wording.sentence(text) if self.alone else self.site.sentence(text)

    def cause(self, judge: JudgedStatement) -> Markup:
        """A link to the page of the cause that a statement's failing is; empty where it is none, or has no page."""
        cause = self._causes.get(judge.id) if not self.alone else None
        if cause is None:
            return Markup("")
        return Markup(' <a href="{}">Cause {}</a>.').format(self.site.to_file(cause.file), cause.number)

    @cached_property
    def _causes(self) -> dict[str, Cause]:
        return {cause.text.statement: cause for cause in causes(self.site)}

    def notes(self, numbers_: tuple[int, ...]) -> list[tuple[StandingAssertion, JudgedStatement]]:
        """What stands in the margin: assertions that fail as written, a line for each statement that fells them."""
        notes: dict[str, tuple[StandingAssertion, JudgedStatement]] = {}
        for one in self.judged.stumbling(numbers_):
            decider = one.decider("as-written")
            notes.setdefault(decider.id, (one, decider))
        return list(notes.values())

    def shown(self, judge: JudgedStatement, reading: str) -> Markup:
        """A statement's number under a reading as a cell has it; else how it stands."""
        number = judge.numbers.get(reading)
        return stands(judge.standing(reading)) if number is None else number.value

    def code(self, passage: ArgumentPassage) -> list[tuple[int, CodeOfLine | None, bool]]:
        """For each line of a passage's algorithm: its number, its code, and whether a line above has it already."""
        known, rows, until = code_of(passage.algorithm), [], 0
        for step in passage.steps:
            own = known.get(step.number)
            until = max(until, own.lines[1] if own else 0)
            rows.append((step.number, own, own is None and step.number <= until))
        return rows

    def tally(self, assertions: tuple[StandingAssertion, ...]) -> str:
        """``4 assertions: 2 fail as written, 1 of them repaired, too``."""
        words = wording.counted(len(assertions), "assertion")
        written = [one for one in assertions if one.fails]
        both = sum(one.repaired.fails for one in written)
        if written:
            words += f"; {wording.counted(len(written), 'fails', 'fail')} as written"
            words += f", {both} repaired, too" if both else ""
        if some := sum(one.written.status == wording.MIXED for one in assertions):
            words += f"; {wording.counted(some, 'holds', 'hold')} in some readings"
        return words

    @property
    def answer(self) -> list[str]:
        """What the page comes to, in sentences."""
        return list(answer(self.judged))

    @property
    def counts(self) -> list[str]:
        """How assertions, statements and results hang together, and how the statements came out."""
        judging = {judge.id for one in self.judged.assertions.values() for judge in one.judges}
        beside = sum(entry.id not in judging for entry in self.site.outline.statements)
        results = wording.counted(len(self.site.report.results), "result")
        more = f"; {beside} more stand beside the text" if beside else ""
        hang = (
            f"The {len(self.judged.assertions)} rows are judged by {len(judging)} statements, one of which may judge "
            f"several{more}; these were asked, each under its readings and on its problems, in {results}."
        )
        return [hang, prose.tallied(self.site.outline)]

    @property
    def reaches(self) -> str:
        """Why statements about a program are missing, where the run is not of the paper."""
        report = self.site.report
        if report.is_of_the_paper:
            return "" if report.complete else "The run was interrupted: what it did not reach says so."
        return (
            f"This run judged the program “{report.subject}”. What it found there says nothing of the paper: "
            "assertions about the method read “not in this run”."
        )


def answer(judged: JudgedPaper) -> Iterator[str]:
    """What became of all assertions, in sentences: of those that the paper's words say, then of the rest."""
    written, every = judged.counts("as-written"), tuple(judged.assertions.values())
    if all(one.written.status in (*SAID, wording.LEFT_OPEN) for one in every):
        yield f"None of the paper’s {len(every)} assertions was judged in this run."
        return
    fails = [one for one in every if one.fails]
    yield (
        f"Of {len(judged.said)} assertions that the words say, {len(fails)} fail as written and "
        f"{written[Verdict.SUPPORTED]} hold."
    )
    if parts := sum(one.fails_in_part for one in fails):
        yield f"{parts} of those that fail do so in one of several respects."
    if fails:
        yield _mended(fails)
    others = {
        "hold under some literal readings and not under all": written[wording.MIXED],
        "are not judged by their own words, only by what they imply": written[ASIDE],
        "are definitions or hypotheses": sum(written[what.upper()] for what in GRANTED),
        "are at odds with another passage, which makes neither false": written[AT_ODDS],
        "are left open for a stated reason": written[wording.LEFT_OPEN],
        "are not in this run": written[ABSENT], "are inconclusive": written[Verdict.INCONCLUSIVE],
        "are not checked": written[wording.NOT_CHECKED], "are not applicable": written[Verdict.NOT_APPLICABLE],
        "are without a verdict for a fault": written[wording.FAULT],
    }  # fmt: skip
    told = wording.listing(f"{number} {words}" for words, number in others.items() if number)
    if told:
        yield f"The others: {told}."
    unsaid = [told for kind, words in UNSAID.items() if (told := _beside(every, kind, words))]
    if unsaid:
        yield f"Beside these, and not counted among them, stand {wording.listing(unsaid)}."


UNSAID = {
    "implied": "that the words take for granted", "silent": "that they leave open",
    "consequence": "notes and consequences of ours",
}  # fmt: skip
"""By kind, the assertions that the paper's words do not say."""


def _beside(every: Sequence[StandingAssertion], kind: str, words: str) -> str:
    """How many of a kind there are, and how many of them fail; empty where there is none."""
    of_kind = [one for one in every if one.entry.kind == kind]
    failing = sum(one.written.fails for one in of_kind)
    return f"{len(of_kind)} {words} ({failing or 'none'} {'fails' if failing < 2 else 'fail'})" if of_kind else ""


def _mended(fails: Sequence[StandingAssertion]) -> str:
    """What becomes of what fails once the text is repaired."""
    standings = Counter(one.repaired for one in fails)
    held = standings.pop(Standing(Verdict.SUPPORTED), 0)
    sentence = f"With the text repaired, {held if standings else 'all'} of the {len(fails)} hold"
    rest = [
        f"{count} {standing.word}" for standing, count in sorted(standings.items(), key=lambda kind: kind[0].status)
    ]
    return f"{sentence}; {wording.listing(rest)}." if rest else f"{sentence}."


def stands(standing: Standing) -> Markup:
    """A standing as mark and word."""
    if standing.status in SAID:
        return Markup('<span class="v none">{}</span>').format(standing.word)
    return numbers.figure(standing.status, standing.word)


def heard(sides: tuple[Standing, ...]) -> str:
    """``refuted as written, repaired: holds``; one word where both agree."""
    if len(sides) == 1:
        return sides[0].word
    return f"{sides[0].word} as written, repaired: {sides[1].word}"


def _marked(words: Markup, href: str, sides: tuple[Standing, ...], unseen: str) -> Markup:
    """Words underlined by their first standing, with a mark for each that keeps to the last word."""
    marks = Markup("").join(
        Markup('<span class="{}">{}</span>').format(side.tone, numbers.drawn_mark(side.status))
        for side in sides if side.status not in SAID
    )  # fmt: skip
    start, space, last = str(words).rpartition(" ")
    if marks:
        words = Markup(f'{start}{space}<span class="nw">{last}{marks}</span>')  # markup, cut between words
    return Markup('<a class="u u-{}" href="{}">{}<span class="unseen"> ({})</span></a>').format(
        sides[0].tone, href, words, unseen
    )


def body(site: SiteFrame, *, alone: bool = False) -> Markup:
    """The page's content."""
    return drawn("paper.html.j2", site, paper=AnnotatedPaper(site, judged_paper(site), alone), stands=stands)


def pages(site: SiteFrame) -> list[Page]:
    """The page among a report's others."""
    return [Page(f"{FOLDER}{FILE}", TITLE, body(site), _described(site))]


def page_alone(site: SiteFrame) -> str:
    """The page by itself, its style within, with no link to any other page."""
    return render(Page(FILE, TITLE, body(site, alone=True), _described(site)), site)


def _described(site: SiteFrame) -> str:
    return f"What the paper asserts, line by line, as judged with “{site.report.subject}”."
