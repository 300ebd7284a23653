"""What replacing λ* by λ̃ does to the penalty gradient, part by part, and where the penalty minimiser is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spec import OracleParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.gradient_change import beyond_each_row, gradient, own_minimiser, rounding_of
from verify.checks.measuring.own_values import AGREEMENT_ROUNDINGS
from verify.checks.measuring.premises import PremiseUnmetError, estimate, feasible, h_width, shrinks, sweep_ends
from verify.evidence.model import ComparisonEvidence, Point
from verify.evidence.rates.rates import fit_rate
from verify.subjects.protocol import Call
from verify.truth.formulas import as_float
from verify.truth.geometry import EPS, Geometry, quadratic_of, ramp, spectral_norm

HALF_WAY = 0.5
"""Where on the ramp of h its slope is looked at, as a share of its width below the boundary."""
SLOPE_ENDS = (0.25, 0.75)
"""Between these shares of the width the slope is measured: inside the ramp, and wide enough to lose no digits."""
MINIMISER_SHARE = 1e-3
"""The gradient left at the subject's minimiser must be this small beside the difference measured there."""


@check(
    "dual-extraction/T1",
    instances=("weakly-active", "toy1", "absolute-moving", "two-of-three", "random-3x5x4"),
    needs=("hypergradient", "penalty_minimiser"),
)
def weights_part(case: Case) -> Measurement:
    """α₂‖Δρ_i h_i ∇h_i‖ at a fixed y one unit beyond a row, λ̃ off by δ on one row; the worst of both rows and the sign.

    It is what ∇L changes by in (x, y), the dual term cancelled, less the multipliers' own -α₁BᵀΔλ. As written ε_λ may
    be any small number and is spent as δ; repaired it is fixed, and twice the largest multiplier, so that every active
    row is on its ramp.
    """
    start = _Start(case, wide=True)
    a, rows = start.a, np.hstack([start.a.A, -start.a.B])
    points, worst, at = [], 0.0, case.profile.alphas[0]
    for alpha in case.profile.alphas:
        call, exact_pair = start.call(alpha), start.geometry(alpha, start.lam)
        moved = [start.geometry(alpha, lam) for i in start.rows for lam in _moved(start.lam, i, alpha**3)]
        least = [own_minimiser(case, call, one) for one in (exact_pair, *moved)]
        sizes, predicted, roundings = [0.0], [0.0], [0.0]
        for y in beyond_each_row(a.B, start.y_star):
            h = a.A @ case.x - a.B @ y - a.b
            here = gradient(case, call, exact_pair, y, least[0])
            for one, its_least in zip(moved, least[1:], strict=True):
                linear = np.concatenate([0 * case.x, -(alpha**-2) * a.B.T @ (one.lam - start.lam)])
                change = gradient(case, call, one, y, its_least) - here - linear
                exact = alpha**-4 * rows.T @ ((one.rho - exact_pair.rho) * h)
                rounding = rounding_of(one, y) + rounding_of(exact_pair, y)
                # The subject's own weights move by the rounding of h over the width of its ramp.
                rounding += one.rounding(y, dual_term="cancelled", h_width=start.width(alpha))
                worst, at = max((worst, at), (float(np.linalg.norm(change - exact)) / rounding, alpha))
                sizes.append(float(np.linalg.norm(change)))
                predicted.append(float(np.linalg.norm(exact)))
                roundings.append(rounding)
        # What is there by rounding alone, where no weight moves, is nothing.
        size = max(sizes) if max(predicted) > 0 or max(sizes) > AGREEMENT_ROUNDINGS * max(roundings) else 0.0
        points.append(Point(at=alpha, measured=size, uncertainty=max(roundings), predicted=max(predicted)))
    rate = fit_rate(points, quantity="α₂‖Σ Δρ_i h_i ∇h_i‖ at a fixed y", variable="alpha")
    width = "δ" if start.shrinks else "fixed"
    note = f"y is fixed, one unit beyond the worst row; λ̃ is λ* ± δ on the worst row, ε_λ = {width}."
    return Measurement((rate, _agreement(worst, at)), sweep_ends(points), note)


