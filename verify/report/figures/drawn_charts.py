"""Curves as inline pictures that take the page's ink, told apart by colour, marker and dash."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any, Literal

from markupsafe import Markup

from verify.evidence.charts import Mark, Plot, Series
from verify.report.figures.spoken_text import heard

WIDTH, HEIGHT = 460.0, 300.0
"""Size of one picture, CSS pixels at its natural size."""
PALETTE = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a", "#a0522d", "#010101", "#7b4fc9",
    "#7a8b00",
)  # fmt: skip
"""Told apart with any colour vision (Okabe and Ito, 2008), and readable on light and on dark paper; then five more."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", "p", ">")
DASHES = ("solid", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (6, 1.5, 1.5, 1.5)))
_INK = {"#010101": "var(--ink)", "#020202": "var(--quiet)"}
LEGEND = 10.0
"""Size of a legend's letters, points."""
CROWD, COLUMNS, LINE = 5, 2, 15.0
"""More series than this have their legend below the picture, in columns, which is then higher by so much a line."""
APART, LINE_OF_TEXT = 0.052, 11.0
"""Least distance of two direct labels, in heights of the axes; and of two marks' texts at one place, points."""


def pictures(plots: Sequence[Plot], salt: str, *, direct: bool = False) -> list[tuple[Plot, Markup]]:
    """All pictures of a page or of a result: a series looks the same in each; ``direct`` writes names at curves."""
    names = list(dict.fromkeys(series.name for plot in plots for series in plot.series))
    return [(plot, picture(plot, names, f"{salt}-{i}", direct=direct)) for i, plot in enumerate(plots)]


def picture(plot: Plot, names: list[str], salt: str, *, direct: bool = False) -> Markup:
    """One picture as inline SVG; ``names`` are all series of the page, whose place gives colour, marker and dash."""
    return _inline(_saved(plot, names, salt, "svg", direct=direct).decode("utf-8"), plot)


def taken_away(plots: Sequence[Plot], salt: str, *, direct: bool = False) -> dict[str, str | bytes]:
    """The same pictures as files, ``NAME-1.svg`` and ``NAME-1.pdf``, in black on nothing."""
    names, files = (
        list(dict.fromkeys(series.name for plot in plots for series in plot.series)),
        dict[str, str | bytes](),
    )
    for at, plot in enumerate(plots):
        svg = _saved(plot, names, f"{salt}-{at}", "svg", direct=direct).decode("utf-8")
        files[f"{salt}-{at + 1}.svg"] = "<!-- f2csa-verify -->\n" + svg[svg.index("<svg") :]
        files[f"{salt}-{at + 1}.pdf"] = _saved(plot, names, f"{salt}-{at}", "pdf", direct=direct)
    return files


