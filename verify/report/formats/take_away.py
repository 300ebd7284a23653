"""Plots to take away: a page's drawing as an SVG file of its own, in the colours of light paper, and as PDF.

A page's drawings are lines, dots and words (:mod:`verify.report.site.plots.slope_plot`); the PDF has the same ones,
drawn again, with the fonts in it.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from verify.report.site.frame import SiteFrame, stylesheet_text
from verify.report.site.plots.slope_plot import figure

MARK, CREATOR = "<!-- f2csa-verify -->", "f2csa-verify"
FAMILY = ("STIXGeneral", "DejaVu Serif")
"""Fonts of a PDF: both come with the library that draws it."""
_RULE = re.compile(r"(?:\}|\*/|\n)\s*\.([\w-]+)\s*\{([^{}]*)(?=\})")
_VARIABLE = re.compile(r"var\(--([\w-]+)\)")
_USED = ("axis", "tick", "s-bad", "s-good", "s-claim", "p-bad", "p-good", "p-floor", "t-bad", "t-good", "t-claim")
_COMMAND = re.compile(r"([MLHVlZ])([^MLHVlZ]*)")
_SHIFT = re.compile(r"\s+")


@lru_cache(maxsize=1)
def _rules() -> Mapping[str, Mapping[str, str]]:
    """By class of a drawing: its rules in the style sheet, the colours those of light paper."""
    sheet = stylesheet_text()
    root = re.search(r":root \{([^}]*)\}", sheet)
    colours = dict(re.findall(r"--([\w-]+):\s*(#[0-9a-fA-F]+)", root[1] if root else ""))
    screen = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", sheet)
    rules: dict[str, dict[str, str]] = {}
    for name, body in _RULE.findall(screen):
        if name in _USED:
            plain = _VARIABLE.sub(lambda one: colours.get(one[1], "#000"), body.replace("!important", ""))
            pairs = (part.partition(":") for part in plain.split(";") if ":" in part)
            rules.setdefault(name, {}).update({key.strip(): value.strip() for key, _, value in pairs})
    return rules


def as_svg(drawing: Markup) -> str:
    """A drawing of a page as a file: what the page's style sheet says of it within."""
    style = "".join(
        f".{name}{{{';'.join(f'{key}:{value}' for key, value in rules.items())}}}" for name, rules in _rules().items()
    )
    opening, rest = str(drawing).split(">", 1)
    space = "" if "xmlns=" in opening else ' xmlns="http://www.w3.org/2000/svg"'
    text = "text{font-family:Georgia,'DejaVu Serif',serif;fill:#1f1e1b}"
    return f"{MARK}\n{opening}{space}><style>{text}{style}</style>{rest}\n"


def as_pdf(drawing: Markup) -> bytes:
    """The same as a page of PDF of the drawing's size; the same drawing gives the same bytes.

    Raises:
        ValueError: If the drawing has a shape that no page of ours draws.
    """
    import matplotlib
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    root = ET.fromstring(as_svg(drawing).partition("\n")[2])
    _, _, width, height = (float(part) for part in root.attrib["viewBox"].split())
    with matplotlib.rc_context({"pdf.fonttype": 42, "font.family": FAMILY}):
        page = Figure(figsize=(width / 72, height / 72))
        FigureCanvasPdf(page)
        axes = page.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.axis("off")
        for element in root.iter():
            _draw(axes, element)
        stream = io.BytesIO()
        page.savefig(stream, format="pdf", transparent=True, metadata={"Creator": CREATOR, "CreationDate": None})
    return stream.getvalue()


def _draw(axes: Any, element: ET.Element) -> None:
    from matplotlib.patches import Circle, PathPatch

    tag = element.tag.rpartition("}")[2]
    look = {key: value for name in element.get("class", "").split() for key, value in _rules().get(name, {}).items()}
    paint = {
        "facecolor": look.get("fill", "none"), "edgecolor": look.get("stroke", "none"),
        "linewidth": float(look.get("stroke-width", 1)), "clip_on": False,
        "linestyle": _dashes(look.get("stroke-dasharray", "")),
    }  # fmt: skip
    if tag == "path":
        axes.add_patch(PathPatch(_path(element.attrib["d"]), **paint))
    elif tag == "circle":
        middle = (float(element.attrib["cx"]), float(element.attrib["cy"]))
        axes.add_patch(Circle(middle, float(element.attrib["r"]), **paint))
    elif tag == "text":
        size = float(look.get("font-size", "12").removesuffix("px"))
        anchor = {"end": "right", "middle": "center"}.get(element.get("text-anchor", ""), "left")
        axes.text(
            float(element.attrib["x"]), float(element.attrib["y"]), _words(element), fontsize=size, ha=anchor,
            va="baseline", color=look.get("fill", "#1f1e1b"), style=look.get("font-style", "normal"),
            weight="bold" if look.get("font-weight") == "600" else "normal",
        )  # fmt: skip
    elif tag not in ("svg", "style", "tspan"):
        raise ValueError(f"a drawing must be of paths, circles and texts; got {tag}")


def _dashes(text: str) -> Any:
    parts = tuple(float(part) for part in text.replace(",", " ").split())
    return (0, parts) if parts else "solid"


def _words(element: ET.Element) -> str:
    """A label with its raised parts as powers."""
    pieces = [element.text or ""]
    for part in element:
        power = (part.text or "").strip("\u200b")
        raised = part.get("dy", "").startswith("-") and power
        pieces += [rf"$^{{{power.replace('−', '-')}}}$" if raised else power, part.tail or ""]
    return _SHIFT.sub(" ", "".join(pieces)).strip()


def _path(d: str) -> Any:
    """A path of straight lines: ``M``, ``L``, ``H``, ``V``, ``l`` and ``Z``."""
    from matplotlib.path import Path

    points: list[tuple[float, float]] = []
    codes: list[int] = []
    start = (0.0, 0.0)
    for command, text in _COMMAND.findall(d):
        numbers = [float(part) for part in re.findall(r"-?\d*\.?\d+", text)]
        if command == "Z":
            points.append(start)
            codes.append(int(Path.CLOSEPOLY))
            continue
        for at in _ends(command, numbers, points[-1] if points else start):
            opens = command == "M" and at == (numbers[0], numbers[1])
            start = at if opens else start
            points.append(at)
            codes.append(int(Path.MOVETO if opens else Path.LINETO))
    return Path(points, codes)


def _ends(command: str, numbers: list[float], last: tuple[float, float]) -> Iterator[tuple[float, float]]:
    if command == "H":
        yield from ((x, last[1]) for x in numbers)
    elif command == "V":
        yield from ((last[0], y) for y in numbers)
    else:
        for x, y in zip(numbers[::2], numbers[1::2], strict=True):
            last = (last[0] + x, last[1] + y) if command == "l" else (x, y)
            yield last


def plots_of(site: SiteFrame) -> dict[str, str | bytes]:
    """Every statement's plot of a report, as ``bias-bound.T3.svg`` and ``.pdf``."""
    files: dict[str, str | bytes] = {}
    for entry in site.outline.statements:
        drawn = figure([(reading, site.number(reading)) for reading in entry.named.values()], entry.title)
        if drawn is not None:
            name = entry.id.replace("/", ".")
            files |= {f"{name}.svg": as_svg(drawn.svg), f"{name}.pdf": as_pdf(drawn.svg)}
    return files
