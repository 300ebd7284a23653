"""LaTeX set as inline SVG, its glyphs kept once a page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from xml.etree import ElementTree

from markupsafe import Markup

_SIZE = 12.0
"""Ziamath draws its glyphs at this size, so that only scripts need scaling."""
_LONG = re.compile(r"-?\d+\.\d{3,}")
_LOOSE = re.compile(r"(?<=[A-Z]) | (?=[A-Z])")
_BETTER = (
    # A hat over one letter is an accent, not a roof.
    (re.compile(r"(<mover accent=.true.>(?:<mi[^>]*>[^<]*</mi>|<mrow><m[io][^>]*>[^<]*</m[io]></mrow>))"
                r"<mo>&#x00302;</mo>"), r'\1<mo stretchy="false">&#710;</mo>'),
    # A row around a single letter changes nothing and doubles the time: a row is laid out twice.
    (re.compile(r"<mrow>(<m[in](?: [^>]*)?>[^<]*</m[in]>)</mrow>"), r"\1"),
    # Nabla and the curly d are set as letters, as TeX does: as operators they push their subscripts away.
    (re.compile(r"<mo>(&#x0220[27];)</mo>"), r'<mrow><mi mathvariant="normal">\1</mi></mrow>'),
    # Norm bars without \left and \right keep their size; stretched, they show the seams of their pieces.
    (re.compile(r"<mo>(&#x02016;|\|)</mo>"), r'<mo fence="false" stretchy="false">\1</mo>'),
    # A displayed supremum carries its condition below, as minimum and maximum already do.
    (re.compile(r"<msub><mo>(sup|inf)</mo>(<mrow>(?:(?!</?msub>).)*?</mrow>|<m[in]>[^<]*</m[in]>)</msub>"),
     r"<munder><mo>\1</mo>\2</munder>"),
    (re.compile(r"^(<math[^>]*>)<mrow>(.*)</mrow></math>$"), r"\1\2</math>"),
)  # fmt: skip
"""Corrections to the MathML that latex2mathml writes."""

_WORDS = (
    (r"\left", ""), (r"\right", ""), (r"\big", ""), (r"\,", " "), (r"\;", " "), (r"\quad", " "),
    (r"\lVert", "‖"), (r"\rVert", "‖"), (r"\|", "‖"), (r"\le", "≤"), (r"\ge", "≥"),
)  # fmt: skip


@dataclass(frozen=True)
class Formula:
    """A formula taken apart: glyphs, each with its scale and place on the baseline, and plain shapes."""

    left: float
    top: float
    width: float
    height: float
    glyphs: tuple[tuple[str, float, float, float], ...]
    shapes: str


class FormulaSheet:
    """The formulas of one page.

    Each formula becomes an ``<svg>`` of the text's own colour and size that refers to glyphs; the glyphs, shared by all
    formulas, are written once by :meth:`glyphs`. Formulas that cannot be set are shown as code. ``ready`` are those set
    ahead.
    """

    def __init__(self, prefix: str = "g", ready: Mapping[tuple[str, bool], Formula | None] | None = None) -> None:
        self._prefix = prefix
        self._ready = ready or {}
        self._names: dict[str, str] = {}

    def render(self, latex: str, *, inline: bool = False) -> Markup:
        """One formula as inline SVG, its alternative text the LaTeX itself."""
        if not latex:
            return Markup("")
        key = (latex, inline)
        made = self._ready[key] if key in self._ready else set_formula(latex, inline)
        if made is None:
            return Markup("<code>{}</code>").format(latex)
        uses = "".join(self._use(*glyph) for glyph in made.glyphs)
        # Sized in em and set on the baseline, a formula grows with the text around it.
        view = f"{made.left:.2f} {made.top:.2f} {made.width:.2f} {made.height:.2f}"
        style = (
            f"width:{made.width / _SIZE:.2f}em;height:{made.height / _SIZE:.2f}em;"
            f"vertical-align:{-(made.top + made.height) / _SIZE:.2f}em"
        )
        opening = Markup('<svg class="formula" role="img" aria-label="{}" viewBox="{}" style="{}">')
        return opening.format(spoken(latex), view, style) + Markup(f"{uses}{made.shapes}</svg>")  # numbers

    def glyphs(self) -> Markup:
        """The hidden sheet of all glyphs used so far; goes once into the page."""
        paths = "".join(f'<path id="{name}" d="{outline}"/>' for outline, name in self._names.items())
        return Markup(
            f'<svg class="sheet" aria-hidden="true" width="0" height="0"><defs>{paths}</defs></svg>'
        )  # outlines

    def _use(self, outline: str, scale: float, x: float, y: float) -> str:
        # Nothing but the outline makes two glyphs the same.
        name = self._names.setdefault(outline, f"{self._prefix}{len(self._names)}")
        if abs(scale - 1) > 1e-3:
            return f'<use href="#{name}" transform="translate({_short(x)} {_short(y)})scale({scale:.3f})"/>'
        place = "".join(f' {axis}="{_short(at)}"' for axis, at in (("x", x), ("y", y)) if _short(at) != "0")
        return f'<use href="#{name}"{place}/>'


def spoken(latex: str) -> str:
    """The LaTeX lightly cleaned, for readers who hear the page."""
    for command, sign in _WORDS:
        latex = re.sub(re.escape(command) + r"(?![A-Za-z])", sign, latex)
    return " ".join(latex.split())


@lru_cache(maxsize=512)
def set_formula(latex: str, inline: bool) -> Formula | None:
    """The formula as ziamath sets it; ``None`` where it does not parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # ziamath's import uses importlib.resources.path
        from ziamath.tex import tex2mml
        from ziamath.zmath import Math
    try:
        mathml = tex2mml(latex, inline=inline)
        for pattern, better in _BETTER:
            mathml = pattern.sub(better, mathml)
        return _taken_apart(Math(mathml, size=_SIZE).svgxml())
    except Exception:  # ziamath and latex2mathml raise many kinds; the page shows the source instead
        return None


def _taken_apart(svg: ElementTree.Element) -> Formula:
    outlines: dict[str, tuple[list[float], str]] = {}
    glyphs: list[tuple[str, float, float, float]] = []
    shapes: list[str] = []
    for element in svg:
        if element.tag == "symbol":
            path = element.find("path")
            # A space has a symbol, but no outline.
            if path is not None:
                outlines[f"#{element.get('id')}"] = (
                    _numbers(element.get("viewBox", "")),
                    _shortened(path.get("d", "")),
                )
        elif element.tag == "use":
            if element.get("href") in outlines:
                view, outline = outlines[element.get("href", "")]
                x, y, height = (float(element.get(name, "0")) for name in ("x", "y", "height"))
                scale = height / view[3]
                glyphs.append((outline, scale, x - scale * view[0], y - scale * view[1]))
        else:
            # Rules of fractions and roots; their colour is the page's business.
            element.attrib = {name: _shortened(value) for name, value in element.attrib.items() if name != "fill"}
            shapes.append(ElementTree.tostring(element, encoding="unicode"))
    left, top, width, height = _numbers(svg.get("viewBox", ""))
    return Formula(left, top, width, height, tuple(glyphs), "".join(shapes))


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split()]


def _short(value: float) -> str:
    # Adding zero turns a rounded -0.0 into 0.0.
    return f"{round(value, 2) + 0.0:g}"


@lru_cache(maxsize=2048)
def _shortened(path: str) -> str:
    path = _LONG.sub(lambda number: _short(float(number[0])), path)
    return _LOOSE.sub("", path.strip())