def _saved(plot: Plot, names: list[str], salt: str, kind: Literal["svg", "pdf"], *, direct: bool = False) -> bytes:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": salt, "pdf.fonttype": 42, "font.size": 9.5, "axes.titlesize": 10.5}
    ):
        crowded = len(plot.series) > CROWD and not direct
        height = HEIGHT + (LINE * -(-len(plot.series) // COLUMNS) if crowded else 0.0)
        figure = Figure(figsize=(WIDTH / 72, height / 72), layout="constrained")
        FigureCanvasAgg(figure)
        figure.patch.set_visible(False)
        axes = figure.subplots()
        _scaled(axes, plot)
        for series in plot.series:
            _draw(axes, series, names.index(series.name))
        _mark(axes, plot.marks)
        if direct:
            _label(axes, plot.series, names)
        if crowded:
            figure.legend(
                loc="outside lower center", ncols=COLUMNS, fontsize=LEGEND, frameon=False, labelcolor="#010101"
            )
        elif len(plot.series) > 1 and not direct:
            axes.legend(fontsize=LEGEND - 1, frameon=False, labelcolor="#010101")
        stream = io.BytesIO()
        about = {"Date": None} if kind == "svg" else {"Creator": "f2csa-verify", "CreationDate": None}
        figure.savefig(stream, format=kind, metadata=about, transparent=True)
    return stream.getvalue()


def _scaled(axes: Any, plot: Plot) -> None:
    axes.patch.set_visible(False)
    axes.set_title(plot.title, color="#010101", loc="left")
    axes.set_xlabel(plot.x_label, color="#020202")
    axes.set_ylabel(plot.y_label, color="#020202")
    axes.tick_params(which="both", color="#020202", labelcolor="#020202", width=0.6)
    if plot.log_x:
        axes.set_xscale("log")
    if plot.log_y:
        axes.set_yscale("log")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set(color="#020202", linewidth=0.6)


def _draw(axes: Any, series: Series, at: int) -> None:
    # The twelfth series has the first's colour again, with another marker and another dash.
    again = at // len(PALETTE)
    colour, marker = PALETTE[at % len(PALETTE)], MARKERS[(at + 3 * again) % len(MARKERS)]
    dash = DASHES[(at + again) % len(DASHES)]
    few = len(series.x) <= 16
    axes.plot(
        series.x, series.y, color=colour, linestyle=dash, linewidth=1.3, label=series.name, marker=marker,
        markersize=4.0 if few else 3.2, markevery=1 if few else max(1, len(series.x) // 8),
    )  # fmt: skip
    if series.low:
        axes.fill_between(series.x, series.low, series.high, color=colour, alpha=0.16, linewidth=0)


def _mark(axes: Any, marks: Sequence[Mark]) -> None:
    """The paper's own points; texts at one place stand one above the other, the lowest below its mark."""
    for at in sorted({mark.x for mark in marks}):
        column = sorted((mark for mark in marks if mark.x == at), key=lambda mark: mark.y)
        heights = [72 / axes.figure.dpi * float(axes.transData.transform((mark.x, mark.y))[1]) for mark in column]
        offsets = [-LINE_OF_TEXT - 2 if len(column) > 1 else 5.0]
        for k in range(1, len(column)):
            offsets.append(max(5.0, heights[k - 1] + offsets[k - 1] + LINE_OF_TEXT - heights[k]))
        for mark, up in zip(column, offsets, strict=True):
            axes.plot([mark.x], [mark.y], "x", color="#010101", markersize=7, zorder=6)
            axes.annotate(
                mark.text, (mark.x, mark.y), textcoords="offset points", xytext=(-6, up),
                color="#010101", fontsize=8.5, ha="right",
            )  # fmt: skip


def _label(axes: Any, series: Sequence[Series], names: list[str]) -> None:
    """Each curve's name at the right edge, as high as its end, or near where names would touch; a line leads there."""
    axes.autoscale_view()
    ends = []
    for one in series:
        x, y = axes.transAxes.inverted().transform(axes.transData.transform((one.x[-1], one.y[-1])))
        ends.append((float(y), float(x), one.name))
    for (end, x, name), y in zip(sorted(ends), spread([end for end, _, _ in sorted(ends)], APART), strict=True):
        colour = PALETTE[names.index(name) % len(PALETTE)]
        axes.plot([x, 1.02], [end, y], transform=axes.transAxes, color=colour, linewidth=0.5, clip_on=False)
        axes.text(1.03, y, name, transform=axes.transAxes, color=colour, fontsize=LEGEND - 1.5, va="center")


def spread(heights: Sequence[float], apart: float) -> list[float]:
    """Ascending heights moved as little as it takes to be so far apart: groups that touch keep their mean."""
    groups: list[list[float]] = []
    for height in heights:
        groups.append([height])
        while len(groups) > 1 and _place(groups[-1], apart)[0] < _place(groups[-2], apart)[-1] + apart:
            last = groups.pop()
            groups[-1] += last
    return [place for group in groups for place in _place(group, apart)]


def _place(group: Sequence[float], apart: float) -> list[float]:
    middle, count = sum(group) / len(group), len(group)
    return [middle + (k - (count - 1) / 2) * apart for k in range(count)]


def _inline(source: str, plot: Plot) -> Markup:
    body = source[source.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    for marked, variable in _INK.items():
        body = body.replace(marked, variable)
    label = Markup.escape(heard(f"{plot.title}: {plot.y_label} against {plot.x_label}"))
    return Markup(body.replace("<svg ", f'<svg class="picture" role="img" aria-label="{label}" ', 1))
