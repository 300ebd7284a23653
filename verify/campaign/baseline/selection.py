"""Which results of a baseline a run is held against."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from verify.campaign.baseline.model import Baseline
from verify.campaign.plan import plan
from verify.checks.measuring.case import checks, find_profile
from verify.report.model import About

R = TypeVar("R", bound=About)


@dataclass(frozen=True)
class Selection:
    """The claims, readings and instances asked for, as for a run; empty means all.

    A claim brings its steps, and both named readings each choice alone.
    """

    claims: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()

    def of(self, results: Iterable[R]) -> tuple[R, ...]:
        """Those results that a run of this selection should produce."""
        return tuple(
            result for result in results
            if (not self.claims or {result.claim, result.claim.split("/")[0]} & set(self.claims))
            and (not self.readings or result.reading in self.readings or self._isolates(result.reading))
            and (not self.instances or result.instance in self.instances)
        )  # fmt: skip

    def _isolates(self, reading: str) -> bool:
        return reading.startswith("only:") and {"as-written", "repaired"} <= set(self.readings)

    def narrow(self, baseline: Baseline) -> Baseline | None:
        """The baseline with the selected results only; ``None`` if that leaves nothing."""
        kept = self.of(baseline.results)
        return baseline.model_copy(update={"results": kept}) if kept else None


def replay(baseline: Baseline) -> Selection:
    """The selection that runs again what was recorded, and as little else as possible."""
    recorded = set(baseline.entries)
    known = [entry for entry in baseline.results if entry.claim in checks()]
    readings = list(dict.fromkeys(entry.reading for entry in known))
    if {"as-written", "repaired"} <= set(readings):
        # Profiles that isolate choices add those themselves.
        readings = ["as-written", "repaired"]
    ids = {entry.claim for entry in known}
    claims = tuple(dict.fromkeys(c for c in (entry.claim for entry in known) if c.split("/")[0] not in ids - {c}))
    narrow = Selection(claims, tuple(readings), tuple(dict.fromkeys(entry.instance for entry in known)))

    def planned(selection: Selection) -> set[str]:
        arguments = (list(selection.claims), list(selection.readings), list(selection.instances))
        return {task.key for task in plan(*arguments, find_profile(baseline.profile), "", 0)}

    if not ids:
        return narrow
    # The whole suite first: naming a claim also runs what a profile leaves out of it.
    tried = [replace(narrow, claims=c, instances=i) for c in ((), claims) for i in ((), narrow.instances)]
    # As much of the record as possible first, then as little beside it.
    return min(tried, key=lambda selection: (-len(planned(selection) & recorded), len(planned(selection) - recorded)))
