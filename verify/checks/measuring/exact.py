"""Exact evidence beside a measured sweep: the same errors spent, as rational functions of alpha.

The exact evidence is about the paper's formulas. It says something about a *subject* only where the subject's own
values agree with them; one that does not agree is refuted by that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spec.exact import Vector
from spec.reading import DualTerm
from verify.checks.measuring.agreement import held
from verify.checks.measuring.case import Case
from verify.checks.measuring.own_values import OwnFormula, agreement, held_to_formulas, says_something
from verify.evidence.model import CertifiedBound, ComparisonEvidence, RateEvidence
from verify.truth.certificates.certificate import Certificate, Side
from verify.truth.certificates.certification import NoCertificateError, WantedBound, certify
from verify.truth.certificates.checker import check
from verify.truth.certificates.combination import combine
from verify.truth.enclosures.pair import Truth
from verify.truth.functions_of_alpha.closed_forms import closed_form
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, error
from verify.truth.functions_of_alpha.scenario import Error, Quantity, Scenario
from verify.truth.geometry import quadratic_of
from verify.verdict import NoEvidenceError

DIRECTION_ALPHA = 0.02
"""Worst directions are taken at this alpha: close to their limits, far from the floating-point floor."""
GRID = 2**20
"""Directions are truncated to this many steps a unit: exact as doubles, and never longer than what is allowed."""
LARGEST_END = Fraction(1, 4)
ATTEMPTS = 6
"""How often an interval is halved before a bound counts as not provable."""
PRECISION = Fraction(1, 1000)
"""Relative precision of the constants' squares."""


@dataclass(frozen=True)
class Spending:
    """Errors spent, each a power of alpha and a direction; directions are rounded to exact ones of norm <= 1.

    The activation weights ``rho`` are those under these errors, the same at every alpha.
    """

    rho: Vector
    y: tuple[int, Vector] | None = None
    gradient: tuple[int, Vector] | None = None
    """The gradient left at the penalty minimiser."""
    lam: tuple[int, Vector] | None = None
    y_star: tuple[int, Vector] | None = None

    def along(self, coordinate: int) -> Spending:
        """The one error spent here, along a coordinate direction instead."""

        def turned(spent: tuple[int, Vector] | None) -> tuple[int, Vector] | None:
            return None if spent is None else (spent[0], np.eye(len(spent[1]))[coordinate])

        return Spending(self.rho, turned(self.y), turned(self.gradient), turned(self.lam), turned(self.y_star))

    def scenario(self, dual_term: DualTerm) -> Scenario:
        """The same as exact data."""
        return Scenario(
            dual_term=dual_term,
            rho=tuple(Fraction(float(weight)) for weight in self.rho),
            y_error=_errors(self.y),
            gradient_error=_errors(self.gradient),
            lam_error=_errors(self.lam),
            y_star_error=_errors(self.y_star),
        )


def exact_rate(
    case: Case,
    truth: Truth,
    spendings: Sequence[Spending],
    quantity: Quantity,
    *,
    name: str,
    every_error: Sequence[int] = (),
) -> tuple[RateEvidence | ComparisonEvidence, ...]:
    """Derive a quantity's exponent exactly, prove a bound for all small alpha, and hold the subject against it.

    Of the ways to spend the premises' errors the one with the smallest exponent counts. Where the quantity is linear in
    the single error spent, ``every_error`` has the coordinates it may have, so that bounds for the unit errors combine
    to one for every allowed error. Bias and shifts come with their closed form.

    Returns:
        The exact rate, deciding only where the subject agrees with the formulas, and that comparison, which decides
        too; nothing where there is no spending.

    Raises:
        RungDisagreementError: If the reference itself does not agree, or the closed form with the exact rate.
        NoEvidenceError: If the subject could be asked at no alpha of the sweep.
    """
    claimed = case.bound.exponents.get("alpha")
    if not spendings or claimed is None:
        return ()
    # At a kink a piece's gradient stands in for ∇F, which what is asked about there does not contain.
    gradient = truth.exact_grad_F or next(iter(truth.exact_kinks), None)
    family = PenaltyFamily.at(quadratic_of(case.instance.problem), case.instance.x, gradient)
    dual_term = case.reading.dual_term
    tried = [(spending, spending.scenario(dual_term)) for spending in spendings]
    errors = [error(family, scenario, quantity) for _, scenario in tried]
    leads = [function.leading() for function in errors]
    exponents = [math.inf if lead.exponent is None else float(lead.exponent) for lead in leads]
    # The smallest exponent decides; among equals the largest coefficient is the worse error.
    worst = min(range(len(tried)), key=lambda k: (exponents[k], -leads[k].norm_squared))
    (spending, scenario), leading = tried[worst], leads[worst]
    end = _end(family, spending)
    if not any(alpha <= end for alpha in case.profile.alphas):
        raise NoEvidenceError(f"no alpha of the sweep is at most {float(end):g}, where the formulas of {name} hold")
    agrees, alphas = held_to_formulas(case, truth, OwnFormula(family, scenario, quantity), name, end)
    formula = closed_form(family, scenario, quantity)
    bounds: tuple[CertifiedBound, ...] = ()
    if leading.exponent is not None:
        wanted = [
            WantedBound(power, quantity, side) for side, power in _wanted(leading.exponent, claimed, case.bound.tag)
        ]
        # One error suffices to refute, and is all there is without a linear response; to support, every error counts.
        columns = [spending.along(i).scenario(dual_term) for i in every_error]
        bounds = _bounds(family, scenario, columns, wanted, end, recheck=case.profile.recheck)
    rate = RateEvidence(
        quantity=name,
        variable="alpha",
        points=(),
        exponent=exponents[worst],
        interval=(exponents[worst], exponents[worst]),
        rung="certified" if bounds else "symbolic",
        role="conclusion" if agrees.holds else "support",
        coefficient=None if leading.exponent is None else math.sqrt(leading.norm_squared),
        bounds=bounds,
        closed_form=held(formula, errors[worst], _on_grid(case, end), name, measured=agrees.holds),
        held_at=() if case.stages.are_the_reference else alphas,
    )
    return rate, agrees


