"""The activation's two ramps as printed: range, continuity, corners; and the sizes that the proof's part (T1) uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal

from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.formula_evidence import brought
from verify.truth.stages import weights

ALPHA = Fraction(1, 10)
LAM_WIDTH = Fraction(1, 10)
SHARES = tuple(Fraction(k, 4) for k in range(-10, 11))
"""Where a ramp is looked at, in units of its width."""
Side = Literal["left", "right"]
Weight = Callable[[Fraction, Fraction], Fraction]


@dataclass(frozen=True)
class Ramps:
    """The two ramps of given widths, as the paper prints them: three cases each."""

    h_width: Fraction
    lam_width: Fraction = LAM_WIDTH

    @classmethod
    def printed(cls) -> Ramps:
        """Widths at α = 1/10: τδ with τ = δ = α³, and ε_λ = 1/10."""
        return cls(ALPHA**6)

    def of_h(self, z: Fraction) -> Fraction:
        """The ramp of a row's value."""
        if z < -self.h_width:
            return Fraction(0)
        return (self.h_width + z) / self.h_width if z < 0 else Fraction(1)

    def of_lam(self, z: Fraction) -> Fraction:
        """The ramp of a multiplier."""
        if z <= 0:
            return Fraction(0)
        return z / self.lam_width if z < self.lam_width else Fraction(1)

    def weight(self, h: Fraction, lam: Fraction) -> Fraction:
        """Their product."""
        return self.of_h(h) * self.of_lam(lam)

    def places(self) -> Iterator[tuple[Fraction, Fraction]]:
        """Pairs (h, λ) below, on and above both ramps, all corners among them."""
        yield from product((s * self.h_width for s in SHARES), (s * self.lam_width for s in SHARES))

    def lines(
        self, weight: Weight | None = None
    ) -> dict[str, tuple[Callable[[Fraction], Fraction], Fraction, Fraction]]:
        """The weight along each variable, the other's ramp at 1: as a function, with its corner and its width."""
        of = weight or self.weight
        inside, full = Fraction(0), self.lam_width
        in_h, in_lam = (lambda z: of(z, full)), (lambda z: of(inside, z))
        return {
            "h = -τδ": (in_h, -self.h_width, self.h_width),
            "h = 0": (in_h, Fraction(0), self.h_width),
            "λ = 0": (in_lam, Fraction(0), self.lam_width),
            "λ = ε_λ": (in_lam, self.lam_width, self.lam_width),
        }


def one_sided(
    line: Callable[[Fraction], Fraction], at: Fraction, width: Fraction, side: Side
) -> tuple[Fraction, Fraction]:
    """Limit and slope of a piecewise linear function at a place, from one side; no other corner within half a width."""
    step = width / 4 if side == "right" else -width / 4
    near, far = line(at + step), line(at + 2 * step)
    return 2 * near - far, (far - near) / step


def largest_jump(ramps: Ramps, weight: Weight | None = None) -> tuple[Fraction, str]:
    """Largest difference of a one-sided limit from the value, over the four corners, and where."""
    jumps = {
        name: max(abs(one_sided(line, at, width, side)[0] - line(at)) for side in ("left", "right"))
        for name, (line, at, width) in ramps.lines(weight).items()
    }  # fmt: skip
    return max((jump, name) for name, jump in jumps.items())


def kinks(ramps: Ramps, weight: Weight | None = None) -> list[str]:
    """Corners at which the one-sided slopes differ."""
    return [
        name for name, (line, at, width) in ramps.lines(weight).items()
        if one_sided(line, at, width, "left")[1] != one_sided(line, at, width, "right")[1]
    ]  # fmt: skip


@check("dual-extraction/weights-range", instances=("toy1",))
def range_of_weights(case: Case) -> Measurement:  # noqa: ARG001  # every check is given its case
    """Places at which the printed product of ramps leaves [0, 1], or differs from the activation used everywhere."""
    ramps = Ramps.printed()
    pairs = [
        (ramps.weight(h, lam), weights((h,), (lam,), ramps.h_width, ramps.lam_width)[0]) for h, lam in ramps.places()
    ]
    outside = sum(not 0 <= printed <= 1 for printed, _ in pairs)
    other = sum(printed != used for printed, used in pairs)
    return Measurement((
        compare("number of weights outside of [0, 1]", float(outside), "==", 0.0, rung="certified"),
        compare("number of places where the printed ramps differ from the activation", float(other), "==", 0.0,
                rung="certified"),
    ))  # fmt: skip


@check("dual-extraction/weights-continuous", instances=("toy1",))
def continuity(case: Case) -> Measurement:
    """Largest jump of the printed weight at the four corners, by exact one-sided limits."""
    jump, where = largest_jump(Ramps.printed())
    return Measurement(brought(case, (jump,), context={"corner": where}))


@check("dual-extraction/weights-differentiable", instances=("toy1",))
def corners(case: Case) -> Measurement:
    """Corners with two slopes; repaired, the steepest quotient over pairs of places in units of the ramps' slopes."""
    ramps = Ramps.printed()
    if case.as_written:
        bends = kinks(ramps)
        slopes = {f"slopes at {name}": " and ".join(f"{float(one_sided(*at, side)[1]):g}" for side in ("left", "right"))
                  for name, at in ramps.lines().items()}  # fmt: skip
        number = compare("number of corners at which the one-sided slopes differ", float(len(bends)), "==", 0.0,
                         rung="certified")  # fmt: skip
        return Measurement((number,), dict(slopes))
    steepest = largest_quotient(ramps, ramps.weight)
    within = compare("largest |ρ - ρ'| over |h - h'|/τδ + |λ - λ'|/ε_λ", float(steepest), "<=", 1.0, rung="certified")
    return Measurement((within,))


def largest_quotient(ramps: Ramps, weight: Weight) -> Fraction:
    """Largest |ρ - ρ'| over |h - h'|/width + |λ - λ'|/ε_λ, exact, over places next to each other."""
    places = list(ramps.places())
    by_place = {place: weight(*place) for place in places}
    step_h, step_lam = ramps.h_width / 4, ramps.lam_width / 4
    quotients = [Fraction(0)]
    for (h, lam), here in by_place.items():
        for a, b in ((1, 0), (0, 1), (1, 1), (1, -1)):
            there = by_place.get((h + a * step_h, lam + b * step_lam))
            if there is not None:
                quotients.append(abs(here - there) / Fraction(abs(a) + abs(b), 4))
    return max(quotients)


@check("dual-extraction/row-bounds", instances=("toy1", "two-of-three", "box-rational", "random-2x3x4"))
def sizes_of_rows(case: Case) -> Measurement:
    """‖∇h_i‖ against 2M_∇h, and |Δρ_i| over all pairs of places against 1."""
    ramps = Ramps.printed()
    values = [ramps.weight(h, lam) for h, lam in ramps.places()]
    return Measurement(brought(case, (max(values) - min(values),)))
