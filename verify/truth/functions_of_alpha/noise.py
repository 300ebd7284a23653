r"""The noise of line 6, exactly: from given normals, and the variance of one sample given all its stages.

One sample of :math:`\nabla_x f` at (x, ỹ) carries :math:`\sigma_f z` (additive, jump) or :math:`\sigma_f|(x,ỹ)|z`
(matrix); one of :math:`\nabla_x g(x,ỹ)-\nabla_x g(x,ỹ^*)` what :func:`_difference` says.
The rows of h are known exactly. Variance means the trace of the covariance: a rational function of alpha but for jump
noise, where the normal distribution enters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Literal, TypeAlias

from spec import InvalidInputError, Noise, Quadratic
from verify.truth.algebra.numbers import Real, add, normal_cdf, root, times
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.algebra.rationals import Number, Vector, number, point
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, minimiser
from verify.truth.functions_of_alpha.scenario import Scenario

Pairing: TypeAlias = Literal["independent", "common"]
Averaging = Literal["mean", "first", "sum", "none"]
"""What becomes of the samples: their mean is right."""
Points: TypeAlias = tuple[Vector, Vector, Vector]
"""x, the point y the estimate is made at, and the lower-level solution."""
Draws: TypeAlias = Mapping[str, Sequence[Vector]]


def mean_noise(
    problem: Quadratic, points: Points, draws: Draws, pairing: str, averaging: Averaging = "mean"
) -> tuple[tuple[Real, ...], tuple[Real, ...]]:
    """Noise of the mean of the samples' gradients of f, and of their differences of gradients of g; shape (n,) each.

    ``draws`` are standard normals by block, one row a sample; ``pairing`` is ``common`` or ``independent``.
    """
    noise, n = problem.noise, problem.n
    x, y, _ = points
    zero: tuple[Real, ...] = (Fraction(0),) * n
    noise_f = zero
    if scale_of(noise, "f.x") and "f_x" in draws:
        length = _length(x, y) if noise.model == "matrix" else Fraction(1)
        factor = times(scale_of(noise, "f.x"), length)
        noise_f = tuple(times(factor, z) for z in _average(draws["f_x"], averaging))
    noise_g = zero
    if scale_of(noise, "g.x") and "g_x" in draws:
        difference = _difference(noise, points, draws, pairing, averaging)
        noise_g = (*difference, *zero[len(difference) :])
    return noise_f, noise_g


def draw_shapes(problem: Quadratic, N_g: int, pairing: str) -> dict[str, tuple[int, int]]:
    """Shapes of the blocks of draws that line 6 uses; blocks without effect are left out."""
    noise, n = problem.noise, problem.n
    k = 1 if noise.model == "jump" else n
    shapes = {"f_x": (N_g, n)} if scale_of(noise, "f.x") else {}
    if scale_of(noise, "g.x") and not (noise.model == "additive" and pairing == "common"):
        shapes["g_x"] = (N_g, k)
        if pairing == "independent":
            shapes["g_x_star"] = (N_g, k)
    return shapes


def _difference(noise: Noise, points: Points, draws: Draws, pairing: str, averaging: Averaging) -> tuple[Real, ...]:
    """Noise of the mean difference.

    Additive: ``sigma_g (z - z*)``, nothing if common. Matrix: ``sigma_g (|(x,y)| z - |(x,y*)| z*)``, if common
    ``sigma_g |y-y*| z``. Jump, first component alone: the two jumps' difference, their thresholds equal if common.
    """
    x, y, star = points
    scale = scale_of(noise, "g.x")
    common = pairing == "common"
    if noise.model == "jump":
        thresholds = draws["g_x"] if common else draws["g_x_star"]
        here, there = _jump(y[0], draws["g_x"], averaging), _jump(star[0], thresholds, averaging)
        return (times(scale, add(here, times(Fraction(-1), there))),)
    z = _average(draws["g_x"], averaging)
    if noise.model == "additive" and common:
        return tuple(Fraction(0) for _ in z)
    if common:
        shift = _length(tuple(a - b for a, b in zip(y, star, strict=True)))
        return tuple(times(times(scale, shift), value) for value in z)
    z_star = _average(draws["g_x_star"], averaging)
    here, there = Fraction(1), Fraction(1)
    if noise.model == "matrix":
        here, there = _length(x, y), _length(x, star)
    return tuple(
        times(scale, add(times(here, a), times(times(Fraction(-1), there), b))) for a, b in zip(z, z_star, strict=True)
    )


def _jump(y_1: Fraction, thresholds: Sequence[Vector], averaging: Averaging) -> Real:
    """The mean of ``1[y_1 > zeta] - Phi(y_1)``."""
    counted = _average([(Fraction(int(y_1 > zeta)),) for (zeta,) in thresholds], averaging)[0]
    weight = _average([(Fraction(1),) for _ in thresholds], averaging)[0]
    return add(counted, times(-weight, normal_cdf(y_1)))


def _average(rows: Sequence[Vector], averaging: Averaging) -> Vector:
    if averaging == "first":
        return rows[0]
    total = tuple(sum(values, Fraction(0)) for values in zip(*rows, strict=True))
    if averaging == "sum":
        return total
    return tuple(value / len(rows) if averaging == "mean" else Fraction(0) for value in total)


def _length(*parts: Vector) -> Real:
    return root(sum((value * value for part in parts for value in part), Fraction(0)))


def scale_of(noise: Noise, gradient: Literal["f.x", "g.x"]) -> Fraction:
    """Standard deviation per component (or entry) of one partial gradient, exactly."""
    if noise.model == "none" or gradient not in noise.on:
        return Fraction(0)
    return Fraction(noise.sigma_f if gradient == "f.x" else noise.sigma_g)


def variance(
    problem: Quadratic, x: Sequence[Number], alpha: Number, stages: Sequence[Sequence[Number]], pairing: Pairing
) -> Real:
    """The per-sample variance at an alpha and at stages y and y*, exact except for jump noise; units of grad F squared.

    Source:
        Lemma "Variance Bound". Differs from the paper: the factor alpha**-4 on the lower level's noise is kept.
    """
    at, noise = number(alpha, "alpha"), problem.noise
    if at <= 0:
        raise InvalidInputError("alpha", "must be > 0", str(at))
    exact_x, (y, star) = point(x, problem.n, "x"), (point(stage, problem.m, "y") for stage in stages)
    if noise.model == "jump":
        # A common threshold makes a difference where it lies between the two points.
        low, high = sorted((y[0], star[0]))
        between = add(normal_cdf(high), times(Fraction(-1), normal_cdf(low))) if low < high else Fraction(0)
        shares = (between,) if pairing == "common" else (normal_cdf(low), normal_cdf(high))
        spread = reduce(add, (times(share, add(Fraction(1), times(Fraction(-1), share))) for share in shares))
        amplified = times(at**-4 * scale_of(noise, "g.x") ** 2, spread)
        return add(problem.n * scale_of(noise, "f.x") ** 2, amplified)
    return _variance(noise, exact_x, RationalVector.constant(y), RationalVector.constant(star), pairing)(at)[0]


def variance_function(family: PenaltyFamily, pairing: Pairing) -> RationalVector:
    """The per-sample variance at exact stages as a function of alpha, one entry; not for jump noise."""
    y, star = minimiser(family, Scenario()), RationalVector.constant(family.lower.y_star)
    return _variance(family.problem.noise, family.x, y, star, pairing)


def _variance(noise: Noise, x: Vector, y: RationalVector, star: RationalVector, pairing: Pairing) -> RationalVector:
    weight_f, weight_g = (len(x) * scale_of(noise, name) ** 2 for name in ("f.x", "g.x"))
    at_y = at_star = RationalVector.constant((1,))
    difference = RationalVector.constant((0,))
    if noise.model == "matrix":
        x_squared = RationalVector.constant(x).norm_squared()
        at_y, at_star, difference = x_squared + y.norm_squared(), x_squared + star.norm_squared(), y - star
    lower = difference.norm_squared() if pairing == "common" else at_y + at_star
    return at_y.times(weight_f) + lower.times(weight_g, -4)