@check("dual-extraction/T2", instances=("weakly-active", "toy1"), needs=("hypergradient",))
def slope_part(case: Case) -> Measurement:
    """½α₂h²‖∇Δρ‖ from the slope of the subject's weights in h; repaired, whether the subject's estimate contains it.

    As written λ̃ = δ where λ* = 0, and ε_λ = δ: the whole ramp of h is switched on. Repaired the weights are looked at
    half-way down their ramp, where their derivative in x would show.
    """
    start = _Start(case)
    row = next(iter(start.active))
    return _slope_of_weights(start, row) if case.as_written else _constant_weights(start, row)


def _slope_of_weights(start: _Start, row: int) -> Measurement:
    case, a = start.case, start.a
    points = []
    for alpha in case.profile.alphas:
        width, moved = start.width(alpha), _moved(start.lam, row, alpha**3)[0]
        y = start.geometry(alpha, start.lam).minimiser
        h = float(a.A[row] @ case.x - a.B[row] @ y - a.b[row])

        def weight(share: float, lam: Vector, alpha: float = alpha, width: float = width) -> float:
            """The subject's own weight, from two estimates whose y differ by one unit of this row's h."""
            y_star = start.inside(row, share * width)
            call = replace(start.call(alpha), lam=lam, y_star=y_star)
            unit = a.B[row] / float(a.B[row] @ a.B[row])
            change = estimate(case, call, y_star - unit) - estimate(case, call, y_star)
            plain = alpha**-2 * a.g_xy @ -unit + a.f_xy @ -unit
            return float(a.A[row] @ (change - plain) / (a.A[row] @ a.A[row])) * alpha**4

        near, far = SLOPE_ENDS
        change = [weight(near, lam) - weight(far, lam) for lam in (start.lam, moved)]
        slope = abs(change[1] - change[0]) / ((far - near) * width)
        size = 0.5 * alpha**-4 * h**2 * float(np.linalg.norm(a.A[row]))
        noise = 16 * EPS * (1 + float(np.abs(a.A).sum() + np.abs(a.B).sum())) / width
        points.append(Point(at=alpha, measured=size * slope, uncertainty=size * noise))
    rate = fit_rate(points, quantity="½α₂‖Σ h_i²∇Δρ_i‖", variable="alpha")
    note = "The ramp of h has slope 1/width; λ̃ switches it on where λ* leaves it off, at the penalty minimiser."
    return Measurement((rate,), sweep_ends(points), note)


def _constant_weights(start: _Start, row: int) -> Measurement:
    case, a = start.case, start.a
    worst, at, would = 0.0, 0.0, np.inf
    for alpha in case.profile.alphas[:6]:
        width = start.width(alpha)
        lam = np.where(np.arange(len(start.lam)) == row, max(start.lam[row], start.lam_width(alpha) / 2), start.lam)
        y_star = start.inside(row, HALF_WAY * width)
        h = start.h - a.B @ (y_star - start.y_star)
        pair = Geometry(start.problem, case.x, alpha, y_star, lam, ramp(h, lam, width, start.lam_width(alpha)))
        y = pair.minimiser
        answer = estimate(case, replace(start.call(alpha), y_star=y_star, lam=lam), y)
        rounding = pair.rounding(y, dual_term="cancelled", h_width=width)
        ratio = float(np.linalg.norm(answer - pair.estimate(y, dual_term="cancelled"))) / rounding
        there = float(a.A[row] @ case.x - a.B[row] @ y - a.b[row])
        part = 0.5 * alpha**-4 * there**2 * min(1.0, lam[row] / start.lam_width(alpha)) / width
        would = min(would, part * float(np.linalg.norm(a.A[row])) / rounding)
        worst, at = max((worst, at), (ratio, alpha))
    compared = compare(
        "part of the estimate that its weights' derivative would add, in roundings", worst, "<=", AGREEMENT_ROUNDINGS,
        context={"alpha": at, "such a part would be at least": would},
    )  # fmt: skip
    return Measurement((compared,), {}, "The estimate is ∇_xL with the weights held, also where they have a slope.")


