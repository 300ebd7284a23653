"""What the cost lemma counts and how it says so: gradient draws, batch sizes, logarithms, and the word "accurate"."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

import numpy as np

from spec.exact import Vector
from spec.quadratic import QuadraticArrays
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.finite_laws import ExactOracle, exactly
from verify.checks.measuring.premises import at_truth, feasible, regular_truth
from verify.evidence.model import Point
from verify.evidence.rates import fit_rate
from verify.truth.formulas import as_float
from verify.truth.geometry import quadratic_of, spectral_norm
from verify.truth.pair import from_rationals
from verify.truth.point_values import moved
from verify.truth.stages import activation, row_values

ALPHA = Fraction(1, 10)
STEPS = 7
"""Of either inner solve; how many does not matter to what a sample costs."""
BATCH = 5
SIGMA = Fraction(3)
ROUNDINGS = 1e-8
"""Relative difference that doubles may leave between a played estimate and its formula."""
LEVELS = tuple(Fraction(k, 8) for k in (0, 1, 3, 8, 12))
"""Noise levels σ."""
FACTORS = (Fraction(1, 3), Fraction(1), Fraction(5))
"""Constants c of δ = cα³."""


@dataclass
class Counted:
    """Gradients of f and g at points, each one counted as a draw; noise would change no count."""

    a: QuadraticArrays
    x: Vector
    drawn: Counter[str] = field(default_factory=Counter)

    def f_x(self, y: Vector) -> Vector:
        """∇_x f, shape (n,)."""
        self.drawn["f.x"] += 1
        return self.a.f_xx @ self.x + self.a.f_xy @ y + self.a.f_x

    def f_y(self, y: Vector) -> Vector:
        """∇_y f, shape (m,)."""
        self.drawn["f.y"] += 1
        return self.a.f_xy.T @ self.x + self.a.f_yy @ y + self.a.f_y

    def g_x(self, y: Vector) -> Vector:
        """∇_x g but for what does not depend on y, shape (n,)."""
        self.drawn["g.x"] += 1
        return self.a.g_xy @ y

    def g_y(self, y: Vector) -> Vector:
        """∇_y g, shape (m,)."""
        self.drawn["g.y"] += 1
        return self.a.g_xy.T @ self.x + self.a.g_yy @ y + self.a.g_y


@dataclass(frozen=True)
class Played:
    """One call of Algorithm 1: its output, what line 6's formula gives at its stages, and the draws by phase."""

    output: Vector
    formula: Vector
    lower: int
    penalty: int
    average: int


def play(oracle: ExactOracle, steps: int = STEPS, batch: int = BATCH) -> Played:
    """Lines 3, 5 and 6 with so many steps of either inner solve, from the exact pair, and so many samples."""
    a = oracle.setting.problem.arrays
    x, alpha = as_float(oracle.setting.x), float(oracle.setting.alpha)
    gradients = Counted(a, x)
    y_star, lam = as_float(oracle.lower.y_star), as_float(oracle.lower.lam)
    size = 0.1 / (spectral_norm(a.g_yy) + spectral_norm(a.B) ** 2)
    for _ in range(steps):
        y_star = y_star - size * (gradients.g_y(y_star) - a.B.T @ lam)
        lam = np.maximum(0.0, lam + size * (a.A @ x - a.B @ y_star - a.b))
    lower = gradients.drawn.total()
    exact_y, exact_lam = (tuple(Fraction(float(v)) for v in part) for part in (y_star, lam))
    rho = as_float(activation(oracle.setting, row_values(oracle.setting, exact_y), exact_lam))
    y, size = y_star, 0.1 * alpha**4 / (spectral_norm(a.f_yy) + spectral_norm(a.g_yy) + spectral_norm(a.B) ** 2)
    for _ in range(steps):
        pull = a.B.T @ (rho * (a.A @ x - a.B @ y - a.b))
        y = y - size * (gradients.f_y(y) + alpha**-2 * (gradients.g_y(y) - a.B.T @ lam) - alpha**-4 * pull)
    penalty = gradients.drawn.total() - lower
    total = np.zeros_like(x)
    for _ in range(batch):
        rows = alpha**-4 * a.A.T @ (rho * (a.A @ x - a.B @ y - a.b))
        total = total + gradients.f_x(y) + alpha**-2 * (gradients.g_x(y) - gradients.g_x(y_star)) + rows
    formula = oracle.estimate(y_star=exact_y, lam=exact_lam, y=tuple(Fraction(float(v)) for v in y))
    average = gradients.drawn.total() - lower - penalty
    return Played(total / batch, as_float(formula), lower, penalty, average)


