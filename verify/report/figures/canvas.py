"""Where things stand in a drawing with logarithmic axes: places in decades, coordinates in the drawing's own pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spec.formulas.powers import superscript
from verify.report import wording

Pair = tuple[float, float]
DOUBLES = (-307, 308)
"""Decades that are normal doubles."""


@dataclass(frozen=True)
class Canvas:
    """A box of a drawing and what it spans.

    Args:
        box: Its left, right, upper and lower edge, pixels.
        x: Decades of the variable at the left and the right edge; the left one is the larger where the limit is 0 and
            lies to the right.
        y: Decades of what was measured at the lower and the upper edge.
    """

    box: tuple[float, float, float, float]
    x: Pair
    y: Pair

    def across(self, decade: float) -> float:
        """Pixels from the left."""
        left, right, _, _ = self.box
        return left + (decade - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0) * (right - left)

    def up(self, decade: float) -> float:
        """Pixels from the top."""
        _, _, top, foot = self.box
        return foot - (decade - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0) * (foot - top)

    def spot(self, at: float, measured: float) -> Pair:
        """Where a value > 0 measured at a place > 0 stands, pixels."""
        return self.across(math.log10(at)), self.up(math.log10(measured))

    def line(self, through: Pair, slope: float, ends: Pair) -> list[Pair]:
        """A straight line through a spot in decades, between two decades of the variable, cut at the box; pixels."""
        (at, measured), spots = through, []
        for end in ends:
            value = measured + slope * (end - at)
            inside = min(max(value, self.y[0]), self.y[1])
            there = end if inside == value or not slope else at + (inside - measured) / slope
            spots.append((self.across(there), self.up(inside)))
        return spots

    def bar(self, at: float, low: float, high: float) -> str:
        """The outline of an interval of what was measured, from its lower end up, cut at the box."""
        foot = max(math.log10(low), self.y[0]) if low > 0 else self.y[0]
        head = min(math.log10(high), self.y[1])
        return f"M{px(self.across(math.log10(at)))} {px(self.up(foot))}V{px(self.up(head))}"


def px(value: float) -> str:
    """A coordinate to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def outline(spots: Iterable[Pair]) -> str:
    """A line through spots, as a path's data."""
    return "M" + "L".join(f"{px(x)} {px(y)}" for x, y in spots)


def path(use: str, data: str) -> str:
    """A path of one class."""
    return f'<path class="{use}" d="{data}"/>'


def text(use: str, spot: Pair, words: str, anchor: str = "", more: str = "") -> str:
    """Words, escaped already, at a spot."""
    aligned = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{use}" x="{px(spot[0])}" y="{px(spot[1])}"{aligned}{more}>{words}</text>'


def mark(tone: str, spot: Pair, size: float) -> str:
    """A diamond for what is refuted, a dot for all else; ``size`` is half of the diamond's width."""
    (x, y), by = spot, px(size)
    if tone == "bad":
        return path("p-bad", f"M{px(x)} {px(y - size)}l{by} {by}-{by} {by}-{by}-{by}Z")
    return f'<circle class="p-{tone}" cx="{px(x)}" cy="{px(y)}" r="{px(0.75 * size)}"/>'


def ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Places in decades with their labels: whole decades, a handful; within fewer than two also 2 and 5 of each."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    if last - first >= 1:
        stride = max(1, math.ceil((last - first + 1) / most))
        return [(at, decade_label(at)) for at in range(first, last + 1) if (last - at) % stride == 0]
    least, largest = DOUBLES
    powers = range(max(first - 1, least), min(last + 2, largest))
    values = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    near = [value for value in values if low - 1e-9 <= math.log10(value) <= high + 1e-9]
    if len(near) < 2:  # a narrow range has no round values: its ends say where it lies
        near = [10.0 ** min(max(end, least), largest) for end in (low, high)]
    return [(math.log10(value), wording.number(value, 2)) for value in near]


def decade_label(power: int) -> str:
    """A power of ten in print, as a number where it is short."""
    plain = {-3: "0.001", -2: "0.01", -1: "0.1", 0: "1", 1: "10", 2: "100"}
    return plain.get(power, f"10{superscript(power)}")


def padded(values: Sequence[float], least: float, share: float = 0.08) -> Pair:
    """The range of decades, at least so wide, with a share of it left at either end."""
    # A quantity that does not move would otherwise fill its drawing with rounding.
    low, high = min(values), max(values)
    middle, half = (low + high) / 2, max((high - low) / 2, least / 2)
    return middle - half * (1 + 2 * share), middle + half * (1 + 2 * share)
