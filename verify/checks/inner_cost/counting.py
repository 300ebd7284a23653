"""What one call of Algorithm 1 draws: gradients counted by phase."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from spec.blocks.quadratic import QuadraticArrays
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.finite_laws import ExactOracle
from verify.checks.measuring.formula_evidence import brought
from verify.truth.formulas import as_float
from verify.truth.geometry import spectral_norm
from verify.truth.stages import activation, row_values

ALPHA = Fraction(1, 10)
STEPS = 7
"""Of either inner solve; how many does not matter to what a sample costs."""
BATCH = 5
ROUNDINGS = 1e-8
"""Relative difference that doubles may leave between a played estimate and its formula."""


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
    counted = brought(case, (draws, *(() if case.as_written else (STEPS, STEPS))), N_g=BATCH)
    phases = {"N_g": BATCH, "line 3": played.lower, "line 5": played.penalty, "line 6": played.average}
    note = "A sample of ∇_xL̃ needs ∇_xf and ∇_xg at ỹ, and ∇_xg at ỹ*; a penalty step ∇_yf and ∇_yg."
    return Measurement((*counted, right), {name: float(count) for name, count in phases.items()}, note)
