"""Exact evidence beside a measured sweep: the same errors spent, as rational functions of alpha.

The exact evidence is about the paper's formulas. It decides about a *subject* only where the subject's own values
agree with the formulas; a subject that deviates is judged by what was measured on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from spec.exact import Vector
from verify.checks.measuring.agreement import held
from verify.checks.measuring.case import Case, compare
from verify.evidence.model import CertifiedBound, ComparisonEvidence, RateEvidence
from verify.truth.certificates.certificate import Certificate, Side
from verify.truth.certificates.certification import Bound, NoCertificateError, certify
from verify.truth.certificates.checker import check
from verify.truth.certificates.combination import combine
from verify.truth.closed_forms import closed_form
from verify.truth.geometry import EPS, Geometry, quadratic_of, spectral_norm
from verify.truth.pair import Truth
from verify.truth.penalty_functions import Family, error, estimator, minimiser, sampled_point
from verify.truth.scenario import Error, Quantity, Scenario
from verify.verdict import NoEvidenceError, RungDisagreementError

DIRECTION_ALPHA = 0.02
"""Worst directions are taken at this alpha: close to their limits, far from the floating-point floor."""
AGREEMENT_ROUNDINGS = 64.0
"""Largest difference, in units of the estimate's own rounding, that still is rounding."""
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

    def scenario(self, *, frozen: bool) -> Scenario:
        """The same as exact data."""
        return Scenario(
            dual_term="frozen" if frozen else "cancelled",
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
        The exact rate, deciding only where the subject agrees with the formulas, and that comparison; nothing
        where there is no spending or the claim's bound is not a whole power of alpha.

    Raises:
        RungDisagreementError: If the reference itself does not agree, or the closed form with the exact rate.
        NoEvidenceError: If the subject could be asked at no alpha of the sweep.
    """
    claimed = case.bound.exponents.get("alpha")
    if not spendings or claimed is None or claimed.denominator != 1:
        return ()
    family = Family.at(quadratic_of(case.instance.problem), case.instance.x)
    frozen = case.reading.dual_term == "frozen"
    tried = [(spending, spending.scenario(frozen=frozen)) for spending in spendings]
    errors = [error(family, scenario, quantity) for _, scenario in tried]
    leads = [function.leading() for function in errors]
    exponents = [math.inf if lead.exponent is None else float(lead.exponent) for lead in leads]
    # The smallest exponent decides; among equals the largest coefficient is the worse error.
    worst = min(range(len(tried)), key=lambda k: (exponents[k], -leads[k].norm_squared))
    (spending, scenario), leading = tried[worst], leads[worst]
    end = _end(family, spending)
    asked = [alpha for alpha in case.profile.alphas if alpha <= end]
    if not asked:
        raise NoEvidenceError(f"no alpha of the sweep is at most {float(end):g}, where the formulas of {name} hold")
    agreement = _agreement(case, truth, family, asked, scenario, quantity)
    if not agreement.holds and case.stages.are_the_reference:
        left = f"{agreement.measured:.3g} roundings at alpha = {agreement.context['alpha']:g}"
        raise RungDisagreementError(f"the reference leaves the exact value of {name} by {left}")
    formula = closed_form(family, scenario, quantity)
    bounds: tuple[CertifiedBound, ...] = ()
    if leading.exponent is not None:
        wanted = [
            Bound(power, quantity, side) for side, power in _wanted(leading.exponent, int(claimed), case.bound.tag)
        ]
        # One error suffices to refute, and is all there is without a linear response; to support, every error counts.
        columns = [spending.along(i).scenario(frozen=frozen) for i in every_error]
        bounds = _bounds(family, scenario, columns, wanted, end, recheck=case.profile.recheck)
    rate = RateEvidence(
        quantity=name,
        variable="alpha",
        points=(),
        exponent=exponents[worst],
        interval=(exponents[worst], exponents[worst]),
        rung="certified" if bounds else "symbolic",
        role="conclusion" if agreement.holds else "support",
        coefficient=None if leading.exponent is None else math.sqrt(leading.norm_squared),
        bounds=bounds,
        closed_form=held(formula, errors[worst], asked, name, measured=agreement.holds),
    )
    return rate, agreement


def symbolic_rate(
    case: Case, terms: Mapping[int, Sequence[Fraction]], measured: RateEvidence, *, name: str
) -> RateEvidence:
    """A quantity that is a short sum of powers of alpha, exactly: its leading term decides.

    ``measured`` is the sweep on the subject, whose points carry the same sum as ``predicted``; the exact rate decides
    only where every usable point agrees with it.

    Raises:
        RungDisagreementError: If the reference itself does not agree.
    """
    powers = sorted(power for power, vector in terms.items() if any(vector))
    agrees = all(
        point.predicted is not None and abs(point.measured - point.predicted) <= AGREEMENT_ROUNDINGS * point.uncertainty
        for point in measured.points
        if point.usable
    )
    if not agrees and case.stages.are_the_reference:
        raise RungDisagreementError(f"the reference leaves the exact value of {name}")
    exponent = float(powers[0]) if powers else math.inf
    size = math.sqrt(sum((value * value for value in terms[powers[0]]), Fraction(0))) if powers else None
    return RateEvidence(
        quantity=name, variable="alpha", points=(), exponent=exponent, interval=(exponent, exponent), rung="symbolic",
        role="conclusion" if agrees else "support", coefficient=size,
    )  # fmt: skip


def exact_direction(vector: Vector) -> Vector:
    """A direction truncated towards zero to doubles with few digits: exact, and no longer than it was."""
    length = max(1.0, float(np.linalg.norm(vector)))
    return np.asarray(np.trunc(vector / length * GRID) / GRID)


def unit(vector: Vector) -> Vector:
    """The direction of a vector; zero stays zero."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector


def multipliers_clear_of_the_ramp(truth: Truth, lam_width: float) -> bool:
    """Whether small errors of the multipliers leave every weight at exactly 0 or 1."""
    active = truth.lam[truth.active > 0]
    return bool((active > lam_width).all())


def _errors(spent: tuple[int, Vector] | None) -> tuple[Error, ...]:
    if spent is None or not spent[1].any():
        return ()
    return (Error(power=spent[0], direction=tuple(Fraction(float(v)) for v in exact_direction(spent[1]))),)


def _end(family: Family, spending: Spending) -> Fraction:
    """Right end of the interval: errors of size alpha**3 must leave slack rows slack and multipliers on one side."""
    slack = min((-float(h) for h in family.lower.h if h < 0), default=math.inf)
    multiplier = min((float(value) for value in family.lower.lam if value > 0), default=math.inf)
    norm = max(1.0, float(np.linalg.norm(family.problem.arrays.B, 2)))
    end = LARGEST_END
    while 4 * norm * float(end) ** 3 > slack or (spending.lam and float(end) ** 3 > multiplier / 2):
        end /= 2
    return end


def _wanted(leading: int, claimed: int, tag: str) -> list[tuple[Side, int]]:
    """The claimed bound where it holds, and one that excludes it where it does not."""
    wanted: list[tuple[Side, int]] = []
    if tag in ("upper", "tight", "equality"):
        wanted.append(("upper", claimed) if leading >= claimed else ("lower", leading))
    if tag in ("lower", "tight", "equality"):
        wanted.append(("lower", claimed) if leading <= claimed else ("upper", leading))
    return list(dict.fromkeys(wanted))


def _bounds(
    family: Family,
    scenario: Scenario,
    columns: Sequence[Scenario],
    wanted: Sequence[Bound],
    end: Fraction,
    *,
    recheck: bool,
) -> tuple[CertifiedBound, ...]:
    """Prove the wanted bounds on (0, end], or on a shorter interval; none if one of them cannot be proven."""
    made = []
    for bound in wanted:
        scenarios = columns if bound.side == "upper" and columns else [scenario]
        found = [next(_attempts(family, each, bound, end), None) for each in scenarios]
        certificates = [certificate for certificate in found if certificate is not None]
        if len(certificates) < len(scenarios):
            return ()
        for certificate in certificates if recheck else certificates[:1]:
            check(certificate)
        proven = combine(certificates)
        every = bound.side == "upper" and bool(columns)
        made.append(
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
    return tuple(made)


def _attempts(family: Family, scenario: Scenario, bound: Bound, end: Fraction) -> Iterator[Certificate]:
    for halvings in range(ATTEMPTS):
        try:
            yield certify(family, scenario, bound, end / 2**halvings, PRECISION)
        except NoCertificateError:
            continue


def _agreement(
    case: Case, truth: Truth, family: Family, asked: Sequence[float], scenario: Scenario, quantity: Quantity
) -> ComparisonEvidence:
    """The subject's values under the very same errors against the exact ones, in units of rounding."""
    worst, at = 0.0, asked[0]
    shifts = quantity in ("solution-shift", "penalty-shift")
    value = minimiser(family, scenario) if shifts else estimator(family, scenario)
    sampled = value if shifts else sampled_point(family, scenario)
    for alpha in asked:
        exact_alpha = Fraction(alpha)
        y_star = truth.y_star + _at(scenario.y_star_error, alpha, len(truth.y_star))
        lam = truth.lam + _at(scenario.lam_error, alpha, len(truth.lam))
        rho = np.array([float(weight) for weight in scenario.rho or ()])
        geometry = Geometry(family.problem, case.x, alpha, y_star, lam, rho)
        call = case.call(alpha, y_star=y_star, lam=lam)
        exact = _floats(value(exact_alpha))
        if shifts:
            found = case.stages.penalty_minimiser(case.instance.problem, case.x, replace(call, rho=rho), 0.0)
            softest = float(np.linalg.eigvalsh(geometry.H)[0])
            size = (
                float(np.linalg.norm(np.abs(geometry.H) @ np.abs(found)))
                + float(np.linalg.norm(geometry.a.B)) * alpha**-4
            )
            rounding = EPS * size / softest
        else:
            y = _floats(sampled(exact_alpha))
            found = case.stages.hypergradient(case.instance.problem, case.x, replace(call, y_penalty=y))
            width = call.parameters.h_width(case.reading, alpha**3, spectral_norm(geometry.a.B))
            rounding = geometry.rounding(y, frozen=scenario.dual_term == "frozen", h_width=width)
        ratio = float(np.linalg.norm(found - exact)) / max(rounding, EPS**2)
        if ratio > worst:
            worst, at = ratio, alpha
    return compare(
        "difference of the subject from the exact value, in roundings", worst, "<=", AGREEMENT_ROUNDINGS,
        context={"alpha": at}, role="support",
    )  # fmt: skip


def _at(errors: Sequence[Error], alpha: float, size: int) -> Vector:
    total = np.zeros(size)
    for spent in errors:
        total = total + alpha**spent.power * np.array([float(value) for value in spent.direction])
    return total


def _floats(values: Sequence[Fraction]) -> Vector:
    return np.array([float(value) for value in values])
