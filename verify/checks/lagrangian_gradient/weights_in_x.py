"""Derivatives along x of what the proof of the gradient lemma holds still: weights through both maps, multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from spec import Quadratic
from verify.checks.lagrangian_gradient.activation_ramps import Ramps
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.premises import PremiseUnmetError, regular_truth
from verify.truth.algebra.rationals import Vector, column, fractions, matrix, select
from verify.truth.formulas import length, minus
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.lower_level import ExactLowerLevel
from verify.truth.point_values import PointValues, derivative, multiplier_slope, quiet_step

ALPHA = Fraction(1, 10)
INNER_TOL = ALPHA**3
MOVING = ("toy1", "scalar-rational", "two-of-three", "random-2x3x4")


@dataclass(frozen=True)
class Maps:
    """ỹ*(x) = y*(x) + e with every active row half a ramp inside, λ̃(x) = (1 + δ)λ*(x), and the weights they give.

    The ramps are as printed, but ε_λ is twice the largest multiplier, so that both factors are off their corners.
    """

    problem: Quadratic
    x: Vector
    choice: str

    @cached_property
    def lower(self) -> ExactLowerLevel:
        """The lower level at x."""
        return lower_level.solve(self.problem, self.x)

    @cached_property
    def ramps(self) -> Ramps:
        """The two ramps."""
        width = INNER_TOL**2 if self.choice == "tau-delta" else 2 * INNER_TOL
        return Ramps(width, 2 * (1 + INNER_TOL) * max(self.lower.lam))

    @cached_property
    def error(self) -> Vector:
        """e, the same at every x: it retreats from the active rows by half a width."""
        rows = self.problem.constraints
        B = select(matrix(rows.B), self.lower.strictly_active)
        half = column([self.ramps.h_width / 2] * B.nrows())
        return fractions(B.transpose() * (B * B.transpose()).solve(half))

    def at(self, x: Vector) -> tuple[Vector, Vector]:
        """ỹ* and λ* at another x."""
        lower = lower_level.solve(self.problem, x)
        return tuple(v + e for v, e in zip(lower.y_star, self.error, strict=True)), lower.lam

    def weights(self, x: Vector, factor: Fraction = Fraction(1)) -> Vector:
        """The weights at x, of λ* times a factor."""
        y, lam = self.at(x)
        h = PointValues(self.problem).rows(x, y)
        return tuple(self.ramps.weight(a, factor * b) for a, b in zip(h, lam, strict=True))

    @cached_property
    def step(self) -> Fraction:
        """A step within three of which no ramp is left: rows, multipliers and ramps then move linearly."""
        step = quiet_step(self.problem, self.x)
        y_slope = max(abs(v) for row in lower_level.jacobian(self.problem, self.x) for v in row)
        rows = self.problem.constraints
        size = sum((abs(v) for block in (rows.A, rows.B) for row in block.to_fractions() for v in row), Fraction(1))
        fastest = size * (1 + y_slope) + max(abs(v) for row in multiplier_slope(self.problem, self.x) for v in row)
        least = min(self.ramps.h_width, *(self.lower.lam[i] for i in self.lower.strictly_active)) / 2
        return min(step, least / (4 * fastest))

    def through(self, i: int, *, maps: bool, factor: Fraction = Fraction(1)) -> Vector:
        """Derivative of a weight by the product rule, the two ramps' slopes times those of h_i and λ_i.

        Without ``maps`` ỹ* and λ̃ are held, so that h_i has the slope A_i and λ_i none.
        """
        (h, lam), rows = self._values(i), self.problem.constraints
        if self.ramps.weight(h, factor * lam) == 0:
            return (Fraction(0),) * self.problem.n
        A_i, B_i = rows.A.to_fractions()[i], rows.B.to_fractions()[i]
        slope_h, slope_lam = A_i, [Fraction(0)] * self.problem.n
        if maps:
            J = lower_level.jacobian(self.problem, self.x)
            slope_h = [
                a - sum((b * row[k] for b, row in zip(B_i, J, strict=True)), Fraction(0)) for k, a in enumerate(A_i)
            ]
            slope_lam = list(multiplier_slope(self.problem, self.x)[i])
        ramps, lam = self.ramps, factor * lam
        return tuple(
            ramps.of_lam(lam) * a / ramps.h_width + ramps.of_h(h) * factor * b / ramps.lam_width
            for a, b in zip(slope_h, slope_lam, strict=True)
        )

    def _values(self, i: int) -> tuple[Fraction, Fraction]:
        y, lam = self.at(self.x)
        return PointValues(self.problem).rows(self.x, y)[i], lam[i]


def _maps(case: Case) -> Maps:
    regular_truth(case.instance)
    maps = Maps(quadratic_of(case.instance.problem), case.instance.x, case.reading.ramp_width)
    if not maps.lower.strictly_active:
        raise PremiseUnmetError("active-row", "no row is active, so no weight is on its ramp")
    return maps


@check("dual-extraction/weights-gradient", instances=MOVING)
def gradient_of_weights(case: Case) -> Measurement:
    """dρ_i/dx by differences of exact values, against the slope of one ramp or against the product rule."""
    maps = _maps(case)
    off, sizes = [], []
    for i in maps.lower.strictly_active:
        true = derivative(lambda x, i=i: maps.weights(x)[i], maps.x, maps.step)  # type: ignore[misc]  # bound here
        off.append(length(minus(true, maps.through(i, maps=not case.as_written))))
        sizes.append(length(true))
    name = (
        "largest ‖dρ_i/dx - σ_λ σ_h′ ∇h_i‖"
        if case.as_written
        else "largest ‖dρ_i/dx - (σ_λ σ_h′ Dh_i + σ_h σ_λ′ Dλ_i)‖"
    )
    values: dict[str, float | str] = {"largest ‖dρ_i/dx‖": max(sizes), "1/width": float(1 / maps.ramps.h_width)}
    note = "Along x the active rows keep their values: the ramp of h does not move, that of λ does."
    return Measurement((compare(name, max(off), "==", 0.0, rung="certified"),), values, note)


@check("dual-extraction/multiplier-derivative", instances=MOVING)
def derivative_of_multipliers(case: Case) -> Measurement:
    """d/dx of L_{λ*} - L_{λ̃} at a fixed y by differences of exact values, against its parts added up.

    In the linear term λ is held where the words let it be; the weights are functions of x.
    """
    maps, values = _maps(case), PointValues(quadratic_of(case.instance.problem))
    y = _violating(maps)
    a_1, a_2, high = ALPHA**-2, ALPHA**-4, 1 + INNER_TOL
    held = case.as_written and case.reading.dual_term in ("frozen", "map")

    def difference(x: Vector) -> Fraction:
        h, lam = values.rows(x, y), maps.at(maps.x if held else x)[1]
        linear = sum(((1 - high) * a * b for a, b in zip(lam, h, strict=True)), Fraction(0))
        change = zip(maps.weights(x), maps.weights(x, high), h, strict=True)
        return a_1 * linear + a_2 / 2 * sum(((u - v) * b * b for u, v, b in change), Fraction(0))

    true, parts = derivative(difference, maps.x, maps.step), _printed_parts(maps, y, high)
    missing = _multiplier_part(maps, y, high)
    if not case.as_written:
        parts = tuple(a + b for a, b in zip(parts, missing, strict=True))
    name = "‖d/dx (L_λ* - L_λ̃) - its parts‖"
    shown: dict[str, float | str] = {"α₁‖(dΔλ/dx)ᵀh‖": length(missing)}
    return Measurement((compare(name, length(minus(true, parts)), "==", 0.0, rung="certified"),), shown)


@check("dual-extraction/product-rule", instances=MOVING)
def product_rule(case: Case) -> Measurement:
    """∇Δ_Q in x and in y by differences of exact values, against its two pieces; the weights' slopes likewise."""
    maps = _maps(case)
    y = _violating(maps)
    one, other = pieces(maps, y)
    return added_up(maps, y, (one, other))


