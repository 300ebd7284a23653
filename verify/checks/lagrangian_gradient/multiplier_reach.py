"""What a multiplier's error can do far from the boundary, where its accuracy comes from, and what C_sol must hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log

import numpy as np

from spec import Quadratic
from spec.exact import Vector as Doubles
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.premises import feasible, regular_truth
from verify.evidence.model import Point, PremiseEvidence
from verify.evidence.rates.rates import fit_rate
from verify.truth.algebra.rationals import Vector, fractions, rational
from verify.truth.algebra.rings import RATIONALS, Flint
from verify.truth.formulas import Lagrangian, as_float
from verify.truth.geometry import EPS, quadratic_of, spectral_norm
from verify.truth.lower_level import lower_level
from verify.truth.stages import DEFAULT_LAM_WIDTH, weights

ALPHA = Fraction(1, 10)
RADII = tuple(Fraction(2) ** k for k in range(2, 12))
STEPS = 8
"""Steps of a solver that stops early, whatever accuracy is wanted."""


@dataclass(frozen=True)
class ReachPair:
    """Two penalty Lagrangians at one point, of λ* and of λ̃ = λ* + δ on one row, the ramp of λ of a given width.

    Rows on the boundary have σ_h = 1, all others 0: the ramp of h is as narrow as may be.
    """

    problem: Quadratic
    x: Vector
    alpha: Fraction
    row: int
    lam_width: Fraction

    def lagrangian(self, *, moved: bool) -> Lagrangian[Flint]:
        """The one of λ̃, or of λ*."""
        lower = lower_level.solve(self.problem, self.x)
        lam = tuple(v + self.alpha**3 * int(moved and i == self.row) for i, v in enumerate(lower.lam))
        rho = weights(lower.h, lam, self.alpha**6, self.lam_width)
        scales = rational(self.alpha**-2), rational(self.alpha**-4)
        return Lagrangian.of(RATIONALS, self.problem, self.x, scales, (lower.y_star, lam, rho))

    def change(self, y: Vector) -> tuple[Doubles, Doubles]:
        """∇L_{λ̃} - ∇L_{λ*} at y, in x with the dual term cancelled, and in y."""
        high, low, at = self.lagrangian(moved=True), self.lagrangian(moved=False), RATIONALS.vector(y)
        in_x, in_y = high.estimate(at) - low.estimate(at), high.gradient_y(at) - low.gradient_y(at)
        return _doubles(in_x), _doubles(in_y)

    def shift(self) -> float:
        """Distance of the two minimisers."""
        change = self.lagrangian(moved=True).minimiser() - self.lagrangian(moved=False).minimiser()
        return float(np.linalg.norm(_doubles(change)))


def _doubles(values: Flint) -> Doubles:
    return as_float(fractions(values.entries))


def _beyond(case: Case, row: Sequence[Fraction], radius: Fraction) -> Vector:
    """A y at which this row's value is ``radius`` above its value at y*; y* where y does not move it."""
    lower = feasible(case.instance)
    square = sum((v * v for v in row), Fraction(0)) or Fraction(1)
    return tuple(y - radius * v / square for y, v in zip(lower.y_star, row, strict=True))


@check("dual-extraction/fixed-point", instances=("weakly-active",))
def far_from_the_boundary(case: Case) -> Measurement:
    """‖∇L_{λ*} - ∇L_{λ̃}‖ over (α₁ + α₂)δ at α = 1/10 and a fixed ε_λ, y further and further beyond a row; the worst."""
    problem = quadratic_of(case.instance.problem)
    unit, points = float((ALPHA**-2 + ALPHA**-4) * ALPHA**3), []
    rows = {i: row for i, row in enumerate(problem.constraints.B.to_fractions()) if any(row)}
    pairs = {i: ReachPair(problem, case.instance.x, ALPHA, i, DEFAULT_LAM_WIDTH) for i in rows}
    for radius in RADII:
        changes = (pairs[i].change(_beyond(case, row, radius)) for i, row in rows.items())
        size = max(float(np.linalg.norm(np.concatenate(change))) for change in changes) / unit
        points.append(Point(at=float(radius), measured=size, uncertainty=8 * EPS * size))
    rate = fit_rate(points, quantity="‖∇L_{λ*} - ∇L_{λ̃}‖/((α₁ + α₂)δ) at distance radius", variable="radius")
    note = "The row's weight moves by δ/ε_λ and multiplies α₂h(x, y), which grows with y."
    return Measurement((rate,), values_at("at radius", [points[0], points[-1]]), note)


