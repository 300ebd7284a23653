"""How much of an expression, as written, would have to be different if it were to be another quantity."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verify.conformance.trace.named_values import Named
from verify.conformance.trace.source_sites import SourceSite
from verify.conformance.trace.suspects import Suspect, Traced

LETTER = re.compile(
    r"∇_[xy]|[fg]_[xy]{1,2}|α[₁₂²³⁴]|α|ỹ\*|ỹ|λ̃|ρ|σ_[hλfg]|z_[fg]|N_g|[AB]|[bxhw]|(?:Δ|s|x|z|g)_t|[ηDMKτ]"
    r"|width|mean|sum|estimate|noise of [fg]|slope|block|path"
)
"""What a quantity's name is made of."""


def letters(name: str) -> frozenset[str]:
    """The letters of a name; a transposed block is that block."""
    return frozenset(LETTER.findall(name))


class WrittenParts:
    """The parts of each expression that are quantities, by name."""

    def __init__(self, traced: Traced, sites: Sequence[SourceSite]) -> None:
        self.traced, self.sites = traced, sites
        self._names: dict[tuple[int, int | None], list[Named]] = {}
        self._parts: dict[tuple[int, int | None], list[list[frozenset[str]]]] = {}

    def names(self, k: int, caller: int | None = None) -> list[Named]:
        """The quantities that an expression is, with either sign."""
        if (k, caller) not in self._names:
            seen = self.traced.values.get((k, caller))
            table = self.traced.table
            self._names[k, caller] = [] if seen is None else [*table.names_of(seen), *table.names_of(seen, -1.0)]
        return self._names[k, caller]

    def changes(self, suspect: Suspect) -> int:
        """Letters of the quantity that are not written there, parts that do not belong to it, and a factor.

        A name that is read for another is one.
        """
        if self.sites[suspect.k].is_read:
            return 1 + (suspect.scale != 1.0)
        key = suspect.k, suspect.caller
        if key not in self._parts:
            self._parts[key] = [[letters(one.name) for one in names] for names in self._largest(suspect.k)]
        parts = self._parts[key]
        written = frozenset[str]().union(*(one for names in parts for one in names))
        counts = []
        for alike in self.traced.table.alike(suspect.named):
            wanted = letters(alike.name)
            counts.append(len(wanted - written) + sum(not any(one <= wanted for one in names) for names in parts))
        return min(counts) + (suspect.scale != 1.0)

    def _largest(self, k: int) -> Iterator[list[Named]]:
        """The largest parts that are quantities."""
        j = k - 1
        first = self.sites[k].first
        if j < first:
            yield self.names(k)
        while j >= first:
            names = self.names(j)
            if names:
                yield names
                j = self.sites[j].first - 1
            else:
                j -= 1
