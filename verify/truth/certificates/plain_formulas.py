r"""The paper's formulas in plain fractions, for the certificate checker alone.

Written straight from Algorithm 1 and the optimality conditions, with no algebra library and none of the
rearrangements (differences, saddle systems, interpolation) the certificates were made with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TypeAlias

from spec import Quadratic
from verify.truth.certificates.integer_polynomials import solve

Vector: TypeAlias = list[Fraction]
Matrix: TypeAlias = list[list[Fraction]]

ZERO = Fraction(0)


@dataclass(frozen=True)
class PlainProblem:
    """A problem's blocks at a point x, as nested lists of fractions."""

    x: Vector
    f_xx: Matrix
    f_xy: Matrix
    f_yy: Matrix
    f_x: Vector
    f_y: Vector
    g_xy: Matrix
    g_yy: Matrix
    g_y: Vector
    A: Matrix
    B: Matrix
    b: Vector
    _curvatures: dict[tuple[Fraction, ...], Matrix] = field(default_factory=dict)
    _scaled: dict[tuple[tuple[Fraction, ...], Fraction], tuple[int, list[list[tuple[int, int, int]]]]] = field(
        default_factory=dict
    )
    _maps: dict[tuple[int, ...], tuple[Matrix, Matrix]] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Quadratic, x: Sequence[Fraction]) -> PlainProblem:
        """Read the blocks."""
        f, g, rows = problem.f, problem.g, problem.constraints
        return cls(
            x=list(x),
            f_xx=f.xx.to_fractions(),
            f_xy=f.xy.to_fractions(),
            f_yy=f.yy.to_fractions(),
            f_x=f.x.to_fractions()[0],
            f_y=f.y.to_fractions()[0],
            g_xy=g.xy.to_fractions(),
            g_yy=g.yy.to_fractions(),
            g_y=g.y.to_fractions()[0],
            A=rows.A.to_fractions(),
            B=rows.B.to_fractions(),
            b=rows.b.to_fractions()[0],
        )

    def h(self, y: Sequence[Fraction]) -> Vector:
        """Row values A x - B y - b."""
        return difference(self._at_origin[2], apply(self.B, y))

    def grad_x_f(self, y: Sequence[Fraction]) -> Vector:
        """Gradient of f in x."""
        return add(self.f_x, apply(self.f_xx, self.x), apply(self.f_xy, y))

    def grad_y_f(self, y: Sequence[Fraction]) -> Vector:
        """Gradient of f in y."""
        return add(self._at_origin[0], apply(self.f_yy, y))

    def grad_y_g(self, y: Sequence[Fraction]) -> Vector:
        """Gradient of g in y."""
        return add(self._at_origin[1], apply(self.g_yy, y))

    @cached_property
    def _at_origin(self) -> tuple[Vector, Vector, Vector]:
        """Gradients of f and g in y, and the row values, at y = 0; every alpha needs them."""
        return (
            add(self.f_y, apply(transpose(self.f_xy), self.x)),
            add(self.g_y, apply(transpose(self.g_xy), self.x)),
            difference(apply(self.A, self.x), self.b),
        )

    @cached_property
    def _turned(self) -> tuple[Matrix, Matrix]:
        """A and B transposed."""
        return transpose(self.A), transpose(self.B)

    def curvature(self, rho: tuple[Fraction, ...]) -> Matrix:
        """B' diag(rho) B; kept, since every alpha needs it."""
        if rho not in self._curvatures:
            m = len(self.g_yy)
            on = [(weight, row) for weight, row in zip(rho, self.B, strict=True) if weight]
            pulled = [[sum((w * row[i] * row[j] for w, row in on), ZERO) for j in range(m)] for i in range(m)]
            self._curvatures[rho] = pulled
        return self._curvatures[rho]

    def scaled_hessian(self, u: Fraction, rho: tuple[Fraction, ...], modulus: Fraction = ZERO) -> Matrix:
        """alpha**4 times the Hessian of L in y, less ``modulus * alpha**2 I``, with u = alpha**2."""
        below, parts = self._over_one_denominator(rho, modulus)
        a, b = u.numerator, u.denominator
        square, mixed, one = a * a, a * b, b * b
        below *= one
        return [[Fraction(square * p + mixed * q + one * k, below) for p, q, k in row] for row in parts]

    def _over_one_denominator(
        self, rho: tuple[Fraction, ...], modulus: Fraction
    ) -> tuple[int, list[list[tuple[int, int, int]]]]:
        """A common denominator, and the coefficients of u^2, u and 1 in each entry of the scaled Hessian, times it."""
        if (rho, modulus) not in self._scaled:
            triples = [
                [(p, q - (modulus if i == j else 0), k) for j, (p, q, k) in enumerate(zip(*rows, strict=True))]
                for i, rows in enumerate(zip(self.f_yy, self.g_yy, self.curvature(rho), strict=True))
            ]
            below = lcm(*(value.denominator for row in triples for triple in row for value in triple))
            whole = [[(int(p * below), int(q * below), int(k * below)) for p, q, k in row] for row in triples]
            self._scaled[rho, modulus] = below, whole
        return self._scaled[rho, modulus]

    def stationary_point(
        self, u: Fraction, lam: Sequence[Fraction], rho: tuple[Fraction, ...], gradient: Sequence[Fraction]
    ) -> Vector | None:
        """Solve alpha**4 (grad_y L - gradient) = 0 for y; ``None`` where L is singular."""
        of_f, of_g, h = self._at_origin
        slope_f, slope_g = difference(of_f, gradient), difference(of_g, apply(self._turned[1], lam))
        pull = apply(self._turned[1], [weight * value for weight, value in zip(rho, h, strict=True)])
        right = [r - u * (g + u * f) for f, g, r in zip(slope_f, slope_g, pull, strict=True)]
        return solve(self.scaled_hessian(u, rho), right)

    def estimator(
        self,
        u: Fraction,
        y: Sequence[Fraction],
        y_star: Sequence[Fraction],
        rho: Sequence[Fraction],
        dual: Sequence[Fraction] | None,
    ) -> Vector:
        """Line 6 of Algorithm 1 in expectation; ``dual`` is what a reading keeps of the dual part, over alpha_1."""
        weighted = [weight * value for weight, value in zip(rho, self.h(y), strict=True)]
        gap = apply(self.g_xy, difference(y, y_star))
        if dual is not None:
            gap = add(gap, dual)
        pull = apply(self._turned[0], weighted)
        return [a + (b + c / u) / u for a, b, c in zip(self.grad_x_f(y), gap, pull, strict=True)]

    def multiplier_part(self, lam: Sequence[Fraction]) -> Vector:
        """A' lam."""
        return apply(self._turned[0], lam)

    def solution_maps(self, active: tuple[int, ...]) -> tuple[Matrix, Matrix]:
        """Derivatives in x of y* and of all multipliers, a row for each component of x, the active rows equations."""
        if active not in self._maps:
            m, n, p = len(self.g_yy), len(self.x), len(self.B)
            stationary = [[*row, *(-self.B[i][k] for i in active)] for k, row in enumerate(self.g_yy)]
            saddle = stationary + [[*self.B[i], *([ZERO] * len(active))] for i in active]
            of_y, of_lam = [], []
            for j in range(n):
                derivative = solve(saddle, [*(-value for value in self.g_xy[j]), *(self.A[i][j] for i in active)])
                if derivative is None:
                    raise ZeroDivisionError
                on_rows = dict(zip(active, derivative[m:], strict=True))
                of_y.append(derivative[:m])
                of_lam.append([on_rows.get(i, ZERO) for i in range(p)])
            self._maps[active] = of_y, of_lam
        return self._maps[active]


def apply(matrix: Matrix, vector: Sequence[Fraction]) -> Vector:
    """Matrix times vector."""
    return [_dot(row, vector) for row in matrix]


def _dot(row: Sequence[Fraction], vector: Sequence[Fraction]) -> Fraction:
    """The sum of products, brought to lowest terms once."""
    pairs = [(a, b) for a, b in zip(row, vector, strict=True) if a and b]
    bottoms = [a.denominator * b.denominator for a, b in pairs]
    common = lcm(*bottoms)
    parts = (a.numerator * b.numerator * (common // below) for (a, b), below in zip(pairs, bottoms, strict=True))
    return Fraction(sum(parts), common)


def transpose(matrix: Matrix, width: int = 0) -> Matrix:
    """Transposed matrix; ``width`` is that of an empty one."""
    return [list(column) for column in zip(*matrix, strict=True)] if matrix else [[] for _ in range(width)]


def add(*vectors: Sequence[Fraction]) -> Vector:
    """Sum of vectors."""
    return [sum(values, ZERO) for values in zip(*vectors, strict=True)]


def difference(first: Sequence[Fraction], second: Sequence[Fraction]) -> Vector:
    """Difference of two vectors."""
    return [a - b for a, b in zip(first, second, strict=True)]
