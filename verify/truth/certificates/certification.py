r"""Bounds on an error for *all* alpha in an interval, proven by exact real-root counting.

:math:`\|e(\alpha)\|^2 \le C^2\alpha^{2k}` on :math:`(0,\alpha_0]` with :math:`e = N/d` says that the polynomial
:math:`C^2\alpha^{2k}d^2 - \sum N_i^2` is nowhere negative there; it is, if it has no root inside and is positive at
one point. The certificate carries everything a checker that shares no code with this module needs to see that again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_poly

from spec import InvalidInputError, dumps_problem
from verify.truth import convexity
from verify.truth.algebra import roots
from verify.truth.algebra.rational_functions import RationalVector, monomial, valuation
from verify.truth.algebra.rationals import fraction
from verify.truth.certificates.certificate import Certificate, Convexity, Polynomial, Side, Variable
from verify.truth.penalty_functions import Family
from verify.truth.proof_steps import error, exact_counterpart
from verify.truth.scenario import Quantity, Scenario

DEFAULT_ALPHA = Fraction(1, 4)
"""Right end of the interval where the caller names none; less where convexity ends before."""

_MARGIN = Fraction(9, 10)
"""The default interval keeps this far from where convexity ends, where every constant blows up."""
_MAX_ROUNDS = 60


class NoCertificateError(InvalidInputError):
    """The bound does not hold on the interval, or not for any constant.

    Args:
        rule: What fails.
        value: The offending number.
    """

    def __init__(self, rule: str, value: object = None) -> None:
        super().__init__("bound", rule, value)

    def __reduce__(self) -> tuple[type[NoCertificateError], tuple[str, object]]:  # type: ignore[override]
        # The base rebuilds itself from (argument, rule, value); the argument is fixed here.
        return type(self), (self.rule, None if self.value is None else str(self.value))


@dataclass(frozen=True)
class _Ratio:
    """norm**2 / alpha**(2k) as a fraction of polynomials in v = alpha or alpha**2."""

    top: fmpq_poly
    bottom: fmpq_poly

    def __call__(self, at: Fraction) -> Fraction:
        return roots.value(self.top, at) / roots.value(self.bottom, at)

    def excess(self, level: Fraction, side: Side) -> fmpq_poly:
        """Nowhere negative iff the level bounds the ratio on that side."""
        made = self.bottom * monomial(0, level) - self.top
        return made if side == "upper" else made * -1

    def limit(self) -> Fraction | None:
        """Limit at 0; ``None`` if infinite."""
        if self.top.is_zero():
            return Fraction(0)
        low, base = valuation(self.top), valuation(self.bottom)
        if low < base:
            return None
        return fraction(self.top[low] / self.bottom[base]) if low == base else Fraction(0)


def certify(
    family: Family,
    scenario: Scenario,
    quantity: Quantity = "bias",
    *,
    exponent: int,
    side: Side = "upper",
    alpha_0: Fraction | None = None,
    constant_squared: Fraction | None = None,
    modulus: Fraction = Fraction(0),
    precision: Fraction = Fraction(1, 10**6),
) -> Certificate:
    """Prove ``norm <= C alpha**exponent`` (or >=) for all alpha in ``(0, alpha_0]``.

    Args:
        family: The problem at its point.
        scenario: Dual term, activation and the errors spent on the stages.
        quantity: What is bounded.
        exponent: Claimed power of alpha.
        side: Bound from above or from below.
        alpha_0: Right end of the interval; by default 1/4, or less where convexity ends before.
        constant_squared: C squared; by default the best one to the given precision.
        modulus: Strong convexity of the penalty Lagrangian to certify as well, in units of alpha**-2.
        precision: Relative precision of the best C squared, > 0.

    Returns:
        The certificate, not yet checked independently (:func:`verify.truth.certificates.checker.check` does).

    Raises:
        NoCertificateError: If no constant works (the leading exponent is smaller), the given one fails, or the
            penalty Lagrangian is not convex on the interval.

    Source:
        Any "O(alpha**k)" of section "Error Analysis". Differs from the paper: constants and interval explicit.
    """
    scenario = family.fitted(scenario)
    activations = _activations(family, scenario, quantity)
    convex = tuple(_convexity(family, rho, modulus) for rho in activations)
    end = alpha_0 if alpha_0 is not None else _default_end(family, convex)
    if end <= 0:
        raise InvalidInputError("alpha_0", "must be > 0", str(end))
    for premise in convex:
        if not convexity.holds(family.problem, premise.rho, end, premise.modulus):
            raise NoCertificateError("needs the penalty Lagrangian convex on the interval; not so up to", str(end))
    made = error(family, scenario, quantity)
    variable, functions = _in_square_if_even(made, scenario)
    v_0 = end if variable == "alpha" else end**2
    ratio = _ratio(functions, exponent, variable)
    attained, at = _extreme(ratio, v_0, side, precision)
    level = constant_squared if constant_squared is not None else _rounded(ratio, attained, v_0, side, precision)
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
        quantity=quantity,
        variable=variable,
        numerators=tuple(_coefficients(numerator) for numerator in functions.numerators),
        denominator=_coefficients(functions.denominator),
        side=side,
        exponent=exponent,
        constant_squared=level,
        alpha_0=end,
        convexity=convex,
        roots={"bound": 0, "denominator": 0} | {f"convexity[{i}]": 0 for i in range(len(convex))},
        attained=attained,
        attained_at=at,
    )


def largest_alpha(
    family: Family,
    scenario: Scenario,
    quantity: Quantity = "bias",
    *,
    exponent: int,
    constant_squared: Fraction,
    limit: Fraction = Fraction(1),
    precision: Fraction = Fraction(1, 10**6),
) -> Fraction:
    """The largest alpha_0, to a relative precision, up to which ``norm <= C alpha**exponent`` holds and L is convex.

    Args:
        family: The problem at its point.
        scenario: Dual term, activation and the errors spent on the stages.
        quantity: What is bounded.
        exponent: Claimed power of alpha.
        constant_squared: C squared.
        limit: Search no further, > 0.
        precision: Relative precision, > 0.

    Returns:
        A rational alpha_0 for which :func:`certify` succeeds.

    Raises:
        NoCertificateError: If the bound or convexity fails already as alpha tends to 0.
    """
    scenario = family.fitted(scenario)
    ends = [limit]
    for rho in _activations(family, scenario, quantity):
        end = convexity.largest_alpha(family.problem, rho, limit=limit, precision=precision)
        if end == 0:
            raise NoCertificateError("needs the penalty Lagrangian convex for small alpha")
        ends.append(end)
    variable, functions = _in_square_if_even(error(family, scenario, quantity), scenario)
    ratio = _ratio(functions, exponent, variable)
    start = ratio.limit()
    if start is None or start > constant_squared:
        raise NoCertificateError("must have C**2 >= its limit at alpha = 0", "inf" if start is None else float(start))
    v_0 = min(ends) if variable == "alpha" else min(ends) ** 2
    excess = ratio.excess(constant_squared, "upper")
    found = [] if excess.is_zero() else roots.isolate(excess, Fraction(0), v_0)
    if not found:
        return min(ends)
    edges = [interval[0] for interval in found[1:]] + [v_0]
    for interval, edge in zip(found, edges, strict=True):
        # A root where the error only touches the bound does not end it.
        if roots.value(excess, (interval[1] + edge) / 2) < 0:
            low = roots.refine_relative(excess, interval, precision)[0]
            low = low if low > interval[0] else low * (1 - precision)
            return low if variable == "alpha" else convexity.root_below(low, precision)
    return min(ends)


def _activations(family: Family, scenario: Scenario, quantity: Quantity) -> list[tuple[Fraction, ...]]:
    mine, exact = scenario.rho or (), exact_counterpart(family, scenario).rho or ()
    if quantity in ("T2", "solution-shift"):
        return list(dict.fromkeys((mine, exact)))
    return [exact if quantity == "T3" else mine]


def _convexity(family: Family, rho: tuple[Fraction, ...], modulus: Fraction) -> Convexity:
    determinant = convexity.determinant(family.problem, rho, modulus)
    return Convexity(rho=rho, modulus=modulus, determinant=_coefficients(determinant))


def _default_end(family: Family, convex: Iterable[Convexity]) -> Fraction:
    ends = [DEFAULT_ALPHA]
    for premise in convex:
        end = convexity.largest_alpha(family.problem, premise.rho, premise.modulus, limit=DEFAULT_ALPHA)
        if end == 0:
            raise NoCertificateError("needs the penalty Lagrangian convex for small alpha")
        ends.append(end if end == DEFAULT_ALPHA else end * _MARGIN)
    return min(ends)


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
        found = [] if excess.is_zero() else roots.isolate(excess, Fraction(0), v_0)
        if not found:
            return best, at
        # The ratio passes the level between roots: go on from the best point met there.
        edges = [Fraction(0), *(edge for interval in found for edge in interval), v_0]
        probes = [(a + b) / 2 for a, b in zip(edges[::2], edges[1::2], strict=True)]
        probes += [(a + b) / 2 for a, b in found]
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
    digits = 10 ** max(0, 12 - _magnitude(wanted))
    scaled = wanted * digits
    whole = -((-scaled.numerator) // scaled.denominator) if side == "upper" else scaled.numerator // scaled.denominator
    return Fraction(whole, digits)


def _magnitude(level: Fraction) -> int:
    """Rough decimal exponent."""
    return (level.numerator.bit_length() - level.denominator.bit_length()) * 3 // 10


def _rounded(ratio: _Ratio, attained: Fraction, v_0: Fraction, side: Side, precision: Fraction) -> Fraction:
    """The attained extreme itself where it is the limit and holds as it stands; else a short number just beyond."""
    if attained == ratio.limit() and _bounds(ratio, attained, v_0, side):
        return attained
    return _moved(attained, side, precision)


def _coefficients(polynomial: fmpq_poly) -> Polynomial:
    return tuple(fraction(value) for value in polynomial.coeffs())
