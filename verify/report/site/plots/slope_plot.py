"""One figure, one comparison: the claimed slope, the statement as written and the statement repaired."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from spec.formulas.powers import superscript
from verify.evidence.model import Point, RateEvidence
from verify.report import wording
from verify.report.figures.canvas import Canvas, Pair, mark, outline, path, px, text, ticks
from verify.report.figures.plots import seen_interval
from verify.report.figures.spoken_text import heard
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import Result
from verify.report.site.words.cell_numbers import CellNumber
from verify.report.site.words.powers import drawn_powers
from verify.verdict import Verdict

WIDTH, HEIGHT = 640.0, 250.0
BOX = (50.0, 486.0, 12.0, 214.0)
"""The axes' left, right, upper and lower end, in the figure's own pixels; labels stand to their right."""
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
    return Figure(_Drawing(lines, toward).drawn(title), _caption(lines))


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


class _Drawing:
    """Both axes logarithmic, the variable towards its limit to the right."""

    def __init__(self, lines: Sequence[SlopeLine], toward: str) -> None:
        self.lines, self.toward = lines, toward
        at = [math.log10(point.at) for line in lines for point in line.points]
        ends = (max(at), min(at)) if toward == "zero" else (min(at), max(at))
        x = ends if ends[0] != ends[1] else (ends[0], ends[0] + 1)
        values = [math.log10(point.measured) for line in lines for point in line.points]
        self.claim = next((line for line in lines if line.claimed is not None and math.isfinite(line.claimed)), None)
        low, high = min(values), max(values)
        if self.claim is not None:
            at_first, value = _decades(self.claim.points[0])
            stop = value + (self.claim.claimed or 0.0) * (x[1] - at_first)
            low, high = min(low, max(stop, low - ROOM)), max(high, min(stop, high + ROOM))
        pad = max(0.08 * (high - low), (1.0 - (high - low)) / 2, 0.1)
        self.canvas = Canvas(BOX, x, (low - pad, high + pad))

    def drawn(self, title: str) -> Markup:
        """The picture."""
        body = "".join([*self._scale(), *self._claimed(), *(part for line in self.lines for part in self._series(line)),
                        *self._labels()])  # fmt: skip
        label = f"{title}: " + "; ".join(f"{line.words} {_slope(line)}" for line in self.lines)
        return Markup('<svg class="slopes" viewBox="0 0 {:g} {:g}" role="img" aria-label="{}">{}</svg>').format(
            WIDTH, HEIGHT, heard(label), Markup(body)
        )  # numbers and escaped words

    def _scale(self) -> Iterator[str]:
        left, right, _, foot = BOX
        for at, label in ticks(*self.canvas.y, MOST_TICKS):
            height = self.canvas.up(at)
            yield path("axis", f"M{left:g} {px(height)}H{right:g}")
            yield text("tick", (left - 7, height + 4), drawn_powers(label), "end")
        for at, label in ticks(min(self.canvas.x), max(self.canvas.x), MOST_TICKS):
            yield text("tick", (self.canvas.across(at), foot + 17), label, "middle")
        letter = drawn_powers(wording.typeset(wording.letter(self.lines[0].rate.variable)))
        says = "shrinks" if self.toward == "zero" else "grows"
        yield text("tick", (right, foot + 33), f"{letter} {says} →", "end", ' font-style="italic"')

    def _claimed(self) -> Iterator[str]:
        if self.claim is not None:
            yield path("s-claim", outline(self._claimed_ends(self.claim)))

    def _claimed_ends(self, line: SlopeLine) -> list[Pair]:
        first = _decades(line.points[0])
        return self.canvas.line(first, line.claimed or 0.0, (first[0], self.canvas.x[1]))

    def _series(self, line: SlopeLine) -> Iterator[str]:
        spots = [self.canvas.spot(point.at, point.measured) for point in line.points]
        yield path(f"s-{line.tone}", outline(spots if line.is_curve else self._fitted(line)))
        for point, spot in zip(line.points, spots, strict=True):
            if (ends := seen_interval(point)) is not None:
                yield path(f"s-{line.tone}", self.canvas.bar(point.at, *ends))
            yield mark(line.tone, spot, 4.4)

    def _fitted(self, line: SlopeLine) -> list[Pair]:
        """The measured slope through the last point, where several points share a place."""
        first, last = (_decades(line.points[i]) for i in (0, -1))
        return self.canvas.line(last, line.rate.exponent, (first[0], last[0]))

    def _labels(self) -> Iterator[str]:
        """What each line is, at its end; labels that would touch are pushed apart."""
        wanted = [
            (self.canvas.up(_decades(line.points[-1])[1]), f"t-{line.tone}", f"{line.words} {_slope(line)}")
            for line in self.lines
        ]
        if self.claim is not None:
            edge = self._claimed_ends(self.claim)[1][1]
            wanted.append((edge, "t-claim", f"claimed {_power(self.claim.rate.variable, self.claim.claimed or 0.0)}"))
        _, right, floor, _ = BOX
        for height, tone, words in sorted(wanted):
            floor = max(height, floor)
            yield text(tone, (right + 10, floor + 4), drawn_powers(wording.typeset(words)))
            floor += APART


def _decades(point: Point) -> Pair:
    return math.log10(point.at), math.log10(point.measured)


def _slope(line: SlopeLine) -> str:
    settled = wording.is_settled(line.rate)
    shown = round(line.rate.exponent, 2) if settled else wording.rough(line.rate.exponent)
    return f"{line.sign} {_power(line.rate.variable, shown)}".strip()


def _power(variable: str, exponent: float) -> str:
    letter = wording.letter(variable)
    shown = f"{exponent + 0.0:.2f}".rstrip("0").rstrip(".")
    return letter if shown == "1" else f"{letter}{superscript(shown if shown != '-0' else '0')}"
