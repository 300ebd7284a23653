"""The paper's argument as data, in its order and in our words: what each passage asserts, and at which lines.

A number in braces, ``{123}``, is an assertion of the inventory, whose sentence is printed there; ``{see 96}`` is one
whose place is elsewhere. An algorithm's lines are told as printed, their words tied to an assertion, ``{85|so close}``,
or to a statement, ``{bias-bound/T1|stop at ‖∇_yL‖ ≤ α}``. Lines with ``$$`` at both ends are formulas. Whether anything
holds is computed, never stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Self

from pydantic import Field, model_validator

from spec.claims import find
from spec.errors import InvalidInputError
from spec.files import Frozen, package_text, parse_toml
from spec.text.assertions import PaperAssertion, load_assertions
from spec.text.extract import load_extract
from spec.text.quotes import Digest, digest_of

WHERE = "paper/argument.toml"
_SPAN = re.compile(
    r"\{(?:(?P<see>see )?(?P<said>\d+)"
    r"|(?:(?P<number>\d+)|(?P<statement>[a-z][a-z-]+(?:/[A-Za-z0-9-]+)?))\|(?P<words>(?:[^{}]|\{[^{}]*\})*))\}"
)
_FORMULA = re.compile(r"\$\$(.+)\$\$", re.DOTALL)


@dataclass(frozen=True)
class ArgumentPiece:
    """Some words of a passage, and what they are tied to, if anything.

    Attributes:
        words: The words.
        number: Number of the assertion that they make, 0 if none.
        statement: Full id of a statement, empty if none.
        elsewhere: Whether the assertion has its place in another passage.
    """

    words: str
    number: int = 0
    statement: str = ""
    elsewhere: bool = False


def pieces(text: str) -> Iterator[ArgumentPiece]:
    """A text cut where its ties begin and end, in order."""
    at = 0
    for match in _SPAN.finditer(text):
        if match.start() > at:
            yield ArgumentPiece(text[at : match.start()])
        yield _tied(match)
        at = match.end()
    if at < len(text):
        yield ArgumentPiece(text[at:])


def _tied(match: re.Match[str]) -> ArgumentPiece:
    if number := match["said"]:
        return ArgumentPiece(_sentences().get(int(number), ""), int(number), elsewhere=bool(match["see"]))
    return ArgumentPiece(match["words"], int(match["number"] or 0), match["statement"] or "")


@lru_cache(maxsize=1)
def _sentences() -> dict[int, str]:
    return {entry.number: entry.asserts for entry in load_assertions().assertions}


class AlgorithmLine(Frozen):
    """One line of an algorithm.

    Args:
        number: As the algorithm counts, from 1.
        line: Line of the source.
        digest: :func:`digest_of` that line: what the words stand for, while the source is not shipped.
        text: What it says.
        repaired: What takes its place, tied to the statements that show it; empty where nothing does.
    """

    number: int = Field(ge=1)
    line: int = Field(ge=1)
    digest: Digest
    text: str = Field(min_length=1)
    repaired: str = ""


class ArgumentPassage(Frozen):
    """A stretch of the paper's text.

    Args:
        lines: First and last line of the source; none where it gathers what stands all over.
        digest: :func:`digest_of` these lines; empty without any.
        text: Paragraphs and formulas, with blank lines between.
        algorithm: Which algorithm it shows, 0 if none.
        steps: The algorithm's lines.
    """

    lines: tuple[int, int] | None = None
    digest: Digest | Literal[""] = ""
    text: str = Field(min_length=1)
    algorithm: Literal[0, 1, 2] = 0
    steps: tuple[AlgorithmLine, ...] = ()

    @model_validator(mode="after")
    def _lines_of_an_algorithm(self) -> Self:
        if bool(self.algorithm) != bool(self.steps):
            raise InvalidInputError("steps", "must be given for an algorithm, and only there", self.algorithm)
        if [step.number for step in self.steps] != list(range(1, len(self.steps) + 1)):
            raise InvalidInputError("steps", "must count from 1", [step.number for step in self.steps])
        return self

    @model_validator(mode="after")
    def _digest_of_its_lines(self) -> Self:
        if bool(self.lines) != bool(self.digest):
            raise InvalidInputError("digest", "must be given with lines of the source, and only there", self.digest)
        return self

    @property
    def texts(self) -> tuple[str, ...]:
        """Its own paragraphs, then what its steps say as the paper has them; formulas are left out."""
        return (*self.paragraphs, *(step.text for step in self.steps))

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """Its own text without the formulas, whose braces tie nothing."""
        return tuple(block for block, formula in self.blocks if not formula)

    @property
    def blocks(self) -> tuple[tuple[str, bool], ...]:
        """Paragraphs and formulas in order, and whether each is a formula."""
        parts = [part.strip() for part in self.text.strip().split("\n\n")]
        pairs = [(_FORMULA.fullmatch(part), part) for part in parts]
        return tuple((formula[1], True) if formula else (part, False) for formula, part in pairs)

    @property
    def ties(self) -> tuple[ArgumentPiece, ...]:
        """All its tied words: of the text, of the steps, and of what takes their place."""
        texts = (*self.texts, *(step.repaired for step in self.steps))
        return tuple(piece for text in texts for piece in pieces(text) if piece.number or piece.statement)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the assertions whose place it is, in order, each once."""
        return tuple(dict.fromkeys(piece.number for piece in self.ties if piece.number and not piece.elsewhere))


