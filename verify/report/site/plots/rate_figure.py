"""A rate as written and repaired in one small figure, for a table.

The swept variable goes to its limit to the right, so that up is worse and down is better; both axes are logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from verify.evidence.model import ComparisonEvidence, RateEvidence
from verify.report import wording
from verify.report.figures.canvas import Canvas, decade_label, mark, outline, padded, path, px, text
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import Result
from verify.report.site.words.powers import drawn_powers

SPARK = (120.0, 50.0)
"""Size of the drawing, in its own units."""
TICKED = (190.0, 104.0)
"""Size of one with ticks."""
SNAP = 0.005
"""An exponent as near to a whole number as this is printed as one."""
APART = 1000.0
"""Values are placed by their orders where the largest is this many times the least."""


@dataclass(frozen=True)
class FigureSeries:
    """One line: its colour (``bad``, ``good`` or ``claim``), its points toward the limit, and what it is.

    Args:
        tone: ``bad`` as written and refuted, ``good`` what holds, ``claim`` the claimed slope.
        points: ``(variable, value)``, both > 0, the limit last.
        name: ``as written``, ``repaired`` or ``claimed``.
        letter: The variable in print.
        exponent: Of the variable.
        quantity: What was measured; empty of the claimed slope.
        is_settled: Whether the exponent may be extended beyond what was measured.
    """

    tone: str
    points: tuple[tuple[float, float], ...]
    name: str
    letter: str
    exponent: float
    quantity: str = ""
    is_settled: bool = True


@dataclass(frozen=True)
class RateFigure:
    """A claimed slope with what was measured under two readings."""

    series: tuple[FigureSeries, ...]
    variable: str
    toward: str

    @property
    def spoken(self) -> str:
        """The figure for those who do not see it: ``as written α to the −2, claimed α to the 1``."""
        return ", ".join(
            f"{one.name} {one.letter} to the {power(one.exponent)}" if one.is_settled else
            f"{one.name} {one.letter} to about the {power(wording.rough(one.exponent))}, {wording.NOT_SETTLED}"
            for one in self.series
        )  # fmt: skip

    @property
    def is_above(self) -> bool:
        """Whether the repaired line lies above wherever both were measured, though it grows more slowly."""
        lines = {line.name: line for line in self.series}
        if not {"as written", "repaired"} <= lines.keys():
            return False
        written, repaired = lines["as written"], lines["repaired"]
        gap = repaired.exponent - written.exponent
        common = dict(written.points).keys() & dict(repaired.points).keys()
        higher = all(dict(repaired.points)[at] > dict(written.points)[at] for at in common)
        return bool(common) and higher and (gap > 0) == (self.toward == "zero") and gap != 0

    @property
    def crossing(self) -> float | None:
        """Where the repaired line, above at its end, would fall below the other, both extended at settled slopes."""
        lines = {line.name: line for line in self.series}
        if not {"as written", "repaired"} <= lines.keys() or not all(line.is_settled for line in self.series):
            return None
        written, repaired = lines["as written"], lines["repaired"]
        (at, high), gap = repaired.points[-1], repaired.exponent - written.exponent
        base, value = written.points[-1]
        low = value * (at / base) ** written.exponent
        if high <= low or not gap or (gap > 0) != (self.toward == "zero"):
            return None
        place: float = at * (low / high) ** (1 / gap)
        return place if math.isfinite(place) else None

    @property
    def counted(self) -> str:
        """What each line is of, where that is not the same: ``calls as written, samples repaired``; else empty."""
        quantities = {line.name: line.quantity for line in self.series if line.quantity}
        if len(set(quantities.values())) < 2:
            return ""
        return ", ".join(f"{quantity} {name}" for name, quantity in quantities.items())


def above(figure: RateFigure) -> str:
    """What must be said of a repaired line that lies above: that it does, and where it would cross; empty of others."""
    if not figure.is_above:
        return ""
    crossing = figure.crossing
    place = (
        f"extended at these slopes it is below from {figure.variable} = {wording.number(crossing, 2)} on"
        if crossing is not None else "where they cross was not measured"
    )  # fmt: skip
    return f"The repaired line lies above all that was measured as written and grows more slowly; {place}."


def power(exponent: float) -> str:
    """An exponent in print: whole where it is, else with two decimals."""
    nearest = round(exponent)
    return str(nearest).replace("-", "−") if abs(exponent - nearest) < SNAP else wording.exponent(exponent)


def rate_figure(written: ReadingOutline, repaired: ReadingOutline | None) -> RateFigure | None:
    """Of the deciding results; ``None`` where nothing was swept as written.

    The repaired result is the one of the same instance where there is one, else its own deciding one. The claimed
    slope goes through the first point as written.
    """
    first = _swept(written.results[:1])
    if first is None:
        return None
    result, rate = first
    claimed = written.claimed_exponent(rate)
    tone = "bad" if written.status == "REFUTED" else "good"
    points = _points(rate, written.toward, result)
    letter, settled = wording.letter(rate.variable), wording.is_settled(rate)
    lines = [FigureSeries(tone, points, "as written", letter, _deciding(result), rate.quantity, settled)]
    if repaired is not None:
        there = sorted(repaired.results, key=lambda other: other.instance != result.instance)
        again = _swept([one for one in there if one.verdict == repaired.status], rate.variable)
        if again is not None and (again[0].instance == result.instance or again[0] is repaired.results[0]):
            tone, points = (
                "good" if repaired.status == "SUPPORTED" else "bad",
                _points(again[1], repaired.toward, again[0]),
            )
            exponent, settled = _deciding(again[0]), wording.is_settled(again[1])
            lines.append(FigureSeries(tone, points, "repaired", letter, exponent, again[1].quantity, settled))
    if claimed is not None:
        (at, value), *_ = lines[0].points
        end = min((line.points[-1][0] for line in lines), key=lambda far: far if written.toward == "zero" else -far)
        slope = ((at, value), (end, value * (end / at) ** claimed))
        lines.append(FigureSeries("claim", slope, "claimed", letter, claimed))
    return RateFigure(tuple(lines), letter, written.toward)


def _deciding(result: Result) -> float:
    """The exponent that decides: the exact one where there is one."""
    if result.measured is not None and result.interval is not None and math.isfinite(result.measured):
        return result.measured
    swept = _swept([result])
    return swept[1].exponent if swept else math.nan


def _swept(results: Sequence[Result], variable: str = "") -> tuple[Result, RateEvidence] | None:
    for result in results:
        for rate in result.evidence:
            if not isinstance(rate, RateEvidence) or rate.role != "conclusion":
                continue
            if len(_points(rate, "zero")) > 1 and (not variable or rate.variable == variable):
                return result, rate
    return None


def _points(rate: RateEvidence, toward: str, result: Result | None = None) -> tuple[tuple[float, float], ...]:
    """Usable points, the limit last; of a sweep of several variables only where the others stand as at first."""
    fixed = [True] * len(rate.points)
    for other in result.evidence if result else ():
        alike = isinstance(other, RateEvidence) and other.variable != rate.variable
        if isinstance(other, RateEvidence) and alike and len(other.points) == len(rate.points) > 0:
            same = [a.measured == b.measured for a, b in zip(other.points, rate.points, strict=True)]
            fixed = [f and point.at == other.points[0].at for f, point in zip(fixed, other.points, strict=True)] if all(
                same) else fixed  # fmt: skip
    points: dict[float, float] = {}
    for point, is_fixed in zip(rate.points, fixed, strict=True):
        if is_fixed and point.usable and point.at > 0 and 0 < point.measured < math.inf:
            points.setdefault(point.at, point.measured)
    return tuple(sorted(points.items(), reverse=toward == "zero"))


def _canvas(series: Sequence[FigureSeries], toward: str, box: tuple[float, float, float, float]) -> Canvas:
    across = [math.log10(at) for line in series for at, _ in line.points]
    up = [math.log10(value) for line in series for _, value in line.points]
    ends = (max(across), min(across)) if toward == "zero" else (min(across), max(across))
    return Canvas(box, ends, padded(up, least=1.0, share=0.0))


def _axes(canvas: Canvas) -> str:
    """The axes with the values at their ends: the variable's, and decades."""
    left, right, top, foot = canvas.box
    drawn = [path("axis", f"M{left:g} {top:g}V{foot + 4:g}H{right:g}")]
    for decade, x, anchor in zip(canvas.x, (left, right), ("start", "end"), strict=True):
        drawn.append(text("tick", (x, foot + 16), escape(wording.number(10.0**decade, 2)), anchor))
    decades = range(math.ceil(canvas.y[0] - 0.15), math.floor(canvas.y[1] + 0.15) + 1)
    # Two whole decades, the outermost; one, where the axis holds no more.
    for at in decades if len(decades) < 2 else (decades[0], decades[-1]):
        y = canvas.up(at)
        drawn.append(path("axis", f"M{left - 3:g} {px(y)}H{left:g}"))
        drawn.append(text("tick", (left - 5, y + 3.5), drawn_powers(decade_label(at)), "end"))
    return "".join(drawn)


