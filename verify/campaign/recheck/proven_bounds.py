"""Certified rates against their certificates: every number of theirs, and the verdict, follows from what is proven."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from pydantic import ValidationError

from spec import InvalidInputError, Quadratic, Reading, loads_problem
from spec.atlas import Instance
from spec.claims import Bound
from verify.campaign.recheck.obligations import Obligation, shortcomings
from verify.evidence.model import CertifiedBound, ComparisonEvidence, Evidence, RateEvidence
from verify.truth.certificates.adjoining_pieces import limits_of_gradients
from verify.truth.certificates.certificate import Certificate
from verify.truth.certificates.checker import check
from verify.truth.certificates.combination import combine, leading
from verify.truth.certificates.integer_polynomials import evaluate
from verify.truth.certificates.plain_formulas import PlainProblem

AGREES = 1e-9
"""Relative difference of doubles computed twice from the same exact numbers."""
LONGEST = 1_000_000
"""Characters of the longest certificate read; those of the atlas have some ten thousand."""
_POWER_OF_TEN = re.compile(r"\d[eE][+-]?\d")
"""Nothing writes rationals so, and few characters of it name a number that fills the memory."""
ROUNDINGS = 64.0
"""Largest difference of a measured point from its exact value, in units of its uncertainty."""
AGREEMENT = re.compile(r"difference of the subject's .* from the exact value, in roundings")
"""The comparison that says whether a subject follows the formulas a certificate is about."""
Shortcoming = tuple[str, str]
"""A field and the rule it breaks."""


def certified_rate(
    rate: RateEvidence, owed: Obligation | None, claimed: Bound, reading: Reading, instance: Instance
) -> Iterator[Shortcoming]:
    """What of a certified rate its certificates do not prove."""
    if owed is None or "alpha" not in claimed.exponents or rate.variable != "alpha":
        yield "rung", "must not be certified: no certificate can be about this claim"
        return
    if not rate.bounds:
        yield "bounds", "must hold a certificate"
    broken = False
    for k, bound in enumerate(rate.bounds):
        for field, rule in _bound(rate, bound, owed, reading, instance):
            broken = True
            yield f"bounds[{k}].{field}", rule
    if rate.interval != (rate.exponent, rate.exponent):
        yield "interval", "must be the exponent: it is exact"
    if not broken and rate.bounds:
        yield from _settles(rate, claimed)


def _bound(
    rate: RateEvidence, bound: CertifiedBound, owed: Obligation, reading: Reading, instance: Instance
) -> Iterator[Shortcoming]:
    if not bound.certificates:
        yield "certificates", "must not be missing"
        return
    certificates = []
    for k, raw in enumerate(bound.certificates):
        certificate, rule = checked(json.dumps(raw))
        if certificate is None:
            yield f"certificates[{k}]", rule
            return
        certificates.append(certificate)
    for part, rule in shortcomings(owed, certificates, reading, instance):
        yield f"certificates.{part}", rule
        return
    for name in ("side", "exponent"):
        if any(getattr(certificate, name) != getattr(bound, name) for certificate in certificates):
            yield name, "must be that of the certificates"
            return
    proven = combine(certificates)
    # Compared as the doubles they are, rounding apart: nothing stated may be better than what is proven.
    for name in ("constant", "end", "tightness"):
        if not math.isclose(getattr(bound, name), getattr(proven, name), rel_tol=AGREES):
            yield name, f"must be {getattr(proven, name):.9g}, as proven; it is {getattr(bound, name):.9g}"
    spent = any(certificate.scenario.errors for certificate in certificates)
    every = not spent or (bound.side == "upper" and owed.linear is not None)
    if bound.worst_case != every:
        yield "worst_case", f"must be {str(every).lower()}"
    yield from _leading(rate, certificates)
    if len(certificates) == 1:
        yield from _closed_form(rate, certificates[0])


@lru_cache(maxsize=4096)
def checked(text: str) -> tuple[Certificate | None, str]:
    """A certificate that its checker accepts and whose reference is the only gradient, or what is wrong with it."""
    if len(text) > LONGEST or _POWER_OF_TEN.search(text):
        return None, f"must spell rationals as p/q, in at most {LONGEST} characters"
    try:
        certificate = Certificate.model_validate_json(text)
        check(certificate)
        problem = loads_problem(certificate.problem, "certificate.problem")
        if isinstance(problem, Quadratic):  # the checker asks for it only where the quantity is held against it
            gradients = limits_of_gradients(PlainProblem.of(problem, certificate.x), certificate.y_star)
            if gradients != {certificate.reference}:
                return None, "certificate.reference: must be the gradient of F, and F has none here"
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        return None, f"must be a certificate; {where}: {error.errors()[0]['msg']}"
    except (InvalidInputError, ArithmeticError, IndexError, ValueError) as error:
        return None, str(error)
    return certificate, ""


def _leading(rate: RateEvidence, certificates: Sequence[Certificate]) -> Iterator[Shortcoming]:
    """The rate's exponent and leading coefficient: exact from its own certificate, enclosed by those of unit errors."""
    heads = [pair for certificate in certificates if (pair := leading(certificate)) is not None]
    order = min((power for power, _ in heads), default=math.inf)
    if rate.exponent != order:
        yield (
            "certificates",
            f"must begin with alpha^{rate.exponent:g}, the rate's exponent; they do with alpha^{order}",
        )
        return
    norm = math.sqrt(sum(float(sum(v * v for v in head)) for power, head in heads if power == order))
    stated, alone = rate.coefficient or 0.0, len(certificates) == 1
    if not (math.isclose(stated, norm, rel_tol=AGREES) if alone else stated <= norm * (1 + AGREES)):
        relation = "be" if alone else "allow"
        yield "certificates", f"must {relation} the rate's leading coefficient, {stated:.9g}; theirs is {norm:.9g}"


