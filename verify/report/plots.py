"""Pictures drawn by matplotlib: measured rates as small inline SVG, coloured by the page, and the trace of a run."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from markupsafe import Markup

from f2csa_ref.solver.trace import Block
from verify.evidence.model import Point, RateEvidence, superscript
from verify.report import wording

WIDTH, HEIGHT = 212.0, 156.0
"""Size of one panel, in CSS pixels at its natural size."""

_LEFT, _RIGHT, _BOTTOM, _TOP = 36.0, 8.0, 31.0, 7.0
_MAX_TICKS = 4

# matplotlib knows no CSS variables: it draws in these marked colours, which the page then replaces.
_INK = {"#010101": "ink", "#020202": "quiet", "#030303": "measured", "#040404": "claimed", "#050505": "paper",
        "#060606": "shade"}  # fmt: skip
_QUIET, _MEASURED, _CLAIMED, _PAPER, _SHADE = list(_INK)[1:]

_SHAPE = re.compile(r'<path id="([^"]+)" d="([^"]+)" style="([^"]*)"/>')
_MARK = re.compile(r'<use xlink:href="#([^"]+)" (x="[^"]+" y="[^"]+") style="([^"]*)"/>')
_STYLE = re.compile(r' style="([^"]*)"')
_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_INDEX = re.compile(r"_(\w)( →|)</text>")
_QUOTED = re.compile(r'"[^"]*"')
_ROTATION = re.compile(r' transform="rotate\(-?0 [^)]*\)"')


SweepKey = tuple[int, float | None, str]
"""A sweep by the identity of its evidence, with the claimed exponent and the limit."""


class RatePlots:
    """Draws all panels of one page on one figure.

    Styles and markers repeat in every panel, so they are collected: the page writes them once, from :meth:`markers` and
    :meth:`stylesheet`. The same panels in the same order give the same bytes. ``ready`` are
    sources drawn ahead.
    """

    def __init__(self, ready: Mapping[SweepKey, str | None] | None = None) -> None:
        self._ready = ready or {}
        self._styles: dict[str, str] = {}
        self._markers: dict[str, str] = {}

    @cached_property
    def _canvas(self) -> tuple[Any, dict[str, Any]]:
        """Axes, and every artist in place on them with its style, before anything is set."""
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        # pyplot is never touched: no global figure state, no display.
        figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72))
        FigureCanvasSVG(figure)
        figure.patch.set_visible(False)
        axes = figure.add_axes(
            (_LEFT / WIDTH, _BOTTOM / HEIGHT, 1 - (_LEFT + _RIGHT) / WIDTH, 1 - (_BOTTOM + _TOP) / HEIGHT)
        )
        return axes, _prepared(axes)

    @property
    def _axes(self) -> Any:
        return self._canvas[0]

    @property
    def _artists(self) -> dict[str, Any]:
        return self._canvas[1]

    def panel(self, evidence: RateEvidence, claimed: float | None = None, *, toward: str = "zero") -> Markup | None:
        """One sweep; ``None`` where nothing positive was measured, so that no logarithm exists.

        The claimed exponent is drawn through the usable point furthest from the limit, ``zero`` or ``infinity``.
        """
        key = (id(evidence), claimed, toward)
        source = self._ready[key] if key in self._ready else self.source(evidence, claimed, toward)
        caption = f"{evidence.quantity} against {wording.letter(evidence.variable)}, log–log"
        return None if source is None else self._inline(source, caption)

    def source(self, evidence: RateEvidence, claimed: float | None, toward: str) -> str | None:
        """The same as matplotlib writes it, a file of its own."""
        shown = [point for point in evidence.points if point.at > 0 and 0 < point.measured < math.inf]
        if not shown:
            return None
        box = _Box(shown, evidence.floor, claimed, toward)
        self._scale(box, evidence.variable, toward)
        self._draw_floor(box, evidence.floor, toward)
        self._draw_slopes(box, evidence, claimed, [point for point in shown if point.usable], toward)
        self._draw_points(box, shown)
        return self._write()

    def markers(self) -> Markup:
        """The hidden sheet of marker shapes; goes once into the page."""
        shapes = "".join(f'<path id="{name}" {path}/>' for path, name in self._markers.items())
        return Markup(f'<svg class="sheet" aria-hidden="true" width="0" height="0"><defs>{shapes}</defs></svg>')

    def stylesheet(self) -> Markup:
        """The rules for the classes the panels use."""
        return Markup("\n".join(f".{name} {{ {rule} }}" for rule, name in self._styles.items()))  # drawn by matplotlib

    def _scale(self, box: _Box, variable: str, toward: str) -> None:
        from matplotlib.ticker import FixedFormatter, FixedLocator

        # Plotting logarithms on plain axes is ten times faster than matplotlib's log scale.
        for axis, (low, high) in ((self._axes.xaxis, box.x), (self._axes.yaxis, box.y)):
            ticks = _ticks(low, high)
            axis.set_major_locator(FixedLocator([at for at, _ in ticks]))
            axis.set_major_formatter(FixedFormatter([label for _, label in ticks]))
        name = wording.letter(variable)
        self._axes.set(xlim=box.x, ylim=box.y, xlabel=f"← {name}" if toward == "zero" else f"{name} →")

    def _draw_floor(self, box: _Box, floor: float | None, toward: str) -> None:
        shown = floor is not None and floor > 0
        at = math.log10(floor) if floor is not None and shown else box.x[0]
        left, right = (box.x[0], at) if toward == "zero" else (at, box.x[1])
        self._artists["shade"].set_bounds(left, box.y[0], right - left, box.y[1] - box.y[0])
        self._artists["shade"].set_visible(shown)
        self._line("floor", [at, at], list(box.y), shown=shown)

    def _draw_slopes(
        self, box: _Box, evidence: RateEvidence, claimed: float | None, usable: Sequence[Point], toward: str
    ) -> None:
        ordered = _ordered(usable, toward)
        # Measured: through the point nearest the limit, where the exponent was read off. Claimed: through the furthest.
        for name, slope, end in (("fit", evidence.exponent, -1), ("claim", claimed, 0)):
            if ordered and slope is not None and math.isfinite(slope):
                self._line(name, *box.line(ordered[end], slope))
            else:
                self._line(name, [], [], shown=False)

    def _draw_points(self, box: _Box, shown: Sequence[Point]) -> None:
        bars = []
        for point in shown:
            low, high = point.measured - point.uncertainty, point.measured + point.uncertainty
            if point.uncertainty > 0.1 * point.measured and math.isfinite(high):
                at, foot = math.log10(point.at), math.log10(low) if low > 0 else box.y[0]
                bars.append([(at, max(foot, box.y[0])), (at, min(math.log10(high), box.y[1]))])
        self._artists["bars"].set_segments(bars)
        for name, usable in (("used", True), ("excluded", False)):
            kept = [point for point in shown if point.usable is usable]
            across, up = [math.log10(point.at) for point in kept], [math.log10(point.measured) for point in kept]
            self._line(name, across, up, shown=bool(kept))

    def _line(self, name: str, at: list[float], measured: list[float], *, shown: bool = True) -> None:
        self._artists[name].set_data(at, measured)
        self._artists[name].set_visible(shown)

    def _write(self) -> str:
        import matplotlib

        stream = io.StringIO()
        with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "f2csa", "path.simplify": False}):
            self._axes.figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
        return stream.getvalue()

    def _inline(self, source: str, caption: str) -> Markup:
        """Reduce matplotlib's standalone file to the little that a page needs."""
        body = source[source.index('<g id="axes_') : source.rindex("</svg>")]
        # The groups carry nothing but names, and the clip paths nothing that reaches beyond the axes.
        body = re.sub(r"</?g\b[^>]*>| clip-path=\"[^\"]*\"", "", body)
        shapes = {name: (outline, style) for name, outline, style in _SHAPE.findall(body)}
        body = re.sub(r"<defs>.*?</defs>", "", body, flags=re.DOTALL)
        body = _MARK.sub(lambda use: self._mark(*shapes[use[1]], at=use[2], style=use[3]), body)
        body = _STYLE.sub(lambda match: f' class="{self._style(match[1])}"', body)
        body = re.sub(r">\s+<", "><", _ROTATION.sub("", _compact(body)).strip())
        body = _INDEX.sub(r'<tspan dy="2" font-size="75%">\1</tspan><tspan dy="-2">\2</tspan></text>', body)
        size = f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" height="{HEIGHT:g}"'
        return Markup(f'<svg class="plot" role="img" {size} aria-label="') + caption + Markup(f'">{body}</svg>')

    def _mark(self, outline: str, own: str, *, at: str, style: str) -> str:
        """A reference to a marker, which carries its style with it."""
        path = f'd="{_shortened(outline).strip()}" class="{self._style(f"{style}; {own}")}"'
        name = self._markers.setdefault(path, f"k{len(self._markers)}")
        return f'<use href="#{name}" {at}/>'

    def _style(self, rule: str) -> str:
        rule = re.sub(r"font-family:[^;\"]*(;|$)", "", rule)
        rule = re.sub(r"font: (\S+) [^;\"]*(;|$)", r"font-size: \1;", rule)
        for marked, variable in _INK.items():
            rule = rule.replace(marked, f"var(--{variable})")
        rule = rule.strip().rstrip(";")
        return self._styles.setdefault(rule, f"s{len(self._styles)}")