def spark(figure: RateFigure, *, ticked: bool = False) -> Markup:
    """The figure in the width of a table's cell: lines, and a mark at the end of what was measured; or with ticks."""
    width, height = TICKED if ticked else SPARK
    box = (34.0, width - 6, 6.0, height - 32) if ticked else (2.0, width - 4, 4.0, height - 4)
    canvas = _canvas(figure.series, figure.toward, box)
    drawn = [_axes(canvas)] if ticked else []
    if ticked:
        says = "shrinks" if figure.toward == "zero" else "grows"
        words = f"{escape(figure.variable)} {says} →"
        drawn.append(text("tick", (box[1], height - 2), words, "end", ' font-style="italic"'))
    for line in _claim_first(figure.series):
        spots = [canvas.spot(*point) for point in line.points]
        drawn.append(path(f"s-{line.tone}", outline(spots)))
        if line.tone != "claim":
            drawn.append(mark(line.tone, spots[-1], 3.4))
    return _svg("spk ticked" if ticked else "spk", (width, height), figure.spoken, "".join(drawn))


def _claim_first(series: Sequence[FigureSeries]) -> list[FigureSeries]:
    return sorted(series, key=lambda line: line.tone != "claim")


def _svg(kind: str, size: tuple[float, float], label: str, body: str) -> Markup:
    opening = Markup('<svg class="{}" viewBox="0 0 {:g} {:g}" role="img" aria-label="{}">')
    return opening.format(kind, *size, label) + Markup(body + "</svg>")  # numbers, and letters of ours


