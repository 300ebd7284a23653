"""A subject's own values beside the exact ones: on the sweep and at alphas drawn afresh, down to where doubles end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from spec.exact import Vector
from verify.checks.measuring.case import Case, compare
from verify.evidence.model import ComparisonEvidence, Point
from verify.truth.enclosures.pair import Truth
from verify.truth.formulas import as_float
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, estimator, minimiser, sampled_point
from verify.truth.functions_of_alpha.scenario import Error, Quantity, Scenario
from verify.truth.geometry import EPS, Geometry, spectral_norm
from verify.verdict import RungDisagreementError

AGREEMENT_ROUNDINGS = 64.0
"""Largest difference, in units of the estimate's own rounding, that still is rounding."""
FRESH = 4
"""Alphas drawn afresh, one in each quarter of the way down, in orders of magnitude."""
SMALLEST = 1e-8
MEANINGLESS = 0.5
"""Doubles end where what counts as rounding reaches this share of the value: no first digit is left to disagree."""
SOLVABLE = 1e-6
"""Smallest alpha a minimiser is asked for at: below, α⁻² of g is lost in the roundings of the rows' α⁻⁴."""


@dataclass(frozen=True)
class OwnFormula:
    """A quantity of the proof under one scenario, to be held against a subject."""

    family: PenaltyFamily
    scenario: Scenario
    quantity: Quantity


@dataclass(frozen=True)
class Beside:
    """A subject's value under one scenario at one alpha: what it found, the exact value, and the rounding of it."""

    computed: Vector
    exact: Vector
    rounding: float

    @property
    def ratio(self) -> float:
        """The difference in roundings."""
        return roundings(self.computed, self.exact, self.rounding)


def held_to_formulas(
    case: Case, truth: Truth, formula: OwnFormula, name: str, end: Fraction
) -> tuple[ComparisonEvidence, tuple[float, ...]]:
    """The subject's own values against the exact ones, in roundings, and the alphas it was asked at.

    Asked are the sweep's alphas up to ``end`` and some drawn afresh; the worst counts, and decides.

    Raises:
        RungDisagreementError: If the reference itself does not agree.
    """
    beside = _asker(case, truth, formula)
    grid = [alpha for alpha in case.profile.alphas if alpha <= end]
    smallest = SOLVABLE if beside.shifts else SMALLEST
    alphas = tuple(sorted((*grid, *fresh_alphas(case, beside.size_and_rounding, float(end), smallest)), reverse=True))
    ratios = {alpha: beside(alpha).ratio for alpha in alphas}
    return agreement(case, ratios, name), alphas


def agreement(case: Case, ratios: dict[float, float], name: str) -> ComparisonEvidence:
    """Differences from exact values in roundings, by alpha: the worst decides; of the reference's it is a fault.

    Raises:
        RungDisagreementError: If the reference itself does not agree.
    """
    at = max(ratios, key=lambda alpha: (ratios[alpha], alpha))
    compared = compare(
        f"difference of the subject's {name} from the exact value, in roundings", ratios[at], "<=",
        AGREEMENT_ROUNDINGS, context={"alpha": at},
    )  # fmt: skip
    if not compared.holds and case.stages.are_the_reference:
        left = f"{compared.measured:.3g} roundings at alpha = {at:g}"
        raise RungDisagreementError(f"the reference leaves the exact value of {name} by {left}")
    return compared


def roundings(computed: Vector, exact: Vector, rounding: float) -> float:
    """A difference in units of what counts as one rounding."""
    return float(np.linalg.norm(computed - exact)) / max(rounding, EPS**2)


def points_agree(case: Case, points: Sequence[Point], name: str) -> ComparisonEvidence:
    """The same for a sweep whose points all carry their exact values, each with its uncertainty for a rounding."""
    off = {p.at: abs(p.measured - (p.predicted or 0.0)) / max(p.uncertainty, EPS**2) for p in points}
    return agreement(case, off, name)


