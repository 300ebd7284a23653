r"""Ways to weigh rows: the activation with some of its parts changed, as a rule that can be run.

Right is :math:`\rho_i = [1 + h_i/w]\,[\lambda_i/w_\lambda]`, each bracket cut off at 0 and 1. A rule changes parts of a
bracket (what enters, where it starts, how wide it is, its shape, its cuts), how the two are put together, or what is
done with the weights afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.activation.ramp_shapes import AFTERWARDS, ENTERS, SHAPES, TOGETHER, WIDTHS, of_both
from verify.conformance.probes.probes import Probe
from verify.method.factors import spelt_plainly

Side = Literal["h", "λ"]
WIDTH_NAMES: dict[Side, str] = {"h": "w", "λ": "w_λ"}
RELATIVE = {"of largest": "max {0}", "of largest size": "max|{0}|", "of sum": "Σ{0}", "of length": "‖{0}‖"}
"""Ways to divide by all rows' size, in words."""
OF_OTHER_ROWS = ("row before", "row after", *RELATIVE)
"""Of these another row's."""
RIGHT_FORM = "[1 + h/w]·[λ/w_λ], each bracket cut off at 0 and 1"
"""The right weights."""
CUTS = ("both", "below", "above", "neither")
"""Where a bracket is cut off."""


@dataclass(frozen=True)
class Bracket:
    """One of the two factors, ``shape(start + enters / (factor · width + guard))``; the defaults are right.

    ``upside_down``: what enters divides the width.

    ``start`` is counted from the right one, in widths. ``sharpness`` is a number that some shapes have.
    """

    side: Side
    enters: str = "own"
    start: float = 0.0
    width: str = "own"
    factor: float = 1.0
    guard: float = 0.0
    shape: str = "straight"
    sharpness: float = 1.0
    cut: str = "both"
    left_out: bool = False
    upside_down: bool = False

    def of(self, own: Any, other: Any, own_width: Any, other_width: Any) -> Any:
        """The factor, row by row."""
        if self.left_out:
            return np.ones_like(own)
        width = self.factor * of_both(WIDTHS[self.width], own_width, other_width) + self.guard
        from_end = (1.0 if self.side == "h" else 0.0) + self.start
        with np.errstate(all="ignore"):
            ratio = of_both(ENTERS[self.enters], own, other) / width
            t = from_end + (1 / ratio if self.upside_down else ratio)
            return SHAPES[self.shape].of(t, self.sharpness, self.cut)


@dataclass(frozen=True)
class WeightRule:
    """Another way to weigh rows, and an explanation of an activation that does so; the defaults are right.

    ``threshold`` is a number that some ways to finish have.
    """

    h: Bracket = field(default_factory=lambda: Bracket("h"))
    lam: Bracket = field(default_factory=lambda: Bracket("λ"))
    together: str = "product"
    afterwards: str = "nothing"
    threshold: float = 0.0

    def weights(self, h: Vector, lam: Vector, h_width: float, lam_width: float) -> Vector:
        """The weights it gives, shape (p,)."""
        joined = self.joined(h, lam, h_width, lam_width)
        with np.errstate(all="ignore"):
            return np.asarray(AFTERWARDS[self.afterwards].of(joined, self.threshold), dtype=np.float64)

    def joined(self, h: Vector, lam: Vector, h_width: Any, lam_width: Any) -> Vector:
        """What the two brackets make of each row by itself; widths may differ from row to row."""
        return self.put_together(self.h.of(h, lam, h_width, lam_width), self.lam.of(lam, h, lam_width, h_width))

    def put_together(self, of_h: Vector, of_lam: Vector) -> Vector:
        """The two brackets' values, row by row, as one."""
        with np.errstate(all="ignore"):
            return np.asarray(TOGETHER[self.together].of(of_h, of_lam), dtype=np.float64)

    def answer(self, probe: Probe) -> Vector | None:
        """Its weights of a probe's rows; ``None`` where they are no numbers."""
        lam = probe.call.lam
        assert lam is not None  # activation probes have multipliers
        rho = self.weights(probe.h, lam, probe.h_width, probe.call.parameters.lam_width)
        return rho if np.isfinite(rho).all() else None

    @property
    def words(self) -> tuple[str, ...]:
        """Each change in words."""
        of_h, of_lam = _bracket_words(self.h), _bracket_words(self.lam)
        changed = [*of_h, *of_lam]
        if of_h and replace(self.h, side="λ") == self.lam:
            changed = [f"{words}, and the ramp of λ changed alike" for words in of_h]
            if self.h == Bracket("h", width="other"):
                changed = ["the two ramps' widths are exchanged"]
            if self.h.left_out:
                changed = ["every row gets weight 1, whatever h and λ are"]
        if self.together != "product":
            changed.append(TOGETHER[self.together].words)
        if self.afterwards != "nothing":
            changed.append(AFTERWARDS[self.afterwards].words.format(number(self.threshold)))
        return tuple(changed)

    @property
    def edits(self) -> int:
        """Single changes."""
        return max(1, len(self.words))

    @property
    def sentence(self) -> str:
        """What differs from the right weights."""
        return f"your ρ is {RIGHT_FORM}, but " + "; and ".join(self.words)