@check("inner-cost/what-n-g-counts", instances=("two-of-three", "scalar-rational"))
def what_the_batch_counts(case: Case) -> Measurement:
    """Gradient draws of a played call: over N_g as written, against 3N_g and the inner solves' own repaired."""
    played = play(ExactOracle.at(case.instance, ALPHA))
    off = float(np.linalg.norm(played.output - played.formula))
    room = ROUNDINGS * (1 + float(np.linalg.norm(played.formula))) * float(ALPHA) ** -4
    right = compare("distance of the played output from line 6's formula", off, "<=", 0.0, room)
    draws = played.lower + played.penalty + played.average
    if case.as_written:
        counted = exactly("gradient draws of one call per sample averaged", Fraction(draws, BATCH), "<=", 1)
    else:
        wanted = 3 * BATCH + STEPS + 2 * STEPS
        counted = exactly("gradient draws of one call", draws, "==", wanted)
    phases = {"N_g": BATCH, "line 3": played.lower, "line 5": played.penalty, "line 6": played.average}
    note = "A sample of ∇_xL̃ needs ∇_xf and ∇_xg at ỹ, and ∇_xg at ỹ*; a penalty step ∇_yf and ∇_yg."
    return Measurement((counted, right), {name: float(count) for name, count in phases.items()}, note)


@check("inner-cost/batch-integer", instances=("toy1",))
def whole_batches(case: Case) -> Measurement:
    """Noise levels and alphas at which N_g is no batch size that does its work; N_g = σ²/α² as written."""
    settings = [(sigma, Fraction(1, k)) for sigma, k in product(LEVELS, (2, 3, 10))]
    made = {(s, a): s**2 / a**2 if case.as_written else Fraction(max(1, math.ceil(s**2 / a**2))) for s, a in settings}
    unfit = [
        (sigma, alpha) for (sigma, alpha), N_g in made.items()
        if N_g < 1 or N_g.denominator != 1 or sigma**2 / N_g > alpha**2
    ]  # fmt: skip
    found = exactly("number of settings without a batch size", len(unfit))
    shown = {f"N_g at σ = {s}, α = {a}": str(made[s, a]) for s, a in unfit[:4]}
    return Measurement((found,), {"settings": float(len(settings)), **shown})


def log_gap(alpha: Fraction, delta: Fraction) -> float:
    """log(1/δ) less 3 log(1/α), as the logarithm of an exact ratio: two large ones would cancel."""
    return math.log((1 / delta) / (1 / alpha) ** 3)


@check("inner-cost/final-arithmetic", instances=("two-of-three", "toy1"))
def final_arithmetic(case: Case) -> Measurement:
    """log(1/δ) against 3 log(1/α), and C_g + α⁻² against 2α⁻², for all α up to 1/√C_g."""
    alphas = [Fraction(1, 2**k) for k in range(1, 40)]
    off = 0.0
    for c, alpha in product((Fraction(1),) if case.as_written else FACTORS, alphas):
        delta = c * alpha**3
        off = max(off, abs(log_gap(alpha, delta)))
    allowed = 0.0 if case.as_written else max(abs(math.log(c)) for c in FACTORS)
    same = compare("largest |log(1/δ) - 3 log(1/α)|", off, "<=", allowed, 1e-12)
    C_g = Fraction(spectral_norm(quadratic_of(case.instance.problem).arrays.g_yy)).limit_denominator(10**6)
    shares = [(C_g + alpha**-2) / (2 * alpha**-2) for alpha in alphas if alpha**2 * C_g <= 1]
    dominated = exactly("largest (C_g + α⁻²) over 2α⁻²", max(shares), "<=", 1)
    return Measurement((same, dominated), {"C_g": float(C_g)})


