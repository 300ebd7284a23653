"""The ledger's named quantities as numbers: on one problem at one point and one alpha, from the exact layer.

Errors are spent as a reading allows them, in their worst directions. What the paper defines by a formula is computed
from that formula, what it bounds is computed from what it *is*: the penalty's own cost is the exact difference of two
gradients, not a product of constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from spec import Noise, OracleParameters, Quadratic
from spec.claims import ReadingName
from spec.claims import find as find_claim
from spec.exact import Vector
from spec.reading import DualTerm
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.algebra.rationals import Vector as Exact
from verify.truth.formulas import as_float
from verify.truth.functions_of_alpha.noise import variance_function
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, error, minimiser
from verify.truth.functions_of_alpha.scenario import Quantity, Scenario
from verify.truth.functions_of_alpha.series import Spent, response, worst_scenario
from verify.truth.geometry import Geometry, ramp, spectral_norm
from verify.truth.lower_level import lower_level

LAM_WIDTH = Fraction(str(OracleParameters().lam_width))
KEPT = Fraction(1, 2)
"""What the repaired ramp leaves of a row's weight at least."""
SIGMA = "1/10"
"""Of matrix noise: mean-square smooth, under one draw it differs at two points in proportion to their distance."""


class NoSizeError(LookupError):
    """A name has no value on this problem: another kind of quantity, or a premise that fails at the point."""