def compared(written: ReadingOutline, repaired: ReadingOutline | None) -> Markup | None:
    """Two compared values on one scale, the bound of each dashed: for what has no rate; ``None`` where nothing is."""
    rows = [(entry, _comparison(entry)) for entry in (written, repaired) if entry is not None]
    comparisons = [(entry, item) for entry, item in rows if item is not None]
    if not comparisons or comparisons[0][0] is not written:
        return None
    values = [value for _, item in comparisons for value in (item.measured, item.predicted)]
    if not all(map(math.isfinite, values)):
        return None
    across = _Across(values, min((item.tolerance for _, item in comparisons if item.tolerance), default=0.0))
    drawn, labels = [], []
    for index, (entry, item) in enumerate(comparisons):
        y = 15.0 + 20.0 * index
        tone = "bad" if entry.status == "REFUTED" else "good"
        x, bound = across.place(item.measured), across.place(item.predicted)
        drawn.append(path("s-claim", f"M{px(bound)} {y - 9:g}V{y + 9:g}"))
        drawn.append(path(f"s-{tone}", f"M{px(bound)} {y:g}H{px(x)}") + mark(tone, (x, y), 3.4))
        labels.append(f"{entry.title.lower()} {wording.comparison(item)}")
    return _svg("spk", SPARK, "; ".join(labels), "".join(drawn))


def _comparison(entry: ReadingOutline) -> ComparisonEvidence | None:
    """The conclusion of the deciding result; where it is refuted, the one that fails."""
    items = [
        item for result in entry.results[:1] for item in result.evidence
        if isinstance(item, ComparisonEvidence) and item.role == "conclusion"
    ]  # fmt: skip
    failing = [item for item in items if not item.holds]
    return next(iter(failing if entry.status == "REFUTED" and failing else items), None)


class _Across:
    """Where a value stands across a small drawing: by its size, or by its orders where sizes lie far apart."""

    def __init__(self, values: Sequence[float], unit: float) -> None:
        sizes = [abs(value) for value in values if value]
        self.unit = max(unit, 1e-12 * max(sizes, default=1.0)) or 1.0
        least = min((size for size in sizes if size > self.unit), default=self.unit)
        self.by_order = max(sizes, default=0.0) > APART * least or (0 in values and unit > 0)
        placed = [self._plain(value) for value in values]
        self.low, self.high = min(placed), max(placed)

    def _plain(self, value: float) -> float:
        return math.copysign(math.log10(1 + abs(value) / self.unit), value) if self.by_order else value

    def place(self, value: float) -> float:
        """Its place from the left, in the drawing's units."""
        return 8.0 + (self._plain(value) - self.low) / ((self.high - self.low) or 1.0) * (SPARK[0] - 16)