def _closed_form(rate: RateEvidence, certificate: Certificate) -> Iterator[Shortcoming]:
    """A closed form's values on the sweep against the certificate's own polynomials."""
    for alpha, value in rate.closed_form.values if rate.closed_form is not None else ():
        exact = certificate_value(certificate, alpha)
        if not math.isclose(abs(value), exact, rel_tol=AGREES):
            yield "certificates", f"must have the closed form's value {value:.9g} at alpha = {alpha:g}; got {exact:.9g}"
            return


def exact_sweep(evidence: Sequence[Evidence]) -> Iterator[Shortcoming]:
    """Whether a certified rate may decide: only about a subject that agrees with the formulas.

    The penalty's own bias is swept as it is certified: there the sweep's points are held against the certificate.
    Predictions are these values; measurements leave them by rounding alone where the certified rate decides. Where a
    multiplier lies on its ramp the sweep has a weight below 1, the certified quantity none, and nothing is compared.
    """
    rates = [item for item in evidence if isinstance(item, RateEvidence)]
    compared = [item for item in evidence if isinstance(item, ComparisonEvidence)]
    agrees = [item.holds for item in compared if AGREEMENT.fullmatch(item.quantity)]
    for rate in rates:
        if rate.rung == "certified" and rate.role == "conclusion" and not (agrees and all(agrees)):
            yield f"{rate.quantity}: role", "must be support: the subject does not agree with the exact values"
    sweeps = [rate for rate in rates if rate.rung == "numeric" and rate.role == "conclusion"]
    proven = [(rate, bound) for rate in rates for bound in rate.bounds if rate.rung == "certified"]
    for rate, bound in proven:
        certificate = checked(json.dumps(bound.certificates[0]))[0] if bound.certificates else None
        if certificate is None or certificate.quantity != "T3" or not set(certificate.scenario.rho or ()) <= {0, 1}:
            continue
        for point in (point for sweep in sweeps for point in sweep.points if 0 < point.at <= bound.end):
            exact = certificate_value(certificate, point.at)
            if point.predicted is not None and not math.isclose(point.predicted, exact, rel_tol=AGREES):
                yield "points", f"must predict {exact:.9g} at alpha = {point.at:g}, the certificate's value"
                return
            if rate.role == "conclusion" and abs(point.measured - exact) > ROUNDINGS * point.uncertainty:
                yield "role", f"must be support: the sweep leaves the certificate's value at alpha = {point.at:g}"
                return


def certificate_value(certificate: Certificate, alpha: float) -> float:
    """Norm of the certified quantity at one alpha."""
    at = Fraction(alpha) if certificate.variable == "alpha" else Fraction(alpha) ** 2
    below = evaluate(certificate.denominator, at)
    return math.sqrt(sum((float(evaluate(numerator, at) / below) ** 2 for numerator in certificate.numerators), 0.0))


def _settles(rate: RateEvidence, claimed: Bound) -> Iterator[Shortcoming]:
    """What is claimed follows from the proven bounds, or its contrary does: they, not the exponent, decide."""
    power = float(claimed.exponents["alpha"])
    above = [bound.exponent for bound in rate.bounds if bound.side == "upper"]
    below = [bound.exponent for bound in rate.bounds if bound.side == "lower" and bound.constant > 0]
    small = any(exponent >= power for exponent in above)  # at most C alpha**power
    large = any(exponent <= power for exponent in below)  # at least c alpha**power
    too_large, too_small = any(e < power for e in below), any(e > power for e in above)
    needs = {"upper": (small, too_large), "lower": (large, too_small)}
    holds, fails = needs.get(claimed.tag, (small and large, too_large or too_small))
    gain = rate.exponent - power
    stated = {"upper": gain >= 0, "lower": gain <= 0}.get(claimed.tag, gain == 0)
    if not (holds if stated else fails):
        yield "bounds", "must prove what is claimed, or that it fails; they leave it open"
