"""How two numbers are compared: what may differ, in which direction is better, and how a difference is said.

Statistical numbers have drifted where their intervals do not meet. Each holds the ideal value except with the chance
the run states, so a number that did not change is called a drift with at most twice that probability, and any number
of a full run with at most twice the error budget of the run.

Other numbers carry no randomness; they may differ by their stated uncertainties and by what another processor's
rounding does, the small constants below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from spec.claims import Bound
from verify.campaign.baseline.model import Entry, Level, Sweep
from verify.evidence.model import RUNGS, Rung
from verify.verdict import Verdict

EXACT: tuple[Rung, ...] = ("certified", "symbolic", "cited")
EXACT_CONSTANT = 1e-5
"""Relative change allowed to an exact constant: the errors spent are rounded to a grid of 2**-20 a unit."""
NUMERIC_CONSTANT = 1e-4
"""Relative change allowed to a computed number beyond its own uncertainty."""
NUMERIC_EXPONENT = 1e-3
"""Change allowed to a computed exponent beyond its own interval."""
WORST_CASE = 0.05
"""Relative change allowed, at the same seed, to a worst case over tries; at another seed the tries are others."""
SAME_POINT = 1e-6
"""Relative difference of two values of a swept variable that are meant to be the same; rounding may move it."""
WHOLE = 100.0
"""From this size on a whole number may be a count, and rounding may decide about its last step."""
ROUNDINGS = "in roundings"
"""What quantities are called that measure rounding itself; they differ between processors and only have to hold."""


@dataclass(frozen=True)
class Drift:
    """One number compared.

    Args:
        kind: Whether it is an exponent, a constant, or evidence that is gone.
        moved: Whether it changed beyond what is allowed.
        better: Whether the change is for the better.
        text: Both values and what was allowed.
    """

    kind: Literal["exponent", "constant", "evidence"]
    moved: bool
    better: bool = False
    text: str = ""


@dataclass(frozen=True)
class Rules:
    """What two runs have in common, and which direction is better.

    Args:
        same_seed: Whether both drew the same random tries.
        same_profile: Whether both took the same points.
        smaller_is_better: ``None`` where no direction is.
        toward_zero: Whether the swept variable tends to zero.
    """

    same_seed: bool
    same_profile: bool
    smaller_is_better: bool | None = None
    toward_zero: bool = True

    def under(self, bound: Bound | None, entry: Entry) -> Rules:
        """For a result: a bound that holds may be beaten by more; what fails, or is an equality, may not move."""
        if bound is None or entry.verdict is not Verdict.SUPPORTED:
            return self
        smaller = {"upper": True, "lower": False}.get(bound.tag)
        return replace(self, smaller_is_better=smaller, toward_zero=bound.toward == "zero")

    def improves(self, old: float, new: float) -> bool:
        """Whether a quantity that went from old to new is further on the safe side."""
        return self.smaller_is_better is not None and (new < old) == self.smaller_is_better

    def exponent_improves(self, old: float, new: float) -> bool:
        """The same for its exponent: towards zero a larger one makes the quantity smaller."""
        return self.improves(-old, -new) if self.toward_zero else self.improves(old, new)


def rung_drift(old: Sweep | Level, new: Sweep | Level) -> Drift:
    """Compare how a number was obtained, and whether it decided the verdict."""
    if old.role == "conclusion" and new.role == "support":
        return Drift("evidence", True, False, f"{old.quantity} no longer decides the verdict")
    better = RUNGS.index(new.rung) < RUNGS.index(old.rung)
    text = f"evidence of {old.quantity} is {new.rung}, on record {old.rung} ({'stronger' if better else 'weaker'})"
    return Drift("evidence", old.rung != new.rung, better, text)


def rounding(old: float, new: float) -> float:
    """What another processor's rounding may change in a number without randomness."""
    allowed = NUMERIC_CONSTANT * max(abs(old), abs(new))
    both_whole = old == int(old) and new == int(new) if math.isfinite(old + new) else False
    return max(allowed, 1.0) if both_whole and min(old, new) >= WHOLE else allowed


def constant_drift(name: str, old: float, new: float, allowed: float, rules: Rules, more: str = "") -> Drift:
    """Whether a constant is off by more than is allowed."""
    off = new - old
    text = (
        f"{name} is {new:.6g}, on record {old:.6g}: off by {percent(off, old)}, allowed {percent(allowed, old)}{more}"
    )
    return Drift("constant", abs(off) > allowed, rules.improves(old, new), text)


def percent(part: float, whole: float) -> str:
    """A part of a whole, in per cent where there is a whole."""
    return f"{100 * part / abs(whole):.3g} %" if whole and math.isfinite(part) else f"{part:.3g}"
