r"""Exact variance of one sample of the estimator, given all its stages, and its order in alpha.

A sample's noise is that of :math:`\nabla_x f(x,\hat y)` plus :math:`\alpha_1` times that of
:math:`\nabla_x g(x,\hat y) - \nabla_x g(x,\hat y^*)`; the rows of h are known exactly. Variance means the trace of the
covariance. It is a rational function of alpha except for jump noise, where the normal distribution enters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from flint import arb, ctx, fmpq_poly

from spec import InvalidInputError, Noise, Quadratic
from spec.noise import NoisyGradient
from verify.truth.algebra.rational_functions import RationalVector, monomial
from verify.truth.algebra.rationals import Number, Vector, number, point, rational
from verify.truth.penalty_functions import Family, sampled_point
from verify.truth.scenario import Error, Scenario

Pairing: TypeAlias = Literal["independent", "common"]

_PRECISION = 128


@dataclass(frozen=True)
class LeadingVariance:
    """The first term of the per-sample variance at alpha = 0.

    Args:
        exponent: Power of alpha; ``None`` if the variance is identically zero.
        coefficient: Bounds of its coefficient; equal where it is rational.
    """

    exponent: int | None
    coefficient: tuple[Fraction, Fraction]


def variance(
    problem: Quadratic,
    x: Sequence[Number],
    alpha: Number,
    y: Sequence[Number],
    y_star: Sequence[Number],
    pairing: Pairing,
) -> tuple[Fraction, Fraction]:
    """Bounds of the per-sample variance at a rational alpha.

    Args:
        problem: The problem with its noise.
        x: Upper-level point, shape (n,).
        alpha: Accuracy parameter, > 0.
        y: Where the estimator is sampled, shape (m,).
        y_star: The lower-level solution it is given, shape (m,).
        pairing: Whether the two lower-level gradients of a sample share their draw.

    Returns:
        Lower and upper bound, units of ``grad F`` squared; equal except for jump noise.

    Raises:
        InvalidInputError: If an argument does not fit.

    Source:
        Lemma "Variance Bound". Differs from the paper: the factor alpha**-4 on the lower level's noise is kept.
    """
    at = number(alpha, "alpha")
    if at <= 0:
        raise InvalidInputError("alpha", "must be > 0", str(at))
    x_, y_, star = point(x, problem.n, "x"), point(y, problem.m, "y"), point(y_star, problem.m, "y_star")
    upper = _upper_level(problem.noise, x_, _square(y_))
    noise, amplified = problem.noise, at**-4 * _scale(problem.noise, "g.x") ** 2
    if noise.model == "jump":
        with ctx.workprec(_PRECISION):
            p, q = _normal(y_[0]), _normal(star[0])
            spread = abs(p - q) * (1 - abs(p - q)) if pairing == "common" else p * (1 - p) + q * (1 - q)
            return _bounds(arb(rational(upper)) + arb(rational(amplified)) * spread)
    difference = _square([a - b for a, b in zip(y_, star, strict=True)])
    made = upper + amplified * _lower_level_units(noise, pairing, x_, _square(y_), _square(star), difference)
    return made, made


def leading_variance(family: Family, scenario: Scenario, pairing: Pairing) -> LeadingVariance:
    """Exponent and coefficient of the per-sample variance as alpha tends to 0.

    Args:
        family: The problem, with its noise, at its point.
        scenario: Activation and the errors spent on the stages.
        pairing: Whether the two lower-level gradients of a sample share their draw.

    Source:
        Lemma "Variance Bound".
    """
    noise = family.problem.noise
    y, star = stages(family, scenario)
    difference = y - star
    if noise.model == "jump":
        return _leading_jump(family, y, difference, pairing)
    made = _rational_variance(family, noise, y, star, pairing).leading()
    return LeadingVariance(made.exponent, (made.coefficient[0], made.coefficient[0]))


def stages(family: Family, scenario: Scenario) -> tuple[RationalVector, RationalVector]:
    """The point sampled and the lower-level solution given, as functions of alpha."""
    start = RationalVector.constant(family.lower.y_star)
    return sampled_point(family, scenario), start + _polynomials(scenario.y_star_error, family.problem.m)


def _rational_variance(
    family: Family, noise: Noise, y: RationalVector, star: RationalVector, pairing: Pairing
) -> RationalVector:
    n = family.problem.n
    weight_f, weight_g = _scale(noise, "f.x") ** 2 * n, _scale(noise, "g.x") ** 2 * n
    one, x_squared = RationalVector.constant((Fraction(1),)), RationalVector.constant((_square(family.x),))
    if noise.model != "matrix":
        return one.times(weight_f) + one.times(2 * weight_g if pairing == "independent" else 0, -4)
    at_y, at_star = x_squared + y.norm_squared(), x_squared + star.norm_squared()
    lower = (y - star).norm_squared() if pairing == "common" else at_y + at_star
    return at_y.times(weight_f) + lower.times(weight_g, -4)


def _leading_jump(family: Family, y: RationalVector, difference: RationalVector, pairing: Pairing) -> LeadingVariance:
    r"""With common draws a jump falls between the two points with probability ~ phi(y*_1) |difference_1|."""
    noise = family.problem.noise
    upper = _upper_level(noise, family.x, Fraction(0))
    amplified = _scale(noise, "g.x") ** 2
    centre = y.leading()
    at = centre.coefficient[0] if centre.exponent == 0 else Fraction(0)
    with ctx.workprec(_PRECISION):
        if pairing == "independent":
            p = _normal(at)
            exponent, size = -4, arb(rational(amplified)) * 2 * p * (1 - p)
        else:
            first = RationalVector(difference.numerators[:1], difference.denominator).leading()
            density = (-(arb(rational(at)) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()
            exponent = 0 if first.exponent is None else first.exponent - 4
            size = arb(rational(amplified * abs(first.coefficient[0]))) * density
        if amplified == 0 or exponent > 0 or not size > 0:
            return LeadingVariance(0 if upper else None, (upper, upper))
        if exponent == 0:
            size = size + arb(rational(upper))
        return LeadingVariance(exponent, _bounds(size))


def _upper_level(noise: Noise, x: Vector, y_squared: Fraction) -> Fraction:
    """Variance of the sampled gradient of f in x; for jump noise it is additive."""
    per_component = _scale(noise, "f.x") ** 2
    if noise.model == "matrix":
        per_component *= _square(x) + y_squared
    return len(x) * per_component


def _lower_level_units(
    noise: Noise, pairing: Pairing, x: Vector, y: Fraction, star: Fraction, difference: Fraction
) -> Fraction:
    """Variance of the difference of lower-level gradients, in units of sigma_g squared; lengths come squared."""
    n = len(x)
    if noise.model == "additive":
        return Fraction(2 * n if pairing == "independent" else 0)
    if noise.model == "matrix":
        return n * (difference if pairing == "common" else 2 * _square(x) + y + star)
    return Fraction(0)


def _scale(noise: Noise, gradient: NoisyGradient) -> Fraction:
    """Exact standard deviation per component of one sampled gradient."""
    if noise.model == "none" or gradient not in noise.on:
        return Fraction(0)
    return Fraction(noise.sigma_f if gradient.startswith("f") else noise.sigma_g)


def _square(values: Sequence[Fraction]) -> Fraction:
    return sum((value * value for value in values), Fraction(0))


def _normal(at: Fraction) -> arb:
    """The standard normal distribution function."""
    return (-arb(rational(at)) / arb(2).sqrt()).erfc() / 2


def _bounds(ball: arb) -> tuple[Fraction, Fraction]:
    low, high = ball.lower().fmpq(), ball.upper().fmpq()
    return Fraction(int(low.p), int(low.q)), Fraction(int(high.p), int(high.q))


def _polynomials(errors: Sequence[Error], size: int) -> RationalVector:
    total = [fmpq_poly([]) for _ in range(size)]
    for error in errors:
        total = [a + monomial(error.power, v) for a, v in zip(total, error.direction, strict=True)]
    return RationalVector(tuple(total), fmpq_poly([1]))
