"""The convergence theorem's hypothesis on the bias: at kinks, with Algorithm 1 as the oracle, and as a field."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from spec import OuterParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.runs.outer_recursion import farthest
from verify.checks.measuring.runs.outer_runs import Recorded, record
from verify.evidence.model import Point
from verify.evidence.rates.rates import fit_rate
from verify.truth.functions import Texture
from verify.truth.geometry import quadratic_of
from verify.truth.goldstein import distance as goldstein
from verify.truth.lower_level.lower_level import hypergradient

TARGETS = (Fraction(1), Fraction(4, 5), Fraction(2, 3), Fraction(4, 7))
"""ε = 4α; 4/ε is whole, so that rounding the number of blocks bends no exponent."""
START = Fraction(19, 10)
"""Distance of the start from the kink, in radii: the first block stays outside the ball, the second comes within."""


@check("goldstein-convergence/bias-hypothesis", instances=("kink", "experiment-1d"),
       needs=("optimise", "hypergradient"), sure=2)  # fmt: skip
def at_kinks(case: Case) -> Measurement:
    """Expected distance of the output with the subject's Algorithm 1 as the oracle, started beside a kink."""
    kink = Fraction(case.instance.known["kink"])
    lam_width = Fraction(case.call(0.1).parameters.lam_width)
    points, followed = [], []
    for epsilon in TARGETS:
        alpha = epsilon / 4
        transition = alpha**2 * lam_width
        radius = transition / 2 if case.as_written else alpha / 5
        measured, run = _settles_at(case, epsilon, kink, transition, radius)
        points.append(Point(at=float(alpha), measured=measured))
        followed.append(run.followed)
    rate = fit_rate(points, quantity="expected distance of the output", variable="alpha")
    size = "α²ε_λ/2" if case.as_written else "α/5"
    note = (
        f"The oracle's mean crosses 0 where the multiplier is α²ε_λ, off the kink at x = {kink}; with δ = {size} the "
        f"ball {'does not reach' if case.as_written else 'reaches'} the kink from there."
    )
    return Measurement((rate, farthest(followed)), values_at("distance at α", points), note)


def _settles_at(
    case: Case, epsilon: Fraction, kink: Fraction, transition: Fraction, radius: Fraction
) -> tuple[float, Recorded]:
    """Mean certified distance over the blocks of a run by the theorem's schedule, or over later ones of a short one."""
    problem, call = case.instance.problem, case.call(float(epsilon / 4))
    if case.as_written:
        M, K, walk = 10, 24, float(radius)
        schedule = OuterParameters(goldstein_radius=walk, epsilon=0.1, D=walk / M, eta=4 * walk / M, M=M, K=K)
        start, later = kink + 2 * transition, K // 2
    else:
        start, later = kink + START * radius, 0
        # On this side of the kink F' is affine.
        first, middle = (hypergradient(quadratic_of(problem), [x])[0] for x in (start, (start + kink) / 2))
        schedule = OuterParameters.repaired(
            goldstein_radius=float(radius), epsilon=float(epsilon), lipschitz_F=float(first),
            gap=float(START * radius * middle), bias=2 * float(epsilon / 4) ** 2, variance=0.0,
        )  # fmt: skip
    recorded = record(case, lambda z: case.stages.hypergradient(problem, z, call), np.array([float(start)]), schedule)
    blocks = recorded.run.x_bar[later:]
    distances = [goldstein.distance(quadratic_of(problem), x.tolist(), radius).upper for x in blocks]
    return float(np.mean(distances)), recorded


TEXTURE = Texture(c=0.6, ramp=0.4, zigzag=2.2, R=0.8)
RADIUS, BETA, EPSILON = 0.15, 0.02, 0.36
LENGTH = 1.35
"""Bound of ‖∇F_r‖ and of the circulating field."""
LEVEL, TURN, CLIMB = 0.75, 0.3, 0.9
"""Height and half-width of the circuit, and the speed at which its sides are taken."""
AT = np.array([0.5, 0.7])


@check("goldstein-convergence/bias-potential", instances=("absolute-fixed",), needs=("optimise",), sure=2)
def circulating_field(case: Case) -> Measurement:
    """Expected distance on a textured F: a field near ∂_rF that circulates, or ∇F_r with a bias that does."""
    gap = TEXTURE.c * float(AT[0] + TEXTURE.R)
    beta = 0.0 if case.as_written else BETA
    schedule = OuterParameters.repaired(
        goldstein_radius=RADIUS, epsilon=EPSILON, lipschitz_F=LENGTH, gap=gap, bias=beta, variance=0.0
    )
    recorded = record(case, _circulating if case.as_written else _almost_a_gradient, AT, schedule)
    mean = float(TEXTURE.distance(recorded.run.x_bar, RADIUS).mean())
    bound, named = EPSILON + 2 * beta, "" if case.as_written else " + 2β"
    context: dict[str, float | str] = {"ε": EPSILON, "β": beta, "δ": RADIUS, "M": float(schedule.M)}
    within = compare(f"expected distance of the output, against ε{named}", mean, "<=", bound, context=context)
    note = (
        "F = c x₁ φ(x₂) plus a fine zigzag in x₂: ∂_r F leaves the second component free, so a field in it may circle."
    )
    return Measurement((within, recorded.followed), {"expected distance": mean, "bound": bound}, note)


def _circulating(z: Vector) -> Vector:
    """A field that lies in ∂_rF everywhere and leads round and round: left above, down, right below, up."""
    x, height = z.tolist()
    side, second = _clip(x / TURN), 0.0
    if abs(side) == 1.0 or abs(height) <= TEXTURE.ramp:
        second = -side
    else:
        second = math.copysign(1.0, height) * _clip((abs(height) - LEVEL) / 0.1)
    return np.array([TEXTURE.c * _clip(height / TEXTURE.ramp), CLIMB * second])


def _clip(value: float) -> float:
    return min(1.0, max(-1.0, value))


def _almost_a_gradient(z: Vector) -> Vector:
    """∇F_r with a bias of length β that circles the origin."""
    x, height = z.tolist()
    away = BETA / max(math.hypot(x, height), 1e-300)
    return np.asarray(TEXTURE.trend(z) + np.array([-height * away, x * away]))
