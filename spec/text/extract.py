"""What a paper's source says in few words: an extract of passages, as data, and corrections of single passages.

The source itself is not shipped. An extract keeps labels, references, symbols with their meanings, and the orders
stated for each quantity, each with its line and at most a few words or a formula. Which passages contradict each other
is computed by ``verify``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from spec.errors import InvalidInputError
from spec.files import Frozen, package_text, parse_toml

PassageKind = Literal[
    "declared", "environment", "label", "reference", "part", "term", "file", "meaning", "definition", "bound", "draw",
    "part-of", "constant", "symbol", "order", "upper", "mean", "domain", "pair", "solver",
    "glyphs", "stance",
]  # fmt: skip
"""What a passage does; :class:`Passage` says what its fields then hold."""
LONGEST = 160
"""Characters kept of a passage."""
Power = Annotated[Fraction, BeforeValidator(Fraction), PlainSerializer(str)]


class Passage(Frozen):
    r"""One thing the source says at one line.

    ============== ============================ ========================================================================
    kind           name                         says; further fields
    ============== ============================ ========================================================================
    declared       a theorem-like environment   \-
    environment    a theorem-like environment   \-
    label          its name, with an item       what it labels; ``symbols`` that occur there
    reference      label, with an item          what is attributed to it; ``symbols`` of that
    part           ``Part``, ``Step``, ...      the heading; ``number``
    term           a label                      ``heading`` or ``text``; ``number`` of the term it treats
    file           the file                     the command that includes it
    meaning        a symbol                     the words it is given
    definition     a symbol                     the formula it is set to
    bound          a constant                   the quantity it bounds by hypothesis
    draw           a noisy function             its arguments; ``symbols`` of the random ones
    part-of        a function                   ``symbols``: functions in the formula that defines it
    constant       what it is a constant of     the symbol
    symbol         a symbol                     ``proofs``: only in these, undefined; ``symbols``: plainer forms
    order          a quantity, may be empty     ``=``, ``O``, ``Õ``, ``Θ``, ``Ω``, ``≤``, ``≥``; ``powers`` by symbol
    upper          a quantity                   ``O`` or ``Θ``: the letter in a sum that bounds it from above
    mean           a norm                       ``mean`` or ``sure``: how it is bounded
    domain         a variable                   a set; ``symbols``: ``minimisation`` or ``input`` of an algorithm
    pair           the noun it qualifies        ``symbols``: the two, in order
    solver         a method                     ``symbols`` it computes
    glyphs         a letter                     ``symbols``: the two glyphs under which it stands
    stance         a property, ``μ-...``        ``assumed`` or ``derived``
    ============== ============================ ========================================================================

    Args:
        kind: What it does.
        line: Line of the source, from 1.
        name: Its subject, see the table.
        says: What it says of it.
        place: Label of the statement, algorithm or section it stands in; ``proof of LABEL`` in a proof.
        symbols: See the table.
        powers: Powers of an order, by symbol.
        factor: Number before them, where it is stated: not under an order's letter.
        number: See the table.
    """

    kind: PassageKind
    line: int = Field(ge=1)
    name: str = Field(default="", max_length=LONGEST)
    says: str = Field(default="", max_length=LONGEST)
    place: str = Field(default="", max_length=LONGEST)
    symbols: tuple[str, ...] = ()
    powers: dict[str, Power] = Field(default_factory=dict)
    factor: Power = Fraction(1)
    number: int = 0


class Extract(Frozen):
    """All passages of one source, and which source it was.

    Args:
        sha256: Of the source's bytes.
        lines: How many it has.
        passages: In reading order.
    """

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    lines: int = Field(ge=1)
    passages: tuple[Passage, ...]

    def of(self, *kinds: PassageKind) -> Iterator[Passage]:
        """Passages of some kinds, in reading order."""
        return (passage for passage in self.passages if passage.kind in kinds)


class Correction(Frozen):
    """Passages set right, or one that was missing.

    Args:
        step: The consistency step it serves.
        why: What is set right, in a few words.
        where: Fields of the passages meant, with their values.
        to: Fields to change.
        add: The passage that was missing; instead of the two above.
    """

    step: str = Field(min_length=1)
    why: str = Field(min_length=1)
    where: dict[str, Any] = Field(default_factory=dict)
    to: dict[str, Any] = Field(default_factory=dict)
    add: Passage | None = None


class Corrections(Frozen):
    """Corrections of the paper's extract.

    Args:
        corrections: Each of them, in order.
    """

    corrections: tuple[Correction, ...]


@lru_cache(maxsize=1)
def load_extract() -> Extract:
    """The extract of the paper's source that ships with this version."""
    return parse_toml(Extract, package_text("paper/extract.toml"), "paper/extract.toml")


@lru_cache(maxsize=1)
def corrected_extract() -> Extract:
    """The same with every correction made.

    Raises:
        InvalidInputError: If a correction changes nothing, or adds what is there.
    """
    corrections = parse_toml(Corrections, package_text("paper/corrections.toml"), "paper/corrections.toml")
    return correct(load_extract(), corrections.corrections)


def correct(extract: Extract, corrections: tuple[Correction, ...]) -> Extract:
    """Make corrections; none takes a passage away.

    Raises:
        InvalidInputError: If a correction changes nothing, or adds what is there.
    """
    passages = list(extract.passages)
    for correction in corrections:
        label = f"correction of {correction.step}"
        if correction.add is not None:
            if correction.add in passages or correction.where or correction.to:
                raise InvalidInputError(label, "must add a passage that is not there, or change some", correction.why)
            passages.append(correction.add)
            continue
        plain = [passage.model_dump(mode="json") for passage in passages]
        meant = [at for at, fields in enumerate(plain) if correction.where.items() <= fields.items()]
        changed = {at: Passage.model_validate(plain[at] | correction.to) for at in meant}
        if not changed or not correction.where or any(passages[at] == new for at, new in changed.items()):
            raise InvalidInputError(label, "must change each passage that it is about", correction.where)
        for at, new in changed.items():
            passages[at] = new
    return extract.model_copy(update={"passages": tuple(sorted(passages, key=lambda passage: passage.line))})


def dumps_extract(extract: Extract) -> str:
    """An extract as TOML, a passage a line."""
    rows = []
    for passage in extract.passages:
        plain = passage.model_dump(mode="json", exclude_defaults=True)
        rows.append(" { " + ", ".join(f"{key} = {_toml(value)}" for key, value in plain.items()) + " },")
    head = [f'sha256 = "{extract.sha256}"', f"lines = {extract.lines}", "passages = ["]
    return "\n".join([*head, *rows, "]"]) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml(key)} = {_toml(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # TOML's basic strings and integers are JSON's, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
