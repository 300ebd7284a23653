r"""Check a certificate from its data alone: plain integers and fractions, no code of those who made it.

What is checked, in order: the lower-level solution by its optimality conditions; the reference gradient as that of a
piece of F with a full-dimensional region at x; the polynomials, by comparing them with the estimator computed from the
paper's formulas at more points than their degrees allow to differ; convexity on the interval; the bound, a
polynomial without a root there, by halving the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from spec import InvalidInputError, Quadratic, loads_problem
from verify.truth.certificates import integer_polynomials as poly
from verify.truth.certificates.adjoining_pieces import limits_of_gradients
from verify.truth.certificates.certificate import Certificate, Convexity
from verify.truth.certificates.plain_formulas import (
    ZERO,
    Matrix,
    PlainProblem,
    Vector,
    add,
    apply,
    difference,
    transpose,
)
from verify.truth.functions_of_alpha.scenario import Error


class RejectedCertificateError(InvalidInputError):
    """A certificate that does not prove what it says: which part of it, and what must hold there."""

    def __init__(self, part: str, rule: str) -> None:
        super().__init__(f"certificate.{part}", rule)


@dataclass(frozen=True)
class _Minimiser:
    """A penalty minimiser that enters the quantity: its activation, and whether it sees the scenario's errors."""

    rho: tuple[Fraction, ...]
    inexact: bool


def check(certificate: Certificate) -> None:
    """Verify a certificate independently.

    Args:
        certificate: What :func:`verify.truth.certificates.certification.certify` made, or read from a file.

    Raises:
        RejectedCertificateError: At the first part that does not hold.
        InvalidInputError: If its problem is no valid quadratic problem.
    """
    data = _read(certificate)
    _check_lower_level(certificate, data)
    if certificate.quantity in ("bias", "T3"):
        _check_reference(certificate, data)
    for k, premise in enumerate(certificate.convexity):
        _check_convexity(certificate, data, premise, f"convexity[{k}]")
    if any(not 0 <= weight <= 1 for weight in certificate.scenario.rho or ()):
        raise RejectedCertificateError("scenario.rho", "must have weights in [0, 1]")
    proven = {premise.rho for premise in certificate.convexity}
    if any(minimiser.rho not in proven for minimiser in _minimisers(certificate, data)):
        raise RejectedCertificateError("convexity", "must cover every activation that occurs")
    _check_polynomials(certificate, data)
    _check_bound(certificate)


def _read(certificate: Certificate) -> PlainProblem:
    problem = loads_problem(certificate.problem, "certificate.problem")
    if not isinstance(problem, Quadratic):
        raise RejectedCertificateError("problem", "must be quadratic")
    n, m, p, scenario = problem.n, problem.m, problem.p, certificate.scenario
    sizes: list[tuple[Sequence[Fraction], int]] = [(certificate.x, n), (certificate.reference, n)]
    sizes += [(certificate.y_star, m), (certificate.lam, p), (scenario.rho or (), p)]
    sizes += [(premise.rho, p) for premise in certificate.convexity]
    sizes += [(error.direction, m) for error in (*scenario.y_error, *scenario.y_star_error, *scenario.gradient_error)]
    sizes += [(error.direction, p) for error in scenario.lam_error]
    if any(len(part) != size for part, size in sizes):
        raise RejectedCertificateError("x", "must have vectors that fit the problem")
    if len(certificate.numerators) != (m if certificate.quantity.endswith("shift") else n):
        raise RejectedCertificateError("numerators", "must have one polynomial per component")
    if certificate.alpha_0 <= 0 or certificate.constant_squared < 0:
        raise RejectedCertificateError("alpha_0", "must be > 0, and the constant >= 0")
    return PlainProblem.of(problem, certificate.x)


def _check_lower_level(certificate: Certificate, data: PlainProblem) -> None:
    y, lam = certificate.y_star, certificate.lam
    if data.grad_y_g(y) != apply(transpose(data.B), lam):
        raise RejectedCertificateError("y_star", "must be stationary: grad_y g = B' lam")
    h = data.h(y)
    if any(value > 0 for value in h) or any(value < 0 for value in lam):
        raise RejectedCertificateError("y_star", "must be feasible, with multipliers >= 0")
    if any(value * other != 0 for value, other in zip(h, lam, strict=True)):
        raise RejectedCertificateError("lam", "must vanish off the active rows")
    if not _is_positive_definite(data.g_yy):
        raise RejectedCertificateError("problem", "must have a positive definite g.yy")


