"""Elements of sympy's field Q(alpha) as products: factored once, evaluated by these factors, and printed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeAlias

from spec.formulas.powers import superscript
from verify.truth.algebra.rationals import Number

Polynomial: TypeAlias = Mapping[int, Fraction | int]
"""Coefficients by power of alpha, the lowest power first."""


class Text(NamedTuple):
    """A formula in one line, powers as superscripts, and as LaTeX; a sum needs brackets beside a factor."""

    plain: str
    latex: str
    is_sum: bool = False


@lru_cache(maxsize=1)
def field() -> Any:
    """The field Q(alpha)."""
    # sympy is fetched where it is used: half a second that most commands need not spend.
    from sympy import QQ, Symbol

    return QQ.frac_field(Symbol("alpha"))


def scalar(value: Number) -> Any:
    """A number as an element of the field."""
    from sympy import QQ

    exact = Fraction(value)
    return field().convert(QQ(exact.numerator, exact.denominator))


class Product:
    """An element of Q(alpha) as a constant times powers of alpha and of irreducible polynomials, positive at 0."""

    def __init__(self, element: Any) -> None:
        self.element = element

    @cached_property
    def factors(self) -> tuple[Fraction, int, tuple[tuple[Polynomial, int], ...]]:
        """The constant, alpha's power, and each polynomial with its power."""
        if not self.element:
            return Fraction(0), 0, ()
        constant, exponent, powers = Fraction(1), 0, []
        for part, sign in ((self.element.numer, 1), (self.element.denom, -1)):
            content, factors = _factored(part)
            constant *= content**sign
            for polynomial, power in factors:
                if len(polynomial) == 1:
                    exponent += sign * power * max(polynomial)
                else:
                    powers.append((polynomial, sign * power))
        return constant, exponent, tuple(powers)

    def __call__(self, alpha: Fraction) -> Fraction:
        constant, exponent, factors = self.factors
        value = constant * alpha**exponent
        for polynomial, power in factors:
            value *= sum((c * alpha**k for k, c in polynomial.items()), Fraction(0)) ** power
        return value

    def series(self, terms: int) -> dict[int, Fraction]:
        """The first terms at alpha = 0 that do not vanish, coefficients by power; fewer where there are no more."""
        if not self.element:
            return {}
        top, bottom = _coefficients(self.element.numer), _coefficients(self.element.denom)
        base, coefficients = min(bottom), dict[int, Fraction]()
        for power in range(min(top), max(top) + terms * max(bottom) + 1):
            rest = top.get(power, Fraction(0))
            rest -= sum((value * bottom.get(power - k, 0) for k, value in coefficients.items()), Fraction(0))
            if rest:
                coefficients[power - base] = rest / bottom[base]
            if len(coefficients) == terms:
                break
        return coefficients

    def printed(self, *, root: bool = False) -> Text:
        """The product, or its positive square root."""
        return _product(*self.factors, root=root)

    def first_terms(self, terms: int, *, root: bool = False) -> Text:
        """The first term or two at alpha = 0, of the positive square root if asked for."""
        (low, first), *rest = self.series(terms).items()
        plain, latex, _ = _product(first, low, (), root=root)
        for power, value in rest:
            ratio = value / first / (2 if root else 1)
            inside = _sum({0: 1, power - low: ratio})
            plain, latex = f"{plain}·({inside.plain})", rf"{latex} \left({inside.latex}\right)"
        return Text(f"{plain} + …", rf"{latex} + \dots", is_sum=True)


def _coefficients(part: Any) -> dict[int, Fraction]:
    return {k[0]: Fraction(int(v.numerator), int(v.denominator)) for k, v in reversed(part.terms())}


