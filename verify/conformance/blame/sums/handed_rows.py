"""What an oracle call hands to its activation: widths of other sizes, rows and multipliers of other arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.measuring import fitted
from verify.conformance.blame.questions import line_6_question
from verify.conformance.blame.sums.call_points import CallPoint, Names, point_of
from verify.conformance.blame.sums.exchanges import Exchange, exchanges
from verify.conformance.blame.sums.term_basis import DIGITS
from verify.conformance.blame.whole_calls import Handed, play
from verify.conformance.probes.probes import Probe
from verify.method.factors import spelt_plainly
from verify.method.terms import HANDED, NORMS, WIDTHS, term_value

Widths = Callable[[CallPoint, float, float], tuple[float, float]]
"""The widths of both ramps from a point, the ramp constant and the multipliers' right width."""
SOME_POINTS = range(5)
"""Seeds of points at which it shows whether row values change."""


@dataclass(frozen=True)
class HandedRows:
    """An oracle call whose activation is handed something else; all stages are right."""

    what: str
    widths: Widths | None = None
    exchange: Exchange | None = None
    change: Callable[[Handed], Handed] | None = None

    @property
    def sentence(self) -> str:
        """What is handed over instead."""
        return f"its activation is handed {self.what}"

    @property
    def edits(self) -> int:
        """One change."""
        return 1

    def feed(self, probe: Probe, right: Handed) -> Handed | None:
        """What is handed over."""
        h, lam, h_width, lam_width = right
        # Weights are what is being made: any will do for a point.
        c = point_of(replace(probe, call=replace(probe.call, rho=np.zeros(len(h)))))
        if c is None:
            return None
        if self.widths is not None:
            h_width, lam_width = self.widths(c, float(probe.call.parameters.ramp_constant), lam_width)
        if self.exchange is not None:
            changed = self.exchange.change(c)
            if changed is None:
                return None
            h, lam = changed.h_star, changed.lam
        handed = h, lam, h_width, lam_width
        return handed if self.change is None else self.change(handed)

    def answer(self, probe: Probe) -> Vector | None:
        """What such an oracle call answers."""
        return play(probe, {"rows": self}) if probe.stage == "hypergradient" else probe.expected


@lru_cache(maxsize=1)
def handed_rows() -> tuple[HandedRows, ...]:
    """All single changes of what the activation is handed."""
    return tuple(_all_handed())


def _changed(change: dict[str, str], right: Handed) -> Handed:
    names: dict[str, Any] = dict(zip(("h", "lam", "h_width", "lam_width"), right, strict=True))
    h, lam, h_width, lam_width = (names | {name: term_value(text, names) for name, text in change.items()}).values()
    return h, lam, h_width, lam_width


def _all_handed() -> Iterator[HandedRows]:
    yield from (HandedRows(what, change=partial(_changed, change)) for what, change in HANDED.items())
    right = (2.0, 1, 3)
    for norm in NORMS:
        yield _h_width(norm, right)
    for factor in (4.0, 0.5, 3.0, 6.0, 10.0, 20.0, 0.2, 8.0, 16.0, 0.25, 2000.0, -2.0):
        yield _h_width("max(1,‖B‖)", (factor, 1, 3))
    for factor, constant, norm, power in product((2.0, 1.0), (1, 0), ("max(1,‖B‖)", ""), (3, 0)):
        if (factor, constant, norm, power) not in ((2.0, 1, "max(1,‖B‖)", 3), (2.0, 1, "", 3)):
            yield _h_width(norm, (factor, constant, power))
    for power in (-1, 1, 2, 4, 5, 6, -3):
        yield _h_width("max(1,‖B‖)", (2.0, 1, power))
    for factor, power in product((1.0, 2.0), (6, 4, 2, 1)):
        yield _h_width("", (factor, 1, power))
    for power in (2, -1):
        yield _h_width("max(1,‖B‖)", (2.0, power, 3))
    for factor in (0.5, 2.0, 10.0, 0.1, 3.0, 4.0, 0.25):
        told = {"lam_width": f"{factor} * eps_lam"}
        yield HandedRows(f"{factor:g}·ε_λ for the multipliers' width ε_λ", partial(_by_formulas, told))
    for what, told in WIDTHS.items():
        yield HandedRows(what, partial(_by_formulas, told))
    for exchange in exchanges():
        if not exchange.of_y and _moves_rows(exchange):
            yield HandedRows(f"rows and multipliers made with {exchange.name}", exchange=exchange)