class ArgumentPart(Frozen):
    """A section, a lemma or a proof.

    Args:
        id: Short name, unique.
        title: A few words.
        front: Whether it announces or sums up what other parts establish.
        passages: In order.
    """

    id: str = Field(pattern=r"^[a-z]+(-[a-z]+)*$")
    title: str = Field(min_length=1)
    front: bool = False
    passages: tuple[ArgumentPassage, ...] = Field(min_length=1)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the assertions whose place it is."""
        return tuple(number for passage in self.passages for number in passage.numbers)

    @property
    def lines(self) -> tuple[int, int] | None:
        """First and last line of the source, where it has any."""
        ends = [end for passage in self.passages if passage.lines for end in passage.lines]
        return (ends[0], ends[-1]) if ends else None


class Argument(Frozen):
    """The whole paper, part by part.

    Args:
        parts: In the order of the source.
    """

    parts: tuple[ArgumentPart, ...]

    @property
    def passages(self) -> tuple[ArgumentPassage, ...]:
        """All passages, in order."""
        return tuple(passage for part in self.parts for passage in part.passages)


@dataclass(frozen=True)
class Misquoted:
    """Words that are not those on record.

    Attributes:
        lines: First and last line.
        what: The part they are in, the algorithm's line, or the assertion's place.
        numbers: Assertions whose words they hold.
    """

    lines: tuple[int, int]
    what: str
    numbers: tuple[int, ...]


def quoted_places(argument: Argument) -> int:
    """How many there are: passages, lines of algorithms, and assertions, each with its own words."""
    of_text = sum(bool(passage.lines) + len(passage.steps) for passage in argument.passages)
    return of_text + sum(entry.quote is not None for entry in load_assertions().assertions)


def misquoted(argument: Argument, source: Sequence[str]) -> Iterator[Misquoted]:
    """The passages, lines of algorithms and assertions where a source says something else than the one on record."""
    for part in argument.parts:
        for passage in part.passages:
            if passage.lines and digest_of(source, *passage.lines) != passage.digest:
                yield Misquoted(passage.lines, part.title, passage.numbers)
            for step in passage.steps:
                if digest_of(source, step.line, step.line) != step.digest:
                    what = f"Algorithm {passage.algorithm}, line {step.number}"
                    yield Misquoted((step.line, step.line), what, _told(step.text))
    for entry in load_assertions().assertions:
        if entry.quote is not None and not entry.quote.stands_in(source):
            yield Misquoted(entry.quote.lines, entry.place, (entry.number,))


@lru_cache(maxsize=1)
def load_argument() -> Argument:
    """The paper's argument.

    Raises:
        InvalidInputError: If the file is malformed, a tie leads nowhere, an assertion has no place, two, or one out of
            the inventory's order, or lines are not in the paper's order.
    """
    return checked(parse_toml(Argument, package_text(WHERE), WHERE))


def checked(argument: Argument) -> Argument:
    """The same where every assertion has one place, in order, with its own words in it, all ties lead somewhere and
    lines rise.

    Raises:
        InvalidInputError: Where that is not so.
    """
    known = [entry.number for entry in load_assertions().assertions]
    placed = [number for passage in argument.passages for number in passage.numbers]
    for number, there in zip(known, [*placed, *[0] * len(known)], strict=False):
        if number != there:
            raise InvalidInputError(WHERE, f"must have a place for every assertion in order, next {number}", there)
    if len(placed) > len(known):
        raise InvalidInputError(WHERE, "must have one place an assertion", placed[len(known)])
    for passage in argument.passages:
        for piece in (piece for text in passage.paragraphs for piece in pieces(text)):
            if piece.number and piece.words != _sentences().get(piece.number, ""):
                rule = f"must leave the words of assertion {piece.number} to its row in assertions.toml"
                raise InvalidInputError(WHERE, rule, piece.words)
        for piece in passage.ties:
            if piece.statement:
                find(piece.statement)
            elif piece.elsewhere and piece.number not in known:
                raise InvalidInputError(WHERE, "must name a known assertion", piece.number)
    _check_lines(argument)
    _check_quotes(argument)
    return argument


def _check_quotes(argument: Argument) -> None:
    """The words that an assertion quotes stand where its own place is: in its passage, or its algorithm's line."""
    entries = {entry.number: entry for entry in load_assertions().assertions}
    for passage in argument.passages:
        lines = {number: (step.line, step.line) for step in passage.steps for number in _told(step.text)}
        for number in passage.numbers:
            _check_quote(entries[number], lines.get(number, passage.lines))


def _check_quote(entry: PaperAssertion, lines: tuple[int, int] | None) -> None:
    quote = entry.quote
    if quote is not None and (lines is None or not quote.within(lines)):
        rule = f"must have the words of assertion {entry.number} within its place, lines {lines}"
        raise InvalidInputError(WHERE, rule, quote.lines)


def _told(text: str) -> tuple[int, ...]:
    return tuple(piece.number for piece in pieces(text) if piece.number and not piece.elsewhere)


def _check_lines(argument: Argument) -> None:
    at, last = 0, load_extract().lines
    for passage in argument.passages:
        if passage.lines is None:
            continue
        first, end = passage.lines
        if not at < first <= end <= last:
            raise InvalidInputError(WHERE, f"must have lines that rise, above {at} and up to {last}", passage.lines)
        if any(not first <= step.line <= end for step in passage.steps):
            raise InvalidInputError(WHERE, "must have an algorithm's lines within its passage", passage.lines)
        at = end
