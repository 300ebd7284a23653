"""T3 where the active rows are scaled towards dependence: which power of alpha needs no modulus of LICQ."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from spec import Quadratic
from spec.atlas import Instance
from spec.exact import ExactArray
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.own_values import points_agree
from verify.checks.measuring.premises import SHOWN_ALPHA, at_truth, estimate, regular_truth, sweep_ends
from verify.evidence.model import Counterexample, Point
from verify.evidence.rates import fit_rate
from verify.truth.geometry import EPS, Geometry, quadratic_of, solve, spectral_norm
from verify.truth.pair import Truth, exact_bias

SCALES = (Fraction(1, 2), Fraction(1), Fraction(2))
"""Row scales in units of alpha: there the rows' penalty α₂s² is as weak as α₁."""


@check("bias-bound/T3-uniform", instances=("toy1", "two-of-three", "scalar-rational", "absolute-moving"),
       needs=("hypergradient",))  # fmt: skip
def uniform_in_rows(case: Case) -> Measurement:
    """T3, exact stages, on a family whose σ_min(B_I) shrinks with alpha; the worst scale counts.

    As written nothing but the constants the paper names is held: rows h are only scaled. Repaired the multipliers' own
    Lipschitz constant is held too, and T3 is held against its bound without σ_min.
    """
    points, largest = [], 0.0
    for alpha in case.profile.alphas:
        found = [_T3(case, alpha, scale * Fraction(alpha)) for scale in SCALES]
        points.append(max((point for point, _ in found), key=lambda point: point.measured))
        ratios = [(point.measured - point.uncertainty) / bound for point, bound in found]
        largest = max(largest, *ratios)
    name = "T₃ at the worst row scale"
    rate = fit_rate(points, quantity=name, variable="alpha")
    instance = _scaled(case, Fraction(SHOWN_ALPHA))
    shown = Counterexample(
        problem=instance.problem.to_dict(), x=[str(value) for value in instance.x], values=sweep_ends(points),
        note=f"The rows at alpha = {SHOWN_ALPHA:g}: they shrink with alpha, and T₃ does not.",
    )  # fmt: skip
    agreement = points_agree(case, points, name)
    if case.as_written:
        return Measurement((rate, agreement), counterexample=shown)
    within = compare("T₃ over α²D_c‖∇_yf‖/μ + αL_λ‖∇_yf‖/(2√μ)", largest, "<=", 1.0, 1e-9)
    return Measurement((rate, within, agreement), counterexample=shown)


def _scaled(case: Case, s: Fraction) -> Instance:
    """As written h becomes s·h; repaired the lower level shrinks with B, so that λ* and its derivative stay."""
    problem = quadratic_of(case.instance.problem)
    data, rows = problem.to_dict(), problem.constraints
    by_A, by_g = (s, Fraction(1)) if case.as_written else (s * s, s)
    data["constraints"] = {
        name: _times(getattr(rows, name), by) for name, by in (("A", by_A), ("B", s), ("b", by_A))
    }  # fmt: skip
    data["g"] = data["g"] | {name: _times(getattr(problem.g, name), by_g) for name in ("xy", "y")}
    return Instance(f"{case.instance.name} scaled", Quadratic.model_validate(data), case.instance.x, "", frozenset())


def _times(array: ExactArray, factor: Fraction) -> list[object]:
    rows = [[str(factor * value) for value in row] for row in array.to_fractions()]
    return list(rows if array.ndim == 2 else rows[0])


def _T3(case: Case, alpha: float, s: Fraction) -> tuple[Point, float]:  # noqa: N802  # the paper's letter
    """The subject's T3 beside its exact value, and the bound of it that knows no σ_min."""
    there = replace(case, instance=_scaled(case, s))
    truth = regular_truth(there.instance)
    geometry, call = at_truth(there, truth, alpha)
    # Multipliers are to be clear of the ramp whatever the scale.
    geometry = replace(geometry, rho=truth.active)
    found = estimate(there, replace(call, rho=truth.active), geometry.minimiser)
    exact = exact_bias(there.instance, truth, geometry, dual_term=case.reading.dual_term)
    rounding = geometry.rounding(geometry.minimiser, dual_term=case.reading.dual_term)
    size = float(np.linalg.norm(found - truth.grad_F))
    return Point(at=alpha, measured=size, uncertainty=rounding, predicted=exact), _bound(geometry, truth)


def _bound(geometry: Geometry, truth: Truth) -> float:
    """α²‖Dc‖‖c‖/μ + α‖Dλ*‖‖c‖/(2√μ), c = ∇_yf at y*: the two ends of an energy estimate, σ_min in neither."""
    a, active = geometry.a, np.flatnonzero(truth.active)
    B, A, m = a.B[active], a.A[active], len(truth.y_star)
    system = np.block([[a.g_yy, -B.T], [B, np.zeros((len(active), len(active)))]])
    solved = solve(system, np.vstack([-a.g_xy.T, A]))
    Y, rates = solved[:m], solved[m:]
    c = a.f_xy.T @ geometry.x + a.f_yy @ truth.y_star + a.f_y
    mu = float(np.linalg.eigvalsh(a.g_yy)[0]) + min(0.0, geometry.alpha**2 * float(np.linalg.eigvalsh(a.f_yy)[0]))
    size, alpha = float(np.linalg.norm(c)), geometry.alpha
    first = alpha**2 * spectral_norm(a.f_xy + Y.T @ a.f_yy) / mu
    return float(size * (first + alpha * spectral_norm(rates) / (2 * np.sqrt(mu))) + EPS**2)
