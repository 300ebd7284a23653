r"""Exact variance of one sample of the estimator, given all its stages, and its order in alpha.

A sample's noise is that of :math:`\nabla_x f(x,\hat y)` plus :math:`\alpha_1` times that of
:math:`\nabla_x g(x,\hat y) - \nabla_x g(x,\hat y^*)`; the rows of h are known exactly. Variance means the trace of the
covariance. It is a rational function of alpha except for jump noise, where the normal distribution enters.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

from flint import arb, ctx

from spec import InvalidInputError, Noise, Quadratic
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.algebra.rationals import Number, Vector, number, point, rational
from verify.truth.noise import scale_of
from verify.truth.penalty_functions import Family, minimiser
from verify.truth.scenario import Scenario

Pairing: TypeAlias = Literal["independent", "common"]

_PRECISION = 128


def variance(
    problem: Quadratic,
    x: Sequence[Number],
    alpha: Number,
    y: Sequence[Number],
    y_star: Sequence[Number],
    pairing: Pairing,
) -> tuple[Fraction, Fraction]:
    """Lower and upper bound of the per-sample variance at a rational alpha; equal except for jump noise.

    It is sampled at ``y`` with ``y_star`` as the lower-level solution; units of ``grad F`` squared.

    Raises:
        InvalidInputError: If an argument does not fit.

    Source:
        Lemma "Variance Bound". Differs from the paper: the factor alpha**-4 on the lower level's noise is kept.
    """
    at = number(alpha, "alpha")
    if at <= 0:
        raise InvalidInputError("alpha", "must be > 0", str(at))
    x_, y_, star = point(x, problem.n, "x"), point(y, problem.m, "y"), point(y_star, problem.m, "y_star")
    noise = problem.noise
    if noise.model == "jump":
        amplified = at**-4 * scale_of(noise, "g.x") ** 2
        with ctx.workprec(_PRECISION):
            p, q = _normal(y_[0]), _normal(star[0])
            spread = abs(p - q) * (1 - abs(p - q)) if pairing == "common" else p * (1 - p) + q * (1 - q)
            return _bounds(arb(rational(problem.n * scale_of(noise, "f.x") ** 2)) + arb(rational(amplified)) * spread)
    (exact,) = _variance(noise, x_, RationalVector.constant(y_), RationalVector.constant(star), pairing)(at)
    return exact, exact


def variance_function(family: Family, pairing: Pairing) -> RationalVector:
    """The per-sample variance at exact stages as a function of alpha, one entry; not for jump noise."""
    y, star = minimiser(family, Scenario()), RationalVector.constant(family.lower.y_star)
    return _variance(family.problem.noise, family.x, y, star, pairing)


def _variance(noise: Noise, x: Vector, y: RationalVector, star: RationalVector, pairing: Pairing) -> RationalVector:
    weight_f, weight_g = (len(x) * scale_of(noise, name) ** 2 for name in ("f.x", "g.x"))
    at_y = at_star = RationalVector.constant((1,))
    difference = RationalVector.constant((0,))
    if noise.model == "matrix":
        x_squared = RationalVector.constant((_square(x),))
        at_y, at_star, difference = x_squared + y.norm_squared(), x_squared + star.norm_squared(), y - star
    lower = difference.norm_squared() if pairing == "common" else at_y + at_star
    return at_y.times(weight_f) + lower.times(weight_g, -4)


def _square(values: Sequence[Fraction]) -> Fraction:
    return sum((value * value for value in values), Fraction(0))


def _normal(at: Fraction) -> arb:
    """The standard normal distribution function."""
    return (-arb(rational(at)) / arb(2).sqrt()).erfc() / 2


def _bounds(ball: arb) -> tuple[Fraction, Fraction]:
    low, high = ball.lower().fmpq(), ball.upper().fmpq()
    return Fraction(int(low.p), int(low.q)), Fraction(int(high.p), int(high.q))
