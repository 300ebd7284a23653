"""Measured rates as small inline SVG, coloured by the page, and the trace of a run."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import Markup, escape

from f2csa_ref.solver.trace import TraceBlock
from spec.formulas.powers import superscript
from verify.evidence.model import Point, RateEvidence
from verify.report import wording
from verify.report.figures.spoken_text import heard

WIDTH, HEIGHT = 212.0, 156.0
"""Size of one panel, in CSS pixels at its natural size."""

_LEFT, _RIGHT, _TOP, _FOOT = 36.0, 8.0, 7.0, HEIGHT - 31.0
"""The axes: how far in from the left and the right, and from the top."""
_MAX_TICKS = 4

_INDEX = re.compile(r"_(\w)( →|)$")
_STYLES = {
    "across": "font-size: 10px; text-anchor: middle; fill: var(--quiet)",
    "up": "font-size: 10px; text-anchor: end; fill: var(--quiet)",
    "name": "font-size: 11px; text-anchor: middle; fill: var(--quiet)",
    "axis": "fill: none; stroke: var(--quiet); stroke-width: 0.6",
    "shade": "fill: var(--shade)",
    "floor": "fill: none; stroke-dasharray: 0.8,1.6; stroke: var(--quiet); stroke-width: 0.8",
    "fit": "fill: none; stroke: var(--measured); stroke-width: 1.1; stroke-linecap: square",
    "claim": "fill: none; stroke-dasharray: 5.6,3.5; stroke: var(--claimed); stroke-width: 1.4",
    "bar": "fill: none; stroke: var(--measured); stroke-width: 0.8",
    "excluded": "fill: var(--paper); stroke: var(--measured)",
    "used": "fill: none; stroke: var(--measured); stroke-width: 5.6; stroke-linecap: round",
}
RADIUS = 2.3
"""Of a hollow mark, CSS pixels, to the middle of its line of one pixel; a full one is as wide."""


def stylesheet() -> str:
    """The rules for the classes that panels use; a page has them once."""
    # A page's own rule for texts in drawings would win over what their group hands down.
    texts = {use: f".plot .{use} text, " for use in ("across", "up", "name")}
    return "\n".join(f"{texts.get(use, '')}.plot .{use} {{ {rule} }}" for use, rule in _STYLES.items())


class RatePlots:
    """Draws panels, whose styles are those of :func:`stylesheet`; the same panel gives the same bytes."""

    def panel(self, evidence: RateEvidence, claimed: float | None = None, *, toward: str = "zero") -> Markup | None:
        """One sweep; ``None`` where nothing positive was measured, so that no logarithm exists.

        The claimed exponent is drawn through the usable point furthest from the limit, ``zero`` or ``infinity``.
        """
        shown = [point for point in evidence.points if point.at > 0 and 0 < point.measured < math.inf]
        if not shown:
            return None
        box = _Box(shown, evidence.floor, claimed, toward)
        letter = wording.letter(evidence.variable)
        body = "".join([
            *self._floor(box, evidence.floor, toward),
            *self._scale(box, f"← {letter}" if toward == "zero" else f"{letter} →"),
            *self._slopes(box, evidence, claimed, [point for point in shown if point.usable], toward),
            *self._points(box, shown),
        ])  # fmt: skip
        size = f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" height="{HEIGHT:g}"'
        caption = heard(f"{evidence.quantity} against {letter}, log–log")
        return Markup(f'<svg class="plot" role="img" {size} aria-label="') + caption + Markup(f'">{body}</svg>')

    def _floor(self, box: _Box, floor: float | None, toward: str) -> Iterator[str]:
        """What lies beyond the floor of floating-point numbers is shaded."""
        if floor is None or floor <= 0:
            return
        edge = box.across(math.log10(floor))
        left, right = (_LEFT, edge) if toward == "zero" else (edge, WIDTH - _RIGHT)
        yield f'<path class="shade" d="M{_px(left)} {_px(_FOOT)}H{_px(right)}V{_px(_TOP)}H{_px(left)}z"/>'
        yield self._path("floor", f"M{_px(edge)} {_px(_FOOT)}V{_px(_TOP)}")

    def _scale(self, box: _Box, name: str) -> Iterator[str]:
        """Two axes with their ticks, labels, and the name of what runs across."""
        across = [(box.across(at), label) for at, label in _ticks(*box.x)]
        up = [(box.up(at), label) for at, label in _ticks(*box.y)]
        axes = f"M{_px(_LEFT)} {_px(_TOP)}V{_px(_FOOT)}H{_px(WIDTH - _RIGHT)}"
        ticks = [f"M{_px(at)} {_px(_FOOT)}v3" for at, _ in across] + [f"M{_px(_LEFT)} {_px(at)}h-3" for at, _ in up]
        yield self._path("axis", axes + "".join(ticks))
        yield self._texts("across", [(at, _FOOT + 12.6, label) for at, label in across])
        yield self._texts("name", [((_LEFT + WIDTH - _RIGHT) / 2, _FOOT + 23.4, name)])
        yield self._texts("up", [(_LEFT - 5, at + 3.8, label) for at, label in up])

    def _slopes(
        self, box: _Box, evidence: RateEvidence, claimed: float | None, usable: Sequence[Point], toward: str
    ) -> Iterator[str]:
        ordered = _ordered(usable, toward)
        # Measured: through the point nearest the limit, where the exponent was read off. Claimed: through the furthest.
        for name, slope, end in (("fit", evidence.exponent, -1), ("claim", claimed, 0)):
            if ordered and slope is not None and math.isfinite(slope):
                (left, right), (start, stop) = box.line(ordered[end], slope)
                begins, ends = (box.across(left), box.up(start)), (box.across(right), box.up(stop))
                yield self._path(name, f"M{_px(begins[0])} {_px(begins[1])} {_px(ends[0])} {_px(ends[1])}")

    def _points(self, box: _Box, shown: Sequence[Point]) -> Iterator[str]:
        """A mark each, hollow where it is not used, and what it may be off where that can be seen."""
        bars = []
        for point in shown:
            low, high = point.measured - point.uncertainty, point.measured + point.uncertainty
            if point.uncertainty > 0.1 * point.measured and math.isfinite(high):
                at, foot = box.across(math.log10(point.at)), math.log10(low) if low > 0 else box.y[0]
                ends = box.up(max(foot, box.y[0])), box.up(min(math.log10(high), box.y[1]))
                bars.append(f"M{_px(at)} {_px(ends[0])}V{_px(ends[1])}")
        if bars:
            yield self._path("bar", "".join(bars))
        places = {point: (box.across(math.log10(point.at)), box.up(math.log10(point.measured))) for point in shown}
        for x, y in (places[point] for point in shown if not point.usable):
            yield f'<circle class="excluded" cx="{_px(x)}" cy="{_px(y)}" r="{RADIUS:g}"/>'
        if used := [places[point] for point in shown if point.usable]:
            # A stroke of no length with round ends is a dot.
            yield self._path("used", "".join(f"M{_px(x)} {_px(y)}h0" for x, y in used))

    def _path(self, use: str, outline: str) -> str:
        return f'<path class="{use}" d="{outline}"/>'

    def _texts(self, use: str, texts: Sequence[tuple[float, float, str]]) -> str:
        """Texts of one kind, each at its place."""
        set_ = [
            (x, y, _INDEX.sub(r'<tspan dy="2" font-size="75%">\1</tspan><tspan dy="-2">\2</tspan>', str(escape(words))))
            for x, y, words in texts
        ]
        shown = "".join(f'<text x="{_px(x)}" y="{_px(y)}">{words}</text>' for x, y, words in set_)
        return f'<g class="{use}">{shown}</g>' if shown else ""


def _px(value: float) -> str:
    """A coordinate to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


