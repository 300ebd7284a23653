"""Words of the paper by their place and digest, as the source itself is not shipped."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from spec.errors import InvalidInputError
from spec.files import Frozen

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


def digest_of(source: Sequence[str], first: int, last: int, words: tuple[int, int] | None = None) -> str:
    """What lines of a source are known by, ``first`` to ``last`` from 1, or some of their words: however spaced."""
    every = " ".join(source[first - 1 : last]).split()
    selection = every if words is None else every[words[0] - 1 : words[1]]
    return hashlib.sha256(" ".join(selection).encode()).hexdigest()[:16]


class Quote(Frozen):
    """A sentence or formula of the source.

    Args:
        lines: First and last line.
        words: First and last of the words of these lines, counted from 1; none for all of them.
        digest: :func:`digest_of` them.
    """

    lines: tuple[int, int]
    words: tuple[int, int] | None = None
    digest: Digest

    @model_validator(mode="after")
    def _ends_in_order(self) -> Self:
        for name, ends in (("lines", self.lines), ("words", self.words or (1, 1))):
            if not 1 <= ends[0] <= ends[1]:
                raise InvalidInputError(name, "must count from 1, the first not after the last", ends)
        return self

    def stands_in(self, source: Sequence[str]) -> bool:
        """Whether a source has these very words in these lines, whatever else stands there."""
        if self.words is None:
            return digest_of(source, *self.lines) == self.digest
        first, last = self.words
        there = len(" ".join(source[self.lines[0] - 1 : self.lines[1]]).split())
        starts = (first, *range(1, there - (last - first) + 1))
        return any(digest_of(source, *self.lines, (at, at + last - first)) == self.digest for at in starts)

    def within(self, lines: tuple[int, int]) -> bool:
        """Whether it lies between a first and a last line."""
        return lines[0] <= self.lines[0] and self.lines[1] <= lines[1]
