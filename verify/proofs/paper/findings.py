"""What a rule finds: two passages that do not go together, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from spec.text.extract import Extract, Passage


class PaperFinding(NamedTuple):
    """Two passages of one source that do not go together; the second may be missing.

    Attributes:
        rule: Id of the rule.
        subject: The label, symbol or quantity it is about.
        here: The passage that a reader meets with surprise.
        there: The one it does not go with.
        why: What does not fit, in a sentence.
    """

    rule: str
    subject: str
    here: Passage
    there: Passage | None
    why: str

    @property
    def line(self) -> int:
        """Where to look."""
        return self.here.line


Rule = Callable[[Extract], Iterator[PaperFinding]]


def quoted(passage: Passage) -> str:
    """A passage in a few words."""
    number = [] if passage.factor == 1 else [str(passage.factor)]
    powers = (name if power == 1 else f"{name}^{power}" for name, power in passage.powers.items())
    factors = "·".join([*number, *powers])
    if passage.kind == "order":
        relation = passage.says if passage.says in "=≤≥" else f"= {passage.says}"
        right = f"({factors})" if passage.says not in "=≤≥" else f" {factors}"
        return f"{passage.name or 'an order'} {relation}{right}"
    if passage.kind == "upper":
        return f"{passage.name} ≤ … + {passage.says}(…)"
    shown = passage.says or ", ".join(passage.symbols) or str(passage.number or "")
    return f"{passage.name}: {shown}" if shown else passage.name or passage.kind
