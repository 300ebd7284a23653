r"""How exactly each value can be asked for: rounding errors of honest double arithmetic, followed through the formulas.

Every product and sum of k numbers is allowed an error :math:`\gamma = 4(k+4)u` relative to the sum of the sizes of its
parts, :math:`u = 2^{-53}`; systems of equations pass such errors on through their exact inverse, taken entry by entry
without signs. ``docs/vectors.md`` states each bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq_mat

from verify.conformance.vectors.sizing import (
    FACTOR,
    Sizes,
    Sizing,
    U,
    absolute,
    column_sizes,
    lengths,
    product,
    scaled,
    sizes,
    total,
    transposed,
)
from verify.truth.algebra.rationals import Vector, beside, column, diagonal, rational, select
from verify.truth.lower_level import ExactLowerLevel
from verify.truth.stages import Setting, Values, row_values

MAX_OPTIONAL = 4
"""Most degenerate rows whose combinations are all looked at."""
STOP_FLOOR = 8.0
"""The penalty minimiser is asked for a gradient this many roundings above what doubles can tell from zero."""


@dataclass(frozen=True)
class LowerTolerance:
    """Of the lower-level pair.

    Args:
        y_star: Shape (m,).
        lam: Shape (p,).
        dual_pull: Of ``B' lam``, shape (m,).
    """

    y_star: Sizes
    lam: Sizes
    dual_pull: Sizes


def lower_level(sizing: Sizing, lower: ExactLowerLevel) -> LowerTolerance:
    """Normwise rounding errors of the optimality conditions through their inverse, the worst of all pieces."""
    setting, gamma = sizing.setting, sizing.gamma
    m, p = setting.problem.m, setting.problem.p
    top = gamma * max(sizing.stationarity(lower.y_star, lower.lam))
    # Solvers come from the minimum without rows, which may lie far off.
    r = setting.rows
    free = r.g_yy.solve(r.g_y + r.g_xy.transpose() * column(setting.x))
    all_rows = total(sizing.rows_at(lower.y_star), product(sizing.B, column_sizes(free)))
    y, lam = [0.0] * m, [0.0] * p
    for i in range(p):
        pull = max(sizing.B[i])
        lam[i] = top / pull if pull > 0 else top
    for held in _pieces(setting, lower):
        W = select(setting.rows.B, held)
        zero = fmpq_mat(len(held), len(held))
        upper = beside(setting.rows.g_yy, W.transpose()) if held else setting.rows.g_yy
        K = fmpq_mat(upper.tolist() + (beside(W, zero).tolist() if held else []))
        inverse = absolute(K.inv())
        bottom = gamma * max((all_rows[i] for i in held), default=0.0)
        error = product(inverse, [top] * m + [bottom] * len(held))
        y = [max(a, b) for a, b in zip(y, error[:m], strict=True)]
        for k, i in enumerate(held):
            lam[i] = max(lam[i], error[m + k])
    pull_error = total([top] * m, product(sizing.g_yy, y))
    return LowerTolerance(y, lam, pull_error)


def _pieces(setting: Setting, lower: ExactLowerLevel) -> Iterator[tuple[int, ...]]:
    """Sets of independent rows that rounding may leave active."""
    necessary = lower.strictly_active if lower.licq else ()
    optional = [i for i in lower.active if i not in necessary]
    counts = range(len(optional) + 1) if len(optional) <= MAX_OPTIONAL else (0, len(optional))
    for count in counts:
        for extra in itertools.combinations(optional, count):
            held = tuple(sorted((*necessary, *extra)))
            if not held or select(setting.rows.B, held).rank() == len(held):
                yield held


def rows(sizing: Sizing, y_star: Vector, y_error: Sizes) -> Sizes:
    """Of the row values at the lower-level solution."""
    return total(scaled(sizing.gamma, sizing.rows_at(y_star)), product(sizing.B, y_error))


def activation(h: Vector, lam: Vector, h_width: float, lam_width: float, errors: tuple[Sizes, Sizes]) -> Sizes:
    """Of the weights: slopes 1 / width of both ramps where the value, give or take its error, is on the ramp."""
    made = []
    for value, multiplier, h_error, lam_error in zip(h, lam, *errors, strict=True):
        a, b = float(value), float(multiplier)
        on_h = a > -h_width - h_error and a <= h_error
        on_lam = b < lam_width + lam_error and b >= -lam_error
        possible = a > -h_width - h_error and b > -lam_error
        if not possible:
            made.append(0.0)
            continue
        ramp_h = (h_error + 4 * U * (abs(a) + h_width)) / h_width if on_h else 0.0
        ramp_lam = (lam_error + 4 * U * abs(b)) / lam_width if on_lam else 0.0
        weight_h = min(1.0, max(0.0, 1 + a / h_width))
        weight_lam = min(1.0, max(0.0, b / lam_width))
        made.append(ramp_h * min(1.0, weight_lam + ramp_lam) + ramp_lam * weight_h + 4 * U * weight_h * weight_lam)
    return made


@dataclass(frozen=True)
class Penalty:
    """The penalty Lagrangian's curvature at given stages.

    Args:
        sizing: Problem, point and alpha.
        values: Exact stage values.
    """

    sizing: Sizing
    values: Values

    @cached_property
    def h(self) -> Vector:
        """Row values at the minimiser."""
        return row_values(self.sizing.setting, self.values.y_penalty)

    @cached_property
    def shift(self) -> Sizes:
        """Sizes of the minimiser's distance from the lower-level solution."""
        return [abs(float(a - b)) for a, b in zip(self.values.y_penalty, self.values.y_star, strict=True)]

    @cached_property
    def small_forces(self) -> Sizes:
        """Sizes of what is added up in ``alpha_2 rho (h(x, y_star) - B w)``."""
        s, v = self.sizing, self.values
        parts = total(sizes(v.h), product(s.B, self.shift))
        return [s.alpha_2 * a * b for a, b in zip(sizes(v.rho), parts, strict=True)]

    @cached_property
    def weighted_rows(self) -> fmpq_mat:
        """``alpha_2 R``."""
        return rational(self.sizing.setting.alpha**-4) * diagonal(self.values.rho)

    @cached_property
    def inverse(self) -> fmpq_mat:
        """Inverse of the Hessian in y."""
        r = self.sizing.setting.rows
        a_1 = rational(self.sizing.setting.alpha**-2)
        return (r.f_yy + a_1 * r.g_yy + r.B.transpose() * self.weighted_rows * r.B).inv()

    @cached_property
    def naive_gradient(self) -> Sizes:
        """Sizes of what is added up in the gradient in y, rows formed at y."""
        s, v = self.sizing, self.values
        forces = [s.alpha_2 * a * b for a, b in zip(sizes(v.rho), s.rows_at(v.y_penalty), strict=True)]
        lower = scaled(s.alpha_1, s.stationarity(v.y_penalty, v.lam))
        return total(s.grad_y_f(v.y_penalty), lower, product(transposed(s.B, len(lower)), forces))

    def gradient_floor(self) -> float:
        """The gradient norm a vector asks for: a power of two safely above rounding."""
        wanted = STOP_FLOOR * U * max(self.naive_gradient)
        return 2.0 ** (len(bin(int(wanted * 2**200))) - 2 - 200)

    def minimiser(self, gradient_norm: float) -> Sizes:
        """Of the minimiser, however it is computed: a dense solve of its system, or a stop at a gradient norm."""
        s, v = self.sizing, self.values
        m = len(v.y_penalty)
        forces = [s.alpha_2 * a * b for a, b in zip(sizes(v.rho), product(s.B, sizes(v.y_penalty)), strict=True)]
        system = product(transposed(s.B, m), forces)
        inverse = absolute(self.inverse)
        rounding = product(inverse, scaled(s.gamma, total(self.naive_gradient, system)))
        stop = scaled(gradient_norm, lengths(self.inverse))
        return total(rounding, stop, scaled(s.gamma, sizes(v.y_penalty)))


