"""The toy problem with an α to turn: its estimates as rational functions of α, from the exact formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from spec.atlas import find
from spec.reading import DualTerm
from verify.truth.algebra.products import Product, field
from verify.truth.algebra.rationals import fraction
from verify.truth.algebra.rings import SYMBOLS
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, estimator, exact_counterpart
from verify.truth.functions_of_alpha.scenario import Scenario
from verify.truth.geometry import quadratic_of

TOY = "toy1"
"""The instance shown: one moving row that binds, so that every cause can be seen on it."""


@dataclass(frozen=True)
class Curve:
    """An estimate as a function of α: ``top(α)/bottom(α)``, coefficients by rising power, and the formula in print."""

    top: tuple[Fraction, ...]
    bottom: tuple[Fraction, ...]
    text: str

    def __call__(self, alpha: Fraction) -> Fraction:
        """The exact value."""
        return _horner(self.top, alpha) / _horner(self.bottom, alpha)


@dataclass(frozen=True)
class Toy:
    """The instance, its gradient of F, and the estimate as written and repaired."""

    truth: Fraction
    y_star: Fraction
    lam: Fraction
    as_written: Curve
    repaired: Curve


def _horner(coefficients: Sequence[Fraction], at: Fraction) -> Fraction:
    value = Fraction(0)
    for coefficient in reversed(coefficients):
        value = value * at + coefficient
    return value


def toy() -> Toy:
    """Derived anew at each call, a few milliseconds and sympy's import.

    Source: Algorithm 1, line 6, at exact stages; the dual term held fixed as written, cancelled repaired.
    """
    instance = find(TOY)
    family = PenaltyFamily.at(quadratic_of(instance.problem), instance.x)
    (truth,), (y_star,), (lam,) = family.hypergradient, family.lower.y_star, family.lower.lam
    return Toy(Fraction(truth), Fraction(y_star), Fraction(lam), _curve(family, "frozen"), _curve(family, "cancelled"))


def _curve(family: PenaltyFamily, dual_term: DualTerm) -> Curve:
    scenario = exact_counterpart(family, Scenario(dual_term=dual_term))
    function = estimator(family, scenario)
    (numerator,) = function.numerators
    symbols = family.lagrangian_over(SYMBOLS, field().gens[0], scenario)
    (entry,) = symbols.estimate(symbols.minimiser(), dual_term).entries.to_list_flat()
    return Curve(_coefficients(numerator), _coefficients(function.denominator), Product(entry).printed().plain)


def _coefficients(polynomial: Any) -> tuple[Fraction, ...]:
    return tuple(fraction(each) for each in polynomial.coeffs())
