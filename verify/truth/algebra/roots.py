r"""Real roots of rational polynomials, counted exactly.

Descartes' rule of signs after the substitution :math:`t \mapsto (a + bt)/(1 + t)`, which maps
:math:`(0,\infty)` to (a, b): no sign variation proves that there is no root, one proves exactly one; else the
interval is halved (Vincent's theorem makes this end for square-free polynomials).
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from flint import fmpq_poly

from verify.truth.algebra.rational_functions import valuation
from verify.truth.algebra.rationals import fraction, rational


def count(polynomial: fmpq_poly, low: Fraction, high: Fraction) -> int:
    """Number of distinct real roots of a nonzero polynomial in the open interval (low, high), ``0 <= low < high``."""
    return len(isolate(polynomial, low, high))


def isolate(polynomial: fmpq_poly, low: Fraction, high: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Disjoint intervals in (low, high), each with exactly one distinct root, in order.

    A root met exactly is returned as an interval of width zero; every other interval is open.
    """
    free = square_free(polynomial)
    intervals: list[tuple[Fraction, Fraction]] = []
    pending = [(low, high)]
    while pending:
        a, b = pending.pop()
        variations = sign_variations(free, a, b)
        if variations == 0:
            continue
        if variations == 1:
            intervals.append((a, b))
            continue
        middle = (a + b) / 2
        if free(rational(middle)) == 0:
            intervals.append((middle, middle))
        pending += [(a, middle), (middle, b)]
    return sorted(intervals)


def refine(polynomial: fmpq_poly, interval: tuple[Fraction, Fraction], width: Fraction) -> tuple[Fraction, Fraction]:
    """Narrow an isolating interval to at most the given width by bisection."""
    free = square_free(polynomial)
    a, b = interval
    beyond = free(rational(b))
    while b - a > width:
        middle = (a + b) / 2
        at_middle = free(rational(middle))
        if at_middle == 0:
            return middle, middle
        # A simple root changes the sign; where the upper end is one itself, its sign says nothing.
        below = sign_variations(free, a, middle) == 1 if beyond == 0 else (at_middle > 0) == (beyond > 0)
        (a, b), beyond = ((a, middle), at_middle) if below else ((middle, b), beyond)
    return a, b


def refine_relative(
    polynomial: fmpq_poly, interval: tuple[Fraction, Fraction], precision: Fraction
) -> tuple[Fraction, Fraction]:
    """Narrow an isolating interval of a positive root until its width is within the precision of its lower end."""
    low, high = interval
    width = high - low
    while low <= 0 or high - low > precision * low:
        width /= 4
        low, high = refine(polynomial, (low, high), width)
    return low, high


def sign_variations(polynomial: fmpq_poly, low: Fraction, high: Fraction) -> int:
    """Sign changes of the transformed coefficients; at least the number of roots in (low, high), of equal parity."""
    a, b = rational(low), rational(high)
    # p((a + b t)/(1 + t)) (1 + t)^n: move a to 0, scale to length 1, reverse, move by 1.
    moved = polynomial(fmpq_poly([a, b - a]))
    degree = polynomial.degree()
    reversed_ = fmpq_poly([moved[degree - k] for k in range(degree + 1)])
    signs = [value > 0 for value in reversed_(fmpq_poly([1, 1])).coeffs() if value != 0]
    return sum(first != second for first, second in itertools.pairwise(signs))


def square_free(polynomial: fmpq_poly) -> fmpq_poly:
    """The product of the distinct irreducible factors, the factor alpha left out."""
    shifted = polynomial.right_shift(valuation(polynomial))
    if shifted.degree() < 1:
        return shifted
    return shifted // shifted.gcd(shifted.derivative())


def value(polynomial: fmpq_poly, at: Fraction) -> Fraction:
    """Exact value at a rational point."""
    return fraction(polynomial(rational(at)))


BITS = 80
"""Fractional bits of a root, beyond those of a double."""


def root_below(value: Fraction) -> Fraction:
    """A rational at most the square root of a value >= 0; exact where the root is rational."""
    exact = rational_root(value)
    return _near_root(value)[0] if exact is None else exact


def root_above(value: Fraction) -> Fraction:
    """A rational at least the square root of a value >= 0; exact where the root is rational."""
    exact = rational_root(value)
    return _near_root(value)[1] if exact is None else exact


def rational_root(value: Fraction) -> Fraction | None:
    """The square root of a value >= 0 where it is rational."""
    p, q = math.isqrt(value.numerator), math.isqrt(value.denominator)
    return Fraction(p, q) if p * p == value.numerator and q * q == value.denominator else None


def _near_root(value: Fraction) -> tuple[Fraction, Fraction]:
    shift = max(0, BITS + (value.denominator.bit_length() - value.numerator.bit_length()) // 2 + 1)
    low = math.isqrt((value.numerator << (2 * shift)) // value.denominator)
    return Fraction(low, 1 << shift), Fraction(low + 1, 1 << shift)


def double_below(value: Fraction) -> float:
    """The largest double not above a rational, or its neighbour."""
    nearest = float(value)
    return math.nextafter(nearest, -math.inf) if Fraction(nearest) > value else nearest


def double_above(value: Fraction) -> float:
    """The smallest double not below a rational, or its neighbour."""
    nearest = float(value)
    return math.nextafter(nearest, math.inf) if Fraction(nearest) < value else nearest
