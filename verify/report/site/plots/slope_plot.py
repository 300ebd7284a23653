"""One figure, one comparison: the claimed slope, the statement as written and the statement repaired."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from spec.formulas.powers import superscript
from verify.evidence.model import Point, RateEvidence
from verify.report import wording
from verify.report.figures.spoken_text import heard
from verify.report.findings.outline import ReadingOutline
from verify.report.model import Result
from verify.report.site.words.cell_numbers import CellNumber
from verify.report.site.words.powers import drawn_powers
from verify.verdict import Verdict

WIDTH, HEIGHT = 640.0, 250.0
LEFT, RIGHT, TOP, FOOT = 50.0, 486.0, 12.0, 214.0
"""The axes, in the figure's own pixels; labels stand to their right."""
APART = 16.0
"""Least distance of two labels."""
MOST_TICKS = 5
ROOM = 8.0
"""Decades that the picture may be higher than its measured points, for a claimed slope that leaves them."""


@dataclass(frozen=True)
class SlopeLine:
    """The deciding sweep of one reading: its usable points, nearest the limit last.

    ``sign`` says of its exponent whether it is exact or fitted, as the cell of the reading does.
    """

    words: str
    tone: str
    rate: RateEvidence
    points: tuple[Point, ...]
    claimed: float | None
    instance: str
    sign: str

    @property
    def is_curve(self) -> bool:
        """Whether each place has one point; what was swept in a second variable, too, is no curve."""
        return len({point.at for point in self.points}) == len(self.points)

    @property
    def left_out(self) -> int:
        """Points that are drowned in rounding, or zero."""
        return len(self.rate.points) - len(self.points)


@dataclass(frozen=True)
class Figure:
    """A drawn comparison with its caption."""

    svg: Markup
    caption: str


def figure(readings: Sequence[tuple[ReadingOutline, CellNumber]], title: str, words: str = "") -> Figure | None:
    """The deciding sweeps of a statement's readings over one variable; ``None`` where none has a slope to draw.

    ``words``: what every line is called, else its reading.
    """
    lines = [line for reading, number in readings for line in _line(reading, number, words)]
    lines = [line for line in lines if line.rate.variable == lines[0].rate.variable]
    if not lines:
        return None
    toward = readings[0][0].toward
    return Figure(_Canvas(lines, toward).drawn(title), _caption(lines))


def _line(reading: ReadingOutline, number: CellNumber, words: str) -> Iterator[SlopeLine]:
    result: Result | None = number.result
    if result is None or result.claim != reading.claim or result.verdict not in (Verdict.SUPPORTED, Verdict.REFUTED):
        return
    rates = [e for e in result.evidence if isinstance(e, RateEvidence) and e.role == "conclusion" and e.points]
    rate = next((rate for rate in rates if _same(rate.exponent, result.measured)), None)
    if rate is None:
        return
    backwards = reading.toward == "zero"
    shown = [p for p in rate.points if p.usable and p.at > 0 and 0 < p.measured < math.inf]
    points = tuple(sorted(shown, key=lambda point: point.at, reverse=backwards))
    if len(points) > 1:
        called = words or wording.reading_title(reading.reading).lower()
        yield SlopeLine(called, number.tone, rate, points, reading.claimed_exponent(rate), result.instance, number.sign)


def _same(exponent: float, measured: float | None) -> bool:
    return measured is not None and (exponent == measured or abs(exponent - measured) < 0.05)


def _caption(lines: Sequence[SlopeLine]) -> str:
    parts = []
    for line in lines:
        where = f"{line.words.capitalize()}: {line.rate.quantity} on {line.instance}"
        parts.append(where + (f", {wording.counted(line.left_out, 'point')} left out" if line.left_out else ""))
    claim = next((line for line in lines if line.claimed is not None), None)
    if claim is not None:
        first = "your first point" if claim.words == "yours" else f"the first point {claim.words}"
        parts.append(f"Dashed: the claimed slope, through {first}")
    return ". ".join(parts) + "."