def says_something(points: Sequence[Point]) -> bool:
    """Whether agreement at these points means anything: somewhere the exact value stands out of what is rounding."""
    allowed = [AGREEMENT_ROUNDINGS * point.uncertainty for point in points]
    return any(MEANINGLESS * (p.predicted or 0.0) > rounding for p, rounding in zip(points, allowed, strict=True))


def fresh_alphas(
    case: Case, at: Callable[[float], tuple[float, float]], end: float, smallest: float = SMALLEST
) -> list[float]:
    """Alphas drawn between ``end`` and where doubles end; ``at`` gives a value's size and rounding at an alpha."""
    floor = end
    while floor > 2 * smallest:
        size, rounding = at(floor / 2)
        if AGREEMENT_ROUNDINGS * rounding > MEANINGLESS * (1 + size):
            break
        floor /= 2
    rng, depth = case.place_rng(), math.log(floor / end)
    shares = [(k + rng.random()) / FRESH for k in range(FRESH)]
    return [end * math.exp(share * depth) for share in shares]


@dataclass(frozen=True)
class _Asker:
    """Asks for one quantity's own value at an alpha, every error of a scenario spent."""

    case: Case
    truth: Truth
    family: PenaltyFamily
    scenario: Scenario
    shifts: bool
    value: Callable[[Fraction], Sequence[Fraction]]
    sampled: Callable[[Fraction], Sequence[Fraction]]

    def geometry(self, alpha: float) -> Geometry:
        y_star = self.truth.y_star + spent(self.scenario.y_star_error, alpha, len(self.truth.y_star))
        lam = self.truth.lam + spent(self.scenario.lam_error, alpha, len(self.truth.lam))
        rho = np.array([float(weight) for weight in self.scenario.rho or ()])
        return Geometry(self.family.problem, self.case.x, alpha, y_star, lam, rho)

    def rounding(self, geometry: Geometry, y: Vector) -> float:
        if self.shifts:
            size = float(np.linalg.norm(np.abs(geometry.H) @ np.abs(y)))
            size += float(np.linalg.norm(geometry.a.B)) * geometry.alpha**-4
            return EPS * size / float(np.linalg.eigvalsh(geometry.H)[0])
        case = self.case
        width = case.call(geometry.alpha).parameters.h_width(
            case.reading, geometry.alpha**3, spectral_norm(geometry.a.B)
        )
        return geometry.rounding(y, dual_term=self.scenario.dual_term, h_width=width)

    def size_and_rounding(self, alpha: float) -> tuple[float, float]:
        """Size of the value near this alpha and its rounding, in doubles."""
        geometry = self.geometry(alpha)
        y = geometry.minimiser
        value = y if self.shifts else geometry.estimate(y, dual_term=self.scenario.dual_term)
        return float(np.linalg.norm(value)), self.rounding(geometry, y)

    def __call__(self, alpha: float) -> Beside:
        case, geometry = self.case, self.geometry(alpha)
        call = case.call(alpha, y_star=geometry.y_star, lam=geometry.lam)
        exact = as_float(self.value(Fraction(alpha)))
        if self.shifts:
            given = replace(call, rho=geometry.rho)
            answer = case.stages.penalty_minimiser(case.instance.problem, case.x, given, 0.0)
            return Beside(answer, exact, self.rounding(geometry, answer))
        y = as_float(self.sampled(Fraction(alpha)))
        answer = case.stages.hypergradient(case.instance.problem, case.x, replace(call, y_penalty=y))
        return Beside(answer, exact, self.rounding(geometry, y))


def _asker(case: Case, truth: Truth, formula: OwnFormula) -> _Asker:
    family, scenario = formula.family, formula.scenario
    shifts = formula.quantity in ("solution-shift", "penalty-shift")
    value = minimiser(family, scenario) if shifts else estimator(family, scenario)
    return _Asker(case, truth, family, scenario, shifts, value, value if shifts else sampled_point(family, scenario))


def spent(errors: Sequence[Error], alpha: float, size: int) -> Vector:
    """The sum of some errors at an alpha."""
    total = np.zeros(size)
    for error in errors:
        total = total + alpha**error.power * np.array([float(value) for value in error.direction])
    return total
