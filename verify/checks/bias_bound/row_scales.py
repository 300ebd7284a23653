"""Where the active rows are scaled towards dependence: which powers of alpha need no modulus of LICQ."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from spec import Quadratic
from spec.atlas import Instance
from spec.exact import ExactArray
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.own_values import points_agree
from verify.checks.measuring.piece_constants import PieceConstants
from verify.checks.measuring.premises import SHOWN_ALPHA, at_truth, estimate, regular_truth, sweep_ends
from verify.evidence.model import Counterexample, Evidence, Point
from verify.evidence.rates.rates import fit_rate
from verify.truth.enclosures.pair import minimiser_and_bias
from verify.truth.geometry import EPS, quadratic_of

SHOWN = {"bias-bound/T3-uniform": Fraction(SHOWN_ALPHA)}
"""Row scale of the counterexample that a statement shows in place of the instance itself."""
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
        pairs = [_T3(case, alpha, scale * Fraction(alpha)) for scale in SCALES]
        points.append(max((point for point, _ in pairs), key=lambda point: point.measured))
        ratios = [(point.measured - point.uncertainty) / bound for point, bound in pairs]
        largest = max(largest, *ratios)
    name = "T₃ at the worst row scale"
    rate = fit_rate(points, quantity=name, variable="alpha")
    instance = scaled(case.instance, SHOWN[case.claim], as_written=case.as_written)
    shown = Counterexample(
        problem=instance.problem.to_dict(), x=[str(value) for value in instance.x], values=sweep_ends(points),
        note=f"The rows at alpha = {SHOWN_ALPHA:g}: they shrink with alpha, and T₃ does not.",
    )  # fmt: skip
    agreement = points_agree(case, points, name)
    if case.as_written:
        return Measurement((rate, agreement), counterexample=shown)
    within = compare("T₃ over α²D_c‖∇_yf‖/μ + αL_λ‖∇_yf‖/(2√μ)", largest, "<=", 1.0, 1e-9)
    return Measurement((rate, within, agreement), counterexample=shown)


@check("solution-error/active-rows-uniform", instances=("toy1", "two-of-three", "scalar-rational", "absolute-moving"),
       needs=("penalty_minimiser",))  # fmt: skip
def shift_uniform_in_rows(case: Case) -> Measurement:
    """‖Δy‖, λ̃ off by δ on active rows, where the rows are scaled towards dependence; the worst scale counts.

    Repaired, it is also held against its bound that knows no σ_min.
    """
    shifts = [
        max((_shift(case, alpha, scale * Fraction(alpha)) for scale in SCALES), key=lambda one: one[0].measured)
        for alpha in case.profile.alphas
    ]
    points = [point for point, _ in shifts]
    name = "‖Δy‖ at the worst row scale, λ̃ off on active rows only"
    evidence: list[Evidence] = [fit_rate(points, quantity=name, variable="alpha"), points_agree(case, points, name)]
    if not case.as_written:
        largest = max((point.measured - point.uncertainty) / bound for point, bound in shifts)
        evidence.append(compare("‖Δy‖ over α‖Δλ‖/(2√μ)", largest, "<=", 1.0, 1e-9))
    return Measurement(tuple(evidence), sweep_ends(points), "At rows of scale α the penalty's α₂s² is as weak as α₁.")


def _shift(case: Case, alpha: float, s: Fraction) -> tuple[Point, float]:
    """The subject's shift beside the exact one, the error of λ̃ in its worst direction, and its bound without σ_min."""
    there = replace(case, instance=scaled(case.instance, s, as_written=case.as_written))
    truth = regular_truth(there.instance)
    geometry, call = at_truth(there, truth, alpha)
    geometry = replace(geometry, rho=truth.active)
    error = geometry.worst_lam_within(alpha**3, geometry.lam_to_minimiser(), rows=truth.active)
    moved = replace(geometry, lam=truth.lam + error)
    problem, given = there.instance.problem, replace(call, rho=truth.active)
    y, y_moved = (
        there.stages.penalty_minimiser(problem, there.x, replace(given, lam=lam), 0.0) for lam in (truth.lam, moved.lam)
    )
    exact = float(np.linalg.norm(moved.minimiser - geometry.minimiser))
    # Both minimisers are known to a rounding of y times the condition of the system they solve.
    rounding = 16 * EPS * float(np.linalg.cond(geometry.H)) * (1 + float(np.linalg.norm(y)))
    bound = float(np.linalg.norm(error)) * PieceConstants.of(geometry, truth).shift
    size = float(np.linalg.norm(y_moved - y))
    return Point(at=alpha, measured=size, uncertainty=rounding, predicted=exact), bound


def scaled(instance: Instance, s: Fraction, *, as_written: bool) -> Instance:
    """As written h becomes s·h; repaired the lower level shrinks with B, so that λ* and its derivative stay."""
    problem = quadratic_of(instance.problem)
    data, rows = problem.to_dict(), problem.constraints
    by_A, by_g = (s, Fraction(1)) if as_written else (s * s, s)
    data["constraints"] = {
        name: times(getattr(rows, name), by) for name, by in (("A", by_A), ("B", s), ("b", by_A))
    }  # fmt: skip
    data["g"] = data["g"] | {name: times(getattr(problem.g, name), by_g) for name in ("xy", "y")}
    return Instance(f"{instance.name} scaled", Quadratic.model_validate(data), instance.x, "", frozenset())


def times(array: ExactArray, factor: Fraction) -> list[object]:
    """An array times a factor, as a problem file has it."""
    rows = [[str(factor * value) for value in row] for row in array.to_fractions()]
    return list(rows if array.ndim == 2 else rows[0])


def _T3(case: Case, alpha: float, s: Fraction) -> tuple[Point, float]:  # noqa: N802  # the paper's letter
    """The subject's T3 at the exact minimiser, correctly rounded, beside its value, and its bound without σ_min."""
    there = replace(case, instance=scaled(case.instance, s, as_written=case.as_written))
    truth = regular_truth(there.instance)
    geometry, call = at_truth(there, truth, alpha)
    # Multipliers are to be clear of the ramp whatever the scale.
    geometry = replace(geometry, rho=truth.active)
    dual_term = case.reading.dual_term
    y, exact = minimiser_and_bias(there.instance, truth, geometry, dual_term=dual_term)
    answer = estimate(there, replace(call, rho=truth.active), y)
    rounding = geometry.rounding(y, dual_term=dual_term) + EPS * float(np.linalg.norm(truth.grad_F))
    size = float(np.linalg.norm(answer - truth.grad_F))
    bound = PieceConstants.of(geometry, truth).penalty_term
    return Point(at=alpha, measured=size, uncertainty=rounding, predicted=exact), bound