class _Canvas:
    """Both axes logarithmic, the variable towards its limit to the right."""

    def __init__(self, lines: Sequence[SlopeLine], toward: str) -> None:
        self.lines, self.toward = lines, toward
        at = [math.log10(point.at) for line in lines for point in line.points]
        ends = (max(at), min(at)) if toward == "zero" else (min(at), max(at))
        self.x = ends if ends[0] != ends[1] else (ends[0], ends[0] + 1)
        values = [math.log10(point.measured) for line in lines for point in line.points]
        self.claims = [claim for line in lines for claim in self._claim(line)]
        low, high = min(values), max(values)
        for _, stop in self.claims[:1]:
            low, high = min(low, max(stop, low - ROOM)), max(high, min(stop, high + ROOM))
        pad = max(0.08 * (high - low), (1.0 - (high - low)) / 2, 0.1)
        self.y = (low - pad, high + pad)

    def _claim(self, line: SlopeLine) -> Iterator[tuple[float, float]]:
        """Where the claimed slope starts and ends, decades."""
        if line.claimed is None or not math.isfinite(line.claimed):
            return
        first = line.points[0]
        start = math.log10(first.measured)
        run = self.x[1] - math.log10(first.at)
        yield start, start + line.claimed * run

    def across(self, at: float) -> float:
        return LEFT + (at - self.x[0]) / (self.x[1] - self.x[0]) * (RIGHT - LEFT)

    def up(self, value: float) -> float:
        return FOOT - (value - self.y[0]) / (self.y[1] - self.y[0]) * (FOOT - TOP)

    def drawn(self, title: str) -> Markup:
        """The picture."""
        body = "".join([*self._scale(), *self._claimed(), *(part for line in self.lines for part in self._series(line)),
                        *self._labels()])  # fmt: skip
        label = f"{title}: " + "; ".join(f"{line.words} {_slope(line)}" for line in self.lines)
        return Markup('<svg class="slopes" viewBox="0 0 {:g} {:g}" role="img" aria-label="{}">{}</svg>').format(
            WIDTH, HEIGHT, heard(label), Markup(body)
        )  # numbers and escaped words

    def _scale(self) -> Iterator[str]:
        for at, label in _ticks(*self.y):
            height = _px(self.up(at))
            yield f'<path class="axis" d="M{LEFT:g} {height}H{RIGHT:g}"/>'
            place = f'x="{LEFT - 7:g}" y="{_px(self.up(at) + 4)}"'
            yield f'<text class="tick" {place} text-anchor="end">{drawn_powers(label)}</text>'
        for at, label in _ticks(min(self.x), max(self.x)):
            place = f'x="{_px(self.across(at))}" y="{FOOT + 17:g}"'
            yield f'<text class="tick" {place} text-anchor="middle">{label}</text>'
        letter = drawn_powers(wording.typeset(wording.letter(self.lines[0].rate.variable)))
        says = "shrinks" if self.toward == "zero" else "grows"
        yield (
            f'<text class="tick" x="{RIGHT:g}" y="{FOOT + 33:g}" text-anchor="end" font-style="italic">'
            f"{letter} {says} →</text>"
        )

    def _claimed(self) -> Iterator[str]:
        for line in self.lines:
            for start, stop in self._claim(line):
                x, y = self._cut(self.across(math.log10(line.points[0].at)), self.up(start), self.up(stop))
                yield (
                    f'<path class="s-claim" d="M{_px(self.across(math.log10(line.points[0].at)))} '
                    f'{_px(self.up(start))}L{_px(x)} {_px(y)}"/>'
                )
                return

    def _cut(self, left: float, start: float, stop: float) -> tuple[float, float]:
        """Where a line to the right edge ends inside the picture."""
        if TOP <= stop <= FOOT or stop == start:
            return RIGHT, stop
        edge = TOP if stop < TOP else FOOT
        return left + (edge - start) / (stop - start) * (RIGHT - left), edge

    def _series(self, line: SlopeLine) -> Iterator[str]:
        spots = [(self.across(math.log10(p.at)), self.up(math.log10(p.measured))) for p in line.points]
        path = "L".join(f"{_px(x)} {_px(y)}" for x, y in (spots if line.is_curve else self._fitted(line)))
        yield f'<path class="s-{line.tone}" d="M{path}"/>'
        for point, (x, y) in zip(line.points, spots, strict=True):
            low, high = point.measured - point.uncertainty, point.measured + point.uncertainty
            if point.uncertainty > 0.1 * point.measured and math.isfinite(high):
                foot = self.up(max(math.log10(low), self.y[0])) if low > 0 else FOOT
                head = max(TOP, self.up(math.log10(high)))
                yield f'<path class="s-{line.tone}" d="M{_px(x)} {_px(foot)}V{_px(head)}"/>'
            if line.tone == "bad":
                yield f'<path class="p-bad" d="M{_px(x)} {_px(y - 4.4)}l4.4 4.4-4.4 4.4-4.4-4.4Z"/>'
            else:
                yield f'<circle class="p-{line.tone}" cx="{_px(x)}" cy="{_px(y)}" r="3.2"/>'

    def _fitted(self, line: SlopeLine) -> list[tuple[float, float]]:
        """The measured slope through the last point, where several points share a place."""
        first, last = (math.log10(line.points[i].at) for i in (0, -1))
        end = math.log10(line.points[-1].measured)
        start = end + line.rate.exponent * (first - last)
        inside = min(max(start, self.y[0]), self.y[1])
        at = first if start == inside else last + (inside - end) / line.rate.exponent
        return [(self.across(at), self.up(inside)), (self.across(last), self.up(end))]

    def _labels(self) -> Iterator[str]:
        """What each line is, at its end; labels that would touch are pushed apart."""
        wanted = [
            (self.up(math.log10(line.points[-1].measured)), f"t-{line.tone}", f"{line.words} {_slope(line)}")
            for line in self.lines
        ]
        claim = next((line for line in self.lines if self._has_claim(line)), None)
        if claim is not None:
            ((start, stop),) = self._claim(claim)
            edge = self._cut(self.across(math.log10(claim.points[0].at)), self.up(start), self.up(stop))[1]
            wanted.append((edge, "t-claim", f"claimed {_power(claim.rate.variable, claim.claimed or 0.0)}"))
        floor = TOP
        for height, tone, words in sorted(wanted):
            floor = max(height, floor)
            shown = drawn_powers(wording.typeset(words))
            yield f'<text class="{tone}" x="{RIGHT + 10:g}" y="{_px(floor + 4)}">{shown}</text>'
            floor += APART

    def _has_claim(self, line: SlopeLine) -> bool:
        return line.claimed is not None and math.isfinite(line.claimed)


