"""Quadratic problems with everything an oracle call may spend, and what the suite's exact stages say there.

A scene is made of a draft, plain numbers by name, or of an atlas instance. Its lower level is solved, differentiated
and penalised by the suite's own exact stages; other derivatives come from the problem's values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq, fmpq_mat

from spec import InvalidInputError, Quadratic, parse_problem
from verify.truth.algebra.rationals import Vector, column, fraction, is_positive_definite, rational
from verify.truth.algebra.rings import RATIONALS, Flint
from verify.truth.formulas import Lagrangian
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.lower_level import ExactLowerLevel
from verify.truth.point_values import PointValues
from verify.truth.theorems.library import Point, add, inner, sub

Matrix: TypeAlias = tuple[Point, ...]
Draft: TypeAlias = dict[str, Any]
"""Numbers, vectors and matrices of rationals, by name."""
MARGIN = 1e-9
"""How far norms and eigenvalues are rounded outward, relatively."""
_BITS = 42


@dataclass(frozen=True, eq=False)
class Scene:
    """A problem at a point: alpha, weights (p,), gradient ``left`` (m,), errors of multipliers (p,) and of y* (m,).

    ``off_x`` (n,) and ``off_y`` (m,) are changes of the gradients of g beyond the quadratic's, ``dx`` (n,) a direction.
    """

    problem: Quadratic
    x: Vector
    alpha: fmpq
    spent: dict[str, Point]

    @cached_property
    def u(self) -> fmpq:
        return self.alpha * self.alpha

    @cached_property
    def lower(self) -> ExactLowerLevel:
        solution = lower_level.solve(self.problem, self.x)
        if not (solution.licq and solution.strict_complementarity):
            raise InvalidInputError("x", "must be a regular point", "degenerate")
        return solution

    @property
    def active(self) -> tuple[int, ...]:
        return self.lower.strictly_active

    @cached_property
    def rho(self) -> Point:
        """Weights: those of active rows are spent, others have none unless ``rho_inactive`` says so."""
        given, other = self.of("rho", len(self.active), 1), self.spent.get("rho_inactive", ())
        weights = dict(zip(self.active, given, strict=True)) | dict(zip(self.lower.inactive, other, strict=False))
        return tuple(weights.get(i, fmpq(0)) for i in range(self.problem.p))

    def of(self, name: str, length: int, otherwise: int = 0) -> Point:
        """What is spent under a name; refused where it does not fit."""
        vector = self.spent.get(name, (fmpq(otherwise),) * length)
        if len(vector) != length:
            raise InvalidInputError(name, f"must have length {length}", len(vector))
        return vector

    @cached_property
    def values(self) -> PointValues:
        return PointValues(self.problem)

    @cached_property
    def y_star(self) -> Point:
        return tuple(map(rational, self.lower.y_star))

    @cached_property
    def maps(self) -> tuple[Matrix, Matrix]:
        """The suite's derivatives of y* (m, n) and of the active multipliers (k, n)."""
        of_y, of_lam = lower_level.solution_maps(self.problem, self.x)
        return of_rows(of_y), of_rows([of_lam[i] for i in self.active])

    @cached_property
    def gradient(self) -> Point:
        """The suite's gradient of F (n,)."""
        return tuple(map(rational, lower_level.hypergradient(self.problem, self.x)))

    def lagrangian(self, *, exact: bool, exact_pair: bool = True) -> Lagrangian[Flint]:
        """The suite's penalty Lagrangian; with ``exact`` multipliers or those spent, y* alike."""
        lam = tuple(map(rational, self.lower.lam))
        lam = lam if exact else add(lam, self.of("dl", self.problem.p))
        y_star = self.y_star if exact_pair else add(self.y_star, self.of("y_star_off", self.problem.m))
        stages = ([fraction(value) for value in part] for part in (y_star, lam, self.rho))
        weights = 1 / self.u, 1 / (self.u * self.u)
        return Lagrangian.of(RATIONALS, self.problem, self.x, weights, tuple(stages))

    def convex(self) -> None:
        """Refuse a penalty that is not convex."""
        if not is_positive_definite(self.lagrangian(exact=True).H.entries):
            raise InvalidInputError("alpha", "must leave the penalty convex", str(self.alpha))

    def grad(self, name: str, in_: str, y: Point) -> Point:
        """Gradient of f or g in x or y at y, from the problem's values."""
        gradient = getattr(self.values, f"grad_{in_}")(name, self.x, [fraction(value) for value in y])
        return tuple(map(rational, gradient))

    def block(self, name: str) -> Matrix:
        """A block of second derivatives, ``f_yy`` and the like, or the rows ``A``, ``B``."""
        form, _, part = name.partition("_")
        array = getattr(getattr(self.problem, form), part) if part else getattr(self.problem.constraints, name)
        return of_rows(array.to_fractions())

    def rows_of(self, name: str, rows: Sequence[int] | None = None) -> Matrix:
        """Some rows of A or B, the active ones by default."""
        listed = self.block(name)
        return tuple(listed[i] for i in (self.active if rows is None else rows))