def added_up(maps: Maps, y: Vector, terms: Sequence[Vector]) -> Measurement:
    """The gradient of Δ_Q in (x, y) less the pieces."""
    values = PointValues(maps.problem)

    def weighed(x: Vector, at: Vector) -> Fraction:
        change = zip(_weight_changes(maps, x), values.rows(x, at), strict=True)
        return ALPHA**-4 / 2 * sum((d * h * h for d, h in change), Fraction(0))

    of_x = derivative(lambda x: weighed(x, y), maps.x, maps.step)
    of_y = derivative(lambda at: weighed(maps.x, at), y, maps.step)
    total = tuple(sum(entries, Fraction(0)) for entries in zip(*terms, strict=True))
    shown: dict[str, float | str] = {f"piece {k}": length(part) for k, part in enumerate(terms, 1)}
    off = length(minus((*of_x, *of_y), total))
    return Measurement((compare("‖∇Δ_Q - its two pieces‖", off, "==", 0.0, rung="certified"),), shown)


def pieces(maps: Maps, y: Vector) -> tuple[Vector, Vector]:
    """α₂ΣΔρ_i h_i ∇h_i and ½α₂Σh_i²∇Δρ_i in (x, y), shape (n + m,); the weights do not depend on y."""
    rows, h, change = maps.problem.constraints, PointValues(maps.problem).rows(maps.x, y), _weight_changes(maps, maps.x)
    A, B = rows.A.to_fractions(), rows.B.to_fractions()
    slopes = [derivative(lambda x, i=i: _weight_changes(maps, x)[i], maps.x, maps.step)  # type: ignore[misc]  # bound
              for i in range(len(h))]  # fmt: skip
    of_rows = (
        *(sum((d * v * a[k] for d, v, a in zip(change, h, A, strict=True)), Fraction(0)) for k in range(len(maps.x))),
        *(-sum((d * v * b[k] for d, v, b in zip(change, h, B, strict=True)), Fraction(0)) for k in range(len(y))),
    )
    of_weights = (
        *(sum((v * v * slope[k] for v, slope in zip(h, slopes, strict=True)), Fraction(0)) / 2
          for k in range(len(maps.x))),
        *((Fraction(0),) * len(y)),
    )  # fmt: skip
    return tuple(ALPHA**-4 * v for v in of_rows), tuple(ALPHA**-4 * v for v in of_weights)


