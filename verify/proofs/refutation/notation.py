"""Exact numbers, rational functions of alpha and small problems in print, for derivations followed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq_poly

from spec import Quadratic
from spec.exact import ExactArray
from verify.evidence.model import raised
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.algebra.rationals import Vector, fraction

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def vector(values: Sequence[Fraction]) -> str:
    """A number alone, or components in parentheses."""
    return str(values[0]) if len(values) == 1 else "(" + ", ".join(map(str, values)) + ")"


def term(coefficient: Vector, exponent: int | None) -> str:
    """The leading term ``c αᵏ``."""
    if exponent is None:
        return "0"
    shown = vector(coefficient)
    if exponent == 0:
        return shown
    factor = {"1": "", "-1": "-"}.get(shown, f"{shown}·" if "/" in shown or "(" in shown else shown)
    return f"{factor}{raised('α', exponent)}"


def function(values: RationalVector) -> str:
    """A rational function of alpha, components in parentheses."""
    reduced = values.reduced()
    shown = [_ratio(numerator, reduced.denominator) for numerator in reduced.numerators]
    return shown[0] if len(shown) == 1 else "(" + ", ".join(shown) + ")"


def problem_in_words(problem: Quadratic) -> str:
    """``f = y, g = ½y², with x - y ≤ 0``."""
    names_x, names_y = _names("x", problem.n), _names("y", problem.m)
    shown = []
    for name in ("f", "g"):
        form = getattr(problem, name)
        terms = [
            *_square(form.xx, names_x),
            *_bilinear(form.xy, names_x, names_y),
            *_square(form.yy, names_y),
            *_linear(form.x, names_x),
            *_linear(form.y, names_y),
        ]
        shown.append(f"{name} = {_sum(terms)}")
    rows = problem.constraints
    A, B, b = rows.A.to_fractions(), rows.B.to_fractions(), rows.b.to_fractions()[0]
    lines = []
    for of_x, of_y, constant in zip(A, B, b, strict=True):
        terms = [*zip(of_x, names_x, strict=True), *((-v, name) for v, name in zip(of_y, names_y, strict=True))]
        lines.append(f"{_sum([*terms, (-constant, '')])} ≤ 0")
    return f"{shown[0]}, {shown[1]}, with {' and '.join(lines)}"


def _names(letter: str, count: int) -> list[str]:
    return [letter] if count == 1 else [f"{letter}{str(k + 1).translate(_SUBSCRIPTS)}" for k in range(count)]


def _square(block: ExactArray, names: Sequence[str]) -> list[tuple[Fraction, str]]:
    rows = block.to_fractions()
    made = [(rows[i][i] / 2, f"{name}²") for i, name in enumerate(names)]
    return made + [(rows[i][j], names[i] + names[j]) for i in range(len(names)) for j in range(i + 1, len(names))]


def _bilinear(block: ExactArray, names: Sequence[str], others: Sequence[str]) -> list[tuple[Fraction, str]]:
    rows = block.to_fractions()
    return [(rows[i][j], name + other) for i, name in enumerate(names) for j, other in enumerate(others)]


def _linear(block: ExactArray, names: Sequence[str]) -> list[tuple[Fraction, str]]:
    return list(zip(block.to_fractions()[0], names, strict=True))


def _ratio(numerator: fmpq_poly, denominator: fmpq_poly) -> str:
    top, bottom = _polynomial(numerator), _polynomial(denominator)
    if bottom == "1":
        return top
    return f"{_grouped(top)}/{_grouped(bottom)}"


def _grouped(text: str) -> str:
    return f"({text})" if " " in text else text


def _polynomial(polynomial: fmpq_poly) -> str:
    return _sum([(fraction(value), "" if k == 0 else raised("α", k)) for k, value in enumerate(polynomial.coeffs())])


def _sum(terms: Sequence[tuple[Fraction, str]]) -> str:
    shown = ""
    for value, name in terms:
        if value:
            size = abs(value)
            factor = "" if name and size == 1 else "½" if name and size == Fraction(1, 2) else str(size)
            sign = (" - " if value < 0 else " + ") if shown else ("-" if value < 0 else "")
            shown += f"{sign}{factor}{name}"
    return shown or "0"
