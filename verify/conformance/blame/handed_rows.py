"""What an oracle call hands to its activation: widths of other sizes, rows and multipliers of other arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.call_points import CallPoint, point_of
from verify.conformance.blame.exchanges import Exchange, exchanges
from verify.conformance.blame.questions import line_6_question
from verify.conformance.blame.term_basis import DIGITS
from verify.conformance.blame.whole_calls import Handed, play
from verify.conformance.probes import Probe

Widths = Callable[[CallPoint, float, float], tuple[float, float]]
"""The widths of both ramps from a point, the ramp constant and the multipliers' right width."""
NORMS: dict[str, Callable[[CallPoint], float]] = {
    "max(1,‖B‖)": lambda c: max(1.0, _norm(c.q.B)), "‖B‖": lambda c: _norm(c.q.B), "": lambda c: float(c.alpha**0),
    "max(1,‖B‖²)": lambda c: max(1.0, _norm(c.q.B) ** 2), "‖B‖²": lambda c: _norm(c.q.B) ** 2,
    "max(1,‖B‖_F)": lambda c: max(1.0, float(np.linalg.norm(c.q.B))),
    "max(1, the sum of |B|)": lambda c: max(1.0, float(np.abs(c.q.B).sum())),
    "max(1, the largest |B|)": lambda c: max(1.0, float(np.abs(c.q.B).max())),
    "max(1, B's largest row sum)": lambda c: max(1.0, float(np.linalg.norm(c.q.B, np.inf))),
    "max(1, B's largest column sum)": lambda c: max(1.0, float(np.linalg.norm(c.q.B, 1))),
    "max(1,‖A‖)": lambda c: max(1.0, _norm(c.q.A)), "max(1,‖g_yy‖)": lambda c: max(1.0, _norm(c.q.g_yy)),
    "min(1,‖B‖)": lambda c: min(1.0, _norm(c.q.B)), "max(2,‖B‖)": lambda c: max(2.0, _norm(c.q.B)),
    "(1+‖B‖)": lambda c: 1.0 + _norm(c.q.B), "max(1,2‖B‖)": lambda c: max(1.0, 2.0 * _norm(c.q.B)),
    "max(1,‖B‖/2)": lambda c: max(1.0, 0.5 * _norm(c.q.B)), "max(1/2,‖B‖)": lambda c: max(0.5, _norm(c.q.B)),
    "max(0,‖B‖)": lambda c: _norm(c.q.B), "max(1,√‖B‖)": lambda c: max(1.0, _norm(c.q.B) ** 0.5),
    "max(1, B read column by column)": lambda c: max(1.0, _norm(c.q.B.ravel().reshape(c.q.B.shape[::-1]))),
}  # fmt: skip
"""What may stand where max(1,‖B‖) belongs."""

SOME_POINTS = range(5)
"""Seeds of points at which it shows whether row values change."""


def _norm(matrix: Vector) -> float:
    return float(np.linalg.norm(matrix, 2))


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


CHANGES: dict[str, Callable[[Handed], Handed]] = {
    "−h for h": lambda r: (-r[0], *r[1:]),
    "max(h,0) for h": lambda r: (np.maximum(r[0], 0.0), *r[1:]),
    "0 for h": lambda r: (0.0 * r[0], *r[1:]),
    "|h| for h": lambda r: (np.abs(r[0]), *r[1:]),
    "λ̃ for h": lambda r: (r[1], *r[1:]),
    "h one row on for h": lambda r: (np.roll(r[0], 1), *r[1:]),
    "h one row back for h": lambda r: (np.roll(r[0], -1), *r[1:]),
    "h in reverse for h": lambda r: (r[0][::-1], *r[1:]),
    "h for λ̃": lambda r: (r[0], r[0], *r[2:]),
    "h for λ̃ and λ̃ for h": lambda r: (r[1], r[0], *r[2:]),
    "the square of the width for the width of h's ramp": lambda r: (r[0], r[1], r[2] ** 2, r[3]),
}
"""Changes of what is handed over, of row values, multipliers and both widths."""


