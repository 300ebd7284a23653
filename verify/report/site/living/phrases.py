"""The switches of the living Algorithm 1: open choices, their words in the paper's argument, their repairs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from markupsafe import Markup

from spec.reading import Choice, find_choice
from spec.text.argument import AlgorithmLine, ArgumentPassage, ArgumentPiece, load_argument, pieces
from verify.report import wording
from verify.report.site.causes.failure_causes import CauseText, cause_texts
from verify.report.site.frame import SiteFrame
from verify.report.site.living.living_texts import SwitchText, Tab, living_texts
from verify.report.site.paper.paper_page import set_words

ALGORITHM, OUTER_LOOP = 1, 2
_ENDS = re.compile(r"(?<=\d\})\s+|(?<=\.)\s+")
DEFINED_AT = 4
"""The line of Algorithm 1 that forms the Lagrangian: what defines its parts is shown below it."""


@dataclass(frozen=True)
class PhraseValue:
    """One value of a switch: its words, where the paper has them, and whether it is one that the words do not allow."""

    value: str
    words: str
    passage: str
    is_repair: bool


@dataclass(frozen=True)
class Switch:
    """An open choice as a switch; ``number`` is that of its cause."""

    number: int
    text: SwitchText
    cause: CauseText

    @property
    def field(self) -> str:
        return self.text.choice

    @property
    def choice(self) -> Choice:
        return find_choice(self.text.choice)

    @property
    def as_written(self) -> str:
        return self.choice.as_written

    @property
    def repaired(self) -> str:
        """The value under which the claim of its tab holds."""
        return self.text.beyond.value if self.text.beyond else self.choice.repaired

    @property
    def values(self) -> tuple[PhraseValue, ...]:
        """The literal ones, then what the words do not allow."""
        values = [PhraseValue(one.value, one.words, one.passage, is_repair=False) for one in self.choice.literal]
        if self.text.beyond:
            values.append(PhraseValue(self.text.beyond.value, self.text.beyond.words, self.cause.after, is_repair=True))
        elif self.repaired not in self.choice.values:
            values.append(PhraseValue(self.repaired, self.choice.repaired_words, self.cause.after, is_repair=True))
        return tuple(values)


def tabs() -> tuple[Tab, ...]:
    """The claims, in order."""
    return living_texts().tabs


@lru_cache(maxsize=1)
def switches() -> tuple[Switch, ...]:
    """One for each cause, in the causes' order."""
    texts = {row.choice: row for row in living_texts().switches}
    return tuple(Switch(k, texts[cause.choice], cause) for k, cause in enumerate(cause_texts(), 1))


@dataclass(frozen=True)
class ShownLine:
    """A line of an algorithm: its words with the switched phrases marked, what defines it, the switches in it."""

    number: int
    words: Markup
    switches: tuple[Switch, ...] = ()
    defined: tuple[Markup, ...] = ()


@dataclass(frozen=True)
class ShownAlgorithms:
    """Both algorithms as the paper's argument has them."""

    site: SiteFrame

    @cached_property
    def _marked(self) -> Mapping[str, Switch]:
        return {place: switch for switch in switches() for place in switch.text.at}

    @property
    def lines(self) -> tuple[ShownLine, ...]:
        """Algorithm 1's; each switch stands at the last line in which a phrase of it is."""
        steps = _passage_of(ALGORITHM).steps
        homes: dict[str, int] = {}
        for step in steps:
            for switch in self._switches_in(step.text):
                homes[switch.field] = step.number
        elsewhere = [switch for switch in switches() if switch.field not in homes]
        homes |= {switch.field: DEFINED_AT for switch in elsewhere}
        return tuple(
            ShownLine(
                step.number, self.words(step.text),
                tuple(switch for switch in switches() if homes[switch.field] == step.number),
                tuple(self._definitions()) if step.number == DEFINED_AT else (),
            ) for step in steps
        )  # fmt: skip

    @property
    def outer_lines(self) -> tuple[ShownLine, ...]:
        """Algorithm 2's."""
        return tuple(ShownLine(step.number, self.words(step.text)) for step in _passage_of(OUTER_LOOP).steps)

    def words(self, text: str) -> Markup:
        """A text, its switched phrases marked; behind it the room for what a repair writes in place of each."""
        replaced = [
            switch for piece in pieces(text) if (switch := self._switch_of(piece)) and _is_replaced(piece, switch)
        ]
        instead = Markup('<ins data-for="{}" hidden><i>instead:</i> {}</ins>')
        return Markup("").join(
            [
                *(self._piece(piece) for piece in pieces(text)),
                *(instead.format(one.field, wording.typeset(one.cause.after)) for one in replaced),
            ]
        )

    def _piece(self, piece: ArgumentPiece) -> Markup:
        words, switch = set_words(piece.words), self._switch_of(piece)
        if switch is None:
            return words
        of_repair = Markup(" data-replaced") if _is_replaced(piece, switch) else Markup("")
        return Markup('<mark data-for="{}"{}>{}</mark>').format(switch.field, of_repair, words)

    def _switch_of(self, piece: ArgumentPiece) -> Switch | None:
        return self._marked.get(_tie(piece))

    def _switches_in(self, text: str) -> Iterator[Switch]:
        for piece in pieces(text):
            if (switch := self._switch_of(piece)) is not None:
                yield switch

    def _definitions(self) -> Iterator[Markup]:
        """Formulas and marked sentences of the passages that define the weights and the Lagrangian."""
        for passage in _passages():
            if passage.algorithm or not any(True for _ in self._switches_in(passage.text)):
                continue
            for block, is_formula in passage.blocks:
                if is_formula:
                    yield from (self.site.formula(part.strip().rstrip(",")) for part in block.split(r"\qquad"))
                    continue
                sentences = [one for one in _sentences(block) if any(True for _ in self._switches_in(one))]
                if sentences:
                    yield Markup("<p>{}</p>").format(self.words(" ".join(sentences)))


def _tie(piece: ArgumentPiece) -> str:
    """The assertion or statement that some words are tied to, as ``living.toml`` names it."""
    return piece.statement or (str(piece.number) if piece.number and not piece.elsewhere else "")


def _is_replaced(piece: ArgumentPiece, switch: Switch) -> bool:
    """Whether a repair writes its own words in place of these."""
    return _tie(piece) == switch.text.at[0]


def _passages() -> Sequence[ArgumentPassage]:
    return [passage for part in load_argument().parts for passage in part.passages]


def _passage_of(algorithm: int) -> ArgumentPassage:
    return next(passage for passage in _passages() if passage.algorithm == algorithm)


def lines_of(algorithm: int) -> tuple[AlgorithmLine, ...]:
    """An algorithm's lines as data."""
    return _passage_of(algorithm).steps


def _sentences(block: str) -> list[str]:
    """A paragraph of rows' sentences and of words between them, cut behind each row and at full stops between them."""
    parts = (part.strip() for part in _ENDS.split(block))
    return [part for part in parts if part]