def estimate(sizing: Sizing, values: Values, rho_error: Sizes, *, frozen: bool) -> dict[str, Sizes]:
    """Of the parts of line 6 from given stages, differences formed as they are written; noise apart."""
    s, v, n = sizing, values, sizing.setting.problem.n
    A_t = transposed(s.A, n)
    gradients = total(product(s.g_xy, sizes(v.y_penalty)), product(s.g_xy, sizes(v.y_star)), scaled(2.0, s.g_at_x))
    h = [abs(float(value)) for value in Penalty(s, v).h]
    force = [s.gamma * weight * size for weight, size in zip(sizes(v.rho), s.rows_at(v.y_penalty), strict=True)]
    force = [a + value * error for a, value, error in zip(force, h, rho_error, strict=True)]
    return {
        "f": scaled(s.gamma, s.grad_x_f(v.y_penalty)),
        "g_difference": scaled(s.gamma * s.alpha_1, gradients),
        "dual": scaled(s.gamma * s.alpha_1, product(A_t, sizes(v.lam))) if frozen else [0.0] * n,
        "penalty": scaled(s.alpha_2, product(A_t, force)),
    }


def noise(sizing: Sizing, values: Values) -> dict[str, Sizes]:
    """Of the noise in the parts of line 6, from the sizes of the draws' means and of the points they are scaled by."""
    setting, n = sizing.setting, sizing.setting.problem.n
    model = setting.problem.noise
    f, g = float(model.sigma_f), float(model.sigma_g)
    reach = 1.0
    if model.model == "matrix":
        # Differences of points as they are written.
        points = (*setting.x, *values.y_penalty, *values.y_star)
        reach = math.sqrt(sum(float(value) ** 2 for value in points))
    mean = {name: _mean_size(block, n) for name, block in setting.draws.items()}
    zero = [0.0] * n
    if model.model == "jump":
        # Indicators and the distribution function are at most 1, on the first component.
        mean |= {name: [1.0, *zero[1:]] for name in ("g_x", "g_x_star")}
    g_size = total(mean.get("g_x", zero), mean.get("g_x_star", zero), mean.get("g_x", zero))
    gamma = sizing.gamma + FACTOR * U * setting.N_g
    return {
        "f": scaled(gamma * f * (reach if model.model == "matrix" else 1.0), mean.get("f_x", zero)),
        "g_difference": scaled(gamma * sizing.alpha_1 * g * reach, g_size),
    }


def _mean_size(block: Sequence[Vector], n: int) -> Sizes:
    columns = list(zip(*block, strict=True))
    made = [sum(abs(float(value)) for value in column) / len(block) for column in columns]
    return made + [0.0] * (n - len(made))
