"""How far rows are from their values at y* at the penalty minimiser: all rows, and those that have weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

import numpy as np

from spec.exact import Vector
from verify.checks.measuring.agreement import held
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.exact import DIRECTION_ALPHA, Spending, symbolic_rate
from verify.checks.measuring.own_values import roundings
from verify.checks.measuring.piece_constants import PieceConstants, share_of
from verify.checks.measuring.premises import REGULAR, PremiseUnmetError, at_truth, regular_truth, sweep_point
from verify.evidence.model import ComparisonEvidence, Point, RateEvidence
from verify.evidence.rates.rates import fit_rate
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.enclosures.pair import Truth
from verify.truth.formulas import as_float
from verify.truth.functions_of_alpha.closed_forms import closed_row_change
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, error
from verify.truth.geometry import EPS, Geometry, quadratic_of, spectral_norm

WEIGHTED = ("two-of-three", "toy1", "scalar-rational", "absolute-moving", "box-rational", "random-3x5x4", "moving-box")


@check("dual-extraction/constraint-difference", instances=("interior", "two-of-three", *REGULAR[2:10]),
       needs=("penalty_minimiser",))  # fmt: skip
def constraint_difference(case: Case) -> Measurement:
    """‖h(x, y) - h(x, y*)‖ at the subject's own penalty minimiser; the proof takes it to be of order δ."""
    truth = regular_truth(case.instance)
    sweep = _RowSweep.of(case, truth, range(len(truth.lam)), "‖h(x, y) - h(x, y*)‖")
    evidence = [sweep.rate]
    if truth.active.any():
        evidence.append(fit_rate(sweep.active, quantity="the same on active rows", variable="alpha", role="support"))
    note = "Even at the penalty minimiser y leaves y* by α², not by δ; at the lemma's fixed y nothing shrinks."
    return Measurement((*evidence, *sweep.derived(case)), sweep.shown, note)


@check("dual-extraction/weighted-rows", instances=WEIGHTED, needs=("penalty_minimiser",))
def weighted_rows(case: Case) -> Measurement:
    """The same on the rows that have weight, and, repaired, against its bound without a term of higher order."""
    truth = regular_truth(case.instance)
    if not truth.active.any():
        raise PremiseUnmetError("strict-complementarity", "no row is active at y*, so none has weight")
    sweep = _RowSweep.of(
        case, truth, np.flatnonzero(truth.active).tolist(), "‖h_I(x, y) - h_I(x, y*)‖, rows of weight 1"
    )
    evidence: list[RateEvidence | ComparisonEvidence] = [sweep.rate, *sweep.derived(case)]
    if not case.as_written:
        shares = [
            share_of(p.measured - p.uncertainty, PieceConstants.of(geometry, truth).row_values)
            for p, geometry in sweep.at
        ]
        evidence.append(compare("‖h_I‖ over α⁴√κ‖∇_yf‖/σ_min(B_I)", max(shares), "<=", 1.0, 1e-9))
    note = "A weighted row is held by α₂ = α⁻⁴ against ∇_yf, which is of order 1: its value is of order α⁴."
    return Measurement(tuple(evidence), sweep.shown, note)


@dataclass(frozen=True)
class _RowSweep:
    """Row values of the subject's minimisers along the sweep, and the same as a rational function of alpha."""

    name: str
    family: PenaltyFamily
    exact: RationalVector
    rows: Sequence[int]
    rate: RateEvidence
    at: tuple[tuple[Point, Geometry], ...]
    active: tuple[Point, ...]
    off: dict[float, float]

    @classmethod
    def of(cls, case: Case, truth: Truth, rows: Sequence[int], name: str) -> _RowSweep:
        a, rows = quadratic_of(case.instance.problem).arrays, list(rows)
        rho = at_truth(case, truth, DIRECTION_ALPHA)[0].rho
        family = PenaltyFamily.at(quadratic_of(case.instance.problem), case.instance.x)
        scenario = Spending(rho=rho).scenario("cancelled")
        p = len(truth.lam)
        chosen = RationalVector.constant([Fraction(int(i == j)) for i in rows for j in range(p)], p)
        moves = chosen @ family.lagrangian(scenario).blocks.B.times(-1)
        exact = moves @ error(family, scenario, "penalty-shift")
        at, active, off = [], [], {}
        for alpha in case.profile.alphas:
            geometry, call = at_truth(case, truth, alpha)
            y = case.stages.penalty_minimiser(case.instance.problem, case.x, replace(call, rho=rho), 1e-12)
            moved: Vector = a.B @ (y - truth.y_star)
            # The condition number says how much a rounding of the gradient moves the minimiser.
            softness = float(np.linalg.cond(geometry.H))
            rounding = 16 * EPS * spectral_norm(a.B) * (1 + float(np.linalg.norm(y))) * softness
            right = -as_float(exact(Fraction(alpha)))
            at.append((sweep_point(alpha, moved[rows], rounding, float(np.linalg.norm(right))), geometry))
            off[alpha] = roundings(moved[rows], right, rounding)
            active.append(sweep_point(alpha, moved[truth.active > 0], rounding, None))
        rate = fit_rate([point for point, _ in at], quantity=name, variable="alpha")
        return cls(name, family, exact, rows, rate, tuple(at), tuple(active), off)

    def derived(self, case: Case) -> tuple[RateEvidence | ComparisonEvidence, ...]:
        """The exact rate with its closed form, and the subject's agreement with it."""
        first = self.exact.leading()
        leading = None if first.exponent is None else (first.exponent, sqrt(first.norm_squared))
        exact, agrees = symbolic_rate(case, leading, self.rate, self.off, name=self.name)
        scenario = Spending(rho=self.at[0][1].rho).scenario("cancelled")
        formula = closed_row_change(self.family, scenario, self.rows)
        form = held(formula, self.exact, case.profile.alphas, self.name, measured=agrees.holds)
        return exact.model_copy(update={"closed_form": form}), agrees

    @property
    def shown(self) -> dict[str, float | str]:
        first = self.at[0][0]
        return {f"value at alpha = {first.at:g}": first.measured}
