"""Plain text as prose sets it: ``C_f`` with a lowered f, ``α^-2`` with a raised −2."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Mapping

_LETTER = r"[A-Za-zα-ωΑ-Ωℒℓ]\u0303?"
_INDEX = r"\{[^{}]{1,24}\}|∇h|[α-ωΑ-Ω]|[A-Za-z0-9]{1,4}(?![A-Za-z0-9_])"
_SUBSCRIPT = re.compile(rf"(?<![\w.])(?:({_LETTER})_({_INDEX})|(∇)_(\{{[^{{}}]{{1,24}}\}}|[a-z]))")
_POWER = re.compile(r"(?<=[\w)\u0303>])\^(\{[^}]{1,24}\}|[-−+]?\d+(?:[./]\d+)?|[A-Za-z*]\b|\*)")
_ONE = re.compile(r"\^1(?![\d./])")
_MINUS = re.compile(r"(?<![\w.)])-(?=\d)| - ")
_PLUS = re.compile(r"(?<![\w.)])\+(?=\d)")
_SIGNS = (("&lt;=", "≤"), ("&gt;=", "≥"), ("==", "="))
_GREEK = {"alpha": "α", "delta": "δ", "epsilon": "ε", "eta": "η", "kappa": "κ", "lambda": "λ", "mu": "μ", "rho": "ρ",
          "sigma": "σ", "tau": "τ"}  # fmt: skip
_SPELT = re.compile(rf"(?<![\w.-])({'|'.join(_GREEK)})(?![\w-]|\.\w)")
_WORD = re.compile(r"[a-z]{2,}\b")


def typeset(text: str) -> Markup:
    """The text as HTML, with subscripts, powers, relations and Greek letters set as such; all else is escaped.

    Names of several letters, such as ``dual_term``, are left alone.
    """
    shown = str(escape(text))
    shown = _PLUS.sub("", shown)
    for plain, sign in _SIGNS:
        shown = shown.replace(plain, sign)
    shown = _SPELT.sub(lambda found: _GREEK[found[1]], shown)
    shown = _SUBSCRIPT.sub(
        lambda found: f"{found[1] or found[3]}<sub>{(found[2] or found[4]).strip('{}')}</sub>", _ONE.sub("", shown)
    )
    shown = _POWER.sub(lambda found: f"<sup>{found[1].strip('{}+').replace('-', '−')}</sup>", shown)
    return Markup(_MINUS.sub(lambda found: found[0].replace("-", "−"), shown))  # escaped above


def sentence(text: str, anchors: Mapping[str, str] | None = None) -> Markup:
    """The text set as prose, opening with a capital, with the steps it names linked to their sections."""
    opening = text[:1].upper() + text[1:] if _WORD.match(text) else text
    shown = typeset(opening)
    # Only steps: a claim's bare name may be an ordinary word.
    names = [name for name in anchors or {} if "/" in name and name in text]
    for name in sorted(names, key=len, reverse=True):
        link = str(Markup('<a href="#{}">{}</a>').format((anchors or {})[name], name))
        shown = Markup(re.sub(rf"(?<![\w/-]){re.escape(name)}(?![\w/-])", link.replace("\\", r"\\"), str(shown)))
    return shown
