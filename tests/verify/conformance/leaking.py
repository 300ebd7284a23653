"""Implementations whose answers depend on what they were asked before, or that hang."""

from __future__ import annotations

import time
from typing import Any

from verify.conformance.comparison.stage_comparison import Seen, look
from verify.conformance.places.places import place_of
from verify.conformance.probes.probes import lower_level_probe
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls


class OnceWide(ReferenceSubject):
    """Multipliers are halved from the first problem with four rows on."""

    name = "once-wide"

    def __init__(self) -> None:
        self.wide = False

    def lower_level(self, problem: Any, x: Any) -> Any:
        y_star, lam = super().lower_level(problem, x)
        factor = 0.5 if self.wide else 1.0
        self.wide = self.wide or len(lam) >= 4
        return y_star, factor * lam


class Slow(ReferenceSubject):
    """Its lower level takes its time."""

    name = "slow"

    def lower_level(self, problem: Any, x: Any) -> Any:
        time.sleep(20)
        return super().lower_level(problem, x)


def seen_in_order(subject: Any, *names: str) -> Seen:
    """The lower level on these places, in this order."""
    return look(
        StageCalls(subject), only=["lower_level"], questions=[lower_level_probe(place_of(name)) for name in names]
    )
