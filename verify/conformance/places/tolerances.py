r"""How exactly each value can be asked for: errors of honest double arithmetic, followed through the formulas.

Every product and sum of k numbers is allowed an error :math:`\gamma = 4(k+4)u` relative to the sum of the sizes of its
parts, :math:`u = 2^{-53}`; systems of equations pass such errors on through their exact inverse, taken entry by entry
without signs. ``docs/vectors.md`` states each bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq_mat

from verify.conformance.places.sizes import (
    FACTOR,
    ONE_EVALUATION,
    Allowance,
    Sizes,
    Sizing,
    U,
    absolute,
    lengths,
    sizes,
    times,
)
from verify.truth.algebra.rationals import Vector, beside, column, diagonal, rational, select
from verify.truth.lower_level.lower_level import ExactLowerLevel
from verify.truth.stages import ExactSetting, Values, row_values

MAX_OPTIONAL = 4
"""Most degenerate rows whose combinations are all looked at."""
STOP_FLOOR = 8.0
"""The penalty minimiser is asked for a gradient this many roundings above what doubles can tell from zero."""


def lower_level(sizing: Sizing, lower: ExactLowerLevel) -> dict[str, Sizes]:
    """Of the lower-level pair, of ``B' lam`` as ``dual_pull``, shape (m,), and of the row values ``h``.

    Normwise errors of the optimality conditions through their inverse, the worst of all pieces.
    """
    setting, gamma, q = sizing.setting, sizing.gamma, sizing.blocks
    y_star, multipliers = sizes(lower.y_star), sizes(lower.lam)
    top = gamma * max(sizing.stationarity(y_star, multipliers))
    # Solvers come from the minimum without rows, which may lie far off.
    r = setting.rows
    free = r.g_yy.solve(r.g_y + r.g_xy.transpose() * column(setting.x))
    all_rows = sizing.rows(y_star) + times(q.B, absolute(free)[:, 0])
    left = sizing.allowance.residual * (1.0 + max((*y_star, *multipliers)))
    pulls = q.B.max(axis=1, initial=0.0)
    y, lam = np.zeros(setting.problem.m), np.array([top / pull if pull > 0 else top for pull in pulls]) + left
    for held in _pieces(setting, lower):
        W = select(r.B, held)
        upper = beside(r.g_yy, W.transpose()) if held else r.g_yy
        K = fmpq_mat(upper.tolist() + (beside(W, fmpq_mat(len(held), len(held))).tolist() if held else []))
        inverse = K.inv()
        bottom = gamma * max((all_rows[i] for i in held), default=0.0)
        error = times(absolute(inverse), np.array([top] * len(y) + [bottom] * len(held)))
        error = error + left * np.maximum(1.0, lengths(inverse))
        y = np.maximum(y, error[: len(y)])
        for i, limit in zip(held, error[len(y) :], strict=True):
            lam[i] = max(lam[i], limit)
    h = rows(sizing, lower.y_star, y)
    return {"y_star": y, "lam": lam, "dual_pull": top + times(q.g_yy, y), "h": h}


def rows(sizing: Sizing, y_star: Vector, y_error: Sizes) -> Sizes:
    """Of the row values at the lower-level solution."""
    return sizing.gamma * sizing.rows(sizes(y_star)) + times(sizing.blocks.B, y_error)


def _pieces(setting: ExactSetting, lower: ExactLowerLevel) -> Iterator[tuple[int, ...]]:
    """Sets of independent rows that rounding may leave active."""
    necessary = lower.strictly_active if lower.licq else ()
    optional = [i for i in lower.active if i not in necessary]
    counts = range(len(optional) + 1) if len(optional) <= MAX_OPTIONAL else (0, len(optional))
    for count in counts:
        for extra in itertools.combinations(optional, count):
            held = tuple(sorted((*necessary, *extra)))
            if not held or select(setting.rows.B, held).rank() == len(held):
                yield held


@dataclass(frozen=True)
class RampTolerances:
    """What the activation is given, exactly: row values and multipliers, and the widths of both ramps."""

    h: Vector
    lam: Vector
    h_width: float
    lam_width: float


def activation(ramps: RampTolerances, errors: tuple[Sizes, Sizes], allowance: Allowance = ONE_EVALUATION) -> Sizes:
    """Of the weights: slopes 1 / width of both ramps where the value, give or take its error, is on the ramp."""
    limits = []
    h_width, lam_width, u = ramps.h_width, ramps.lam_width, allowance.roundings * U
    for value, multiplier, h_error, lam_error in zip(ramps.h, ramps.lam, *errors, strict=True):
        a, b = float(value), float(multiplier)
        on_h = a > -h_width - h_error and a <= h_error
        on_lam = b < lam_width + lam_error and b >= -lam_error
        if not (a > -h_width - h_error and b > -lam_error):
            limits.append(0.0)
            continue
        ramp_h = (h_error + 4 * u * (abs(a) + h_width)) / h_width if on_h else 0.0
        ramp_lam = (lam_error + 4 * u * abs(b)) / lam_width if on_lam else 0.0
        weight_h = min(1.0, max(0.0, 1 + a / h_width))
        weight_lam = min(1.0, max(0.0, b / lam_width))
        limits.append(ramp_h * min(1.0, weight_lam + ramp_lam) + ramp_lam * weight_h + 4 * u * weight_h * weight_lam)
    return np.array(limits)


@dataclass(frozen=True)
class Errors:
    """Of what comes before the penalty minimiser: shapes (m,), (p,) and (p,)."""

    y_star: Sizes
    lam: Sizes
    rho: Sizes


@dataclass(frozen=True)
class _Direct:
    """A part of the estimate as ``y·(minimiser) + pull·(rho∘h) + lam·(multipliers)``, with h moving with y in ``y``."""

    y: fmpq_mat
    pull: fmpq_mat
    lam: fmpq_mat


@dataclass(frozen=True)
class Penalty:
    """The penalty Lagrangian at exact stage values: errors of its minimiser, and of the estimate made from that."""

    sizing: Sizing
    values: Values

    @cached_property
    def y(self) -> Sizes:
        return sizes(self.values.y_penalty)

    @cached_property
    def y_star(self) -> Sizes:
        return sizes(self.values.y_star)

    @cached_property
    def lam(self) -> Sizes:
        return sizes(self.values.lam)

    @cached_property
    def forces(self) -> Sizes:
        """Sizes of ``alpha_2 rho``."""
        return self.sizing.alpha_2 * sizes(self.values.rho)

    @cached_property
    def h(self) -> Vector:
        """Row values at the minimiser."""
        return row_values(self.sizing.setting, self.values.y_penalty)

    @cached_property
    def shift(self) -> Sizes:
        """Sizes of the minimiser's distance from the lower-level solution."""
        return sizes([a - b for a, b in zip(self.values.y_penalty, self.values.y_star, strict=True)])

    @cached_property
    def small_forces(self) -> Sizes:
        """Sizes of what is added up in ``alpha_2 rho (h(x, y_star) - B w)``."""
        return self.forces * (sizes(self.values.h) + times(self.sizing.blocks.B, self.shift))

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
        s = self.sizing
        pulled = times(s.blocks.B.T, self.forces * s.rows(self.y))
        return s.grad_y_f(self.y) + s.alpha_1 * s.stationarity(self.y, self.lam) + pulled

    def gradient_floor(self) -> float:
        """The gradient norm a vector asks for: a power of two safely above rounding."""
        wanted = STOP_FLOOR * U * max(self.naive_gradient)
        return 2.0 ** (len(bin(int(wanted * 2**200))) - 2 - 200)

    def minimiser(self, gradient_norm: float) -> Sizes:
        """Of the minimiser, however it is computed: a dense solve of its system, or a stop at a gradient norm."""
        s, B = self.sizing, self.sizing.blocks.B
        system = times(B.T, self.forces * times(B, self.y))
        rounding = times(absolute(self.inverse), s.gamma * (self.naive_gradient + system))
        return rounding + s.allowance.stop * gradient_norm * lengths(self.inverse) + s.gamma * self.y

    def line_6(self, *, shifted: bool = False) -> dict[str, Sizes]:
        """Sizes of what is added up in the parts of line 6, noise apart.

        Differences are formed as they are written; or, shifted, from ``w = y - y_star``: rows as
        ``h(x, y_star) - B w``, gradients of g alike.
        """
        s, q = self.sizing, self.sizing.blocks
        frozen = s.setting.reading.dual_term == "frozen"
        moved = times(q.g_xy, self.y) + times(q.g_xy, self.y_star) + 2.0 * s.g_at_x
        return {
            "f": s.grad_x_f(self.y),
            "g_difference": s.alpha_1 * (times(q.g_xy, self.shift) if shifted else moved),
            "dual": s.alpha_1 * times(q.A.T, self.lam) * float(frozen),
            "penalty": times(q.A.T, self.small_forces if shifted else self.forces * s.rows(self.y)),
        }

    def estimate(self, rho_error: Sizes) -> dict[str, Sizes]:
        """Of the parts of line 6 from given stages."""
        limits = {name: self.sizing.gamma * part for name, part in self.line_6().items()}
        by_weights = self.sizing.alpha_2 * times(self.sizing.blocks.A.T, sizes(self.h) * rho_error)
        return limits | {"penalty": limits["penalty"] + by_weights}

    def chain(self, before: Errors, *, gradient_norm: float, distance: float) -> dict[str, Sizes]:
        """Of the minimiser, the parts and the estimate where the minimiser is computed on the way, by its shift."""
        s = self.sizing
        r, n, m, p = s.setting.rows, s.setting.problem.n, s.setting.problem.m, s.setting.problem.p
        a_1, a_2 = rational(s.setting.alpha**-2), rational(s.setting.alpha**-4)
        frozen = s.setting.reading.dual_term == "frozen"
        stop, pull, nothing = (gradient_norm, distance), a_2 * r.A.transpose(), fmpq_mat(n, p)
        direct = {
            "f": _Direct(r.f_xy, nothing, nothing),
            "g_difference": _Direct(a_1 * r.g_xy, nothing, nothing),
            "dual": _Direct(fmpq_mat(n, m), nothing, a_1 * r.A.transpose() if frozen else nothing),
            "penalty": _Direct(-1 * (r.A.transpose() * self.weighted_rows * r.B), pull, nothing),
        }
        whole = r.f_xy + direct["g_difference"].y + direct["penalty"].y
        direct["hypergradient"] = _Direct(whole, pull, direct["dual"].lam)
        limits = {name: self._through(part, before, stop) for name, part in direct.items()}
        evaluated = self.line_6(shifted=True)
        evaluated["hypergradient"] = sum(evaluated.values(), np.zeros(n))
        moved = s.alpha_1 * times(s.blocks.g_xy, before.y_star)
        for name, parts in evaluated.items():
            limits[name] = limits[name] + s.gamma * parts
            if name in ("g_difference", "hypergradient"):
                limits[name] = limits[name] + moved
        identity = _Direct(diagonal([1] * m), fmpq_mat(m, p), fmpq_mat(m, p))
        limits["y_penalty"] = self._through(identity, before, stop) + before.y_star + s.gamma * self.y
        return limits

    def _through(self, direct: _Direct, before: Errors, stop: tuple[float, float]) -> Sizes:
        """Errors of a part as the minimiser follows errors of its data."""
        s, q, r = self.sizing, self.sizing.blocks, self.sizing.setting.rows
        a_1, a_2 = rational(s.setting.alpha**-2), rational(s.setting.alpha**-4)
        gradient_norm, distance = (s.allowance.stop * allowed for allowed in stop)
        DH = direct.y * self.inverse
        # The gradient in y: what its parts round to, then what the stopping rule leaves.
        lower = s.alpha_1 * (s.stationarity(self.y_star, self.lam) + times(q.g_yy, self.shift))
        limits = times(absolute(DH), s.gamma * (s.grad_y_f(self.y) + lower + times(q.B.T, self.small_forces)))
        limits = limits + gradient_norm * lengths(DH) + distance * lengths(direct.y)
        # Multipliers move the minimiser and, frozen, the estimate.
        limits = limits + times(absolute(a_1 * DH * r.B.transpose() + direct.lam), before.lam)
        # An error of a row is mostly followed by the minimiser: the two effects cancel before signs are dropped.
        by_force = DH * (a_2 * r.B.transpose()) + direct.pull
        limits = limits + times(absolute(by_force * diagonal(self.values.rho)), s.gamma * s.rows(self.y_star))
        return limits + times(absolute(by_force * diagonal(self.h)), before.rho)