def _factored(part: Any) -> tuple[Fraction, list[tuple[Polynomial, int]]]:
    """Content and irreducible factors, positive at 0, of a polynomial; in alpha squared if it has even powers only."""
    from sympy import Poly, Symbol

    terms = part.terms()
    step = 2 if all(k[0] % 2 == 0 for k, _ in terms) else 1
    in_u = Poly.from_dict({(k[0] // step,): value for k, value in terms}, Symbol("u"), domain="QQ")
    content, factors = in_u.factor_list()
    constant = Fraction(int(content.p), int(content.q))
    powers: list[tuple[Polynomial, int]] = []
    for factor, multiplicity in factors:
        polynomial = {step * k[0]: int(value) for k, value in reversed(factor.terms())}
        if next(iter(polynomial.values())) < 0:
            polynomial, constant = {k: -value for k, value in polynomial.items()}, constant * (-1) ** multiplicity
        powers.append((polynomial, multiplicity))
    return constant, powers


def _product(constant: Fraction, exponent: int, factors: Sequence[tuple[Polynomial, int]], *, root: bool) -> Text:
    """Constant, power of alpha and factors above and below one bar; or the positive root of all that."""
    from sympy import Rational, sqrt

    size = Rational(abs(constant.numerator), constant.denominator)
    number, surd = sqrt(size).as_coeff_Mul() if root else (size, 1)
    exponent = exponent // 2 if root else exponent
    above = [_integer(number.p)] * (number.p != 1) + [_power(exponent)] * (exponent > 0)
    below = [_integer(number.q)] * (number.q != 1) + [_power(-exponent)] * (exponent < 0)
    above += [_rooted(_integer(int(surd**2)))] * (surd != 1)
    for polynomial, power in factors:
        whole, half = divmod(abs(power), 2) if root else (abs(power), 0)
        side, base = above if power > 0 else below, _sum(polynomial)
        if whole:
            # Under a root nothing changes sign; beside it, a factor that may is taken by its size.
            bars = root and whole % 2 == 1 and min(polynomial.values()) < 0
            side.append(_raised(base, whole, bars=bars) if bars or whole > 1 else base)
        if half:
            side.append(_rooted(base))
    sign = "−" if constant < 0 and not root else ""
    plain, latex = _joined(above, bare=not below).plain, _joined(above, bare=True).latex
    if below:
        bottom = _joined(below, bare=len(below) == 1 and not below[0].is_sum).plain
        plain = f"{plain}/{bottom}" if len(below) == 1 else f"{plain}/({bottom})"
        latex = rf"\frac{{{latex}}}{{{_joined(below, bare=True).latex}}}"
    return Text(sign + plain, sign.replace("−", "-") + latex, is_sum=len(above) == 1 and above[0].is_sum and not below)


def _joined(parts: Sequence[Text], *, bare: bool) -> Text:
    """Factors side by side; a sum that stands alone needs no brackets if it may be bare."""
    if not parts:
        return Text("1", "1")
    if len(parts) == 1 and bare:
        return parts[0]
    bracketed = [_raised(part, 1) if part.is_sum else part for part in parts]
    return Text("".join(part.plain for part in bracketed), " ".join(part.latex for part in bracketed))


def _sum(polynomial: Polynomial) -> Text:
    plain, latex = "", ""
    for power, value in polynomial.items():
        size, alpha = abs(Fraction(value)), _power(power) if power else Text("", "")
        top = "" if size.numerator == 1 and power else str(size.numerator)
        sign = ("−" if value < 0 else "") if not plain else " − " if value < 0 else " + "
        plain += sign + top + alpha.plain + (f"/{size.denominator}" if size.denominator != 1 else "")
        ratio = top if size.denominator == 1 else rf"\frac{{{size.numerator}}}{{{size.denominator}}}"
        latex += sign.replace("−", "-") + f"{ratio} {alpha.latex}".strip()
    return Text(plain, latex, is_sum=len(polynomial) > 1)


def _raised(base: Text, power: int, *, bars: bool = False) -> Text:
    plain, latex = f"({base.plain})", rf"\left({base.latex}\right)"
    if bars:
        plain, latex = f"|{base.plain}|", f"|{base.latex}|"
    return _to_power(Text(plain, latex), power)


def _power(exponent: int) -> Text:
    return _to_power(Text("α", r"\alpha"), exponent)


def _to_power(base: Text, power: int) -> Text:
    if power == 1:
        return base
    return Text(base.plain + superscript(power), f"{base.latex}^{{{power}}}")


def _integer(value: int) -> Text:
    return Text(str(value), str(value))


def _rooted(base: Text) -> Text:
    return Text(f"√({base.plain})" if base.is_sum else f"√{base.plain}", rf"\sqrt{{{base.latex}}}")
