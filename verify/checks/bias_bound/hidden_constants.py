"""What the constant of the bias bound hides: the terms no lemma bounds, the scale of the rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from spec import Quadratic
from verify.checks.bias_bound.row_scales import times
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.premises import regular_truth
from verify.evidence.model import Point, RateEvidence
from verify.evidence.rates.rates import fit_rate
from verify.truth.algebra.rationals import Vector
from verify.truth.formulas import as_float
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, error
from verify.truth.functions_of_alpha.scenario import Scenario, exact_error
from verify.truth.geometry import EPS, quadratic_of, spectral_norm
from verify.truth.lower_level import lower_level
from verify.truth.point_values import PointValues, multiplier_slope
from verify.verdict import NoEvidenceError


@check("bias-bound/from-two-lemmas", instances=("kink", "two-of-three", "toy1", "fixed-rows"))
def part_of_the_lemmas(case: Case) -> Measurement:
    """The bias over T₂, all that the two lemmas bound; repaired, over T₁ + T₂ + T₃: its order, from exact expansions.

    The terms may cancel one another at some α and not at others: a power fitted to the quotient would say nothing.
    """
    truth = regular_truth(case.instance)
    family = PenaltyFamily.at(quadratic_of(case.instance.problem), case.instance.x)
    first = min(truth.strictly_active)
    lam = [int(i == first) for i in range(len(truth.lam))]
    y = [int(i == 0) for i in range(len(truth.y_star))]
    scenario = Scenario(lam_error=(exact_error(3, lam),), gradient_error=(exact_error(1, y),))
    parts = {name: error(family, scenario, name) for name in ("bias", "T1", "T2", "T3")}
    bounding = ("T2",) if case.as_written else ("T1", "T2", "T3")
    leads = {name: part.leading() for name, part in parts.items()}
    orders = {name: math.inf if lead.exponent is None else lead.exponent for name, lead in leads.items()}
    least = min(orders[name] for name in bounding)
    if math.isinf(least):
        raise NoEvidenceError("no part of the bias that is asserted to bound it is there at all")
    points, exponent = [], orders["bias"] - least
    for alpha in case.profile.alphas:
        size = {name: float(np.linalg.norm(as_float(part(Fraction(alpha))))) for name, part in parts.items()}
        below = sum(size[name] for name in bounding)
        points.append(Point(at=alpha, measured=size["bias"] / below, uncertainty=8 * EPS * size["bias"] / below))
    rate = RateEvidence(
        quantity="bias over T₂" if case.as_written else "bias over T₁ + T₂ + T₃", variable="alpha",
        points=tuple(points), exponent=exponent, interval=(exponent, exponent), rung="symbolic",
    )  # fmt: skip
    return Measurement((rate,), values_at("at alpha", [points[0], points[-1]]))


@check("bias-bound/constants", instances=("toy1", "scalar-rational", "absolute-moving"))
def scaled_rows(case: Case) -> Measurement:
    """The bias at exact stages where the rows are multiplied by α, which changes neither F nor y*.

    As written against α alone; repaired over 1 + L_λ, the Lipschitz constant of λ*, which that scale raises to 1/α.
    The other constants named are held against those of unscaled rows at the same α; C_pen, at least the bias over α, is
    told beside: with a C_pen that grows so the lemma stands.
    """
    base, points, ratios = quadratic_of(case.instance.problem), [], []
    regular_truth(case.instance)
    for alpha in map(Fraction, case.profile.alphas):
        problem = with_rows_scaled(base, alpha)
        bias = float(
            np.linalg.norm(as_float(error(PenaltyFamily.at(problem, case.instance.x), Scenario(), "T3")(alpha)))
        )
        slope = spectral_norm([[float(v) for v in row] for row in multiplier_slope(problem, case.instance.x)])
        points.append(Point(at=float(alpha), measured=bias if case.as_written else bias / (1 + slope)))
        ratios.append(_largest_ratio(problem, base, case.instance.x, alpha))
    name = "bias where the rows are multiplied by α" + ("" if case.as_written else ", over 1 + L_λ")
    rate = fit_rate(points, quantity=name, variable="alpha")
    quantity = "largest ratio of a constant named by the lemmas, C_pen aside, to its value at unscaled rows"
    equal = compare(quantity, max(ratios), "<=", 1.0, 1e-9)
    note = "f = y, g = y²/2, s(x - y) ≤ 0 with s = α: y = x - α²/2, α₂s²(x - y) = 1/2, and ∇F = 1."
    ends = [points[0], points[-1]]
    least = [Point(at=point.at, measured=point.measured / point.at) for point in ends] if case.as_written else []
    numbers = values_at("at alpha", ends) | values_at("least C_pen at alpha", least)
    return Measurement((rate, equal), numbers, note)


def with_rows_scaled(problem: Quadratic, s: Fraction) -> Quadratic:
    """The same problem with h replaced by s·h."""
    data, rows = problem.to_dict(), problem.constraints
    data["constraints"] = {name: times(getattr(rows, name), s) for name in ("A", "B", "b")}
    return Quadratic.model_validate(data)


def _largest_ratio(scaled: Quadratic, plain: Quadratic, x: Vector, alpha: Fraction) -> float:
    """Of the constants the lemmas name, C_pen aside: the largest quotient of a scaled problem's by the plain one's."""
    pairs = zip(_named_constants(scaled, x, alpha), _named_constants(plain, x, alpha), strict=True)
    return max(a / b for a, b in pairs if b > 0)


def _named_constants(problem: Quadratic, x: Vector, alpha: Fraction) -> Iterator[float]:
    """C_f, ‖∇f‖ at the solution, C_g, 1/μ_g, M_∇h, L_y, L_{H,y} and L_{H,λ} with the dual term kept, at α."""
    a, lower = problem.arrays, lower_level.solve(problem, x)
    yield spectral_norm(np.block([[a.f_xx, a.f_xy], [a.f_xy.T, a.f_yy]]))
    yield float(np.linalg.norm(as_float(PointValues(problem).gradient("f", x, lower.y_star))))
    yield spectral_norm(np.block([[a.g_xx, a.g_xy], [a.g_xy.T, a.g_yy]]))
    yield 1 / float(np.linalg.eigvalsh(a.g_yy)[0])
    yield max(spectral_norm(a.A), spectral_norm(a.B))
    yield spectral_norm([[float(v) for v in row] for row in lower_level.jacobian(problem, x)])
    rho = np.array([float(i in lower.strictly_active) for i in range(problem.p)])
    a_1, a_2 = float(alpha**-2), float(alpha**-4)
    yield spectral_norm(a.f_xy + a_1 * a.g_xy - a_2 * (a.A.T * rho) @ a.B)
    yield a_1 * spectral_norm(a.A)
