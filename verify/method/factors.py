"""Factors that a line may carry by mistake: numbers, powers of the schedule, laws of time; and how they are spelt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from spec import OuterParameters
from spec.exact import Vector

ALMOST = 1e-5
"""Difference from 1 up to which a factor is what an iteration leaves rather than a mistake of its own."""
DIGITS = 6
"""Of every other number."""
EXACT = 1e-7
"""Relative difference below which a measured factor is the simple number next to it."""
STEADY = 1e-6
"""Relative spread below which measured factors are one number."""
DENOMINATOR = 12
"""Largest denominator of a simple number."""


class Scheduled(Protocol):
    """What a run of Algorithm 2 is told."""

    @property
    def x0(self) -> Sequence[float]:
        """The start."""

    @property
    def parameters(self) -> OuterParameters:
        """The schedule."""


@dataclass(frozen=True)
class FactorMoments:
    """The steps of one trial at which a factor acts: their numbers t from 1, shape (R,)."""

    trial: Scheduled
    t: Vector

    @cached_property
    def names(self) -> dict[str, Any]:
        """What symbols are made of."""
        q = self.trial.parameters
        places = {"t": self.t, "k": (self.t - 1) // q.M + 1, "j": (self.t - 1) % q.M + 1}
        numbers = {name: float(getattr(q, name)) for name in ("M", "K", "T", "D", "eta", "epsilon")}
        return places | numbers | {"n": len(self.trial.x0)}

    @cached_property
    def table(self) -> Vector:
        """All symbols' values, a row each."""
        return np.array([np.broadcast_to(self.value(symbol), self.t.shape) for symbol in SYMBOLS])

    def value(self, symbol: str) -> Any:
        """A symbol's values, a number or shape (R,)."""
        return eval(_CODE[symbol], {"inf": math.inf}, self.names)


SYMBOLS: dict[str, str] = {
    "": "1.0",
    "1/√t": "t**-0.5", "1/t": "t**-1.0", "1/√(t + 1)": "(t + 1)**-0.5", "1/(t + 1)": "1/(t + 1)",
    "1/t^⅓": "t**(-1/3)", "1/t^⅔": "t**(-2/3)", "1/t²": "t**-2.0", "√t": "t**0.5", "t": "t",
    "1/√k": "k**-0.5", "1/k": "k**-1.0", "1/√j": "j**-0.5", "1/j": "j**-1.0",
    "(1 − t/T)": "1 - t/T", "(1 − (t − 1)/T)": "1 - (t - 1)/T", "(t − 1)/t": "(t - 1)/t", "t/(t + 1)": "t/(t + 1)",
    "(t − 1)/(t + 2)": "(t - 1)/(t + 2)", "t/(t + 3)": "t/(t + 3)",
    "[0 from the last step of a block to the next block]": "1.0*(j != M)",
    "[1 at the start of each block, else 0]": "1.0*(j == 1)",
    "M/K": "M/K", "K/M": "K/M", "M/(M + 1)": "M/(M + 1)", "(M + 1)/M": "(M + 1)/M", "(M − 1)/M": "(M - 1)/M",
    "M/(M − 1)": "M/(M - 1) if M > 1 else inf",
    "η/D": "eta/D", "D/η": "D/eta", "√n": "n**0.5", "1/√n": "n**-0.5", "n": "n", "1/n": "1/n",
} | {
    f"{'1/' if power < 0 else ''}{'√' if abs(power) == 0.5 else ''}{letter}{'²' if abs(power) == 2 else ''}":
    f"{name}**{power}"
    for name, letter in (("M", "M"), ("K", "K"), ("T", "T"), ("D", "D"), ("eta", "η"), ("epsilon", "ε"))
    for power in (-1.0, 1.0, -0.5, 0.5, -2.0, 2.0)
}  # fmt: skip
"""What a factor may be proportional to, simplest first; t counts steps, k blocks and j steps within a block from 1."""
_CODE = {symbol: compile(formula, f"<{symbol}>", "eval") for symbol, formula in SYMBOLS.items()}