def _slope(line: SlopeLine) -> str:
    settled = wording.is_settled(line.rate)
    shown = round(line.rate.exponent, 2) if settled else wording.rough(line.rate.exponent)
    return f"{line.sign} {_power(line.rate.variable, shown)}".strip()


def _power(variable: str, exponent: float) -> str:
    letter = wording.letter(variable)
    shown = f"{exponent + 0.0:.2f}".rstrip("0").rstrip(".")
    return letter if shown == "1" else f"{letter}{superscript(shown if shown != '-0' else '0')}"


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Places in decades with their labels: whole decades, a handful; within fewer than two also 2 and 5 of each."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    if last - first >= 1:
        stride = max(1, math.ceil((last - first + 1) / MOST_TICKS))
        return [(at, decade_label(at)) for at in range(first, last + 1) if (last - at) % stride == 0]
    values = [digit * 10.0**power for power in range(first - 1, last + 2) for digit in (1, 2, 5)]
    near = [value for value in values if low - 1e-9 <= math.log10(value) <= high + 1e-9]
    if len(near) < 2:  # a narrow range has no round values: its ends say where it lies
        near = [10.0**low, 10.0**high]
    return [(math.log10(value), wording.number(value, 2)) for value in near]


def decade_label(power: int) -> str:
    """A power of ten in print, as a number where it is short."""
    plain = {-3: "0.001", -2: "0.01", -1: "0.1", 0: "1", 1: "10", 2: "100"}
    return plain.get(power, f"10{superscript(power)}")


def _px(value: float) -> str:
    """A coordinate to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