def number(value: float) -> str:
    """A measured number as it is read: few digits where they are all there are."""
    return spelt_plainly(value)


def _bracket_words(b: Bracket) -> list[str]:
    """The changes of a bracket in words."""
    own, w = ("h", "w") if b.side == "h" else ("λ", "w_λ")
    other, other_w = ("λ", "w_λ") if b.side == "h" else ("h", "w")
    if b.left_out:
        return [f"without the ramp of {own}"]
    words = []
    enters = {
        "negated": f"with −{own} in place of {own}", "size": f"with |{own}| in place of {own}",
        "minus size": f"with −|{own}| in place of {own}", "positive part": f"with max({own}, 0) in place of {own}",
        "other": f"with {other} in place of {own}", "sum": f"with h + λ in place of {own}",
        "row before": f"with the {own} of the row before in place of each row's",
        "row after": f"with the {own} of the row after in place of each row's",
    }  # fmt: skip
    if b.enters in RELATIVE:
        divisor = RELATIVE[b.enters].format(own)
        if b.width == "one" and b.factor == 1:
            plain = replace(b, enters="own", width="own")
            return [f"with {own}/{divisor} in place of {own}/{w}", *_bracket_words(plain)]
        words.append(f"with {own}/{divisor} in place of {own}")
    if b.enters in enters:
        words.append(enters[b.enters])
    if b.upside_down:
        words.append(f"with {w}/{own} in place of {own}/{w}")
    if b.start:
        side = "earlier" if b.start > 0 else "later"
        widths = "one width" if abs(b.start) == 1 else f"{number(abs(b.start))} widths"
        words.append(f"the ramp of {own} begins {widths} {side}")
    divisors = {
        "other": other_w, "squared": f"{w}²", "root": f"√{w}", "inverse": f"1/{w}", "product": "w·w_λ",
        "larger": "max(w, w_λ)", "smaller": "min(w, w_λ)", "one": "",
    }  # fmt: skip
    used, factor = divisors.get(b.width, w), "" if b.factor == 1 else number(b.factor)
    if b.width == "one":
        words.append(f"the ramp of {own} is {number(b.factor)} wide, whatever {w} is")
    elif b.width != "own" or b.factor != 1:
        divided = "·".join(part for part in (factor, used) if part)
        words.append(f"the ramp of {own} is {divided} wide in place of {w}")
    if b.guard:
        words.append(f"{own} is divided by {w} + {b.guard:.3g} in place of {w}")
    if b.shape != "straight":
        words.append(f"the ramp of {own} is {SHAPES[b.shape].words.format(number(b.sharpness))}")
    if b.cut != "both":
        ends = {"below": "at 1", "above": "at 0", "neither": "at either end"}
        words.append(f"the ramp of {own} is not cut off {ends[b.cut]}")
    return words


RIGHT_WEIGHTS = WeightRule()
