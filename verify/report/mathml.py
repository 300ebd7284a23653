"""LaTeX as MathML, which every browser of today sets by itself."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markupsafe import Markup

_BETTER = (
    # A row around a single letter changes nothing.
    (re.compile(r"<mrow>(<m[in](?: [^>]*)?>[^<]*</m[in]>)</mrow>"), r"\1"),
    # Nabla and the curly d are letters, as TeX has it: as operators they push their subscripts away.
    (re.compile(r"<mo>(&#x0220[27];)</mo>"), r'<mi mathvariant="normal">\1</mi>'),
    # Norm bars keep their size, and lean to neither side.
    (re.compile(r"<mo>(&#x02016;|\|)</mo>"), r'<mo fence="false" stretchy="false" lspace="0" rspace="0">\1</mo>'),
    (re.compile(r"<mo stretchy=.false.>&#x0005E;"), '<mo stretchy="false">&#710;'),
    (re.compile(r"<mo>&#x0005E;"), "<mo>&#x00302;"),
    (re.compile(r"<mo>&#x0007E;"), "<mo>&#x00303;"),
    # A displayed supremum carries its condition below, as minimum and maximum already do.
    (re.compile(r"<msub><mo>(sup|inf)</mo>(<mrow>(?:(?!</?msub>).)*?</mrow>|<m[in]>[^<]*</m[in]>)</msub>"),
     r"<munder><mo>\1</mo>\2</munder>"),
)  # fmt: skip
"""Corrections to what latex2mathml writes."""
_TAGS = {
    "math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "msub", "msup", "msubsup", "mfrac", "msqrt", "mroot", "mover",
    "munder", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom",
}  # fmt: skip
_ATTRIBUTES = {
    "display", "mathvariant", "stretchy", "fence", "form", "lspace", "rspace", "minsize", "maxsize", "accent", "width",
    "linethickness", "columnalign", "columnspacing", "rowspacing", "displaystyle", "scriptlevel", "separator",
    "movablelimits", "symmetric", "largeop", "rowlines", "columnlines", "height", "depth",
}  # fmt: skip
"""All that a formula may be made of."""
_NUMBERED = re.compile(r"&#x([0-9A-F]{1,6});")
_NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'
_WORDS = (
    (r"\left", ""), (r"\right", ""), (r"\big", ""), (r"\,", " "), (r"\;", " "), (r"\quad", " "),
    (r"\lVert", "‖"), (r"\rVert", "‖"), (r"\|", "‖"), (r"\le", "≤"), (r"\ge", "≥"),
)  # fmt: skip


@lru_cache(maxsize=4096)
def formula(latex: str, *, inline: bool = False) -> Markup:
    """One formula as ``<math>``; its source as code where it does not parse, nothing of the empty string.

    A displayed one may be wider than its column: it scrolls within itself, so it takes the focus.
    """
    if not latex:
        return Markup("")
    # latex2mathml wants a space after \mathrm.
    source = re.sub(r"\\mathrm{(.+?)}", r"\\mathrm {\1}", latex)
    try:
        markup = convert(source, display="inline" if inline else "block")
    except Exception:  # latex2mathml raises many kinds; the page shows the source instead
        return Markup("<code>{}</code>").format(spoken(latex))
    for pattern, better in _BETTER:
        markup = pattern.sub(better, markup)
    markup = _NUMBERED.sub(_character, markup.replace(_NAMESPACE, "", 1))
    if not _is_plain(markup):  # latex2mathml does not escape what a text in it holds
        return Markup("<code>{}</code>").format(spoken(latex))
    return Markup(markup if inline else markup.replace("<math ", '<math tabindex="0" ', 1))  # checked


def _character(match: re.Match[str]) -> str:
    """What is written by its number; what means something to a parser, or joins the letter before, stays so."""
    letter = chr(int(match[1], 16))
    return match[0] if letter in "<>&\"'" or unicodedata.combining(letter) else letter


def _is_plain(markup: str) -> bool:
    """Whether it is well-formed, and nothing but formulas."""
    try:
        elements = list(ElementTree.fromstring(markup).iter())
    except ElementTree.ParseError:
        return False
    names = {name for element in elements for name in element.attrib}
    return {element.tag for element in elements} <= _TAGS and names <= _ATTRIBUTES


def spoken(latex: str) -> str:
    """The LaTeX lightly cleaned, for readers of its source."""
    for command, sign in _WORDS:
        latex = re.sub(re.escape(command) + r"(?![A-Za-z])", sign, latex)
    return " ".join(latex.split())
