"""Where each proof first breaks, for the section of that name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.orders import first_breaks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spec.claims import Claim
    from verify.orders import FirstBreak
    from verify.report.outline import Outline


@dataclass(frozen=True)
class ProofBreak:
    """One proof: its first step, as written and repaired, whose asserted order does not follow.

    Args:
        claim: Id of the claim.
        title: Its title.
        written: What was found as written.
        repaired: What was found repaired; ``None`` where no order is inferred there.
    """

    claim: str
    title: str
    written: FirstBreak
    repaired: FirstBreak | None

    @property
    def step(self) -> str:
        """Full id of the step that breaks as written; empty if none does."""
        return self.written.broken.step if self.written.broken else ""

    @property
    def remedy(self) -> str:
        """How the repaired proof fares, in a few words."""
        if self.repaired is None:
            return "no order is inferred"
        broken = self.repaired.broken
        if broken is not None:
            return f"breaks at {broken.step}"
        return f"all {self.repaired.steps} orders follow" if self.repaired.steps > 1 else "its order follows"


def proof_breaks(arranged: Outline, claims: Mapping[str, Claim] | None = None) -> tuple[ProofBreak, ...]:
    """The proofs of the claims a report shows.

    Args:
        arranged: The report's outline.
        claims: Claims by id; those of ``spec`` by default.
    """
    shown = {entry.id for entry in arranged.claims}
    found = {(item.claim, item.reading): item for item in first_breaks(claims=claims)}
    return tuple(
        ProofBreak(item.claim, item.title, item, found.get((item.claim, "repaired")))
        for (claim, reading), item in found.items()
        if claim in shown and reading == "as-written"
    )
