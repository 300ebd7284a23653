"""Measured rates as small inline SVG, coloured by the page, and the trace of a run."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import Markup, escape

from f2csa_ref.solver.trace import TraceBlock
from verify.evidence.model import Point, RateEvidence
from verify.report import wording
from verify.report.figures.canvas import Canvas, outline, padded, path, px, ticks
from verify.report.figures.spoken_text import heard

WIDTH, HEIGHT = 212.0, 156.0
"""Size of one panel, in CSS pixels at its natural size."""

_BOX = (36.0, WIDTH - 8.0, 7.0, HEIGHT - 31.0)
"""The axes: from the left, and from the top."""
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
        canvas = _canvas(shown, evidence.floor, claimed, toward)
        letter = wording.letter(evidence.variable)
        body = "".join([
            *_floor(canvas, evidence.floor, toward),
            *_scale(canvas, f"← {letter}" if toward == "zero" else f"{letter} →"),
            *_slopes(canvas, evidence, claimed, [point for point in shown if point.usable], toward),
            *_points(canvas, shown),
        ])  # fmt: skip
        size = f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" height="{HEIGHT:g}"'
        caption = heard(f"{evidence.quantity} against {letter}, log–log")
        return Markup(f'<svg class="plot" role="img" {size} aria-label="') + caption + Markup(f'">{body}</svg>')


def _canvas(points: Sequence[Point], floor: float | None, claimed: float | None, toward: str) -> Canvas:
    """The panel's limits, a little wider than the points."""
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
    return Canvas(_BOX, padded(at, least=0.5), padded((low, high), least=1.5))


def _floor(canvas: Canvas, floor: float | None, toward: str) -> Iterator[str]:
    """What lies beyond the floor of floating-point numbers is shaded."""
    if floor is None or floor <= 0:
        return
    start, end, top, foot = map(px, _BOX)
    edge = px(canvas.across(math.log10(floor)))
    left, right = (start, edge) if toward == "zero" else (edge, end)
    yield path("shade", f"M{left} {foot}H{right}V{top}H{left}z")
    yield path("floor", f"M{edge} {foot}V{top}")


def _scale(canvas: Canvas, name: str) -> Iterator[str]:
    """Two axes with their ticks, labels, and the name of what runs across."""
    left, right, top, foot = _BOX
    across = [(canvas.across(at), label) for at, label in ticks(*canvas.x, _MAX_TICKS)]
    up = [(canvas.up(at), label) for at, label in ticks(*canvas.y, _MAX_TICKS)]
    axes = f"M{px(left)} {px(top)}V{px(foot)}H{px(right)}"
    dashes = [f"M{px(at)} {px(foot)}v3" for at, _ in across] + [f"M{px(left)} {px(at)}h-3" for at, _ in up]
    yield path("axis", axes + "".join(dashes))
    yield _texts("across", [(at, foot + 12.6, label) for at, label in across])
    yield _texts("name", [((left + right) / 2, foot + 23.4, name)])
    yield _texts("up", [(left - 5, at + 3.8, label) for at, label in up])


def _slopes(
    canvas: Canvas, evidence: RateEvidence, claimed: float | None, usable: Sequence[Point], toward: str
) -> Iterator[str]:
    ordered = _ordered(usable, toward)
    # Measured: through the point nearest the limit, where the exponent was read off. Claimed: through the furthest.
    for name, slope, end in (("fit", evidence.exponent, -1), ("claim", claimed, 0)):
        if ordered and slope is not None and math.isfinite(slope):
            through = math.log10(ordered[end].at), math.log10(ordered[end].measured)
            yield path(name, outline(canvas.line(through, slope, canvas.x)))


def _points(canvas: Canvas, shown: Sequence[Point]) -> Iterator[str]:
    """A mark each, hollow where it is not used, and what it may be off where that can be seen."""
    bars = [canvas.bar(point.at, *ends) for point in shown if (ends := seen_interval(point)) is not None]
    if bars:
        yield path("bar", "".join(bars))
    spots = {point: canvas.spot(point.at, point.measured) for point in shown}
    for x, y in (spots[point] for point in shown if not point.usable):
        yield f'<circle class="excluded" cx="{px(x)}" cy="{px(y)}" r="{RADIUS:g}"/>'
    if used := [spots[point] for point in shown if point.usable]:
        # A stroke of no length with round ends is a dot.
        yield path("used", "".join(f"M{px(x)} {px(y)}h0" for x, y in used))


def seen_interval(point: Point) -> tuple[float, float] | None:
    """What a point may be, where a drawing would show it."""
    low, high = point.measured - point.uncertainty, point.measured + point.uncertainty
    return (low, high) if point.uncertainty > 0.1 * point.measured and math.isfinite(high) else None


def _texts(use: str, texts: Sequence[tuple[float, float, str]]) -> str:
    """Texts of one kind, each at its place."""
    set_ = [
        (x, y, _INDEX.sub(r'<tspan dy="2" font-size="75%">\1</tspan><tspan dy="-2">\2</tspan>', str(escape(words))))
        for x, y, words in texts
    ]
    shown = "".join(f'<text x="{px(x)}" y="{px(y)}">{words}</text>' for x, y, words in set_)
    return f'<g class="{use}">{shown}</g>' if shown else ""


def _ordered(points: Sequence[Point], toward: str) -> list[Point]:
    """Towards the limit."""
    return sorted(points, key=lambda point: point.at, reverse=toward == "zero")


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
