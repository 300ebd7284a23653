"""What a certificate has to prove for a claim: read off the claim and its reading, never off the certificate.

A valid proof of an easier problem proves nothing. So the problem and point are the atlas instance's, the dual term, the
activation and the powers of the allowed errors the reading's, and an upper bound spends every error in full.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np

from spec import OracleParameters, Quadratic, Reading, dumps_problem
from spec.atlas import Instance
from spec.claims import Bound, find
from verify.truth.certificates.certificate import Certificate
from verify.truth.certificates.plain_formulas import PlainProblem, apply
from verify.truth.functions_of_alpha.scenario import Error, Quantity

Field = Literal["y_star_error", "lam_error", "y_error", "gradient_error"]
FIELDS: tuple[Field, ...] = ("y_star_error", "lam_error", "y_error", "gradient_error")
DELTA = 3
"""The inner accuracy δ is alpha to this power."""
FULL = Fraction(999, 1000)
"""An error's direction is rounded towards zero to an exact one; at least this length of it is left."""
WEIGHT_ROUNDING = 1e-9
"""Activation weights are doubles; this is far above their rounding."""


@dataclass(frozen=True)
class Obligation:
    """What is to be proven.

    Args:
        quantity: The quantity of the proof.
        errors: Powers of the errors that are spent, by field of the scenario.
        optional: Fields that may be left out: errors of y* that a reading's ramp does not let be spent.
        linear: The field the quantity is linear in, so that unit errors combine to all; ``None``: a single scenario.
        active_rows: Whether that error lies on strictly active rows only.
        shrinking: Whether the ramp of the multipliers is δ wide: one beyond it at the interval's end has weight 1.
    """

    quantity: Quantity
    errors: dict[Field, int] = field(default_factory=dict)
    optional: Collection[Field] = ()
    linear: Field | None = None
    active_rows: bool = False
    shrinking: bool = False


def asserted(claim: str, reading: str) -> tuple[Bound, Reading]:
    """What a text asserts under a reading, and what a program is told there; from the claim's data alone."""
    statement = find(claim)
    return statement.assertion(reading).bound, statement.interpreted(reading).reading


def obligation(claim: str, reading: Reading) -> Obligation | None:
    """What certificates must prove for a claim or step; ``None`` where none may be offered."""
    slip: dict[Field, int] = {"y_error": DELTA} if reading.inner_stop == "distance" else {"gradient_error": 1}
    all_errors: dict[Field, int] = {"y_star_error": DELTA, "lam_error": DELTA, **slip}
    known = {
        "bias-bound/T3": Obligation("T3"),
        "bias-bound/hessian-lipschitz": Obligation("T3"),
        "bias-bound/T1": Obligation("T1", slip, linear=next(iter(slip))),
        "bias-bound/L-H-y": Obligation("T1", {"y_error": 0}, linear="y_error"),
        "bias-bound/T2": Obligation("T2", {"lam_error": DELTA}, linear="lam_error"),
        "bias-bound/ramp": Obligation("bias", {"y_star_error": DELTA}),
        "bias-bound": Obligation("bias", all_errors, optional=("y_star_error", "lam_error")),
        "solution-error": Obligation("solution-shift", {"lam_error": DELTA}, linear="lam_error"),
        "solution-error/active-rows": Obligation(
            "solution-shift", {"lam_error": DELTA}, linear="lam_error", active_rows=True
        ),
        "dual-extraction/constraint-difference": Obligation("penalty-shift"),
    }
    return known.get(claim)


