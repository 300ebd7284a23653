"""Every assertion of the paper as data, in reading order: where it stands, what covers it, how it is decided.

The inventory and the claims are held against each other: an assertion names the claims and steps that cover it, and a
statement that no assertion asks for says why it is there. Whether anything holds is computed, never stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, Self

from pydantic import Field, model_validator

from spec.claims import Statement, TextRelation, load_claims
from spec.errors import InvalidInputError
from spec.files import Frozen, package_text, parse_toml
from spec.reading import find_choice
from spec.text.quotes import Quote

Means = Literal["exact", "sweep", "sampling", "runs", "counting", "citation", "definition", "hypothesis", "text",
                "undecidable"]  # fmt: skip
"""How an assertion is decided: by exact algebra, a sweep of computed values, random samples, whole runs, counted work,
a source, the paper's own text; by nothing, as it is a definition or a hypothesis; or by nothing, for a reason."""

GRANTED = ("definition", "hypothesis")
"""What asserts nothing: it is made so, or supposed."""

FREE = ("silent", "consequence")
"""How a statement stands to the words where no assertion need ask for it."""
IN_THE_TEXT = ("said", "implied")
"""How it stands where the words are the paper's, the plainer first."""


class PaperAssertion(Frozen):
    """One thing the paper asserts.

    Args:
        number: Its place in reading order, from 1.
        section: Section, lemma or theorem it stands in.
        place: Where in it.
        asserts: What is asserted, in our words.
        quote: The paper's own words for it, by place and digest; none where it is ours.
        kind: Whether the words say it, take it for granted, leave it open, or it is our consequence of them.
        leaves_open: Where a definition leaves a choice open: its field in ``spec/choices.toml``. The statements that
            build on it are judged under each of its literal values.
        decided_by: How it is decided; a definition or hypothesis is not, and stands alone.
        covered_by: Full ids of the claims and steps that judge it, or that build on it where it is granted.
        beside: Those of them that say other words of the paper's: they stand beside it, and do not judge it.
        reason: Why nothing decides it; only where that is so.
    """

    number: int = Field(ge=1)
    section: str = Field(min_length=1)
    place: str = Field(min_length=1)
    asserts: str = Field(min_length=1)
    quote: Quote | None = None
    kind: TextRelation = "said"
    leaves_open: str = ""
    decided_by: tuple[Means, ...] = Field(min_length=1)
    covered_by: tuple[str, ...]
    beside: tuple[str, ...] = ()
    reason: str = ""

    @model_validator(mode="after")
    def _quoted_where_the_paper_speaks(self) -> Self:
        if self.kind in IN_THE_TEXT and self.quote is None:
            raise InvalidInputError("quote", "must be given for what stands under the paper's name", self.number)
        if self.kind == "consequence" and self.quote is not None:
            raise InvalidInputError("quote", "must not be given for what is ours", self.number)
        return self

    @model_validator(mode="after")
    def _beside_what_covers(self) -> Self:
        if unknown := set(self.beside) - set(self.covered_by):
            raise InvalidInputError("beside", "must name statements that cover it", min(unknown))
        return self

    @model_validator(mode="after")
    def _reason_where_undecidable(self) -> Self:
        if ("undecidable" in self.decided_by) != bool(self.reason):
            raise InvalidInputError("reason", "must be given where nothing decides, and only there", self.number)
        return self

    @model_validator(mode="after")
    def _what_is_granted_stands_alone(self) -> Self:
        if set(GRANTED).intersection(self.decided_by) and len(self.decided_by) > 1:
            rule = "must have a definition or hypothesis alone: nothing decides one"
            raise InvalidInputError("decided_by", rule, self.number)
        return self

    @model_validator(mode="after")
    def _open_choice(self) -> Self:
        if self.leaves_open:
            find_choice(self.leaves_open)
            if self.kind != "silent":
                raise InvalidInputError("leaves_open", "must be given where the words are silent alone", self.number)
        return self

    @property
    def granted(self) -> str:
        """``definition`` or ``hypothesis``, beside which no verdict stands; empty where something is asserted."""
        return self.decided_by[0] if self.decided_by[0] in GRANTED else ""


class Inventory(Frozen):
    """All assertions.

    Args:
        assertions: In reading order, numbered from 1.
    """

    assertions: tuple[PaperAssertion, ...]

    @property
    def beside(self) -> dict[str, str]:
        """Why a statement that no assertion asks for is among the claims, by full id."""
        every = (entry for claim in load_claims().values() for entry in claim.statements())
        return {full: statement.beside for full, statement in every if statement.beside}

    @property
    def covering(self) -> dict[str, tuple[int, ...]]:
        """Numbers of the assertions that each statement covers, by full id."""
        numbers: dict[str, tuple[int, ...]] = {}
        for entry in self.assertions:
            for full in entry.covered_by:
                numbers[full] = (*numbers.get(full, ()), entry.number)
        return numbers

    def unasked(self, statements: dict[str, Statement]) -> tuple[str, ...]:
        """Statements that no assertion asks for and no reason excuses."""
        covered = self.covering
        excused = {full for full, statement in statements.items() if statement.beside and statement.relation in FREE}
        return tuple(full for full in statements if full not in covered and full not in excused)

    def at_odds(self, statements: Mapping[str, Statement]) -> tuple[str, ...]:
        """Where an assertion and its statements do not agree on what the paper's words say, one line each.

        Words that say something, or take it for granted, have a statement that does not call them silent; of what they
        leave open no statement says that they settle it, but under each value of the choice named; and what a statement
        calls said, or taken for granted, some assertion has so.
        """
        disagreements = []
        for entry in self.assertions:
            relations = {full: statements[full].relation for full in entry.covered_by}
            if entry.kind in IN_THE_TEXT and set(relations.values()) == {"silent"}:
                disagreements.append(f"{entry.number} is {entry.kind}, and its statements are all silent")
            if entry.kind == "silent":
                disagreements += [
                    f"{entry.number} is silent, {full} is {relation}" for full, relation in relations.items()
                    if relation in IN_THE_TEXT and entry.leaves_open not in statements[full].open_choices
                ]  # fmt: skip
        kinds = {entry.number: entry.kind for entry in self.assertions}
        for full in self.covering:
            judged = [
                entry.number for entry in self.assertions if full in entry.covered_by and full not in entry.beside
            ]
            relation, of_rows = statements[full].relation, {kinds[number] for number in judged}
            if relation in IN_THE_TEXT and not of_rows.intersection(IN_THE_TEXT[: IN_THE_TEXT.index(relation) + 1]):
                disagreements.append(f"{full} is {relation}, and no assertion that it judges is")
        return tuple(disagreements)


@lru_cache(maxsize=1)
def load_assertions() -> Inventory:
    """The paper's assertions.

    Raises:
        InvalidInputError: If the file is malformed, the numbers are not 1, 2, 3, ... or an id is unknown or repeats.
    """
    inventory = parse_toml(Inventory, package_text("assertions.toml"), "assertions.toml")
    known = {full for claim in load_claims().values() for full, _ in claim.statements()}
    for count, entry in enumerate(inventory.assertions, 1):
        where = f"assertions.{count}"
        if entry.number != count:
            raise InvalidInputError(f"{where}.number", "must count from 1 in reading order", entry.number)
        if len(set(entry.covered_by)) != len(entry.covered_by):
            raise InvalidInputError(f"{where}.covered_by", "must not repeat", entry.covered_by)
        for full in entry.covered_by:
            if full not in known:
                raise InvalidInputError(f"{where}.covered_by", "must name known claims or steps", full)
    return inventory
