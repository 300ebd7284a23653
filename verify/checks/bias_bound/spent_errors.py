"""The bias with errors of every stage spent at once: with ramps against a hard active set, under a bound without O."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np

from spec import Quadratic
from spec.exact import Vector as Doubles
from spec.reading import DualTerm
from spec.text.extract import load_extract
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.exact import exact_direction
from verify.checks.measuring.extracted import constants_of
from verify.checks.measuring.premises import regular_truth, shrinks
from verify.evidence.model import Point
from verify.evidence.rates.rates import fit_rate
from verify.truth.algebra.rationals import Vector, rational
from verify.truth.algebra.rings import RATIONALS, Flint
from verify.truth.formulas import Lagrangian, as_float, length, minus, solution_maps_over
from verify.truth.functions_of_alpha.scenario import WITH_MAPS
from verify.truth.geometry import quadratic_of, spectral_norm
from verify.truth.lower_level import lower_level
from verify.truth.point_values import PointValues, multiplier_slope
from verify.truth.propositions.arithmetic import NoValueError
from verify.truth.stages import Activation, weights

LAM_WIDTH = Fraction(1, 10)
ASKED = (Fraction(1, 10), Fraction(1, 40), Fraction(1, 160))
"""The α at which an explicit bound is held against the worst errors found."""


@dataclass(frozen=True)
class Spent:
    """Exact penalty Lagrangians of one problem with errors of ỹ*, λ̃ and ∇_yL spent, their weights recomputed.

    ``width`` is that of the ramp of h in units of δ^power; the multipliers' ramp shrinks like δ, or is fixed.
    """

    problem: Quadratic
    x: Vector
    width: Fraction
    power: int = 1
    activation: Activation = "ramp"
    dual_term: DualTerm = "cancelled"
    shrinking: bool = False

    def estimate(self, alpha: Fraction, off_y: Vector, off_lam: Vector, left: Vector) -> Vector:
        """The estimate, ỹ* off by δ·off_y, λ̃ by δ·off_lam, ∇_yL = α·left left."""
        lower, delta = lower_level.solve(self.problem, self.x), alpha**3
        y_star = tuple(v + delta * e for v, e in zip(lower.y_star, off_y, strict=True))
        lam = tuple(v + delta * e for v, e in zip(lower.lam, off_lam, strict=True))
        h = PointValues(self.problem).rows(self.x, y_star)
        lam_width = delta if self.shrinking else LAM_WIDTH
        rho = weights(h, lam, self.width * delta**self.power, lam_width, self.activation)
        scales = rational(alpha**-2), rational(alpha**-4)
        lagrangian: Lagrangian[Flint] = Lagrangian.of(RATIONALS, self.problem, self.x, scales, (y_star, lam, rho))
        lagrangian = replace(lagrangian, maps=lambda: solution_maps_over(RATIONALS, self.problem, self.x))
        y = lagrangian.minimiser(RATIONALS.vector([alpha * v for v in left]))
        return tuple(Fraction(int(v.p), int(v.q)) for v in lagrangian.estimate(y, self.dual_term).entries.entries())

    def error_directions(self) -> tuple[list[Vector], list[Vector], list[Vector]]:
        """Errors to try, of length at most 1: ỹ* along active rows and g_xy, λ̃ on an active row, ∇_yL along an axis."""
        a, m, p = self.problem.arrays, self.problem.m, self.problem.p
        lower = lower_level.solve(self.problem, self.x)
        rows = [a.B[i] for i in lower.active if a.B[i].any()] + ([a.g_xy[0]] if a.g_xy[0].any() else [])
        off_y = [(Fraction(0),) * m, *(_direction(s * row) for row in rows for s in (1.0, -1.0))]
        off_lam = [(Fraction(0),) * p, *(_unit(p, i, s) for i in lower.active for s in (1, -1))]
        return off_y, off_lam, [_unit(m, 0, s) for s in (1, -1)]


def _direction(vector: Doubles) -> Vector:
    return tuple(Fraction(float(v)) for v in exact_direction(vector / np.linalg.norm(vector)))


def _unit(size: int, i: int, sign: int) -> Vector:
    return tuple(Fraction(sign * int(k == i)) for k in range(size))


@check("bias-bound/hard-activation", instances=("toy1", "toy2", "weakly-active"))
def smoothed_against_hard(case: Case) -> Measurement:
    """Worst change of the estimate found when ỹ* and λ̃ are off by δ: with ramps, and with a hard active set."""
    problem, x = quadratic_of(case.instance.problem), case.instance.x
    narrow = case.reading.ramp_width == "tau-delta"
    width = Fraction(1) if narrow else Fraction(2 * max(1.0, spectral_norm(problem.arrays.B)))
    smooth = Spent(problem, x, width, 2 if narrow else 1, "ramp", case.reading.dual_term, shrinks(case))
    hard = replace(smooth, activation="hard")
    rates = []
    for spent, name, role in ((smooth, "ramps", "conclusion"), (hard, "a hard active set", "support")):
        points = [Point(at=alpha, measured=_largest_change(spent, Fraction(alpha))) for alpha in case.profile.alphas]
        quantity = f"change of the estimate under errors δ of the pair, with {name}"
        rates.append(fit_rate(points, quantity=quantity, variable="alpha", role=role))  # type: ignore[arg-type]  # a role
    return Measurement(tuple(rates), values_at("at alpha", [rates[0].points[0], rates[0].points[-1]]))


def _largest_change(spent: Spent, alpha: Fraction) -> float:
    if spent.dual_term in WITH_MAPS and not lower_level.solve(spent.problem, spent.x).strict_complementarity:
        raise NoValueError("y* and its multipliers have no derivative here: a row is weakly active")
    off_y, off_lam, _ = spent.error_directions()
    none = (Fraction(0),) * spent.problem.m
    start = spent.estimate(alpha, none, off_lam[0], none)
    estimates = (spent.estimate(alpha, u, v, none) for u, v in product(off_y, off_lam))
    return max(length(minus(there, start)) for there in estimates)


BOUNDS = ("lemma:bias_bound", "lemma:variance-bound")
"""Labels of the two bounds in the paper's source."""


