"""A proven bound as data: all that is needed to prove it again, readable without the code that made it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, TypeAlias

from pydantic import Field

from spec.files import Frozen
from verify.truth.functions_of_alpha.scenario import Exact, Quantity, Scenario

Side: TypeAlias = Literal["upper", "lower"]
Variable: TypeAlias = Literal["alpha", "alpha^2"]
Polynomial: TypeAlias = tuple[Exact, ...]
"""Coefficients, lowest power first."""


class Convexity(Frozen):
    """``f_yy + alpha**-2 (g_yy - modulus I) + alpha**-4 B' diag(rho) B`` is positive definite on the interval.

    ``determinant`` is that of this matrix times alpha**4, as a polynomial in alpha**2.
    """

    rho: tuple[Exact, ...]
    modulus: Exact = Fraction(0)
    determinant: Polynomial


class Certificate(Frozen):
    """A proven bound, with what is needed to prove it again.

    Args:
        problem: The problem file's text.
        y_star: Exact lower-level solution at ``x``; ``lam`` are its multipliers.
        reference: What the estimator is held against; the gradient of F.
        scenario: The estimator, activation spelt out.
        variable: What the polynomials are in.
        numerators: Of the quantity bounded, one polynomial per component, over their common ``denominator``.
        side: ``upper``: the norm is at most ``C alpha**exponent``; ``lower``: at least.
        alpha_0: Right end of the interval, included.
        convexity: Premise, for each activation that occurs.
        roots: Roots inside the interval of ``bound``, ``denominator`` and each ``convexity`` polynomial; all 0.
        attained: Largest (smallest) value of ``norm**2 / alpha**(2 exponent)`` that was met: no better constant
            squared than this exists.
        attained_at: Where, as a value of the variable; 0 means in the limit.
    """

    problem: str
    x: tuple[Exact, ...]
    y_star: tuple[Exact, ...]
    lam: tuple[Exact, ...]
    reference: tuple[Exact, ...]
    scenario: Scenario
    quantity: Quantity
    variable: Variable
    numerators: tuple[Polynomial, ...]
    denominator: Polynomial
    side: Side
    exponent: int = Field(ge=-40, le=40)
    constant_squared: Exact
    alpha_0: Exact
    convexity: tuple[Convexity, ...]
    roots: dict[str, int]
    attained: Exact
    attained_at: Exact

    @property
    def constant(self) -> float:
        """C as a double."""
        return math.sqrt(self.constant_squared)

    @property
    def tightness(self) -> float:
        """C over the best constant possible: 1 means none better."""
        if self.attained == self.constant_squared:
            return 1.0
        ratio = self.constant_squared / self.attained if self.side == "upper" else self.attained / self.constant_squared
        return math.sqrt(ratio)
