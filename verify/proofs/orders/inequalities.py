"""Whether inequalities between monomials follow from others: linear inequalities in logarithms, decided exactly.

An inequality such as ``alpha >= C_f / mu_g`` is linear in the logarithms of its variables, so what follows from a set
of them, for all values of the variables, is a question Fourier and Motzkin's elimination answers in fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import TypeAlias

Powers: TypeAlias = Mapping[str, Fraction]
"""A monomial: its exponents by variable, zeros left out."""
Monomial: TypeAlias = tuple[tuple[str, Fraction], ...]
"""The same, sorted by name; empty is a constant."""


ONE = Fraction(1)


@dataclass(frozen=True)
class LogInequality:
    """``sum(powers[name] * log(name)) >= constant``, no power zero."""

    powers: Powers
    constant: Fraction = Fraction(0)


def at_least(larger: Powers | Monomial, smaller: Powers | Monomial, margin: int = 0) -> LogInequality:
    """``larger >= smaller`` up to a constant factor, or, with a margin, by more than any."""
    return LogInequality(_combined(dict(larger), ONE, dict(smaller), -ONE), Fraction(margin))


def _combined(first: Powers, a: Fraction, second: Powers, b: Fraction) -> dict[str, Fraction]:
    """``a * first + b * second``, zeros left out."""
    zero = Fraction(0)
    powers = {name: a * first.get(name, zero) + b * second.get(name, zero) for name in sorted({*first, *second})}
    return {name: power for name, power in powers.items() if power}


def solution(inequalities: Sequence[LogInequality]) -> dict[str, Fraction] | None:
    """Logarithms that satisfy all inequalities, or ``None`` if there are none.

    Any solution will do; where there is slack, whole numbers near zero are preferred.
    """
    names = sorted({name for inequality in inequalities for name in inequality.powers})
    stages: list[tuple[str, list[LogInequality]]] = []
    current = list(inequalities)
    for name in names:
        stages.append((name, [item for item in current if name in item.powers]))
        current = _eliminate(name, current)
    if any(item.constant > 0 for item in current):
        return None
    found: dict[str, Fraction] = {}
    for name, items in reversed(stages):
        lows: list[Fraction] = []
        highs: list[Fraction] = []
        for item in items:
            rest = item.constant - sum(power * found[other] for other, power in item.powers.items() if other != name)
            (lows if item.powers[name] > 0 else highs).append(rest / item.powers[name])
        found[name] = _between(max(lows, default=None), min(highs, default=None))
    return found


def implied(conclusion: Sequence[LogInequality], premises: Sequence[LogInequality]) -> bool:
    """Whether at least one of the conclusions holds, up to a constant, wherever the premises do."""
    return witness(conclusion, premises) is None


def witness(conclusion: Sequence[LogInequality], premises: Sequence[LogInequality]) -> dict[str, Fraction] | None:
    """Logarithms at which the premises hold and every conclusion fails, or ``None``."""
    denied = [LogInequality({name: -power for name, power in item.powers.items()}, Fraction(1)) for item in conclusion]
    return solution([*premises, *denied])


def _eliminate(name: str, inequalities: Sequence[LogInequality]) -> list[LogInequality]:
    kept = [item for item in inequalities if name not in item.powers]
    below = [item for item in inequalities if item.powers.get(name, 0) > 0]
    above = [item for item in inequalities if item.powers.get(name, 0) < 0]
    for low, high in product(below, above):
        a, b = -high.powers[name], low.powers[name]
        powers = _combined(low.powers, a, high.powers, b)
        kept.append(LogInequality(powers, a * low.constant + b * high.constant))
    return kept


def _between(low: Fraction | None, high: Fraction | None) -> Fraction:
    """The whole number nearest to zero between two ends, or the end nearer to zero if there is none."""
    if low is not None and low > 0:
        return Fraction(ceil(low)) if high is None or ceil(low) <= high else low
    if high is not None and high < 0:
        return Fraction(floor(high)) if low is None or floor(high) >= low else high
    return Fraction(0)