class _Box:
    """The panel's limits in decades, a little wider than the points."""

    def __init__(self, points: Sequence[Point], floor: float | None, claimed: float | None, toward: str) -> None:
        at = [math.log10(point.at) for point in points]
        if floor is not None and floor > 0:
            at.append(math.log10(floor))
        measured = [math.log10(point.measured) for point in points]
        low, high = min(measured), max(measured)
        if claimed is not None and math.isfinite(claimed):
            # Room for the claimed slope to be seen leaving the points, but not so much as to flatten them.
            first = _ordered(points, toward)[0]
            run = (min(at) if toward == "zero" else max(at)) - math.log10(first.at)
            end, room = math.log10(first.measured) + claimed * run, max(0.6 * (high - low), 1.0)
            low, high = min(low, max(end, low - room)), max(high, min(end, high + room))
        self.x = _padded(min(at), max(at), least=0.5)
        self.y = _padded(low, high, least=1.5)

    def across(self, at: float) -> float:
        """Where a decade of the variable lies, CSS pixels from the left."""
        return _LEFT + (at - self.x[0]) / (self.x[1] - self.x[0]) * (WIDTH - _RIGHT - _LEFT)

    def up(self, measured: float) -> float:
        """Where a decade of what was measured lies, CSS pixels from the top."""
        return _FOOT - (measured - self.y[0]) / (self.y[1] - self.y[0]) * (_FOOT - _TOP)

    def line(self, through: Point, slope: float) -> tuple[list[float], list[float]]:
        """The part of a straight line that lies in the box."""
        at, measured = math.log10(through.at), math.log10(through.measured)
        left, right = self.x
        if slope:
            ends = sorted((at + (self.y[0] - measured) / slope, at + (self.y[1] - measured) / slope))
            left, right = max(left, ends[0]), min(right, ends[1])
        xs = [left, right]
        return xs, [measured + slope * (x - at) for x in xs]


