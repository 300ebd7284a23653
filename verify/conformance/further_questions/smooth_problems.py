r"""Problems that are not quadratic as probes: their lower level and penalty minimiser, followed to many digits.

So far :class:`spec.Holder`: :math:`f = y`, :math:`g = y^2/2 + xy + xy\,q(r)`, :math:`r^2 = x^2 + y^2`, with one row
that is slack wherever it is asked, so that its multiplier and weight are 0 and the penalty plays no part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from spec import Holder, InvalidInputError
from verify.conformance.places.sizes import ANY_PROGRAM, U
from verify.conformance.probes.probes import GRADIENT_NORM, Probe
from verify.subjects import Call
from verify.truth.algebra.rationals import Vector

DIGITS = 60
REACH = Fraction(1, 4)
"""Largest |x| asked: minima are looked for in [-2, 2]."""
CURVATURE = 0.5
"""What g bends by in y at least."""
ALPHAS = (0.1, 0.05)
_OFF = Decimal("0.002")
_ROUNDINGS = 256 * U


@dataclass(frozen=True)
class Where:
    """Where a problem is asked about, and what is not judged there, in words."""

    point: str
    left_out: tuple[str, ...] = ()


def holder_probes(name: str, problem: Holder, x: Vector) -> tuple[tuple[Probe, ...], Where]:
    """What is asked at one point, and where.

    Raises:
        InvalidInputError: If the point lies too far from 0.
    """
    if abs(x[0]) > REACH:
        raise InvalidInputError(f"{name}.x", f"must be in [-{REACH}, {REACH}]: beyond, its answers are not known", x[0])
    at = np.array([float(x[0])])
    with localcontext(prec=DIGITS):
        s = Fraction(problem.s)
        formulas = _Formulas(Decimal(float(at[0])), Decimal(s.numerator) / Decimal(s.denominator))
        y_star = formulas.root(lambda y: formulas.along_y(y))
        pair: dict[str, Any] = {"y_star": np.array([float(y_star)]), "lam": np.zeros(1), "rho": np.zeros(1)}
        residual = ANY_PROGRAM.residual * (1.0 + abs(float(y_star)))
        limit = np.array([residual / CURVATURE + _ROUNDINGS, residual + _ROUNDINGS])
        probes = [Probe(f"lower-level/{name}", "lower_level", np.array([float(y_star), 0.0]), limit, problem, at)]
        for alpha in ALPHAS:
            probes.append(_minimiser(name, problem, at, (formulas, pair, alpha)))
            probes.append(_estimate(name, problem, at, (formulas, pair, alpha)))
    left_out = ("activation", "samples", "calls that compute stages themselves")
    return tuple(probes), Where(f"x = ({at[0]:g})", tuple(f"{what} on a problem of kind holder" for what in left_out))


class _Formulas:
    """Derivatives of g at one x and any y, in decimals."""

    def __init__(self, x: Decimal, s: Decimal) -> None:
        self.x, self.s = x, s

    def along_y(self, y: Decimal) -> Decimal:
        factor, slope = self._factor(y)
        return y + self.x * (1 + factor + slope * y * y)

    def along_x(self, y: Decimal) -> Decimal:
        factor, slope = self._factor(y)
        return y * (1 + factor + slope * self.x * self.x)

    def root(self, slope: Callable[[Decimal], Decimal]) -> Decimal:
        """Where an increasing function is 0 in [-2, 2], by halving."""
        low, high = Decimal(-2), Decimal(2)
        for _ in range(4 * DIGITS):
            middle = (low + high) / 2
            low, high = (low, middle) if slope(middle) > 0 else (middle, high)
        return (low + high) / 2

    def _factor(self, y: Decimal) -> tuple[Decimal, Decimal]:
        """q(r) and q'(r)/r: r^s up to where 3 s r^s is 1, and beyond as its own tangent in 1/r has it."""
        r = (self.x * self.x + y * y).sqrt()
        if not r:
            return Decimal(0), Decimal(0)
        if 3 * self.s * r**self.s <= 1:
            return r**self.s, self.s * r**self.s / (r * r)
        end = (3 * self.s) ** (-1 / self.s)
        return (1 + self.s * (1 - end / r)) / (3 * self.s), end / (3 * r**3)


def _minimiser(name: str, problem: Holder, x: Any, given: tuple[_Formulas, dict[str, Any], float]) -> Probe:
    """The root of 1 + alpha_1 g_y, to a gradient norm."""
    formulas, pair, alpha = given
    alpha_1 = 1 / (Decimal(alpha) * Decimal(alpha))
    y = float(formulas.root(lambda y: 1 + alpha_1 * formulas.along_y(y)))
    limit = ANY_PROGRAM.stop * GRADIENT_NORM / (CURVATURE * float(alpha_1)) + _ROUNDINGS
    return Probe(f"penalty/{name}/exact-pair/{alpha:g}", "penalty_minimiser", np.array([y]), np.array([limit]),
                 problem, x, Call(alpha, **pair), GRADIENT_NORM)  # fmt: skip


def _estimate(name: str, problem: Holder, x: Any, given: tuple[_Formulas, dict[str, Any], float]) -> Probe:
    """Line 6 alone: alpha_1 times the difference of g's derivatives in x, at a y that is no minimiser."""
    formulas, pair, alpha = given
    y_star = Decimal(float(pair["y_star"][0]))
    y = Decimal(float(y_star - _OFF))
    alpha_1 = 1 / (Decimal(alpha) * Decimal(alpha))
    first, second = formulas.along_x(y), formulas.along_x(y_star)
    size = float(alpha_1 * (abs(first) + abs(second))) + 1.0
    call = Call(alpha, y_penalty=np.array([float(y)]), **pair)
    expected, limit = np.array([float(alpha_1 * (first - second))]), np.array([_ROUNDINGS * size])
    return Probe(f"hypergradient/{name}/given/{alpha:g}", "hypergradient", expected, limit, problem, x, call)
