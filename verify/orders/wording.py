"""Expressions of the order data in print: ``L_Hy * inner_tol`` as L_{H,y} δ."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_POWER = re.compile(r"\^(?:\((-?\d+(?:/\d+)?)\)|(-?\d+))")
_SUPERSCRIPTS = str.maketrans("-0123456789/", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᐟ")


def printed(text: str, symbols: Mapping[str, str]) -> str:
    """An expression or inequality with the paper's symbols, powers raised and products closed up."""
    # Powers first: a symbol may hold a caret of its own.
    parts = re.split(r"([A-Za-z][A-Za-z0-9_]*)", text)
    named = [symbols.get(part, part) if _NAME.fullmatch(part) else _raised(part) for part in parts]
    shown = "".join(named).replace(" * ", "·").replace(" / ", "/").replace("1 /", "1/")
    return shown.replace("<=", "≤").replace(">=", "≥")


def _raised(text: str) -> str:
    return _POWER.sub(lambda found: (found[1] or found[2]).translate(_SUPERSCRIPTS), text)