def _check_reference(certificate: Certificate, data: PlainProblem) -> None:
    """The gradient of F, or at a kink one of the limits of its gradients."""
    if certificate.reference not in limits_of_gradients(data, certificate.y_star):
        raise RejectedCertificateError("reference", "must be the gradient of F, or at a kink a limit of its gradients")


def _check_convexity(certificate: Certificate, data: PlainProblem, premise: Convexity, part: str) -> None:
    end, size = certificate.alpha_0**2, len(data.g_yy)
    if premise.modulus < 0:
        raise RejectedCertificateError(part, "must have a modulus >= 0")
    if not any(premise.determinant) or len(premise.determinant) > 2 * size + 1:
        raise RejectedCertificateError(part, "must have the determinant's degree")
    for u in range(-size, size + 1):
        determinant = poly.determinant(data.scaled_hessian(Fraction(u), premise.rho, premise.modulus))
        if determinant != poly.evaluate(premise.determinant, Fraction(u)):
            raise RejectedCertificateError(part, f"must be the determinant; it is not at alpha^2 = {u}")
    if not _is_positive_definite(data.scaled_hessian(end, premise.rho, premise.modulus)):
        raise RejectedCertificateError(part, "must be positive definite at alpha_0")
    if not poly.has_no_root(premise.determinant, end) or certificate.roots.get(part) != 0:
        raise RejectedCertificateError(part, "must have no root in the interval")


def _check_polynomials(certificate: Certificate, data: PlainProblem) -> None:
    numerators, denominator = certificate.numerators, certificate.denominator
    if not any(denominator):
        raise RejectedCertificateError("denominator", "must not be zero")
    scenario, solves = certificate.scenario, len(_minimisers(certificate, data))
    powers = [error.power for error in scenario.errors]
    # Degrees in alpha of the true quantity over alpha**4 times the determinants of alpha**4 L_yy.
    below = 4 + 4 * len(data.g_yy) * solves
    above = below + 2 * max(powers, default=0)
    if certificate.variable == "alpha^2":
        below, above = below // 2, above // 2
    needed = max(max(map(len, numerators)) + below, len(denominator) + above) + 1
    matched, at = 0, Fraction(0)
    while matched < needed:
        at += 1
        truth = _quantity(certificate, data, at)
        if truth is None:
            continue
        bottom = poly.evaluate(denominator, at)
        for k, (numerator, value) in enumerate(zip(numerators, truth, strict=True)):
            if poly.evaluate(numerator, at) != value * bottom:
                rule = f"must equal the quantity; it does not at {certificate.variable} = {at}"
                raise RejectedCertificateError(f"numerators[{k}]", rule)
        matched += 1


def _check_bound(certificate: Certificate) -> None:
    square = certificate.variable == "alpha^2"
    end = certificate.alpha_0**2 if square else certificate.alpha_0
    power = certificate.exponent if square else 2 * certificate.exponent
    parts = poly.primitive_together([*certificate.numerators, certificate.denominator])
    top: list[int] = []
    for numerator in parts[:-1]:
        top = poly.add(top, poly.multiply(numerator, numerator))
    bottom = poly.multiply(parts[-1], parts[-1])
    top, bottom = [0] * max(-power, 0) + top, [0] * max(power, 0) + bottom
    if not poly.has_no_root(certificate.denominator, end) or certificate.roots.get("denominator") != 0:
        raise RejectedCertificateError("denominator", "must have no root in the interval")
    level, sign = certificate.constant_squared, 1 if certificate.side == "upper" else -1
    scaled = [sign * level.numerator * value for value in bottom]
    excess = poly.add(scaled, [-sign * level.denominator * value for value in top])
    crossed = any(excess) and not poly.has_no_root(excess, end)
    if crossed or certificate.roots.get("bound") != 0:
        raise RejectedCertificateError("roots", "must be 0: the bound is crossed inside the interval")
    if any(excess) and poly.sign_at(excess, end / 2) <= 0:
        raise RejectedCertificateError("constant_squared", "must bound the quantity; it does not at half the interval")
    if not 0 <= certificate.attained_at <= end:
        raise RejectedCertificateError("attained_at", "must lie in the interval")
    if _ratio_at(top, bottom, certificate.attained_at) != certificate.attained:
        raise RejectedCertificateError("attained", "must be met at attained_at")


def _ratio_at(top: list[int], bottom: list[int], at: Fraction) -> Fraction | None:
    """top/bottom at a point, or its limit at 0."""
    if at != 0:
        below = poly.evaluate(bottom, at)
        return poly.evaluate(top, at) / below if below else None
    shift = next(k for k, value in enumerate(bottom) if value)
    if any(top[:shift]):
        return None
    return Fraction(top[shift], bottom[shift]) if shift < len(top) else ZERO