def _prepared(axes: Any) -> dict[str, Any]:
    """Style the axes and put every artist in place, empty: moving them is cheaper than making them anew."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Rectangle

    axes.patch.set_visible(False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set(color=_QUIET, linewidth=0.6)
    axes.tick_params(length=3, width=0.6, color=_QUIET, labelcolor=_QUIET, labelsize=10, pad=2)
    axes.set_xlabel(" ", color=_QUIET, fontsize=11, labelpad=0)
    dots = {"linestyle": "none", "marker": "o", "markersize": 4.6, "markeredgewidth": 1.0, "clip_on": False}
    lines = {
        "floor": {"color": _QUIET, "linewidth": 0.8, "linestyle": (0, (1, 2))},
        "fit": {"color": _MEASURED, "linewidth": 1.1},
        "claim": {"color": _CLAIMED, "linewidth": 1.4, "linestyle": (0, (4, 2.5))},
        "excluded": dots | {"color": _MEASURED, "markerfacecolor": _PAPER, "zorder": 4},
        "used": dots | {"color": _MEASURED, "zorder": 5},
    }
    made = {name: axes.plot([], [], **style)[0] for name, style in lines.items()}
    made["shade"] = axes.add_patch(Rectangle((0, 0), 0, 0, color=_SHADE, linewidth=0))
    made["bars"] = axes.add_collection(LineCollection([], colors=_MEASURED, linewidths=0.8), autolim=False)
    return made


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


def _compact(part: str) -> str:
    """Coordinates to a tenth of a pixel, and no line breaks; what the reader reads is left alone."""
    return _QUOTED.sub(lambda quoted: _shortened(quoted[0]), part)


def _shortened(path: str) -> str:
    path = _NUMBER.sub(lambda match: f"{float(match[0]):.1f}".removesuffix(".0"), path)
    return re.sub(r"\s*\n\s*(?=[A-Zz\"])| +(?=\")", "", path)


def draw_trace(blocks: Sequence[Block], path: Path) -> None:
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