def _weight_changes(maps: Maps, x: Vector) -> Vector:
    return tuple(a - b for a, b in zip(maps.weights(x), maps.weights(x, 1 + INNER_TOL), strict=True))


def _printed_parts(maps: Maps, y: Vector, high: Fraction) -> Vector:
    """α₁AᵀΔλ + α₂ΣΔρ_i h_i A_i + ½α₂Σh_i²∇Δρ_i, the weights' own derivative kept."""
    rows, h = maps.problem.constraints, PointValues(maps.problem).rows(maps.x, y)
    lam, low_rho, high_rho = maps.lower.lam, maps.weights(maps.x), maps.weights(maps.x, high)
    total = [Fraction(0)] * maps.problem.n
    for i, A_i in enumerate(rows.A.to_fractions()):
        slopes = zip(maps.through(i, maps=True), maps.through(i, maps=True, factor=high), strict=True)
        for k, (a, b) in enumerate(slopes):
            total[k] += ALPHA**-2 * A_i[k] * (1 - high) * lam[i]
            total[k] += ALPHA**-4 * ((low_rho[i] - high_rho[i]) * h[i] * A_i[k] + h[i] ** 2 * (a - b) / 2)
    return tuple(total)


def _multiplier_part(maps: Maps, y: Vector, high: Fraction) -> Vector:
    """α₁(dΔλ/dx)ᵀh."""
    h, slope = PointValues(maps.problem).rows(maps.x, y), multiplier_slope(maps.problem, maps.x)
    n = maps.problem.n
    return tuple(
        ALPHA**-2 * (1 - high) * sum((row[k] * b for row, b in zip(slope, h, strict=True)), Fraction(0))
        for k in range(n)
    )


def _violating(maps: Maps) -> Vector:
    """A fixed y at which the first active row's value is one above its value at y*."""
    row = maps.problem.constraints.B.to_fractions()[maps.lower.strictly_active[0]]
    square = sum((v * v for v in row), Fraction(0))
    return tuple(y - v / square for y, v in zip(maps.lower.y_star, row, strict=True))
