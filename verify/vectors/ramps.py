"""The cases of the activation stage: numbers alone, at every corner of both ramps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from verify.vectors.building import activation_vector
from verify.vectors.model import TestVector
from verify.vectors.numbers import rounded
from verify.vectors.places import atlas_places
from verify.vectors.seeds import generator

_CORNERS: tuple[tuple[str, float, float, str], ...] = (
    ("boundary-and-full", 0.0, 1.0, "at the boundary with a clear multiplier: weight 1"),
    ("boundary-and-half", 0.0, 0.5, "at the boundary, multiplier half way up its ramp"),
    ("boundary-and-none", 0.0, 0.0, "at the boundary without a multiplier: weakly active, weight 0"),
    ("quarter-and-full", -0.25, 1.0, "a quarter of the width inside"),
    ("quarter-and-half", -0.25, 0.5, "on both ramps: the product, not the smaller"),
    ("half-and-half", -0.5, 0.5, "in the middle of both ramps"),
    ("three-quarters-and-full", -0.75, 1.0, "near the lower end of the ramp"),
    ("width-and-full", -1.0, 1.0, "exactly one width inside: weight 0"),
    ("slack-and-full", -4.0, 1.0, "far inside with a multiplier: weight 0"),
    ("violated-and-full", 0.5, 1.0, "violated: the ramp stays at 1"),
    ("violated-and-half", 2.0, 0.5, "violated, multiplier half way"),
    ("boundary-and-negative", 0.0, -1.0, "a negative multiplier: weight 0"),
    ("boundary-and-huge", 0.0, 1000.0, "a multiplier far above its ramp: weight 1, not more"),
    ("quarter-and-quarter", -0.25, 0.25, "on both ramps"),
    ("slack-and-none", -2.0, 0.0, "inactive: weight 0"),
)
"""Name, h in widths, multiplier in widths, what it shows."""
_WIDTHS: tuple[tuple[str, float, float], ...] = (
    ("equal-widths", 0.125, 0.125),
    ("repaired-tenth", 0.002, 0.1),
    ("as-written-tenth", 1e-06, 0.1),
)


def activation() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    """One corner at a time beside a row that is full and one that is off, then whole vectors."""
    for width_name, h_width, lam_width in _WIDTHS:
        for name, h_share, lam_share, notes in _CORNERS:
            h = rounded([Fraction(h_share) * Fraction(h_width), Fraction(0), Fraction(-10)])
            lam = rounded([Fraction(lam_share) * Fraction(lam_width), Fraction(2), Fraction(0)])
            full = f"{name}/{width_name}"
            text = f"Row 0 {notes}; row 1 is full, row 2 off."
            yield f"activation/{full}", _case(full, h, lam, h_width, lam_width, text, ())
    for p in (1, 2, 5, 10, 20):
        draw = generator(f"activation/random-{p}")
        h = rounded(Fraction(float(v)).limit_denominator(4096) for v in draw.uniform(-0.3, 0.1, p))
        lam = rounded(Fraction(float(v)).limit_denominator(4096) for v in draw.uniform(-0.05, 0.2, p))
        text = f"{p} rows scattered over both ramps."
        yield f"activation/random-{p}", _case(f"random-{p}", h, lam, 0.25, 0.125, text, ())
    for found in atlas_places():
        setting = found.setting()
        h, lam = rounded(setting.lower.h), rounded(setting.lower.lam)
        text = f"The exact pair of {found.name} at alpha = 1/10."
        yield (
            f"activation/{found.name}",
            _case(found.name, h, lam, setting.h_width(), float(setting.lam_width), text, found.strata),
        )


def _case(
    name: str,
    h: tuple[Fraction, ...],
    lam: tuple[Fraction, ...],
    h_width: float,
    lam_width: float,
    notes: str,
    strata: tuple[str, ...],
) -> Callable[[], TestVector]:
    return lambda: activation_vector(name, h, lam, h_width, lam_width, notes, strata)