def noise(penalty: Penalty) -> Mapping[str, Sizes]:
    """Of the noise in the parts of line 6, from the sizes of the draws' means and of the points they are scaled by."""
    s, setting = penalty.sizing, penalty.sizing.setting
    model, zero = setting.problem.noise, np.zeros(setting.problem.n)
    f, g = float(model.sigma_f), float(model.sigma_g)
    reach = 1.0
    if model.model == "matrix":
        # Differences of points as they are written.
        points = (*s.x, *penalty.y, *penalty.y_star)
        reach = math.sqrt(sum(value**2 for value in points))
    mean = {name: _mean_size(block, zero) for name, block in setting.draws.items()}
    if model.model == "jump":
        # Indicators and the distribution function are at most 1, on the first component.
        first = np.eye(len(zero))[0]
        mean |= {"g_x": first, "g_x_star": first}
    g_size = mean.get("g_x", zero) + mean.get("g_x_star", zero) + mean.get("g_x", zero)
    gamma = s.gamma + s.allowance.roundings * FACTOR * U * setting.N_g
    return {"f": gamma * f * reach * mean.get("f_x", zero), "g_difference": gamma * s.alpha_1 * g * reach * g_size}


def _mean_size(block: Sequence[Vector], zero: Sizes) -> Sizes:
    columns = list(zip(*block, strict=True))
    means = [sum(abs(float(value)) for value in column) / len(block) for column in columns]
    return np.array([*means, *zero[len(means) :]])