def measured_widths(off: Callable[[HandedRows], float]) -> Iterator[HandedRows]:
    """Widths with a number that is measured: where a call with them is off least, ``off`` saying how far."""
    without = off(HandedRows("what it should be"))
    for rows_of in (*_h_widths(), *_lam_widths()):

        def off_with(value: float, rows_of: Callable[[float], HandedRows] = rows_of) -> float:
            return off(rows_of(value))

        number = fitted(off_with, *REACH, without=without)
        if number is not None:
            yield rows_of(number)


REACH = (1e-8, 1e3)
"""Numbers that a width may have."""


def _h_widths() -> Iterator[Callable[[float], HandedRows]]:
    """Widths of h's ramp by their number: with and without τ and ‖B‖, and fixed or of other powers of α."""
    for power, constant, norm in product((0, 3, 2, 1, 4), (1, 0), ("max(1,‖B‖)", "")):
        yield partial(_numbered, norm, constant, power)


def _numbered(norm: str, constant: int, power: int, number: float) -> HandedRows:
    return _h_width(norm, (number, constant, power))


def _lam_widths() -> Iterator[Callable[[float], HandedRows]]:
    """Widths of the multipliers' ramp by their number."""
    for spelt, formula in (("", ""), ("·ε_λ", " * eps_lam"), ("·α", " * alpha"), ("·α³", " * alpha ** 3")):
        yield partial(_numbered_lam, spelt, formula)


def _numbered_lam(spelt: str, formula: str, number: float) -> HandedRows:
    told = {"lam_width": f"{number!r}{formula}"}
    return HandedRows(f"{spelt_plainly(number)}{spelt} for the multipliers' width ε_λ", partial(_by_formulas, told))


def _moves_rows(exchange: Exchange) -> bool:
    """Whether row values or multipliers change at all."""
    pairs = ((c, exchange.change(c)) for c in map(point_of, map(line_6_question, SOME_POINTS)) if c is not None)
    return any(
        not (np.array_equal(c.h_star, changed.h_star) and np.array_equal(c.lam, changed.lam))
        for c, changed in pairs
        if changed is not None
    )


def _by_formulas(told: dict[str, str], c: CallPoint, constant: float, width: float) -> tuple[float, float]:
    right = {"h_width": _right_width(c, constant), "eps_lam": width, "ramp_constant": constant}
    names = Names(c, right)
    h_width, lam_width = (told.get(name, own) for name, own in (("h_width", "h_width"), ("lam_width", "eps_lam")))
    return float(term_value(h_width, names)), float(term_value(lam_width, names))


def _right_width(c: CallPoint, constant: float) -> float:
    return 2.0 * constant * float(c.value(NORMS["max(1,‖B‖)"])) * c.alpha**3


def _h_width(norm: str, numbers: tuple[float, int, int]) -> HandedRows:
    factor, of_constant, of_alpha = numbers
    spelt = "" if of_alpha == 0 else f"α{str(of_alpha).translate(DIGITS)}"
    tau = {0: "", 1: "τ", 2: "τ²", -1: "τ⁻¹"}[of_constant]
    parts = [part for part in ((f"{factor:g}" if factor != 1 or not tau else "") + tau, norm, spelt) if part]
    return HandedRows(
        f"{'·'.join(parts)} for the width 2τ·max(1,‖B‖)·α³ of h's ramp",
        lambda c, t, w: (factor * t**of_constant * float(c.value(NORMS[norm])) * c.alpha**of_alpha, w),
    )
