r"""What several certificates prove together: a bound for every error of norm 1, from bounds for the unit errors.

The quantity is linear in the error: :math:`M(\alpha) u` with a column of M a certificate. :math:`\|M u\| \le
\|M\|_F \|u\|`, so the root of the sum of the squared constants bounds it for every u. How much better a constant could
be is seen where :math:`\|M(\alpha)\|_2 / \alpha^k` is largest among the points tried. Plain fractions and data alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from verify.truth.certificates.certificate import Certificate, Polynomial
from verify.truth.certificates.integer_polynomials import evaluate

ROUNDED = 1e-9
"""A combined constant is rounded outwards by this share, so that what is printed is proven too."""
TRIED = 8
"""Points of the interval, evenly spaced, at which the worst error is looked for, beside the limit at 0 and the points
at which the certificates' own extremes are met."""


@dataclass(frozen=True)
class Combined:
    """A bound on (0, end], with C over the largest value met: no constant better by more than ``tightness`` exists."""

    constant: float
    end: float
    tightness: float


def combine(certificates: Sequence[Certificate]) -> Combined:
    """What certificates of one side and exponent prove together; a single one stands for itself."""
    first, outwards = certificates[0], 1 + ROUNDED if certificates[0].side == "upper" else 1 - ROUNDED
    constant = math.sqrt(sum(float(certificate.constant_squared) for certificate in certificates))
    end = min(certificate.alpha_0 for certificate in certificates)
    tightness = first.tightness if len(certificates) == 1 else _tightness(certificates, constant, end)
    return Combined(constant * outwards, float(end), tightness)


def _tightness(certificates: Sequence[Certificate], constant: float, end: Fraction) -> float:
    met = max(float(np.linalg.norm(matrix, 2)) for matrix in _responses(certificates, end))
    return constant / met if met > 0 else 1.0


def _responses(certificates: Sequence[Certificate], end: Fraction) -> Iterator[np.ndarray]:
    """The matrix M over alpha**exponent, a column a certificate: its limit at 0, then at points of the interval."""
    yield np.array([_limit(certificate) for certificate in certificates]).T
    alphas = {end * k / TRIED for k in range(1, TRIED + 1)}
    for certificate in certificates:
        at = certificate.attained_at
        alphas.add(at if certificate.variable == "alpha" else Fraction(math.sqrt(at)))
    for alpha in sorted(alpha for alpha in alphas if 0 < alpha <= end):
        yield np.array([_column(certificate, alpha) for certificate in certificates]).T


def _column(certificate: Certificate, alpha: Fraction) -> list[float]:
    at = alpha if certificate.variable == "alpha" else alpha**2
    below = evaluate(certificate.denominator, at) * alpha**certificate.exponent
    return [float(evaluate(numerator, at) / below) for numerator in certificate.numerators]


def leading(certificate: Certificate) -> tuple[int, tuple[Fraction, ...]] | None:
    """The power of alpha a quantity begins with and its coefficients there; ``None`` where it is exactly zero."""
    base = _order(certificate.denominator)
    orders = [_order(numerator) for numerator in certificate.numerators if any(numerator)]
    if base is None or not orders:
        return None
    low = min(order for order in orders if order is not None)
    head = [numerator[low] if low < len(numerator) else Fraction(0) for numerator in certificate.numerators]
    step = 1 if certificate.variable == "alpha" else 2
    return (low - base) * step, tuple(value / certificate.denominator[base] for value in head)


def _order(polynomial: Polynomial) -> int | None:
    return next((k for k, value in enumerate(polynomial) if value), None)


def _limit(certificate: Certificate) -> list[float]:
    """The column's limit at 0, infinite nowhere: the bound holds."""
    head = leading(certificate)
    if head is None or head[0] != certificate.exponent:
        return [0.0] * len(certificate.numerators)
    return [float(value) for value in head[1]]