def spelt_plainly(value: float) -> str:
    """A number of few digits, or of as many as tell it from 1 or -1."""
    off = abs(abs(value) - 1.0)
    if not 0 < off < 10.0 ** (1 - DIGITS):
        return f"{value:.{DIGITS}g}"
    return f"{value:.{min(17, 1 - math.floor(math.log10(off)))}g}"


def is_almost_one(value: float) -> bool:
    """Whether a factor is 1 but for what an iteration leaves."""
    return 0 < abs(value - 1.0) <= ALMOST


def left_words(value: float, name: str) -> str:
    """What a factor that is almost 1 says: ``its solver leaves 2e-07 of y₀``."""
    return f"its solver {'leaves' if value < 1 else 'adds'} {abs(value - 1.0):.1g} of {name}"


def simple(value: float) -> float:
    """The simple number that a measured one is, or itself."""
    near = Fraction(value).limit_denominator(DENOMINATOR) if np.isfinite(value) else Fraction(0)
    return float(near) if near and abs(float(near) - value) <= EXACT * abs(value) else value


def spelt(value: float) -> str:
    """A number in words of a formula: a fraction where it is a simple one."""
    near = Fraction(value).limit_denominator(DENOMINATOR)
    if abs(float(near) - value) > EXACT * abs(value) or len(f"{value:.6g}") <= len(str(near)):
        return spelt_plainly(value)
    return str(near)


@dataclass(frozen=True)
class Factor:
    """A number times a power of the schedule or a law of time; a ``rate`` other than 1 is raised to the power t."""

    number: float = 1.0
    symbol: str = ""
    rate: float = 1.0

    def at(self, moments: FactorMoments) -> Any:
        """Its values, a number or shape (R,)."""
        value = self.number * moments.value(self.symbol)
        return value if self.rate == 1 else value * self.rate**moments.t

    @property
    def is_one(self) -> bool:
        """Whether it changes nothing."""
        return self.number == 1.0 and not self.symbol and self.rate == 1.0

    @property
    def shown(self) -> str:
        """As part of a formula: ``2``, ``1/√t``, ``0.5·1/M``."""
        parts = [spelt(self.number)] if self.number != 1 or not (self.symbol or self.rate != 1) else []
        parts += [self.symbol] if self.symbol else []
        return "·".join([*parts, *([f"{spelt(self.rate)}^t"] if self.rate != 1 else [])])


def fit(measured: Sequence[tuple[FactorMoments, Vector]]) -> list[Factor]:
    """All simple laws that factors measured on several trials follow, simplest first; none if none does.

    A rate is fitted only where nothing else fits, and a law must be steady over every trial.
    """
    values = np.concatenate([value for _, value in measured]) if measured else np.zeros(0)
    if len(values) < 3 or not np.isfinite(values).all() or not values.any():
        return []
    table = np.concatenate([at.table for at, _ in measured], axis=1)
    with np.errstate(all="ignore"):
        factors = table @ values / np.maximum((table**2).sum(axis=1), 1e-300)
        steady = np.abs(values - factors[:, None] * table).max(axis=1) <= STEADY * np.abs(values).max()
    there = np.flatnonzero(steady & (np.abs(factors) > STEADY))
    if len(there) and there[0] == 0:
        there = there[:1]  # a number is simpler than any law
    names = [*SYMBOLS]
    return [Factor(simple(float(factors[i])), names[i]) for i in there] or _geometric(measured, values)


def _geometric(measured: Sequence[tuple[FactorMoments, Vector]], values: Vector) -> list[Factor]:
    if not (values > 0).all():
        return []
    t = np.concatenate([at.t for at, _ in measured])
    if np.ptp(t) == 0:
        return []
    slope, start = np.polyfit(t, np.log(values), 1)
    rate, number = simple(float(np.exp(slope))), simple(float(np.exp(start)))
    steady = np.abs(values - number * rate**t).max() <= STEADY * values.max()
    return [Factor(number, "", rate)] if steady else []