def _minimisers(certificate: Certificate, data: PlainProblem) -> list[_Minimiser]:
    given = _Minimiser(certificate.scenario.rho or (), inexact=True)
    exact = _Minimiser(tuple(Fraction(int(value == 0)) for value in data.h(certificate.y_star)), inexact=False)
    if certificate.quantity in ("T2", "solution-shift"):
        return [given, exact]
    return [exact if certificate.quantity == "T3" else given]


def _quantity(certificate: Certificate, data: PlainProblem, at: Fraction) -> Vector | None:
    """The certified quantity from the paper's formulas at one value of the variable; ``None`` where L is singular."""
    here = _Evaluation(certificate, data, at)
    first, *others = _minimisers(certificate, data)
    reference, y_star = list(certificate.reference), list(certificate.y_star)
    try:
        match certificate.quantity:
            case "bias":
                return difference(here.estimator(first, here.sampled(first)), reference)
            case "T1":
                at_minimiser = here.estimator(first, here.minimiser(first))
                return difference(here.estimator(first, here.sampled(first)), at_minimiser)
            case "T2":
                at_exact = here.estimator(others[0], here.minimiser(others[0]))
                return difference(here.estimator(first, here.minimiser(first)), at_exact)
            case "T3":
                return difference(here.estimator(first, here.minimiser(first)), reference)
            case "solution-shift":
                return difference(here.minimiser(first), here.minimiser(others[0]))
            case "penalty-shift":
                return difference(here.minimiser(first), y_star)
    except ZeroDivisionError:
        return None


@dataclass(frozen=True)
class _Evaluation:
    """The paper's formulas at one value of the certificate's variable."""

    certificate: Certificate
    data: PlainProblem
    at: Fraction

    @property
    def u(self) -> Fraction:
        """alpha**2."""
        return self.at if self.certificate.variable == "alpha^2" else self.at**2

    def minimiser(self, which: _Minimiser) -> Vector:
        return self._stationary(which, [ZERO] * len(self.data.g_yy))

    def sampled(self, which: _Minimiser) -> Vector:
        """The minimiser with the scenario's errors of itself and of its gradient."""
        scenario, m = self.certificate.scenario, len(self.data.g_yy)
        stopped = self._stationary(which, self._errors(scenario.gradient_error, m))
        return add(stopped, self._errors(scenario.y_error, m))

    def estimator(self, which: _Minimiser, y: Vector) -> Vector:
        scenario, star = self.certificate.scenario, list(self.certificate.y_star)
        if which.inexact:
            star = add(star, self._errors(scenario.y_star_error, len(star)))
        return self.data.estimator(self.u, y, star, which.rho, self._dual(which, y, star))

    def _dual(self, which: _Minimiser, y: Vector, star: Vector) -> Vector | None:
        """What the derivative of lam' h(x, y) - g(x, y*) keeps: frozen maps, y* a map, or both."""
        kind = self.certificate.scenario.dual_term
        if kind == "cancelled":
            return None
        part = self.data.multiplier_part(self._lam(which))
        if kind == "frozen":
            return part
        of_y, of_lam = self.data.solution_maps(tuple(i for i, value in enumerate(self.certificate.lam) if value > 0))
        part = difference(part, apply(of_y, self.data.grad_y_g(star)))
        return add(part, apply(of_lam, self.data.h(y))) if kind == "both-maps" else part

    def _lam(self, which: _Minimiser) -> Vector:
        lam = list(self.certificate.lam)
        return add(lam, self._errors(self.certificate.scenario.lam_error, len(lam))) if which.inexact else lam

    def _stationary(self, which: _Minimiser, gradient: Vector) -> Vector:
        minimiser = self.data.stationary_point(self.u, self._lam(which), which.rho, gradient)
        if minimiser is None:
            raise ZeroDivisionError
        return minimiser

    def _errors(self, errors: Sequence[Error], size: int) -> Vector:
        total = [ZERO] * size
        for error in errors:
            power = error.power
            if self.certificate.variable == "alpha^2":
                if power % 2:
                    raise RejectedCertificateError("variable", "must be alpha where odd powers occur")
                power //= 2
            total = [a + self.at**power * b for a, b in zip(total, error.direction, strict=True)]
        return total


def _is_positive_definite(matrix: Matrix) -> bool:
    minors = poly.leading_minors(matrix)
    return len(minors) == len(matrix) and all(minor > 0 for minor in minors)
