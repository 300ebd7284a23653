"""Closed forms held against what was derived without them and against what was measured: a disagreement is a fault."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from spec import Noise
from verify.checks.measuring.case import Case
from verify.evidence.model import ClosedForm, Point, RateEvidence
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.functions_of_alpha.closed_forms import DerivedForm, closed_variance
from verify.truth.functions_of_alpha.noise import variance_function
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.geometry import quadratic_of
from verify.verdict import RungDisagreementError


def held(
    formula: DerivedForm | None, exact: RationalVector, alphas: Sequence[float], name: str, *, measured: bool
) -> ClosedForm | None:
    """A closed form as evidence, once its first term and its values on the sweep are those of an exact derivation.

    There is no evidence without a formula, nor of a quantity that is exactly zero; ``measured`` says whether the
    subject's values agree. First terms or values that differ, however little, are a :class:`RungDisagreementError`.
    """
    if formula is None:
        return None
    leading = exact.leading()
    if formula.leading() != (leading.exponent, leading.coefficient):
        raise RungDisagreementError(f"the closed form of {name} begins unlike its exact rate")
    values = []
    for alpha in alphas:
        entries = exact(Fraction(alpha))
        square = sum((value * value for value in entries), Fraction(0))
        if formula(Fraction(alpha)) != entries or (formula.norm and formula.square(Fraction(alpha)) != square):
            raise RungDisagreementError(f"the closed form of {name} leaves its exact value at alpha = {alpha:g}")
        values.append((alpha, math.sqrt(square) if formula.norm else float(entries[0])))
    if leading.exponent is None:
        return None
    printed = formula.printed
    return ClosedForm(
        text=printed.text, latex=printed.latex, whole=printed.whole, values=tuple(values), measured=measured
    )


def on_sweep(case: Case, rate: RateEvidence, points: Sequence[Point]) -> RateEvidence:
    """The same rate, its closed form held against a measured sweep too: a point for each of its values, in order.

    A point of the reference further off than its own uncertainty is a :class:`RungDisagreementError`.
    """
    form = rate.closed_form
    if form is None:
        return rate
    pairs = zip(points, form.values, strict=True)
    off = [point for point, (_, value) in pairs if not abs(point.measured - value) <= point.uncertainty]
    if off and case.stages.are_the_reference:
        raise RungDisagreementError(f"the reference leaves the closed form of {rate.quantity} at {off[0].at:g}")
    agrees = form.measured and not off
    return rate.model_copy(update={"closed_form": form.model_copy(update={"measured": agrees})})


def with_closed_form(case: Case, noise: Noise, rate: RateEvidence, at: Sequence[dict[str, float]]) -> RateEvidence:
    """A rate of variances with its formula, held against the exact function of alpha and against the rate's points.

    ``at`` has alpha of each point, and N_g where averages were measured.
    """
    family = PenaltyFamily.at(quadratic_of(case.instance.with_noise(noise).problem), case.instance.x)
    formula, pairing = closed_variance(family, case.reading.noise_pairing), case.reading.noise_pairing
    alphas = [variables["alpha"] for variables in at]
    form = formula and held(formula, variance_function(family, pairing), alphas, rate.quantity, measured=True)
    if form and "N_g" in at[0]:
        pairs = zip(at, form.values, strict=True)
        averages = tuple((where["N_g"], value / where["N_g"]) for where, (_, value) in pairs)
        text, latex = f"{form.text}·N_g⁻¹", rf"{form.latex} \cdot N_g^{{-1}}"
        form = form.model_copy(update={"text": text, "latex": latex, "values": averages})
    return on_sweep(case, rate.model_copy(update={"closed_form": form}), rate.points)
