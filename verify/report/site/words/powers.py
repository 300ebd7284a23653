"""Powers and indices in running text set as such: Unicode ones, which fonts draw unevenly, become HTML's."""

from __future__ import annotations

import re

from markupsafe import Markup

_RAISED = re.compile(r"[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+(?:[·ᐟ][⁰¹²³⁴⁵⁶⁷⁸⁹]+)?")
_PLAIN = str.maketrans("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹·ᐟ", "−+0123456789./")
_LOWERED = re.compile(r"[₀₁₂₃₄₅₆₇₈₉ᵣ]+")
_INDICES = str.maketrans("₀₁₂₃₄₅₆₇₈₉ᵣ", "0123456789r")
_OFF_LINE = re.compile(r"<(su[bp])>(.*?)</su[bp]>")
_MOVED = {
    "sup": '<tspan dy="-.42em" font-size=".72em">{}</tspan><tspan dy=".3em">\u200b</tspan>',
    "sub": '<tspan dy=".25em" font-size=".72em">{}</tspan><tspan dy="-.18em">\u200b</tspan>',
}
"""What stands for a tag in a drawing, the line's height regained after it."""
_TAG = re.compile(r"(<[^>]*>)")
_KEPT = ("svg", "script", "style", "code", "pre", "math", "sup", "sub", "option", "title")
"""Elements whose text stays as it is."""


def set_powers(body: Markup) -> Markup:
    """The markup with every power in its text raised and every index lowered.

    Attributes, code, formulas and drawings are left alone.
    """
    parts, inside = list[str](), list[str]()
    for part in _TAG.split(str(body)):
        if part.startswith("<"):
            name = re.match(r"</?([a-zA-Z0-9]*)", part)
            tag = name[1].lower() if name else ""
            if tag in _KEPT and not part.endswith("/>"):
                if part.startswith("</"):
                    if inside:
                        inside.pop()
                else:
                    inside.append(tag)
            parts.append(part)
        else:
            parts.append(part if inside else _set(part))
    return Markup("".join(parts))  # what came in, and numbers


def _set(text: str) -> str:
    text = _RAISED.sub(lambda match: f"<sup>{match[0].translate(_PLAIN)}</sup>", text)
    return _LOWERED.sub(lambda match: f"<sub>{match[0].translate(_INDICES)}</sub>", text)


def drawn_powers(text: str) -> Markup:
    """Escaped words of a drawing's label with every power raised, and what HTML raises or lowers."""
    text = _RAISED.sub(lambda match: f"<sup>{match[0].translate(_PLAIN)}</sup>", text)
    return Markup(_OFF_LINE.sub(lambda match: _MOVED[match[1]].format(match[2]), text))  # escaped, and numbers