def least_batch(sigma: Fraction, alpha: Fraction) -> int:
    """The least whole N with σ/√N ≤ α, by halving."""
    high = 1
    while sigma**2 > high * alpha**2:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if sigma**2 <= middle * alpha**2 else (middle, high)
    return high


@check("inner-cost/batch-arithmetic", instances=("toy1",))
def batch_arithmetic(case: Case) -> Measurement:
    """The least batch that brings σ/√N_g down to α, as α falls."""
    points = [
        Point(at=a, measured=float(least_batch(SIGMA, Fraction(a))), uncertainty=1.0) for a in case.profile.alphas
    ]
    rate = fit_rate(points, quantity="least N_g with σ/√N_g ≤ α", variable="alpha")
    return Measurement((rate,), values_at("N_g at alpha", points[:3]))


@check("goldstein-convergence/moment-order", instances=("two-of-three", "toy1"))
def moment_order(case: Case) -> Measurement:
    """L² + σ²/N_g at these batches, L the length of ∇F, at a place beside the instance's where it vanishes there."""
    L, points = _slope_of_F(case), []
    for alpha in case.profile.alphas:
        noise = SIGMA**2 / least_batch(SIGMA, Fraction(alpha))
        points.append(Point(at=alpha, measured=L**2 + float(noise)))
    rate = fit_rate(points, quantity="L² + σ²/N_g", variable="alpha")
    return Measurement((rate,), values_at("at alpha", points[:2]))


def _slope_of_F(case: Case) -> float:  # noqa: N802  # the paper's letter
    """‖∇F‖, no more than F's Lipschitz constant: the first that is not 0, at x or a step along an axis from it."""

    def lengths() -> Iterator[float]:
        yield float(np.linalg.norm(regular_truth(case.instance).grad_F))
        for i in range(len(case.instance.x)):
            beside = case.instance.at(*moved(case.instance.x, i, Fraction(1)))
            truth = from_rationals(quadratic_of(beside.problem), beside.x, feasible(beside))
            slopes = truth.kink_gradients if truth.hypergradient is None else (truth.grad_F,)
            yield from (float(np.linalg.norm(slope)) for slope in slopes)

    return next((length for length in lengths() if length > 0), 0.0)


@check("inner-cost/alpha-accurate", instances=("two-of-three", "moving-box"))
def alpha_accurate(case: Case) -> Measurement:
    """Error at exact stages but a gradient of norm α left at ỹ, in its worst direction: its order, and against α."""
    truth, points = regular_truth(case.instance), []
    for alpha in case.profile.alphas:
        geometry, _ = at_truth(case, truth, alpha)
        y = geometry.minimiser + geometry.worst_y_with_gradient(alpha)
        error = geometry.estimate(y, dual_term="cancelled") - truth.grad_F
        rounding = geometry.rounding(y, dual_term="cancelled")
        points.append(Point(at=alpha, measured=float(np.linalg.norm(error)), uncertainty=rounding))
    rate = fit_rate(points, quantity="error of the estimate, noise aside", variable="alpha")
    values: dict[str, float | str] = {f"error over α at alpha = {p.at:g}": p.measured / p.at for p in points[:4]}
    if not case.as_written:
        return Measurement((rate,), values)
    largest = max(p.measured / p.at for p in points if p.uncertainty < p.measured / 100)
    return Measurement((rate, compare("largest error over α", largest, "<=", 1.0)), values)
