"""Where the error of a subject's estimate comes from, as data, and the lines of the letter on it."""

from __future__ import annotations

from collections.abc import Iterator

from spec.formulas.powers import raised
from verify.evidence.model import FrozenData

WORDS = {
    "formula": "the formula itself",
    "minimiser": "the minimiser not reached",
    "weights": "the weights of rows",
    "inactive-weights": "the weights of inactive rows",
    "active-weights": "the weights of active rows",
    "lower-level": "the lower-level pair",
    "solution": "the lower-level solution",
    "multipliers": "the multipliers",
    "dual": "the dual term",
    "upper-level": "the method's bias: ∇f's change to ỹ",
    "rows": "the method's bias: active rows' gap",
}
"""Every cause; of stages that are not told, weights and pair come as a whole."""


class CausePart(FrozenData):
    """One cause of an estimate's error.

    Args:
        cause: What it is owed to, a key of :data:`WORDS`.
        given: Whether it lies in a stage that the call gave.
        vector: It, shape (n,).
        size: Its length.
        share: Its part of the error along the error; below 0 it cancels others. ``None`` where there is no error.
        sizes: Its length at each of the split's alphas.
        exponent: Power of alpha it follows there; ``None`` where that has not settled, or is hidden by rounding.
    """

    cause: str
    given: bool
    vector: tuple[float, ...]
    size: float
    share: float | None
    sizes: tuple[float, ...]
    exponent: float | None

    @property
    def words(self) -> str:
        """It in words."""
        return WORDS[self.cause] + (", as given" if self.given else "")


class ErrorSplit(FrozenData):
    """Where the error of an estimate comes from, on the instance where a deviation has the largest effect.

    Args:
        sentence: The causes with their numbers, the subject's own first.
        probe: Permanent id of the call.
        x: The upper-level point.
        alpha: Accuracy parameter of the call.
        error: Length of the estimate less the gradient of F; ``None`` where there is none to split.
        floor: Causes up to this size may be rounding.
        shown: Causes worth a line: not those up to rounding, nor small ones that a solver may leave.
        deviates: Whether the estimate is off beyond its tolerance.
        told: Stages that were taken from the subject; the right ones stand for the others.
        notes: How far the split rests on what the subject tells.
        alphas: Where the parts' sizes were looked at.
        parts: The causes, largest first; their vectors add up to the error exactly before they are rounded.
    """

    sentence: str
    probe: str
    x: tuple[float, ...]
    alpha: float
    error: float | None
    floor: float
    shown: tuple[str, ...]
    deviates: bool
    told: tuple[str, ...]
    notes: tuple[str, ...]
    alphas: tuple[float, ...]
    parts: tuple[CausePart, ...]

    def lines(self) -> Iterator[str]:
        """For the letter: the sentence, and where the subject deviates the causes in columns."""
        yield f"Where the error comes from: {self.sentence}" if self.deviates else f"Its error: {self.sentence}"
        shown = [part for part in self.parts if part.cause in self.shown] if self.deviates else []
        width = max((len(part.words) for part in shown), default=0)
        if shown:
            yield f"  {'cause':<{width}}      size  share of it  as α falls"
        for part in shown:
            grows = "" if part.exponent is None else power_of_alpha(part.exponent) if part.exponent else "stays"
            yield f"  {part.words:<{width}}  {part.size:8.1e}  {_share(part.share):>11}  {grows}".rstrip()
        yield from (f"  {note}" for note in (self.notes if self.deviates else ()))
        yield ""


def power_of_alpha(exponent: float) -> str:
    """A power of alpha, to a tenth."""
    return raised("α", int(exponent)) if exponent == int(exponent) else f"α^{exponent:g}"


def _share(share: float | None) -> str:
    """In per cent, or in times the whole; with the sign, as what is below 0 cancels others."""
    if share is None:
        return ""
    return f"{share:+.0f} ×" if abs(share) >= 10 else "0 %" if abs(share) < 0.005 else f"{100 * share:+.0f} %"