def _all_handed() -> Iterator[HandedRows]:
    yield from (HandedRows(what, change=change) for what, change in CHANGES.items())
    right = (2.0, 1, 3)
    for norm, size in NORMS.items():
        yield _h_width(norm, size, right)
    usual = NORMS["max(1,‖B‖)"]
    for factor in (4.0, 0.5, 3.0, 6.0, 10.0, 20.0, 0.2, 8.0, 16.0, 0.25, 2000.0, -2.0):
        yield _h_width("max(1,‖B‖)", usual, (factor, 1, 3))
    for factor, constant, norm, power in product((2.0, 1.0), (1, 0), ("max(1,‖B‖)", ""), (3, 0)):
        if (factor, constant, norm, power) not in ((2.0, 1, "max(1,‖B‖)", 3), (2.0, 1, "", 3)):
            yield _h_width(norm, NORMS[norm], (factor, constant, power))
    for power in (-1, 1, 2, 4, 5, 6, -3):
        yield _h_width("max(1,‖B‖)", usual, (2.0, 1, power))
    for factor, power in product((1.0, 2.0), (6, 4, 2, 1)):
        yield _h_width("", NORMS[""], (factor, 1, power))
    for power in (2, -1):
        yield _h_width("max(1,‖B‖)", usual, (2.0, power, 3))
    for factor in (0.5, 2.0, 10.0, 0.1, 3.0, 4.0, 0.25):
        yield HandedRows(f"{factor:g}·ε_λ for the multipliers' width ε_λ", partial(_lam_width, factor))
    yield HandedRows("ε_λ² for ε_λ", lambda c, t, w: (_right_width(c, t), w * w))
    yield HandedRows("√ε_λ for ε_λ", lambda c, t, w: (_right_width(c, t), w**0.5))
    yield HandedRows("h's width for both widths", lambda c, t, w: (_right_width(c, t), _right_width(c, t) + 0.0 * w))
    yield HandedRows("ε_λ for both widths", lambda c, t, w: (w + 0.0 * _right_width(c, t), w))
    yield HandedRows("its two widths exchanged", lambda c, t, w: (w, _right_width(c, t)))
    yield HandedRows("α for ε_λ", lambda c, t, w: (_right_width(c, t), c.alpha + 0.0 * w))
    for exchange in exchanges():
        if not exchange.of_y and _moves_rows(exchange):
            yield HandedRows(f"rows and multipliers made with {exchange.name}", exchange=exchange)


def _moves_rows(exchange: Exchange) -> bool:
    """Whether row values or multipliers change at all."""
    pairs = ((c, exchange.change(c)) for c in map(point_of, map(line_6_question, SOME_POINTS)) if c is not None)
    return any(
        not (np.array_equal(c.h_star, changed.h_star) and np.array_equal(c.lam, changed.lam))
        for c, changed in pairs
        if changed is not None
    )


def _lam_width(factor: float, c: CallPoint, constant: float, width: float) -> tuple[float, float]:
    return _right_width(c, constant), factor * width


def _right_width(c: CallPoint, constant: float) -> float:
    return 2.0 * constant * max(1.0, _norm(c.q.B)) * c.alpha**3


def _h_width(norm: str, size: Callable[[CallPoint], float], numbers: tuple[float, int, int]) -> HandedRows:
    factor, of_constant, of_alpha = numbers
    spelt = "" if of_alpha == 0 else f"α{str(of_alpha).translate(DIGITS)}"
    tau = {0: "", 1: "τ", 2: "τ²", -1: "τ⁻¹"}[of_constant]
    parts = [part for part in ((f"{factor:g}" if factor != 1 or not tau else "") + tau, norm, spelt) if part]
    return HandedRows(
        f"{'·'.join(parts)} for the width 2τ·max(1,‖B‖)·α³ of h's ramp",
        lambda c, t, w: (factor * t**of_constant * size(c) * c.alpha**of_alpha, w),
    )