def _ordered(points: Sequence[Point], toward: str) -> list[Point]:
    """Towards the limit."""
    return sorted(points, key=lambda point: point.at, reverse=toward == "zero")


def _padded(low: float, high: float, least: float) -> tuple[float, float]:
    # A quantity that does not move would otherwise fill its panel with rounding.
    middle, half = (low + high) / 2, max((high - low) / 2, least / 2)
    pad = 0.08 * 2 * half
    return middle - half - pad, middle + half + pad


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Whole decades, thinned to a handful; within a single decade 1, 2, 5."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    if last - first >= 1:
        stride = max(1, math.ceil((last - first + 1) / _MAX_TICKS))
        return [(at, f"10{superscript(at)}") for at in range(first, last + 1) if (last - at) % stride == 0]
    values = [digit * 10.0**power for power in range(first - 1, last + 2) for digit in (1, 2, 5)]
    return [(math.log10(value), wording.number(value, 2)) for value in values if low <= math.log10(value) <= high]


def draw_trace(blocks: Sequence[TraceBlock], path: Path) -> None:
    """Picture one run of ``f2csa solve``, F and the mean answer against oracle calls; the same trace, the same bytes.

    The ending of the path says the format.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "f2csa", "font.size": 9}):
        figure = Figure(figsize=(7, 3), layout="constrained")
        FigureCanvasAgg(figure)
        left, right = figure.subplots(1, 2)
        calls = [block.calls for block in blocks]
        values = [block.F for block in blocks]
        if all(value is not None for value in values):
            left.plot(calls, [float(value) for value in values if value is not None], lw=1.2)
        left.set(xlabel="oracle calls", title="F at the block means")
        right.plot(calls, [block.grad_norm for block in blocks], lw=1.2)
        right.set(xlabel="oracle calls", yscale="log", title="length of the mean answer")
        for axes in (left, right):
            axes.grid(alpha=0.3)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=metadata)