@check(
    "solution-error/gradient-difference",
    instances=("weakly-active", "toy1", "two-of-three", "box-rational", "random-3x5x4", "interior"),
    needs=("penalty_minimiser",),
)
def at_the_moving_minimiser(case: Case) -> Measurement:
    """‖∇_yL_{λ*} - ∇_yL_{λ̃}‖ at the subject's own minimiser for λ̃, which must minimise: λ̃ off by δ, the worst row.

    As written ε_λ may be any small number and is spent as δ.
    """
    start = _Start(case)
    points, worst, at = [], 0.0, case.profile.alphas[0]
    for alpha in case.profile.alphas:
        exact = start.geometry(alpha, start.lam)
        sizes = []
        for i in start.rows:
            for lam in _moved(start.lam, i, alpha**3):
                moved = start.geometry(alpha, lam)
                call = replace(start.call(alpha), lam=lam, rho=moved.rho)
                y = case.stages.penalty_minimiser(case.instance.problem, case.x, call, 0.0)
                size = float(np.linalg.norm(exact.gradient_y(y) - moved.gradient_y(y)))
                left = float(np.linalg.norm(moved.gradient_y(y)))
                rounding = 16 * EPS * spectral_norm(moved.H) * (1 + float(np.linalg.norm(y)))
                worst, at = max((worst, at), (left / (MINIMISER_SHARE * size + rounding), alpha))
                sizes.append((size, rounding))
        size, rounding = max(sizes)
        points.append(Point(at=alpha, measured=size, uncertainty=rounding))
    rate = fit_rate(points, quantity="‖∇_yL_{λ*} - ∇_yL_{λ̃}‖ at the minimiser for λ̃", variable="alpha")
    name = "gradient left at the subject's minimiser, in units of a thousandth of the difference"
    return Measurement((rate, compare(name, worst, "<=", 1.0, context={"alpha": at})), sweep_ends(points))


class _Start:
    """The exact pair, zero multipliers welcome, with the widths that a reading leaves to be spent."""

    def __init__(self, case: Case, *, wide: bool = False) -> None:
        lower = feasible(case.instance)
        if not lower.licq:
            raise PremiseUnmetError("licq", f"{len(lower.active)} rows are active, their rank is {lower.licq_rank}")
        self.case, self.problem = case, quadratic_of(case.instance.problem)
        self.a, self.active = self.problem.arrays, lower.active
        self.y_star, self.lam = as_float(lower.y_star), as_float(lower.lam)
        self.h = np.array([0.0 if i in lower.active else float(value) for i, value in enumerate(lower.h)])
        self.rows = range(self.problem.p)
        self.shrinks = shrinks(case)
        self.fixed_width = max(OracleParameters().lam_width, 2 * float(self.lam.max()) if wide else 0.0)

    def lam_width(self, alpha: float) -> float:
        """ε_λ, a fixed number or δ."""
        return alpha**3 if self.shrinks else self.fixed_width

    def call(self, alpha: float) -> Call:
        parameters = OracleParameters(lam_width=self.lam_width(alpha))
        return self.case.call(alpha, y_star=self.y_star, lam=self.lam, parameters=parameters)

    def width(self, alpha: float) -> float:
        return h_width(self.case, alpha, self.call(alpha))

    def weights(self, alpha: float, lam: Vector) -> Vector:
        return ramp(self.h, lam, self.width(alpha), self.lam_width(alpha))

    def geometry(self, alpha: float, lam: Vector) -> Geometry:
        return Geometry(self.problem, self.case.x, alpha, self.y_star, lam, self.weights(alpha, lam))

    def inside(self, row: int, depth: float) -> Vector:
        """A lower-level point at which a row is inside by this much."""
        B = self.a.B[row]
        return np.asarray(self.y_star + depth * B / float(B @ B))


def _moved(lam: Vector, row: int, size: float) -> list[Vector]:
    """Multipliers that differ on one row, upwards first."""
    return [np.where(np.arange(len(lam)) == row, lam + sign * size, lam) for sign in (1.0, -1.0)]


def _agreement(worst: float, alpha: float) -> ComparisonEvidence:
    """Whether the subject's own values are the formulas': a rate of wrong values says nothing of the claim."""
    return compare(
        "changes of the gradient against the formulas, in roundings", worst, "<=", AGREEMENT_ROUNDINGS,
        context={"alpha": alpha},
    )  # fmt: skip