class Quantities:
    """Values of names at one alpha after another, computed when they are asked for.

    Raises:
        NoValueError: If the point is degenerate: the exact functions of alpha start from a regular one.
    """

    def __init__(self, problem: Quadratic, x: Exact, reading: ReadingName) -> None:
        self.problem = problem
        lower = lower_level.solve(problem, x)
        if not (lower.licq and lower.strict_complementarity):
            raise NoSizeError("the point is degenerate")
        self.family = PenaltyFamily.at(problem, x)
        self.name, self.lower, self.as_written = reading, lower, reading == "as-written"
        self.dual: DualTerm = "frozen" if self.as_written else "cancelled"
        self._functions: dict[str, RationalVector] = {}

    def value(self, name: str, alpha: Fraction) -> float:
        """A quantity's value, >= 0."""
        if name in self.constants:
            return self.constants[name]
        if name in _FUNCTIONS:
            if name not in self._functions:
                self._functions[name] = _FUNCTIONS[name](self)
            return _norm(self._functions[name](alpha))
        if name in _NUMBERS:
            return _NUMBERS[name](self, alpha)
        raise NoSizeError(name)

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """What does not depend on alpha: norms of the data and of the derivatives of the lower-level pair."""
        a = self.problem.arrays
        y_star, lam, x = as_float(self.lower.y_star), as_float(self.lower.lam), as_float(self.family.x)
        Y, L = self._derivatives()
        size = 1 + float(x @ x) + float(y_star @ y_star)
        return {
            "C_f": spectral_norm(np.block([[a.f_xx, a.f_xy], [a.f_xy.T, a.f_yy]])),
            "C_g": spectral_norm(np.block([[a.g_xx, a.g_xy], [a.g_xy.T, a.g_yy]])),
            "mu_g": float(np.linalg.eigvalsh(a.g_yy)[0]),
            "norm_A": spectral_norm(a.A), "norm_B": spectral_norm(a.B),
            "jacobian": spectral_norm(np.hstack([a.A, a.B])),
            "L_y": spectral_norm(Y), "L_lam": spectral_norm(L) if L.size else 0.0,
            "C_lam": 1.0, "lam_star": float(np.linalg.norm(lam)), "lam_width": float(LAM_WIDTH),
            "lam_min": min((float(v) for v in self.lower.lam if v > 0), default=math.inf),
            "grad_y_f": float(np.linalg.norm(a.f_xy.T @ x + a.f_yy @ y_star + a.f_y)),
            "h_fixed": float(np.linalg.norm(self._h(self.fixed_y))), "diameter": 1 + float(np.linalg.norm(y_star)),
            "sigma2": float(Fraction(SIGMA)) ** 2 * size,
        }  # fmt: skip

    def _derivatives(self) -> tuple[Vector, Vector]:
        """Of y* and of the active multipliers in x."""
        a, S = self.problem.arrays, list(self.lower.strictly_active)
        B, zero = a.B[S], np.zeros((len(S), len(S)))
        solved = np.linalg.solve(np.block([[a.g_yy, -B.T], [B, zero]]), np.vstack([-a.g_xy.T, a.A[S]]))
        return solved[: self.problem.m], solved[self.problem.m :]

    @cached_property
    def fixed_y(self) -> Vector:
        """One unit beyond the first row."""
        B = self.problem.arrays.B[0]
        return np.asarray(as_float(self.lower.y_star) - B / float(B @ B))

    def _h(self, y: Vector) -> Vector:
        a = self.problem.arrays
        return np.asarray(a.A @ as_float(self.family.x) - a.B @ y - a.b)

    def errors(self, quantity: Quantity, *spent: str, active: bool = False) -> RationalVector:
        """A quantity of the proof with the reading's errors of these stages in their worst directions."""
        left: dict[Spent, int] = {"y_error": 3} if self.as_written else {"gradient_error": 1}
        powers = dict(left) if "minimiser" in spent else {}
        powers |= {"lam_error": 3} if "lam" in spent else {}
        powers |= {"y_star_error": 3} if "y_star" in spent else {}
        rows = self.lower.active if active else None
        return error(self.family, worst_scenario(self.family, Scenario(dual_term=self.dual), powers, rows), quantity)

    def weights_left(self) -> RationalVector:
        """The bias where ỹ*, off by δ, leaves every active row as much weight as the reading's ramp does at least."""
        weight = Fraction(0) if self.as_written else KEPT
        rho = tuple(weight if i in self.lower.active else Fraction(0) for i in range(self.problem.p))
        plain = Scenario(dual_term=self.dual, rho=rho)
        return error(self.family, worst_scenario(self.family, plain, {"y_star_error": 3}), "bias")

    def variance(self, *noisy: str, common: bool | None = None) -> RationalVector:
        """Of one sample with noise in these functions, paired as the reading says or as asked."""
        sigmas = {f"sigma_{name}": SIGMA if name in noisy else "0" for name in ("f", "g")}
        problem = self.problem.model_copy(update={"noise": Noise.model_validate({"model": "matrix", **sigmas})})
        paired = not self.as_written if common is None else common
        return variance_function(replace(self.family, problem=problem), "common" if paired else "independent")

    def row_gap(self, alpha: Fraction) -> float:
        """‖h‖ on the active rows at the penalty minimiser."""
        shift = error(self.family, Scenario(), "penalty-shift")(alpha)
        rows = self.problem.constraints.B.to_fractions()
        products = (zip(rows[i], shift, strict=True) for i in self.lower.active)
        return _norm(tuple(sum((p * q for p, q in pairs), Fraction(0)) for pairs in products))

    def geometry(self, alpha: Fraction) -> Geometry:
        """In doubles, for eigenvalues."""
        rho = np.array([float(i in self.lower.active) for i in range(self.problem.p)])
        pair = as_float(self.lower.y_star), as_float(self.lower.lam)
        return Geometry(self.problem, as_float(self.family.x), float(alpha), *pair, rho)

    def slope_in_lam(self, alpha: Fraction) -> float:
        """Of the estimate, at the penalty minimiser, on the ramp of the worst row."""
        y = as_float(minimiser(self.family, Scenario())(alpha))
        h, A = self._h(y), self.problem.arrays.A
        active = np.array([i in self.lower.active for i in range(self.problem.p)])
        weights = float(alpha) ** -4 * np.where(active, h, 0.0) / float(LAM_WIDTH)
        dual_part = float(alpha) ** -2 if self.as_written else 0.0
        return max(float(np.linalg.norm(A[i])) * abs(dual_part + float(weights[i])) for i in range(self.problem.p))

    def changed_weights(self) -> Vector:
        """Which rows' weights an error of the multipliers may change: those on their ramp, h at a fixed y beside."""
        on_ramp = [i in self.lower.active and self.lower.lam[i] <= LAM_WIDTH for i in range(self.problem.p)]
        return np.where(on_ramp, self._h(self.fixed_y), 0.0)


def _norm(values: Exact) -> float:
    return math.sqrt(sum((value * value for value in values), Fraction(0)))


def _weights_part(q: Quantities, alpha: Fraction) -> float:
    """At a fixed y, λ̃ off by δ on the worst row; as written ε_λ = δ leaves the weights of a regular point alone."""
    if q.as_written:
        raise NoSizeError("no weight changes at a regular point")
    a, h = q.problem.arrays, q.changed_weights()
    share = float(alpha) ** 3 / float(LAM_WIDTH)
    sizes = [abs(float(h[i])) * float(np.hypot(np.linalg.norm(a.A[i]), np.linalg.norm(a.B[i]))) for i in range(len(h))]
    return float(alpha) ** -4 * share * max(sizes)