def shortcomings(
    owed: Obligation, certificates: Sequence[Certificate], reading: Reading, instance: Instance
) -> Iterator[tuple[str, str]]:
    """Where certificates of one bound prove something else than is owed: the part of them, and the rule it breaks."""
    problem = getattr(instance.problem, "quadratic", instance.problem)
    if not isinstance(problem, Quadratic):
        yield "problem", "must be quadratic; the instance is not"
        return
    text = dumps_problem(problem)
    for certificate in certificates:
        if certificate.problem != text:
            yield "problem", f"must be that of {instance.name}"
        elif certificate.x != instance.x:
            yield "x", f"must be the point of {instance.name}"
        elif certificate.quantity != owed.quantity:
            yield "quantity", f"must be {owed.quantity}"
        elif certificate.scenario.dual_term != reading.dual_term:
            yield "scenario.dual_term", f"must be {reading.dual_term}, as the reading says"
        else:
            yield from _errors(owed, certificate)
            yield from _weights(owed, certificate, reading, PlainProblem.of(problem, instance.x))
    if owed.linear is not None and certificates[0].side == "upper":
        yield from _columns(owed.linear, certificates, _allowed(owed, certificates[0], problem))
    elif len(certificates) != 1:
        yield "certificates", "must be one: the quantity is not linear in one error"


def _errors(owed: Obligation, certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Every error owed is spent at its power, in full for an upper bound and nowhere beyond; no other is."""
    for name in FIELDS:
        spent: tuple[Error, ...] = getattr(certificate.scenario, name)
        part = f"scenario.{name}"
        if name not in owed.errors:
            if spent:
                yield part, "must not be spent in this claim"
        elif not spent:
            if name not in owed.optional and certificate.side == "upper":
                yield part, "must be spent"
        elif len(spent) != 1 or spent[0].power != owed.errors[name]:
            yield part, f"must be one error of order alpha^{owed.errors[name]}"
        else:
            square = sum((value * value for value in spent[0].direction), Fraction(0))
            if square > 1 or (square < FULL**2 and certificate.side == "upper"):
                yield part, "must have length 1"


def _weights(
    owed: Obligation, certificate: Certificate, reading: Reading, data: PlainProblem
) -> Iterator[tuple[str, str]]:
    """The weights are those of the exact multipliers' ramp, lowered by what the error of y* makes of the rows' ramp."""
    parameters = OracleParameters()
    lam_width = float(certificate.alpha_0) ** DELTA if owed.shrinking else parameters.lam_width
    retreat = [Fraction(0)] * len(data.B)
    for error in certificate.scenario.y_star_error:
        retreat = apply(data.B, error.direction)
    size = float(np.linalg.norm(np.array(data.B, dtype=np.float64), 2)) if data.B else 0.0
    h, given = data.h(certificate.y_star), certificate.scenario.rho or ()
    for i, (value, lam, gone) in enumerate(zip(h, certificate.lam, retreat, strict=True)):
        weight = min(1.0, float(lam) / lam_width) if value == 0 else 0.0
        if reading.ramp_width == "delta":
            weight *= min(1.0, max(0.0, 1 - float(gone) / parameters.h_width(reading, 1.0, size)))
        elif gone > 0:  # a ramp of width alpha**6 is passed by an error of order alpha**3
            weight = 0.0
        if abs(float(given[i]) - weight) > WEIGHT_ROUNDING:
            yield f"scenario.rho[{i}]", f"must be {weight:.6g}, the activation of the reading"


def _allowed(owed: Obligation, certificate: Certificate, problem: Quadratic) -> set[int]:
    """Coordinates along which the error may lie."""
    if owed.active_rows:
        return {i for i, value in enumerate(certificate.lam) if value > 0}
    return set(range(problem.p if owed.linear == "lam_error" else problem.m))


def _columns(linear: Field, certificates: Sequence[Certificate], allowed: set[int]) -> Iterator[tuple[str, str]]:
    """One certificate for each unit error allowed."""
    indices = []
    for certificate in certificates:
        (direction,) = [error.direction for error in getattr(certificate.scenario, linear)] or [()]
        ones = [i for i, value in enumerate(direction) if value == 1]
        if len(ones) != 1 or any(value != 0 for i, value in enumerate(direction) if i != ones[0]):
            yield f"scenario.{linear}", "must be one unit error a certificate, so that they combine to all"
            return
        indices += ones
    if sorted(indices) != sorted(allowed):
        yield "certificates", f"must be one for each of the {len(allowed)} unit errors allowed"
