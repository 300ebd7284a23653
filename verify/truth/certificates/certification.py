r"""Bounds on an error for *all* alpha in an interval, proven by exact real-root counting.

:math:`\|e(\alpha)\|^2 \le C^2\alpha^{2k}` on :math:`(0,\alpha_0]` with :math:`e = N/d` says that the polynomial
:math:`C^2\alpha^{2k}d^2 - \sum N_i^2` is nowhere negative there; it is, if it has no root inside and is positive at
one point. The certificate carries everything a checker that shares no code with this module needs to see that again.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_poly

from spec import InvalidInputError, dumps_problem
from verify.truth.algebra import roots
from verify.truth.algebra.rational_functions import RationalVector, monomial, valuation
from verify.truth.algebra.rationals import fraction
from verify.truth.certificates.certificate import Certificate, Convexity, Polynomial, Side, Variable
from verify.truth.functions_of_alpha.penalty_functions import (
    PenaltyFamily,
    convex_up_to,
    determinant,
    error,
    exact_counterpart,
)
from verify.truth.functions_of_alpha.scenario import Quantity, Scenario

_MAX_ROUNDS = 60


class NoCertificateError(InvalidInputError):
    """The bound does not hold on the interval, or not for any constant: what fails, and the offending number."""

    def __init__(self, rule: str, value: object = None) -> None:
        super().__init__("bound", rule, value)


@dataclass(frozen=True)
class _Ratio:
    """norm**2 / alpha**(2k) as a fraction of polynomials in v = alpha or alpha**2."""

    top: fmpq_poly
    bottom: fmpq_poly

    def __call__(self, at: Fraction) -> Fraction:
        return roots.value(self.top, at) / roots.value(self.bottom, at)

    def excess(self, level: Fraction, side: Side) -> fmpq_poly:
        """Nowhere negative iff the level bounds the ratio on that side."""
        room = self.bottom * monomial(0, level) - self.top
        return room if side == "upper" else room * -1

    def limit(self) -> Fraction | None:
        """Limit at 0; ``None`` if infinite."""
        if self.top.is_zero():
            return Fraction(0)
        low, base = valuation(self.top), valuation(self.bottom)
        if low < base:
            return None
        return fraction(self.top[low] / self.bottom[base]) if low == base else Fraction(0)


@dataclass(frozen=True)
class WantedBound:
    """What is to be proven: the quantity's ``norm <= C alpha**exponent`` (side ``lower``: ``>=``).

    C is by default the best one to the precision asked for; ``modulus`` is the strong convexity of the penalty
    Lagrangian to certify as well, in units of alpha**-2.
    """

    exponent: int
    quantity: Quantity = "bias"
    side: Side = "upper"
    constant_squared: Fraction | None = None
    modulus: Fraction = Fraction(0)


def certify(
    family: PenaltyFamily,
    scenario: Scenario,
    bound: WantedBound,
    alpha_0: Fraction,
    precision: Fraction = Fraction(1, 10**6),
) -> Certificate:
    """Prove a bound for all alpha in ``(0, alpha_0]``, the best C squared to a relative precision.

    The certificate is not yet checked independently (:func:`verify.truth.certificates.checker.check` does).

    Raises:
        NoCertificateError: If no constant works (the leading exponent is smaller), the given one fails, or the
            penalty Lagrangian is not convex on the interval.

    Source:
        Any "O(alpha**k)" of section "Error Analysis". Differs from the paper: constants and interval explicit.
    """
    scenario, side = family.fitted(scenario), bound.side
    if alpha_0 <= 0:
        raise InvalidInputError("alpha_0", "must be > 0", str(alpha_0))
    convex = []
    for rho in _activations(family, scenario, bound.quantity):
        if not convex_up_to(family.problem, rho, alpha_0, bound.modulus):
            raise NoCertificateError("needs the penalty Lagrangian convex on the interval; not so up to", str(alpha_0))
        polynomial = _coefficients(determinant(family.problem, rho, bound.modulus))
        convex.append(Convexity(rho=rho, modulus=bound.modulus, determinant=polynomial))
    variable, functions = _in_square_if_even(error(family, scenario, bound.quantity), scenario)
    v_0 = alpha_0 if variable == "alpha" else alpha_0**2
    ratio = _ratio(functions, bound.exponent, variable)
    attained, at = _extreme(ratio, v_0, side, precision)
    level = bound.constant_squared
    if level is None:
        # The attained extreme itself where it is the limit and holds as it stands; else a short number just beyond.
        holds = attained == ratio.limit() and _bounds(ratio, attained, v_0, side)
        level = attained if holds else _moved(attained, side, precision)
    if not _bounds(ratio, level, v_0, side):
        raise NoCertificateError(
            f"must have C**2 {'>=' if side == 'upper' else '<='} {float(attained):.6g}", float(level)
        )
    return Certificate(
        problem=dumps_problem(family.problem),
        x=family.x,
        y_star=family.lower.y_star,
        lam=family.lower.lam,
        reference=family.hypergradient,
        scenario=scenario,
        quantity=bound.quantity,
        variable=variable,
        numerators=tuple(_coefficients(numerator) for numerator in functions.numerators),
        denominator=_coefficients(functions.denominator),
        side=side,
        exponent=bound.exponent,
        constant_squared=level,
        alpha_0=alpha_0,
        convexity=tuple(convex),
        roots={"bound": 0, "denominator": 0} | {f"convexity[{i}]": 0 for i in range(len(convex))},
        attained=attained,
        attained_at=at,
    )


def _activations(family: PenaltyFamily, scenario: Scenario, quantity: Quantity) -> list[tuple[Fraction, ...]]:
    mine, exact = scenario.rho or (), exact_counterpart(family, scenario).rho or ()
    if quantity in ("T2", "solution-shift"):
        return list(dict.fromkeys((mine, exact)))
    return [exact if quantity == "T3" else mine]


def _in_square_if_even(functions: RationalVector, scenario: Scenario) -> tuple[Variable, RationalVector]:
    """Halve the degrees where alpha enters through its square alone."""
    parts = (*functions.numerators, functions.denominator)
    odd = any(value != 0 for part in parts for value in part.coeffs()[1::2])
    if odd or any(term.power % 2 for term in scenario.errors):
        return "alpha", functions
    halved = [fmpq_poly(part.coeffs()[::2]) for part in parts]
    return "alpha^2", RationalVector(tuple(halved[:-1]), halved[-1])


def _ratio(functions: RationalVector, exponent: int, variable: Variable) -> _Ratio:
    squared = functions.norm_squared()
    power = 2 * exponent if variable == "alpha" else exponent
    top, bottom = squared.numerators[0] * monomial(max(-power, 0)), squared.denominator * monomial(max(power, 0))
    return _Ratio(top, bottom)


def _bounds(ratio: _Ratio, level: Fraction, v_0: Fraction, side: Side) -> bool:
    """Whether the level bounds the ratio on (0, v_0], strictly inside."""
    excess = ratio.excess(level, side)
    if excess.is_zero():
        return True
    return roots.count(excess, Fraction(0), v_0) == 0 and roots.value(excess, v_0 / 2) > 0


def _extreme(ratio: _Ratio, v_0: Fraction, side: Side, precision: Fraction) -> tuple[Fraction, Fraction]:
    """The extreme value met, within the precision of the true one, and where (0: in the limit)."""
    start = ratio.limit()
    if start is None and side == "upper":
        raise NoCertificateError("no constant works: the leading exponent in alpha is smaller than claimed")
    better = max if side == "upper" else min
    ends = [(ratio(v_0), v_0)] + ([] if start is None else [(start, Fraction(0))])
    best, at = better(ends)
    if best == 0 and side == "lower":
        raise NoCertificateError("no positive constant works: the leading exponent in alpha is larger than claimed")
    for _ in range(_MAX_ROUNDS):
        level = _moved(best, side, precision)
        excess = ratio.excess(level, side)
        intervals = [] if excess.is_zero() else roots.isolate(excess, Fraction(0), v_0)
        if not intervals:
            return best, at
        # The ratio passes the level between roots: go on from the best point met there.
        edges = [Fraction(0), *(edge for interval in intervals for edge in interval), v_0]
        probes = [(a + b) / 2 for a, b in zip(edges[::2], edges[1::2], strict=True)]
        probes += [(a + b) / 2 for a, b in intervals]
        value, where = better((ratio(probe), probe) for probe in probes if probe > 0)
        if better(value, level) == level:
            return best, at
        best, at = value, where
    raise NoCertificateError("must settle within its rounds; the best constant met is", float(best))


def _moved(level: Fraction, side: Side, precision: Fraction) -> Fraction:
    """Just beyond a level, as a short number."""
    wanted = level * (1 + precision) if side == "upper" else level * (1 - precision)
    if wanted == 0:
        return wanted
    magnitude = (wanted.numerator.bit_length() - wanted.denominator.bit_length()) * 3 // 10  # rough decimal exponent
    digits = 10 ** max(0, 12 - magnitude)
    scaled = wanted * digits
    whole = -((-scaled.numerator) // scaled.denominator) if side == "upper" else scaled.numerator // scaled.denominator
    return Fraction(whole, digits)


def _coefficients(polynomial: fmpq_poly) -> Polynomial:
    return tuple(fraction(value) for value in polynomial.coeffs())
