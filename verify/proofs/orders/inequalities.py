"""Whether inequalities between monomials follow from others: linear inequalities in logarithms, decided exactly.

An inequality such as ``alpha >= C_f / mu_g`` is linear in the logarithms of its variables, so what follows from a set
of them, for all values of the variables, is a question Fourier and Motzkin's elimination answers in fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

Powers: TypeAlias = Mapping[str, Fraction]
"""A monomial: its exponents by variable, zeros left out."""


@dataclass(frozen=True)
class LogInequality:
    """``sum(powers[name] * log(name)) >= constant``.

    Args:
        powers: Coefficients by variable, none zero.
        constant: Right-hand side.
    """

    powers: Powers
    constant: Fraction = Fraction(0)


def at_least(larger: Powers, smaller: Powers, margin: int = 0) -> LogInequality:
    """``larger >= smaller`` up to a constant factor, or, with a margin, by more than any."""
    names = sorted({*larger, *smaller})
    powers = {name: larger.get(name, Fraction(0)) - smaller.get(name, Fraction(0)) for name in names}
    return LogInequality({name: power for name, power in powers.items() if power}, Fraction(margin))


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
    for low in below:
        for high in above:
            a, b = -high.powers[name], low.powers[name]
            names = sorted({*low.powers, *high.powers} - {name})
            powers = {other: a * low.powers.get(other, 0) + b * high.powers.get(other, 0) for other in names}
            combined = {other: power for other, power in powers.items() if power}
            kept.append(LogInequality(combined, a * low.constant + b * high.constant))
    return kept


def _between(low: Fraction | None, high: Fraction | None) -> Fraction:
    if (low is None or low <= 0) and (high is None or high >= 0):
        return Fraction(0)
    if low is not None and low > 0:
        whole = Fraction(-((-low.numerator) // low.denominator))
        return whole if high is None or whole <= high else low
    assert high is not None  # else zero would have done
    whole = Fraction(high.numerator // high.denominator)
    return whole if low is None or whole >= low else high