def of_rows(rows: Sequence[Sequence[Any]]) -> Matrix:
    return tuple(tuple(rational(value) for value in row) for row in rows)


def entries(vector: Flint) -> Point:
    """The entries of a column of the suite's."""
    return tuple(vector.entries.entries())


def as_column(values: Point) -> Flint:
    """The column of the suite's that has these entries."""
    return RATIONALS.vector([fraction(value) for value in values])


def above(value: Any) -> fmpq:
    """A number, rounded up where it is a ball."""
    return value if isinstance(value, fmpq) else outward(float(value), 1)


def linear(matrix: Matrix, width: int) -> Callable[[Point], Point]:
    """A matrix as a map; ``width`` is that of an empty one."""
    assert all(len(row) == width for row in matrix)
    return lambda v: tuple(sum((a * b for a, b in zip(row, v, strict=True)), fmpq(0)) for row in matrix)


def adjoint(matrix: Matrix, width: int) -> Callable[[Point], Point]:
    return linear(tuple(tuple(row[j] for row in matrix) for j in range(width)), len(matrix))


def basis(size: int) -> list[Point]:
    return [tuple(fmpq(int(i == j)) for j in range(size)) for i in range(size)]


def doubles(matrix: Matrix, width: int) -> Any:
    return np.array([[float(fraction(a)) for a in row] for row in matrix], dtype=np.float64).reshape(len(matrix), width)


def outward(value: float, side: int) -> fmpq:
    """A double rounded up (1) or down (-1) by the margin."""
    part, power = math.frexp(float(value) + side * MARGIN * abs(float(value)))
    whole = (math.ceil if side > 0 else math.floor)(part * 2.0**_BITS)
    return fmpq(whole) * fmpq(2) ** (power - _BITS)


def short(values: Any) -> Point:
    """A direction, to six digits."""
    return tuple(fmpq(round(float(value) * 2**20), 2**20) for value in values)


def largest(matrix: Matrix, width: int) -> tuple[fmpq, Point | None]:
    """Spectral norm from above and its right singular vector, if any."""
    table = doubles(matrix, width)
    if not table.any():
        return fmpq(0), None
    _, sizes, right = np.linalg.svd(table)
    return outward(sizes[0], 1), short(right[0])


def eigenvalues(matrix: Matrix) -> tuple[fmpq, fmpq, list[Point]]:
    """Smallest eigenvalue from below, largest from above, and both eigenvectors."""
    sizes, vectors = np.linalg.eigh(doubles(matrix, len(matrix)))
    ends = [short(vectors[:, k]) for k in (0, -1)]
    return outward(sizes[0], -1), outward(sizes[-1], 1), ends


def smallest_singular(matrix: Matrix, width: int) -> tuple[fmpq, list[Point]]:
    """The modulus of independent rows from below, with the row combination that attains it; 1 where there is none."""
    if not matrix:
        return fmpq(1), []
    left, sizes, _ = np.linalg.svd(doubles(matrix, width))
    if len(matrix) > width or sizes[-1] < 1e-6:
        raise InvalidInputError("B", "must have independent rows", "nearly dependent")
    return outward(sizes[-1], -1), [short(left[:, -1])]


