"""What proofs are printed with: powers, exact numbers, rational functions of alpha, expressions, small problems."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from flint import fmpq_poly

from spec import Quadratic
from spec.exact import ExactArray
from spec.formulas.powers import raised, superscript
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.algebra.rationals import Vector, fraction

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_]*)")
_POWER = re.compile(r"\^(?:\((-?\d+(?:/\d+)?)\)|(-?\d+))")


def expression(text: str, symbols: Mapping[str, str]) -> str:
    """An expression or inequality with the paper's symbols, powers raised and products closed up."""
    # Names are every second part. A symbol may hold a caret of its own, which is no power to raise.
    parts = _NAME.split(text)
    parts[1::2] = [symbols.get(name, name) for name in parts[1::2]]
    parts[::2] = [_POWER.sub(lambda match: superscript(match[1] or match[2]), part) for part in parts[::2]]
    shown = "".join(parts).replace(" * ", "·").replace(" / ", "/").replace("1 /", "1/")
    return shown.replace("<=", "≤").replace(">=", "≥")


def vector(values: Sequence[object]) -> str:
    """A number alone, or components in parentheses."""
    return str(values[0]) if len(values) == 1 else "(" + ", ".join(map(str, values)) + ")"


def decimals(values: Vector) -> str:
    """Components as decimals."""
    return vector([f"{float(value):.9g}" for value in values])


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
    return vector([_ratio(numerator, reduced.denominator) for numerator in reduced.numerators])


def problem_in_words(problem: Quadratic) -> str:
    """``f = y, g = ½y², with x - y ≤ 0``."""
    x, y = _names("x", problem.n), _names("y", problem.m)
    forms = []
    for name, form in (("f", problem.f), ("g", problem.g)):
        products = [*_square(form.xx, x), *_bilinear(form.xy, x, y), *_square(form.yy, y)]
        forms.append(f"{name} = {_sum([*products, *_linear(form.x, x), *_linear(form.y, y)])}")
    A, B, b = (block.to_fractions() for block in (problem.constraints.A, problem.constraints.B, problem.constraints.b))
    rows = [
        _sum([*zip(of_x, x, strict=True), *zip((-v for v in of_y), y, strict=True), (-constant, "")]) + " ≤ 0"
        for of_x, of_y, constant in zip(A, B, b[0], strict=True)
    ]
    return f"{', '.join(forms)}, with {' and '.join(rows)}"


def _names(letter: str, count: int) -> list[str]:
    return [letter] if count == 1 else [f"{letter}{str(k + 1).translate(_SUBSCRIPTS)}" for k in range(count)]


def _square(block: ExactArray, names: Sequence[str]) -> list[tuple[Fraction, str]]:
    rows = block.to_fractions()
    squares = [(rows[i][i] / 2, f"{name}²") for i, name in enumerate(names)]
    return squares + [(rows[i][j], names[i] + names[j]) for i in range(len(names)) for j in range(i + 1, len(names))]


def _bilinear(block: ExactArray, names: Sequence[str], others: Sequence[str]) -> list[tuple[Fraction, str]]:
    rows = block.to_fractions()
    return [(rows[i][j], name + other) for i, name in enumerate(names) for j, other in enumerate(others)]


def _linear(block: ExactArray, names: Sequence[str]) -> list[tuple[Fraction, str]]:
    return list(zip(block.to_fractions()[0], names, strict=True))


def _ratio(numerator: fmpq_poly, denominator: fmpq_poly) -> str:
    parts = [_polynomial(part) for part in (numerator, denominator)]
    return parts[0] if parts[1] == "1" else "/".join(f"({part})" if " " in part else part for part in parts)


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
