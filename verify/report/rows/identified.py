"""What a result is about, and how that is named."""

from __future__ import annotations

from typing import Any


class Identified:
    """What a result is about: a claim under a reading on an instance."""

    claim: str
    reading: str
    instance: str

    @property
    def key(self) -> str:
        """Identifies the result within a run: ``bias-bound/T1|repaired|toy1``."""
        return f"{self.claim}|{self.reading}|{self.instance}"

    @property
    def named(self) -> dict[str, Any]:
        """The three by name."""
        return {"claim": self.claim, "reading": self.reading, "instance": self.instance}

    @property
    def where(self) -> str:
        """The same in print: ``bias-bound/T1 [repaired] on toy1``."""
        return f"{self.claim} [{self.reading}] on {self.instance}"