def from_draft(draft: Draft) -> Scene:
    """The problem whose lower level at x has the active rows and multipliers drafted.

    ``L`` (m, m) and ``t`` make g.yy = L L' + t I; ``Phi``, ``R``, ``S``, ``A``, ``B``, ``c``, ``lam`` and, inactive,
    ``A_more``, ``B_more``, ``slack`` are as in the theorems; ``alpha``, and what is spent by name.
    """
    L, m, n = draft["L"], len(draft["L"]), len(draft["x"])
    G = tuple(
        tuple(
            sum((a * b for a, b in zip(p, q, strict=True)), fmpq(0)) + int(i == j) * abs(draft["t"])
            for j, q in enumerate(L)
        )
        for i, p in enumerate(L)
    )
    Phi = tuple(tuple((draft["Phi"][i][j] + draft["Phi"][j][i]) / 2 for j in range(m)) for i in range(m))
    R, S, A, B = draft["R"], draft["S"], draft["A"], draft["B"]
    A_more, B_more, slack = draft.get("A_more", ()), draft.get("B_more", ()), draft.get("slack", ())
    x, y = draft["x"], draft["y_star"]
    lam = tuple(abs(value) + fmpq(1, 100) for value in draft["lam"])
    offset = [
        *sub(linear(A, n)(x), linear(B, m)(y)),
        *add(sub(linear(A_more, n)(x), linear(B_more, m)(y)), tuple(abs(s) + fmpq(1, 10) for s in slack)),
    ]
    slope_f = sub(sub(draft["c"], adjoint(R, m)(x)), linear(Phi, m)(y))
    slope_g = sub(sub(adjoint(B, m)(lam), adjoint(S, m)(x)), linear(G, m)(y))
    fields = {
        "kind": "quadratic",
        "f": {"xy": _spelt(R), "yy": _spelt(Phi), "x": _spelt([draft["fx"]])[0], "y": _spelt([slope_f])[0]},
        "g": {"xy": _spelt(S), "yy": _spelt(G), "y": _spelt([slope_g])[0]},
    }
    rows = (*A, *A_more)
    if rows:
        fields["constraints"] = {"A": _spelt(rows), "B": _spelt((*B, *B_more)), "b": _spelt([offset])[0]}
    else:
        fields["constraints"] = {"A": [[0] * n], "B": [[0] * m], "b": [1]}
    problem = parse_problem(fields)
    assert isinstance(problem, Quadratic)
    spent = {name: value for name, value in draft.items() if name in SPENT}
    return Scene(problem, tuple(map(fraction, x)), abs(draft["alpha"]), spent)


SPENT = {"rho", "rho_inactive", "left", "dl", "y_star_off", "off_x", "off_y", "dx", "direction", "share", "eps"}
"""What a draft may spend."""


def _spelt(rows: Sequence[Sequence[Any]]) -> list[list[str]]:
    return [[str(value) for value in row] for row in rows]


def solved(matrix: Matrix, right: Point) -> Point:
    """Solution of a square linear system."""
    size = len(right)
    solution = fmpq_mat([list(row) for row in matrix]).solve(fmpq_mat(size, 1, list(right)))
    return tuple(solution.entries())


def combined(*parts: tuple[Any, Matrix]) -> Matrix:
    """A linear combination of matrices."""
    first = parts[0][1]
    return tuple(
        tuple(sum((factor * matrix[i][j] for factor, matrix in parts), fmpq(0)) for j in range(len(first[0])))
        for i in range(len(first))
    )


def with_block(problem: Quadratic, name: str, block: Matrix, x: Vector) -> Quadratic:
    """The problem with g_xy or A replaced, its offsets moved so that the lower level at x stays as it is."""
    fields = problem.model_dump(mode="json")
    at = tuple(map(rational, x))
    if name == "g_xy":
        old = of_rows(problem.g.xy.to_fractions())
        moved = adjoint(combined((fmpq(1), old), (fmpq(-1), block)), problem.m)(at)
        slope = add(of_rows(problem.g.y.to_fractions())[0], moved)
        fields["g"] |= {"xy": _spelt(block), "y": _spelt([slope])[0]}
    else:
        old = of_rows(problem.constraints.A.to_fractions())
        moved = linear(combined((fmpq(-1), old), (fmpq(1), block)), problem.n)(at)
        offset = add(of_rows(problem.constraints.b.to_fractions())[0], moved)
        fields["constraints"] |= {"A": _spelt(block), "b": _spelt([offset])[0]}
    changed = parse_problem(fields)
    assert isinstance(changed, Quadratic)
    return changed


__all__ = ["RATIONALS", "Flint", "column", "inner"]