def symbolic_rate(
    case: Case,
    leading: tuple[int, float] | None,
    measured: RateEvidence,
    off: dict[float, float],
    *,
    name: str,
) -> tuple[RateEvidence, ComparisonEvidence]:
    """A quantity whose leading term is known exactly, its power and coefficient, or that is zero: that decides.

    ``measured`` is the sweep on the subject, whose points carry the exact values as ``predicted``, and ``off`` how far
    its values are from them, in roundings, by alpha; the exact rate decides only where every one agrees, and that
    comparison decides too.

    Raises:
        RungDisagreementError: If the reference itself does not agree.
        NoEvidenceError: If at no point the exact value stands out of what is rounding.
    """
    agrees = agreement(case, off, name)
    if leading and not says_something(measured.points):
        raise NoEvidenceError(f"every value of {name} is below its own rounding: the subject was not asked")
    exponent, size = (float(leading[0]), leading[1]) if leading else (math.inf, None)
    rate = RateEvidence(
        quantity=name, variable="alpha", points=(), exponent=exponent, interval=(exponent, exponent), rung="symbolic",
        role="conclusion" if agrees.holds else "support", coefficient=size,
        held_at=() if case.stages.are_the_reference else tuple(off),
    )  # fmt: skip
    return rate, agrees


def exact_direction(vector: Vector) -> Vector:
    """A direction truncated towards zero to doubles with few digits: exact, and no longer than it was."""
    length = max(1.0, float(np.linalg.norm(vector)))
    return np.asarray(np.trunc(vector / length * GRID) / GRID)


def _on_grid(case: Case, end: Fraction) -> list[float]:
    return [alpha for alpha in case.profile.alphas if alpha <= end]


def unit(vector: Vector) -> Vector:
    """The direction of a vector; zero stays zero."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector


def multipliers_clear_of_the_ramp(truth: Truth, lam_width: float) -> bool:
    """Whether small errors of the multipliers leave every weight at exactly 0 or 1: not of a weakly active row."""
    active = truth.lam[truth.active > 0]
    return not truth.weakly_active and bool((active > lam_width).all())


def _errors(spent: tuple[int, Vector] | None) -> tuple[Error, ...]:
    if spent is None or not spent[1].any():
        return ()
    return (Error(power=spent[0], direction=tuple(Fraction(float(v)) for v in exact_direction(spent[1]))),)


def _end(family: PenaltyFamily, spending: Spending) -> Fraction:
    """Right end of the interval: errors of size alpha**3 must leave slack rows slack and multipliers on one side."""
    slack = min((-float(h) for h in family.lower.h if h < 0), default=math.inf)
    multiplier = min((float(value) for value in family.lower.lam if value > 0), default=math.inf)
    norm = max(1.0, float(np.linalg.norm(family.problem.arrays.B, 2)))
    end = LARGEST_END
    while 4 * norm * float(end) ** 3 > slack or (spending.lam and float(end) ** 3 > multiplier / 2):
        end /= 2
    return end


def _wanted(leading: int, claimed: Fraction, tag: str) -> list[tuple[Side, int]]:
    """The claimed bound, or the next whole power's, where it holds, and one that excludes it where it does not."""
    wanted: list[tuple[Side, int]] = []
    if tag in ("upper", "tight", "equality"):
        wanted.append(("upper", math.ceil(claimed)) if leading >= claimed else ("lower", leading))
    if tag in ("lower", "tight", "equality"):
        wanted.append(("lower", math.floor(claimed)) if leading <= claimed else ("upper", leading))
    return list(dict.fromkeys(wanted))


def _bounds(
    family: PenaltyFamily,
    scenario: Scenario,
    columns: Sequence[Scenario],
    wanted: Sequence[WantedBound],
    end: Fraction,
    *,
    recheck: bool,
) -> tuple[CertifiedBound, ...]:
    """Prove the wanted bounds on (0, end], or on a shorter interval; none if one of them cannot be proven."""
    proven_bounds = []
    for bound in wanted:
        scenarios = columns if bound.side == "upper" and columns else [scenario]
        attempts = [next(_attempts(family, each, bound, end), None) for each in scenarios]
        certificates = [certificate for certificate in attempts if certificate is not None]
        if len(certificates) < len(scenarios):
            return ()
        for certificate in certificates if recheck else certificates[:1]:
            check(certificate)
        proven = combine(certificates)
        every = bound.side == "upper" and bool(columns)
        proven_bounds.append(
            CertifiedBound(
                side=bound.side,
                exponent=bound.exponent,
                constant=proven.constant,
                end=proven.end,
                tightness=proven.tightness,
                certificates=tuple(certificate.model_dump(mode="json") for certificate in certificates),
                worst_case=every or not scenario.errors,
            )
        )
    return tuple(proven_bounds)


def _attempts(family: PenaltyFamily, scenario: Scenario, bound: WantedBound, end: Fraction) -> Iterator[Certificate]:
    for halvings in range(ATTEMPTS):
        try:
            yield certify(family, scenario, bound, end / 2**halvings, PRECISION)
        except NoCertificateError:
            continue
