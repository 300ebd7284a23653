"""Orders: sums of monomials up to constant factors, compared wherever inequalities between monomials hold.

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

from spec.formulas.powers import raised

Powers: TypeAlias = Mapping[str, Fraction]
"""A monomial: its exponents by variable, zeros left out."""
Monomial: TypeAlias = tuple[tuple[str, Fraction], ...]
"""The same, sorted by name; empty is a constant."""


class NoOrderError(ValueError):
    """An expression has no order: a bound it needs, said as a clause, is not available."""


@dataclass(frozen=True)
class LogInequality:
    """``sum(powers[name] * log(name)) >= constant``, no power zero."""

    powers: Powers
    constant: Fraction = Fraction(0)


def at_least(larger: Powers | Monomial, smaller: Powers | Monomial, margin: int = 0) -> LogInequality:
    """``larger >= smaller`` up to a constant factor, or, with a margin, by more than any."""
    return LogInequality(combined(dict(larger), dict(smaller), Fraction(-1)), Fraction(margin))


def combined(first: Powers, second: Powers, weight: Fraction) -> dict[str, Fraction]:
    """``first + weight * second``, sorted by name, zeros left out."""
    zero = Fraction(0)
    sums = {name: first.get(name, zero) + weight * second.get(name, zero) for name in sorted({*first, *second})}
    return {name: power for name, power in sums.items() if power}


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
    logs: dict[str, Fraction] = {}
    for name, items in reversed(stages):
        lows: list[Fraction] = []
        highs: list[Fraction] = []
        for item in items:
            rest = item.constant - sum(power * logs[other] for other, power in item.powers.items() if other != name)
            (lows if item.powers[name] > 0 else highs).append(rest / item.powers[name])
        logs[name] = _between(max(lows, default=None), min(highs, default=None))
    return logs


def implied(conclusion: Sequence[LogInequality], premises: Sequence[LogInequality]) -> bool:
    """Whether at least one of the conclusions holds, up to a constant, wherever the premises do."""
    return witness(conclusion, premises) is None


def witness(conclusion: Sequence[LogInequality], premises: Sequence[LogInequality]) -> dict[str, Fraction] | None:
    """Logarithms at which the premises hold and every conclusion fails, or ``None``."""
    denied = [LogInequality({name: -power for name, power in item.powers.items()}, Fraction(1)) for item in conclusion]
    return solution([*premises, *denied])


def _eliminate(name: str, inequalities: Sequence[LogInequality]) -> list[LogInequality]:
    remaining = [item for item in inequalities if name not in item.powers]
    below = [item for item in inequalities if item.powers.get(name, 0) > 0]
    above = [item for item in inequalities if item.powers.get(name, 0) < 0]
    for low, high in product(below, above):
        # A sum in which the variable cancels.
        weight = -low.powers[name] / high.powers[name]
        powers = combined(low.powers, high.powers, weight)
        remaining.append(LogInequality(powers, low.constant + weight * high.constant))
    return remaining


def _between(low: Fraction | None, high: Fraction | None) -> Fraction:
    """The whole number nearest to zero between two ends, or the end nearer to zero if there is none."""
    if low is not None and low > 0:
        return Fraction(ceil(low)) if high is None or ceil(low) <= high else low
    if high is not None and high < 0:
        return Fraction(floor(high)) if low is None or floor(high) >= low else high
    return Fraction(0)


@dataclass(frozen=True)
class Order:
    """A sum of monomials, each up to a constant factor; without any it is zero."""

    monomials: frozenset[Monomial]

    @classmethod
    def of(cls, powers: Mapping[str, Fraction]) -> Order:
        """One monomial."""
        return cls(frozenset([monomial(powers)]))

    def __add__(self, other: Order) -> Order:
        return Order(self.monomials | other.monomials)

    def __mul__(self, other: Order) -> Order:
        pairs = product(self.monomials, other.monomials)
        return Order(frozenset(monomial(combined(dict(a), dict(b), Fraction(1))) for a, b in pairs))

    def power(self, exponent: Fraction) -> Order:
        """The order of a power: term by term, right up to constants for exponents > 0; a quotient needs one term."""
        if exponent < 0 and len(self.monomials) != 1:
            raise NoOrderError("a quotient by a sum or by zero has no order")
        return Order(frozenset(monomial({name: p * exponent for name, p in one}) for one in self.monomials))

    def dominant(self, premises: Sequence[LogInequality]) -> Order:
        """The terms no other term dominates under the premises."""
        monomials: list[Monomial] = []
        for one in sorted(self.monomials):
            if any(implied([at_least(other, one)], premises) for other in monomials):
                continue
            monomials = [other for other in monomials if not implied([at_least(one, other)], premises)] + [one]
        return Order(frozenset(monomials))

    def is_within(self, bound: Order, premises: Sequence[LogInequality]) -> bool:
        """Whether this order is O(bound) wherever the premises hold."""
        return all(
            bool(bound.monomials) and implied([at_least(other, one) for other in bound.monomials], premises)
            for one in self.monomials
        )

    def shown(self, symbols: Mapping[str, str]) -> str:
        """In print: ``α⁻⁴``, ``δ_G⁻¹ε⁻³``, ``α + M¹ᐟ²``, ``1``, ``0``."""
        texts = ["".join(raised(symbols.get(name, name), exponent) for name, exponent in one) or "1"
                 for one in sorted(self.monomials)]  # fmt: skip
        return " + ".join(texts) or "0"


def monomial(powers: Mapping[str, Fraction]) -> Monomial:
    """The monomial of some exponents."""
    return tuple(sorted((name, power) for name, power in powers.items() if power))


ONE = Order.of({})
ZERO = Order(frozenset())
