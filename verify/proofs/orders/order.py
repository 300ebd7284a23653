"""Orders: sums of monomials up to constant factors, with the algebra a proof uses on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from verify.proofs.notation import power
from verify.proofs.orders.inequalities import LogInequality, Monomial, at_least, implied


class NoOrderError(ValueError):
    """An expression has no order: a bound it needs, said as a clause, is not available."""


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
        return Order(frozenset(_times(a, b) for a, b in product(self.monomials, other.monomials)))

    def power(self, exponent: Fraction) -> Order:
        """The order of a power: term by term, which is right up to constants for exponents > 0.

        Raises:
            NoOrderError: For a negative power of a sum, or of zero.
        """
        if exponent < 0 and len(self.monomials) != 1:
            raise NoOrderError("a quotient by a sum or by zero has no order")
        return Order(frozenset(monomial({name: p * exponent for name, p in one}) for one in self.monomials))

    def dominant(self, premises: Sequence[LogInequality]) -> Order:
        """The terms no other term dominates under the premises."""
        kept: list[Monomial] = []
        for one in sorted(self.monomials):
            if any(implied([at_least(other, one)], premises) for other in kept):
                continue
            kept = [other for other in kept if not implied([at_least(one, other)], premises)] + [one]
        return Order(frozenset(kept))

    def is_within(self, bound: Order, premises: Sequence[LogInequality]) -> bool:
        """Whether this order is O(bound) wherever the premises hold."""
        return all(
            bool(bound.monomials) and implied([at_least(other, one) for other in bound.monomials], premises)
            for one in self.monomials
        )

    def shown(self, symbols: Mapping[str, str]) -> str:
        """In print: ``α⁻⁴``, ``δ_G⁻¹ε⁻³``, ``α + M¹ᐟ²``, ``1``, ``0``."""
        texts = ["".join(power(symbols.get(name, name), exponent) for name, exponent in one) or "1"
                 for one in sorted(self.monomials)]  # fmt: skip
        return " + ".join(texts) or "0"


def monomial(powers: Mapping[str, Fraction]) -> Monomial:
    """The monomial of some exponents."""
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _times(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for name, exponent in b:
        powers[name] = powers.get(name, Fraction(0)) + exponent
    return monomial(powers)


ONE = Order.of({})
ZERO = Order(frozenset())
