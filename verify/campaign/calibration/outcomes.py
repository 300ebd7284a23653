"""What a count of wrong decisions shows of a promise: that it was kept, that it was broken, or neither."""

from __future__ import annotations

from math import ceil, log, log1p
from typing import Literal

Outcome = Literal["kept", "broken", "not shown"]


def outcome(interval: tuple[float, float], promised: float) -> Outcome:
    """Kept where a probability's whole interval is within the promise, broken where it is beyond it."""
    low, high = interval
    return "broken" if low > promised else "kept" if high <= promised else "not shown"


def runs_to_show(promised: float, confidence: float) -> int:
    """Runs, none of them wrong, at which the upper end of a Clopper-Pearson interval is down at the promise."""
    return ceil(log((1 - confidence) / 2) / log1p(-promised))