def _gradient_change(q: Quantities, alpha: Fraction) -> float:
    """Of the whole gradient at a fixed y, λ̃ off by δ: the weights' part and the linear term on the same row."""
    weights = 0.0 if q.as_written else _weights_part(q, alpha)
    return max(weights, _linear_term(q, alpha))


def _ramp_slope(q: Quantities, alpha: Fraction) -> float:
    """Of the ramp itself, between a quarter and three quarters of its width below the boundary."""
    reading, norm = find_claim("dual-extraction/ramp-slope").reading(q.name), q.constants["norm_B"]
    width = OracleParameters().h_width(reading, float(alpha) ** 3, norm)
    high, low = ramp(np.array([-0.25 * width, -0.75 * width]), np.ones(2), width, float(LAM_WIDTH))
    return float(high - low) / (0.5 * width)


def _h_gap(q: Quantities, alpha: Fraction) -> float:
    """As written y is any fixed point; repaired it is the penalty minimiser, and ỹ* is off by δ."""
    y_star = as_float(q.lower.y_star)
    if q.as_written:
        return float(np.linalg.norm(q.problem.arrays.B @ (q.fixed_y - y_star)))
    shift = as_float(error(q.family, Scenario(), "penalty-shift")(alpha))
    return float(np.linalg.norm(q.problem.arrays.B @ shift)) + _h_active(q, alpha)


def _h_active(q: Quantities, alpha: Fraction) -> float:
    """The largest |h(ỹ*)| of an active row, ỹ* off by δ."""
    return float(alpha) ** 3 * spectral_norm(q.problem.arrays.B)


def _linear_term(q: Quantities, alpha: Fraction) -> float:
    a = q.problem.arrays
    seen = np.hstack([a.A, -a.B]) if q.as_written else a.B
    return float(alpha) * spectral_norm(seen)


def _moving_change(q: Quantities, alpha: Fraction) -> float:
    """At the minimiser for λ̃, worst direction of λ̃ on the whole; weights are held where multipliers clear the ramp."""
    if any(q.lower.lam[i] <= LAM_WIDTH for i in q.lower.active):
        raise NoSizeError("a multiplier is on its ramp")
    return float(alpha) * spectral_norm(q.problem.arrays.B)


_FUNCTIONS: Mapping[str, Callable[[Quantities], RationalVector]] = {
    "T1": lambda q: q.errors("T1", "minimiser"),
    "T2": lambda q: q.errors("T2", "lam"),
    "T3": lambda q: q.errors("T3"),
    "y_star_part": lambda q: q.errors("T2", "y_star"),
    "bias": lambda q: q.errors("bias", "minimiser", "lam", "y_star"),
    "ramp_part": lambda q: q.weights_left(),
    "penalty_ideal": lambda q: error(q.family, Scenario(), "bias"),
    "penalty_gap": lambda q: error(q.family, Scenario(), "penalty-shift"),
    "solution_shift": lambda q: q.errors("solution-shift", "lam"),
    "active_shift": lambda q: q.errors("solution-shift", "lam", active=True),
    "L_Hy": lambda q: response(q.family, Scenario(), "y_error"),
    "sample_variance": lambda q: q.variance("f", "g"),
    "f_variance": lambda q: q.variance("f"),
    "g_variance": lambda q: q.variance("g"),
    "common_variance": lambda q: q.variance("f", "g", common=True),
    "pair_variance": lambda q: q.variance("g").times(1, 4),
}
"""Exact functions of alpha, made once."""
_NUMBERS: Mapping[str, Callable[[Quantities, Fraction], float]] = {
    "row_gap": lambda q, alpha: q.row_gap(alpha),
    "L_Hlam": lambda q, alpha: q.slope_in_lam(alpha),
    "linear_term": _linear_term,
    "gradient_change": _gradient_change,
    "ramp_slope": _ramp_slope,
    "clear_rows": _linear_term,
    "weights_part": _weights_part,
    "moving_change": _moving_change,
    "h_gap": _h_gap,
    "h_active": _h_active,
    "mu": lambda q, alpha: float(np.linalg.eigvalsh(q.geometry(alpha).H)[0]),
    "mu_pen": lambda q, alpha: float(np.linalg.eigvalsh(q.geometry(alpha).H)[0]),
    "L_pen": lambda q, alpha: float(np.linalg.eigvalsh(q.geometry(alpha).H)[-1]),
    "kappa_pen": lambda q, alpha: float(np.linalg.cond(q.geometry(alpha).H)),
}
"""At one alpha, in doubles."""
