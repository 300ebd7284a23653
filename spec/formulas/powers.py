"""Powers in print: raised digits, and a name with its power."""

from __future__ import annotations

from fractions import Fraction

_RAISED = str.maketrans("-−0123456789./", "⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹·ᐟ")


def superscript(value: object) -> str:
    """A number in print as Unicode superscripts: ``⁻²``, ``⁰·⁵``, ``¹ᐟ²``."""
    return str(value).translate(_RAISED)


def raised(name: str, exponent: float | Fraction) -> str:
    """A power in print: ``α²``, ``α``, ``1``, ``α⁰·⁵``, ``α¹ᐟ²``."""
    if exponent in (0, 1):
        return name if exponent else "1"
    return name + superscript(f"{exponent:g}" if isinstance(exponent, float) else exponent)
