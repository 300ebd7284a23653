"""The total cost as a formula: its factor σ², its limit without noise, and how wide a ramp a larger α allows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, log, sqrt

import numpy as np

from spec.atlas import Instance
from spec.exact import Vector
from verify.checks.goldstein_convergence.parameter_orders import repaired
from verify.checks.measuring.case import Case, Measurement, check, values_at
from verify.checks.measuring.finite_laws import ExactOracle, minus, square
from verify.checks.measuring.premises import regular_truth, weighted
from verify.evidence.model import Point
from verify.evidence.rates import fit_rate
from verify.truth.stages import DEFAULT_LAM_WIDTH, evaluate
from verify.verdict import NoEvidenceError

RADIUS, GAP = Fraction(1, 4), Fraction(3)
"""δ_G and C₀ where they are held."""
ALPHA = 1 / 16
"""The alpha at which the noise fades."""
LEVELS = tuple(2.0**-k for k in range(0, 24, 2))
TARGETS = tuple(2.0**-k for k in range(2, 9))
"""Values of ε = α."""
BEYOND = Fraction(9, 8)
"""Distance from the kink in radii: no ball of that radius holds it."""
MOVING = ("two-of-three", "moving-box")
"""Some rows active, but fewer than y has components: there the condition number is of order α⁻²."""


def curvatures(case: Case, alpha: float) -> Vector:
    """Eigenvalues of ∇²_yy L at exact weights, ascending."""
    return np.asarray(np.linalg.eigvalsh(weighted(case, regular_truth(case.instance), alpha).H))


def plain_steps(values: Vector, shrink: float) -> int:
    """Gradient steps of the best constant size until every error has shrunk so far: a linear rate in κ."""
    factor = (values[-1] - values[0]) / (values[-1] + values[0])
    return ceil(log(shrink) / log(factor))


def accelerated_steps(values: Vector, shrink: float) -> int:
    """The same with momentum of the best constant size, counted step by step: a linear rate in √κ."""
    low, high = np.sqrt(values[0]), np.sqrt(values[-1])
    eta, momentum = 4 / (low + high) ** 2, ((high - low) / (high + low)) ** 2
    error = before = np.ones(len(values))
    t = 0
    while float(np.abs(error).max()) > shrink or float(np.abs(before).max()) > shrink:
        error, before = error - eta * values * error + momentum * (error - before), error
        t += 1
    return t


def outer_steps(epsilon: float) -> float:
    """T = KM of the repaired convergence theorem, L_F = 1."""
    return float(repaired(RADIUS, Fraction(epsilon), Fraction(1), GAP).T)


@check("sfo-complexity/noise-proportional", instances=MOVING)
def noise_proportional(case: Case) -> Measurement:
    """Calls of all outer steps by the printed cost of one, as the noise fades at fixed ε = α."""
    a = curvatures(case, ALPHA)
    kappa = float(a[-1] / a[0])
    lower = np.linalg.eigvalsh(weighted(case, regular_truth(case.instance), ALPHA).a.g_yy)
    inner = (float(lower[-1] / lower[0]) + kappa) * log(1 / ALPHA**3)
    points = [Point(at=sigma, measured=outer_steps(ALPHA) * (inner + sigma**2 / ALPHA**2)) for sigma in LEVELS]
    rate = fit_rate(points, quantity="calls in all by the printed cost of a step", variable="sigma")
    note = f"At α = {ALPHA:g}: {inner:.3g} inner calls a step by the printed formula, whatever σ, beside σ²/α²."
    return Measurement((rate,), values_at("calls at σ", points[::4]), note)


def _total(case: Case, *, accelerated: bool) -> Measurement:
    points = []
    for epsilon in TARGETS:
        values, shrink = curvatures(case, epsilon), epsilon**3
        steps = accelerated_steps(values, shrink) if accelerated else plain_steps(values, shrink)
        # Logarithms are not counted.
        points.append(Point(at=epsilon, measured=outer_steps(epsilon) * steps / log(1 / shrink)))
    method = "momentum" if accelerated else "plain gradient steps"
    rate = fit_rate(points, quantity=f"gradient calls in all without noise, {method}", variable="epsilon")
    return Measurement((rate,), values_at("calls at ε", points[:3]))


@check("sfo-complexity/noise-free-limit", instances=MOVING)
def noise_free_limit(case: Case) -> Measurement:
    """Calls of all outer steps without noise, the penalty solved at a linear rate in κ_pen as the text prints it."""
    return _total(case, accelerated=False)


@check("sfo-complexity/noise-free-accelerated", instances=MOVING)
def noise_free_accelerated(case: Case) -> Measurement:
    """The same: plain gradient steps as the text has it, steps with momentum repaired."""
    return _total(case, accelerated=not case.as_written)


@check("sfo-complexity/larger-alpha-width", instances=("kink",))
def width_of_the_ramp(case: Case) -> Measurement:
    """Error over ε just further than δ_G from the kink of |x|, as δ_G shrinks: ε_λ fixed as written, δ_G repaired."""
    alpha, points = Fraction(1, 2**20), []
    for radius in (Fraction(1, 2**k) for k in range(9, 22)):
        width = DEFAULT_LAM_WIDTH if case.as_written else radius
        oracle = ExactOracle.at(_beside(case.instance, BEYOND * radius), alpha)
        pair = {"y_star": oracle.lower.y_star, "lam": oracle.lower.lam}
        setting = replace(oracle.setting, lam_width=width, given=pair)
        found = tuple(Fraction(v) for v in evaluate(setting).hypergradient if isinstance(v, Fraction))
        apart = sqrt(square(minus(found, oracle.grad_F)))
        points.append(Point(at=float(radius), measured=apart / float(alpha**2)))
    rate = fit_rate(points, quantity="distance of the mean from the gradient over ε", variable="goldstein_radius")
    note = "α = √ε. The two pieces weigh α²ε_λ to 9δ_G/8 there; within the ball of radius δ_G lies one of them alone."
    return Measurement((rate,), values_at("error over ε at δ_G", points[:3]), note)


def _beside(instance: Instance, distance: Fraction) -> Instance:
    """The point at a distance from the kink at 0, on the side where the row has a multiplier."""
    for x in (distance, -distance):
        if ExactOracle.at(instance.at(x), Fraction(1, 2)).lower.lam[0] > 0:
            return instance.at(x)
    raise NoEvidenceError(f"the row of {instance.name} has no multiplier on either side of its kink")
