"""A certificate as a Coq term: what it claims, the polynomials that let the kernel see it, and its theorem.

The claim is spelt out of the certificate's data alone. The polynomials are its own and, worked out here, the penalty
minimisers over a denominator; the kernel believes none of them.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from spec import InvalidInputError, Quadratic, loads_problem
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.algebra.rationals import fraction
from verify.truth.certificates.certificate import Certificate
from verify.truth.certificates.plain_formulas import Matrix, PlainProblem, add, apply
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, exact_counterpart, minimiser, sampled_point
from verify.truth.functions_of_alpha.scenario import WITH_MAPS, Error

IMPORTS = """\
From Coq Require Import QArith List ZArith.
From f2csa Require Import stages certificate certificate_check.
Import ListNotations.
Open Scope Q_scope.
"""
KEPT = {"cancelled": "cancelled", "frozen": "frozen", "map": "map_of_y", "both-maps": "both_maps"}
"""The dual part as the kernel names it."""
TWO_POINTS = ("T1", "T2", "solution-shift")
OF_GRADIENT = ("bias", "T3")
HASH_LENGTH = 16
MOST_OPTIONAL = 8
"""At a kink the rows of a piece of F are looked for among at most 2**8 sets."""


@dataclass(frozen=True)
class CoqTerm:
    """A certificate for the kernel: its name, made of its hash, what it claims and by what, and the theorem."""

    name: str
    definitions: str
    theorem: str

    @property
    def check(self) -> str:
        """The check, a boolean."""
        return f"check claim_{self.name} witness_{self.name}"


def content_hash(certificate: Certificate) -> str:
    """SHA-256 of all that a certificate holds, as its JSON spells it."""
    return hashlib.sha256(certificate.model_dump_json().encode()).hexdigest()


def coq_term(certificate: Certificate) -> CoqTerm:
    """The certificate as a theorem whose proof the kernel accepts if its check comes out true.

    Raises:
        InvalidInputError: If vectors do not fit its problem, which must be quadratic, or if it claims what the kernel
            has no words for: a modulus of convexity, a reference that is the gradient of no piece of F at x.
    """
    problem = loads_problem(certificate.problem, "certificate.problem")
    if not isinstance(problem, Quadratic):
        raise InvalidInputError("certificate.problem", "must be quadratic")
    if any(premise.modulus for premise in certificate.convexity):
        raise InvalidInputError("certificate.convexity", "must have modulus 0: the kernel has no other")
    name = f"bound_{content_hash(certificate)[:HASH_LENGTH]}"
    claim = _claim(certificate, PlainProblem.of(problem, certificate.x))
    witness = _witness(certificate, problem)
    return CoqTerm(
        name,
        f"Definition claim_{name} : certificate :=\n  {claim}.\nDefinition witness_{name} : witness :=\n  {witness}.\n",
        f"Theorem {name} : certified claim_{name}.\n"
        f"Proof. apply (certificate_sound _ witness_{name}). vm_cast_no_check (eq_refl true). Qed.\n",
    )


def _claim(certificate: Certificate, data: PlainProblem) -> str:
    scenario, rows = certificate.scenario, _piece(certificate, data)
    of_y, of_lam = data.solution_maps(rows)
    problem = _made(
        "Problem", _vector(data.x), _matrix(data.f_xx), _matrix(data.f_xy), _matrix(data.f_yy), _vector(data.f_x),
        _vector(data.f_y), _matrix(data.g_xy), _matrix(data.g_yy), _vector(data.g_y), _matrix(data.A), _matrix(data.B),
        _vector(data.b),
    )  # fmt: skip
    given = _made(
        "Stage", _vector(certificate.y_star), _vector(certificate.lam), _errors(scenario.y_star_error),
        _errors(scenario.lam_error), _vector(scenario.rho or ()), KEPT[scenario.dual_term], _matrix(of_y),
        _matrix(of_lam),
    )  # fmt: skip
    return _made(
        "Certificate", problem, given, _errors(scenario.y_error), _errors(scenario.gradient_error),
        _vector(certificate.reference), _vector(int(i in rows) for i in range(len(data.B))),
        certificate.quantity.replace("-", "_"), "true" if certificate.side == "upper" else "false",
        f"({certificate.exponent})%Z", _number(certificate.constant_squared), _number(certificate.alpha_0),
    )  # fmt: skip


def _witness(certificate: Certificate, problem: Quadratic) -> str:
    family, scenario = PenaltyFamily.at(problem, certificate.x, certificate.reference), certificate.scenario
    exact = exact_counterpart(family, scenario)
    undisturbed = scenario.model_copy(update={"y_error": (), "gradient_error": ()})
    match certificate.quantity:
        case "bias" | "T1":
            first = sampled_point(family, scenario.model_copy(update={"y_error": ()}))
        case "T3":
            first = minimiser(family, exact)
        case _:
            first = minimiser(family, undisturbed)
    # Where one point is all that enters, nothing is asked of the second.
    second = first
    if certificate.quantity in TWO_POINTS:
        second = minimiser(family, undisturbed if certificate.quantity == "T1" else exact)
    square = "true" if certificate.variable == "alpha^2" else "false"
    numerators, denominator = _polynomials(certificate.numerators), _polynomial(certificate.denominator)
    return _made("Witness", numerators, denominator, square, *_functions(first), *_functions(second))


def _piece(certificate: Certificate, data: PlainProblem) -> tuple[int, ...]:
    """Rows of the piece of F whose gradient the reference is; at a kink there are several to choose from."""
    held = [i for i, value in enumerate(certificate.lam) if value > 0]
    if certificate.quantity not in OF_GRADIENT or certificate.scenario.dual_term in WITH_MAPS:
        return tuple(held)
    optional = [i for i, value in enumerate(data.h(certificate.y_star)) if value == 0 and i not in held]
    for size in range(len(optional) + 1):
        for extra in itertools.combinations(optional[:MOST_OPTIONAL], size):
            rows = tuple(sorted((*held, *extra)))
            if _gradient(certificate, data, rows) == list(certificate.reference):
                return rows
    if not optional:  # the kernel is to see it, and to refuse it
        return tuple(held)
    raise InvalidInputError(
        "certificate.reference", "must be the gradient of a piece of F at x, to be put to the kernel"
    )


def _gradient(certificate: Certificate, data: PlainProblem, rows: tuple[int, ...]) -> list[Fraction] | None:
    try:
        of_y, _ = data.solution_maps(rows)
    except ZeroDivisionError:  # dependent rows
        return None
    return add(data.grad_x_f(certificate.y_star), apply(of_y, data.grad_y_f(certificate.y_star)))


def _functions(vector: RationalVector) -> tuple[str, str]:
    """Denominator and numerators."""
    bottom, *tops = ([fraction(value) for value in part.coeffs()] for part in (vector.denominator, *vector.numerators))
    return _polynomial(bottom), _polynomials(tops)


def _made(constructor: str, *parts: str) -> str:
    return f"({constructor} {' '.join(parts)})"


def _number(value: Fraction | int) -> str:
    return f"({value.numerator} # {value.denominator})"


def _vector(values: Iterable[Fraction | int]) -> str:
    return f"[{'; '.join(_number(value) for value in values)}]"


def _polynomial(coefficients: Sequence[Fraction]) -> str:
    """Whole coefficients over a common denominator."""
    scale = lcm(*(value.denominator for value in coefficients))
    whole = "; ".join(f"({value.numerator * (scale // value.denominator)})" for value in coefficients)
    return f"([{whole}]%Z, {scale}%positive)"


def _polynomials(several: Iterable[Sequence[Fraction]]) -> str:
    return f"[{'; '.join(map(_polynomial, several))}]"


def _matrix(rows: Matrix | Sequence[Sequence[Fraction]]) -> str:
    return f"[{'; '.join(_vector(row) for row in rows)}]"


def _errors(errors: Sequence[Error]) -> str:
    """Powers of alpha with their directions."""

    def spelt() -> Iterator[str]:
        yield from (f"({error.power}%nat, {_vector(error.direction)})" for error in errors)

    return f"[{'; '.join(spelt())}]"
