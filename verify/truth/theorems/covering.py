"""Few sets that cover what all of them cover."""

from __future__ import annotations

from collections.abc import Sequence


def cover(table: Sequence[set[int]], chosen: list[int]) -> list[int]:
    """Indices of those kept and of more, the one that covers most first, until nothing is left to cover."""
    order = sorted(range(len(table)), key=lambda i: -len(table[i]))
    covered = set[int]().union(*(table[i] for i in chosen))
    while True:
        best = max(order, key=lambda i: len(table[i] - covered), default=None)
        if best is None or not table[best] - covered:
            return chosen
        chosen.append(best)
        covered |= table[best]
