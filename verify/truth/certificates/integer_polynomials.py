r"""Integer linear systems and a test that a polynomial has no root, in plain Python, for the certificate checker alone.

Small on purpose, and independent of the algebra libraries the certificates were made with.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

Polynomial = list[int]
"""Integer coefficients, lowest power first, no trailing zeros."""

_DEPTH = 40
"""Most halvings; all that a certificate needs end long before."""


def primitive(coefficients: Sequence[Fraction | int]) -> Polynomial:
    """A positive multiple with coprime integer coefficients."""
    return primitive_together([coefficients])[0]


def primitive_together(polynomials: Sequence[Sequence[Fraction | int]]) -> list[Polynomial]:
    """The same positive multiple of several polynomials, coprime integers all together."""
    scale = lcm(*(value.denominator for part in polynomials for value in part))
    whole = [[value.numerator * (scale // value.denominator) for value in part] for part in polynomials]
    content = gcd(*(value for part in whole for value in part))
    return [_trimmed([value // content for value in part] if content > 1 else part) for part in whole]


def evaluate(coefficients: Sequence[Fraction | int], at: Fraction) -> Fraction:
    """Value at a rational point, by Horner's rule in integers."""
    scale = lcm(*(value.denominator for value in coefficients))
    total, power = 0, 1
    for value in reversed(coefficients):
        total = total * at.numerator + value.numerator * (scale // value.denominator) * power
        power *= at.denominator
    return Fraction(total * at.denominator, power * scale)


def sign_at(polynomial: Polynomial, at: Fraction) -> int:
    """Sign at a rational point, in integers only."""
    total, power = 0, 1
    for value in reversed(polynomial):
        total = total * at.numerator + value * power
        power *= at.denominator
    return (total > 0) - (total < 0)


def add(first: Sequence[int], second: Sequence[int]) -> Polynomial:
    """Sum."""
    size = max(len(first), len(second))
    padded = [[*part, *([0] * (size - len(part)))] for part in (first, second)]
    return _trimmed([a + b for a, b in zip(*padded, strict=True)])


def multiply(first: Sequence[int], second: Sequence[int]) -> Polynomial:
    """Product."""
    product = [0] * max(0, len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            product[i + j] += a * b
    return product


def has_no_root(coefficients: Sequence[Fraction | int], end: Fraction) -> bool:
    """Whether halving the interval proves a nonzero polynomial to have no root in the open interval (0, end).

    The test is the one that ``is_positive_sound`` of the machine-checked theorems is about. Where the closed interval
    has no root but at its ends, enough halvings prove it; a root inside is never overlooked.
    """
    polynomial = primitive(coefficients)
    while polynomial[0] == 0:
        polynomial = polynomial[1:]
    while len(polynomial) > 1 and sign_at(polynomial, end) == 0:
        polynomial = _without_root(polynomial, end)
    sign = sign_at(polynomial, end)
    return is_positive(primitive([sign * value * end**k for k, value in enumerate(polynomial)]))


def is_positive(polynomial: Polynomial, depth: int = _DEPTH) -> bool:
    """Whether halving (0, 1) proves a nonzero polynomial positive there: all Bernstein coefficients >= 0."""
    if all(value >= 0 for value in _shifted(polynomial[::-1])):
        return True
    if depth == 0:
        return False
    top = len(polynomial) - 1
    left = [value << (top - k) for k, value in enumerate(polynomial)]
    right = _shifted(left)
    # The midpoint itself is the value of the right half at 0.
    return right[0] > 0 and is_positive(left, depth - 1) and is_positive(right, depth - 1)


def _shifted(polynomial: Polynomial) -> Polynomial:
    """p(t + 1), by repeated synthetic division."""
    moved = list(polynomial)
    for start in range(len(moved) - 1):
        for k in range(len(moved) - 2, start - 1, -1):
            moved[k] += moved[k + 1]
    return moved


def solve(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """Solve a square system by fraction-free (Bareiss) elimination; ``None`` if the matrix is singular."""
    rows = [_integers([*row, value]) for row, value in zip(matrix, right, strict=True)]
    size, previous = len(rows), 1
    for k in range(size):
        pivot = next((i for i in range(k, size) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        _eliminate(rows, k, previous)
        previous = rows[k][k]
    # The last pivot is the determinant up to its sign: by Cramer's rule it is a denominator of the whole solution.
    numerators = [0] * size
    for i in range(size - 1, -1, -1):
        row = rows[i]
        tail = sum(row[j] * numerators[j] for j in range(i + 1, size))
        numerators[i] = (previous * row[size] - tail) // row[i]
    return [Fraction(value, previous) for value in numerators]


def determinant(matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    """Determinant by fraction-free elimination, rows exchanged where a pivot vanishes."""
    scale = lcm(*(value.denominator for row in matrix for value in row))
    rows = [[int(value * scale) for value in row] for row in matrix]
    size, previous, sign = len(rows), 1, 1
    for k in range(size):
        pivot = next((i for i in range(k, size) if rows[i][k]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        _eliminate(rows, k, previous)
        previous = rows[k][k]
    return Fraction(sign * previous, scale**size)


def leading_minors(matrix: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """Leading principal minors, up to and including the first that is zero; the last is the determinant."""
    scale = lcm(*(value.denominator for row in matrix for value in row))
    rows = [[int(value * scale) for value in row] for row in matrix]
    size, previous = len(rows), 1
    minors: list[Fraction] = []
    for k in range(size):
        head = rows[k][k]
        minors.append(Fraction(head, scale ** (k + 1)))
        if head == 0:
            break
        _eliminate(rows, k, previous)
        previous = head
    return minors


def _eliminate(rows: list[list[int]], k: int, previous: int) -> None:
    """One step of Bareiss: every division is exact."""
    head, pivot = rows[k][k], rows[k]
    for i in range(k + 1, len(rows)):
        factor, row = rows[i][k], rows[i]
        rows[i] = [0] * (k + 1) + [(head * row[j] - factor * pivot[j]) // previous for j in range(k + 1, len(row))]


def _integers(values: Sequence[Fraction]) -> list[int]:
    """A row scaled to integers."""
    scale = lcm(*(value.denominator for value in values))
    return [value.numerator * (scale // value.denominator) for value in values]


def _trimmed(polynomial: Polynomial) -> Polynomial:
    """Without trailing zeros."""
    size = len(polynomial)
    while size and polynomial[size - 1] == 0:
        size -= 1
    return polynomial[:size]


def _without_root(polynomial: Polynomial, root: Fraction) -> Polynomial:
    """Divide by (t - root), exactly."""
    quotient: list[Fraction] = []
    carry = Fraction(0)
    for value in reversed(polynomial):
        carry = carry * root + value
        quotient.append(carry)
    return primitive(quotient[-2::-1])