@check("bias-bound/explicit", instances=("toy1", "two-of-three", "box-rational", "moving-box"))
def explicit_bound(case: Case) -> Measurement:
    """Constants that the text leaves without a size; repaired, the worst bias found over a bound with all of them."""
    if case.as_written:
        constants = constants_of(load_extract(), BOUNDS)
        left = [name for name, size in constants.items() if not size]
        number = compare("number of constants of the bounds that the text gives no size", float(len(left)), "==", 0.0,
                         rung="cited")  # fmt: skip
        enough = compare("number of constants in the two bounds", float(len(constants)), ">=", 2.0, rung="cited")
        return Measurement((number, enough), {name: size or "no size" for name, size in constants.items()})
    regular_truth(case.instance)
    problem = quadratic_of(case.instance.problem)
    spent = Spent(problem, case.instance.x, Fraction(2 * max(1.0, spectral_norm(problem.arrays.B))))
    exact = lower_level.hypergradient(problem, case.instance.x)
    worst, at = 0.0, ASKED[0]
    for alpha in ASKED:
        bound = bias_bound(problem, case.instance.x, alpha)
        for u, v, w in product(*spent.error_directions()):
            ratio = length(minus(spent.estimate(alpha, u, v, w), exact)) / bound
            worst, at = max((worst, at), (ratio, alpha))
    quantity = "largest bias over the explicit bound, errors of all stages spent"
    return Measurement((compare(quantity, worst, "<=", 1.0, context={"alpha": float(at)}),))


def bias_bound(problem: Quadratic, x: Vector, alpha: Fraction) -> float:
    """α[L_y(1 + ‖B‖) + C_g + L_λΓ/(2√(ρμ))] + α²C_f(1 + L_y)Γ/μ at C_λ = 1 and ρ = ½, Γ = ‖∇_yf‖ + α(1 + ‖B‖)."""
    a, lower, step = problem.arrays, lower_level.solve(problem, x), float(alpha)
    L_y = spectral_norm([[float(v) for v in row] for row in lower_level.jacobian(problem, x)])
    L_lam = spectral_norm([[float(v) for v in row] for row in multiplier_slope(problem, x)])
    C_f = spectral_norm(np.block([[a.f_xx, a.f_xy], [a.f_xy.T, a.f_yy]]))
    C_g = spectral_norm(np.block([[a.g_xx, a.g_xy], [a.g_xy.T, a.g_yy]]))
    mu = float(np.linalg.eigvalsh(a.g_yy)[0]) - step**2 * C_f
    reach = 1 + spectral_norm(a.B)
    force = float(np.linalg.norm(as_float(PointValues(problem).grad_y("f", x, lower.y_star)))) + step * reach
    first = L_y * reach + C_g + L_lam * force / (2 * np.sqrt(mu / 2))
    return float(step * first + step**2 * C_f * (1 + L_y) * force / mu)
