"""Where each proof of a report first breaks: the step whose asserted order does not follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.claims import Claim
from verify.proofs.orders.table import FirstBreak, first_breaks
from verify.report.findings.outline import Outline


@dataclass(frozen=True)
class ProofBreak:
    """One proof: its first step, as written and repaired, whose asserted order does not follow.

    ``repaired`` is ``None`` where no order is inferred there.
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
    """The proofs of the claims a report shows."""
    shown = {entry.id for entry in arranged.claims}
    breaks = {(item.claim, item.reading): item for item in first_breaks(claims=claims)}
    return tuple(
        ProofBreak(item.claim, item.title, item, breaks.get((item.claim, "repaired")))
        for (claim, reading), item in breaks.items()
        if claim in shown and reading == "as-written"
    )
