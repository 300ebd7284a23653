"""Factors that a rule of Algorithm 2 may carry by mistake: numbers, powers of the schedule, laws of time."""
# ruff: noqa: ARG005  # every law is told the same

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.near_one import spelt_plainly
from verify.conformance.outer import Trial

EXACT = 1e-7
"""Relative difference below which a measured factor is the simple number next to it."""
STEADY = 1e-6
"""Relative spread below which measured factors are one number."""
DENOMINATOR = 12
"""Largest denominator of a simple number."""


@dataclass(frozen=True)
class Moments:
    """The steps of one trial at which a factor acts: their numbers t from 1, shape (R,)."""

    trial: Trial
    t: Vector

    @property
    def k(self) -> Vector:
        """Numbers of their blocks, from 1."""
        return np.asarray((self.t - 1) // self.trial.parameters.M + 1, dtype=np.float64)

    @property
    def j(self) -> Vector:
        """Their places in their blocks, from 1."""
        return np.asarray((self.t - 1) % self.trial.parameters.M + 1, dtype=np.float64)


Symbol = Callable[[Moments], Any]


def _of(name: str, power: float) -> Symbol:
    return lambda at: float(getattr(at.trial.parameters, name)) ** power


SYMBOLS: dict[str, Symbol] = {
    "": lambda at: 1.0,
    "1/√t": lambda at: at.t**-0.5,
    "1/t": lambda at: at.t**-1.0,
    "1/√(t + 1)": lambda at: (at.t + 1) ** -0.5,
    "1/(t + 1)": lambda at: 1 / (at.t + 1),
    "1/t^⅓": lambda at: at.t ** (-1 / 3),
    "1/t^⅔": lambda at: at.t ** (-2 / 3),
    "1/t²": lambda at: at.t**-2.0,
    "√t": lambda at: at.t**0.5,
    "t": lambda at: at.t,
    "1/√k": lambda at: at.k**-0.5,
    "1/k": lambda at: at.k**-1.0,
    "1/√j": lambda at: at.j**-0.5,
    "1/j": lambda at: at.j**-1.0,
    "(1 − t/T)": lambda at: 1 - at.t / at.trial.parameters.T,
    "(1 − (t − 1)/T)": lambda at: 1 - (at.t - 1) / at.trial.parameters.T,
    "(t − 1)/t": lambda at: (at.t - 1) / at.t,
    "t/(t + 1)": lambda at: at.t / (at.t + 1),
    "(t − 1)/(t + 2)": lambda at: (at.t - 1) / (at.t + 2),
    "t/(t + 3)": lambda at: at.t / (at.t + 3),
    "[0 from the last step of a block to the next block]": lambda at: np.where(
        at.j == at.trial.parameters.M, 0.0, 1.0
    ),
    "[1 at the start of each block, else 0]": lambda at: np.where(at.j == 1, 1.0, 0.0),
    "M/K": lambda at: at.trial.parameters.M / at.trial.parameters.K,
    "K/M": lambda at: at.trial.parameters.K / at.trial.parameters.M,
    "M/(M + 1)": lambda at: at.trial.parameters.M / (at.trial.parameters.M + 1),
    "(M + 1)/M": lambda at: (at.trial.parameters.M + 1) / at.trial.parameters.M,
    "(M − 1)/M": lambda at: (at.trial.parameters.M - 1) / at.trial.parameters.M,
    "η/D": lambda at: at.trial.parameters.eta / at.trial.parameters.D,
    "D/η": lambda at: at.trial.parameters.D / at.trial.parameters.eta,
    "√n": lambda at: len(at.trial.x0) ** 0.5,
    "1/√n": lambda at: len(at.trial.x0) ** -0.5,
    "n": lambda at: len(at.trial.x0),
    "1/n": lambda at: 1 / len(at.trial.x0),
} | {
    f"{'1/' if power < 0 else ''}{'√' if abs(power) == 0.5 else ''}{letter}{'²' if abs(power) == 2 else ''}": _of(
        name, power
    )
    for name, letter in (("M", "M"), ("K", "K"), ("T", "T"), ("D", "D"), ("eta", "η"), ("epsilon", "ε"))
    for power in (-1, 1, -0.5, 0.5, -2, 2)
}  # fmt: skip
"""What a factor may be proportional to, simplest first; t counts steps, k blocks and j steps within a block from 1."""


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

    def at(self, moments: Moments) -> Any:
        """Its values, a number or shape (R,)."""
        value = self.number * SYMBOLS[self.symbol](moments)
        return value if self.rate == 1 else value * self.rate**moments.t

    @property
    def is_one(self) -> bool:
        """Whether it changes nothing."""
        return self == Factor()

    @property
    def shown(self) -> str:
        """As part of a formula: ``2``, ``1/√t``, ``0.5·1/M``."""
        parts = [spelt(self.number)] if self.number != 1 or not (self.symbol or self.rate != 1) else []
        parts += [self.symbol] if self.symbol else []
        return "·".join([*parts, *([f"{spelt(self.rate)}^t"] if self.rate != 1 else [])])


def fit(measured: Sequence[tuple[Moments, Vector]]) -> list[Factor]:
    """All simple laws that factors measured on several trials follow, simplest first; none if none does.

    A rate is fitted only where nothing else fits, and a law must be steady over every trial.
    """
    values = np.concatenate([value for _, value in measured]) if measured else np.zeros(0)
    if len(values) < 3 or not np.isfinite(values).all() or not values.any():
        return []
    found = []
    for name, symbol in SYMBOLS.items():
        made = np.concatenate([np.broadcast_to(symbol(at), value.shape) for at, value in measured])
        factor = _proportional(made, values)
        if factor is not None:
            found.append(Factor(simple(factor), name))
            if not name:
                break
    return found or _geometric(measured, values)


def _proportional(made: Vector, values: Vector) -> float | None:
    """What makes one of the other, to many digits."""
    factor = float(made @ values) / max(float(made @ made), 1e-300)
    steady = np.abs(values - factor * made).max() <= STEADY * np.abs(values).max()
    return factor if steady and abs(factor) > STEADY else None


def _geometric(measured: Sequence[tuple[Moments, Vector]], values: Vector) -> list[Factor]:
    if not (values > 0).all():
        return []
    t = np.concatenate([at.t for at, _ in measured])
    if np.ptp(t) == 0:
        return []
    slope, start = np.polyfit(t, np.log(values), 1)
    rate, number = simple(float(np.exp(slope))), simple(float(np.exp(start)))
    steady = np.abs(values - number * rate**t).max() <= STEADY * values.max()
    return [Factor(number, "", rate)] if steady else []