@check("stochastic-oracles/dual-accuracy", instances=("toy1", "two-of-three", "box-rational"))
def accuracy_of_multipliers(case: Case) -> Measurement:
    """‖λ̃ - λ*‖/δ where the oracles are exact: of a solver that stops early, repaired of one that goes on."""
    truth, a = regular_truth(case.instance), quadratic_of(case.instance.problem).arrays
    W = a.B @ np.linalg.solve(a.g_yy, a.B.T)
    eta = 1 / (2 * spectral_norm(W))
    active = truth.active > 0
    slowest = 1 - eta * float(np.linalg.eigvalsh(W[np.ix_(active, active)])[0])
    points = []
    for alpha in case.profile.alphas:
        # From the start multipliers the active rows are not settled yet: they are given as many steps again.
        wanted = ceil(log(alpha**3 / (1 + float(np.linalg.norm(truth.lam)))) / log(slowest))
        steps = STEPS if case.as_written else STEPS + 2 * wanted
        size = float(np.linalg.norm(dual_ascent(case, eta, steps) - truth.lam))
        points.append(Point(at=alpha, measured=size / alpha**3))
    worst = max(points, key=lambda point: point.measured)
    oracles = PremiseEvidence(
        premise="oracles", holds=True, finding="every gradient the solver is given is exact: bias 0, variance 0"
    )
    off = compare("largest ‖λ̃ - λ*‖/δ over the sweep, against C_λ = 1", worst.measured, "<=", 1.0,
                  context={"alpha": worst.at})  # fmt: skip
    note = f"Projected ascent on the dual from λ = 0, {STEPS} steps: unbiased, noise-free, and short of accuracy δ."
    return Measurement((oracles, off), values_at("at alpha", [points[0], points[-1]]), note if case.as_written else "")


def dual_ascent(case: Case, eta: float, steps: int) -> Doubles:
    """Multipliers after a number of steps λ ← max(0, λ + η h(x, y(λ))) from 0, y(λ) the minimiser of g - λᵀ(By)."""
    a, lam = quadratic_of(case.instance.problem).arrays, np.zeros(len(quadratic_of(case.instance.problem).arrays.b))
    slope = a.g_xy.T @ case.x + a.g_y
    for _ in range(steps):
        y = np.linalg.solve(a.g_yy, a.B.T @ lam - slope)
        lam = np.maximum(0.0, lam + eta * (a.A @ case.x - a.B @ y - a.b))
    return lam


@check("solution-error/constants", instances=("weakly-active",))
def constant_of_the_shift(case: Case) -> Measurement:
    """‖Δy‖μ/((α₁ + α₂)δ) on problems with the same B, C_λ = 1 and μ_g, whose ∇_yf grows like α⁻²; ε_λ = δ."""
    points, bound = [], []
    base = quadratic_of(case.instance.problem)
    for alpha in map(Fraction, case.profile.alphas):
        problem = with_upper_slope(base, alpha**-2)
        pair = ReachPair(problem, case.instance.x, alpha, 0, alpha**3)
        mu = float(np.linalg.eigvalsh(np.array(_table(pair.lagrangian(moved=False).H)))[0])
        ratio = pair.shift() * mu / float((alpha**-2 + alpha**-4) * alpha**3)
        c = float(np.linalg.norm(as_float(problem.f.y.to_fractions()[0])))
        points.append(Point(at=float(alpha), measured=ratio if case.as_written else ratio / (1 + float(alpha) * c)))
        bound.append(c)
    name = "‖Δy‖μ/((α₁ + α₂)δ)" + ("" if case.as_written else " over 1 + α‖∇_yf‖ min(1, δ/ε_λ)")
    rate = fit_rate(points, quantity=name, variable="alpha")
    values = values_at("at alpha", [points[0], points[-1]]) | {"largest ‖∇_yf‖": bound[-1]}
    note = "f = α⁻²y, g = y²/2, x - y ≤ 0 at x = 0: λ* = 0 gives y = -1, λ̃ = ε_λ = δ holds the row and gives nearly 0."
    return Measurement((rate,), values, note)


def with_upper_slope(problem: Quadratic, factor: Fraction) -> Quadratic:
    """The same problem, f's linear part in y times a factor."""
    data = problem.to_dict()
    data["f"] = data["f"] | {"y": [str(factor * value) for value in problem.f.y.to_fractions()[0]]}
    return Quadratic.model_validate(data)


def _table(H: Flint) -> list[list[float]]:
    return [[float(value.p) / float(value.q) for value in row] for row in H.entries.tolist()]
