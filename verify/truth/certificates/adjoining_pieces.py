r"""The gradients of the pieces of F that adjoin a point, in plain fractions, for the certificate checker alone.

Rows S held as equations, independent, give a piece: :math:`y_S(x), \lambda_S(x)`, both affine in x, are the lower-level
solution on the polyhedron where :math:`\lambda_S \ge 0` and the other rows hold. A vector is a limit of gradients of F
at x exactly if it is the gradient of a piece whose polyhedron contains x and is full-dimensional. For finitely many
polyhedra cover every x, and those with an interior the closure of what they cover; inside one F is its piece. Where F
is differentiable all these gradients are one: two quadratics that agree with F to first order on open cones at x have
its derivative there.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from verify.truth.certificates import integer_polynomials as integers
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

MOST_OPTIONAL = 12
"""At a kink at most 2**12 row sets are tried; with more active rows none is found beyond these."""


def limits_of_gradients(data: PlainProblem, y_star: Sequence[Fraction]) -> set[tuple[Fraction, ...]]:
    """All limits of gradients of F at a point whose lower-level solution is ``y_star``, shape (m,), each shape (n,).

    One vector where F is differentiable. With more than :data:`MOST_OPTIONAL` degenerate rows some may be left out.
    """
    active = [i for i, value in enumerate(data.h(y_star)) if value == 0]
    slope, gradients = data.grad_y_g(y_star), set()
    necessary, optional = _necessary(data, active, slope)
    for size in range(len(optional) + 1):
        for extra in itertools.combinations(optional[:MOST_OPTIONAL], size):
            S = sorted((*necessary, *extra))
            lam = _multipliers(data, S, slope)
            if lam is None or any(value < 0 for value in lam):
                continue
            moved = _derivatives(data, S)
            if _is_full_dimensional(_edges(data, S, active, lam, moved)):
                J = moved[: len(y_star)]
                gradients.add(tuple(add(data.grad_x_f(y_star), apply(transpose(J), data.grad_y_f(y_star)))))
    return gradients


def _necessary(data: PlainProblem, active: list[int], slope: Vector) -> tuple[list[int], list[int]]:
    """Rows that every piece holds, and those that a piece may hold."""
    lam = _multipliers(data, active, slope)
    if lam is None:  # dependent rows: the multipliers may sit on others
        return [], active
    held = [i for i, value in zip(active, lam, strict=True) if value > 0]
    return held, [i for i in active if i not in held]


def _multipliers(data: PlainProblem, S: Sequence[int], slope: Vector) -> Vector | None:
    """The multipliers on rows S alone with ``B_S' lam`` the slope of g; ``None`` for dependent rows or without any."""
    B = [data.B[i] for i in S]
    gram = [apply(B, row) for row in B]
    lam = integers.solve(gram, apply(B, slope))
    return lam if lam is not None and apply(transpose(B, len(slope)), lam) == list(slope) else None


def _derivatives(data: PlainProblem, S: Sequence[int]) -> Matrix:
    """Derivatives in x of y_S, then of lambda_S, a row a component."""
    m, n, B = len(data.g_yy), len(data.x), [data.B[i] for i in S]
    system = [[*data.g_yy[i], *(-row[i] for row in B)] for i in range(m)]
    system += [[*row, *([ZERO] * len(S))] for row in B]
    columns = []
    for k in range(n):
        column = integers.solve(system, [*(-value for value in data.g_xy[k]), *(data.A[i][k] for i in S)])
        assert column is not None  # g_yy is positive definite, the rows are independent
        columns.append(column)
    return transpose(columns)


def _edges(data: PlainProblem, S: Sequence[int], active: Sequence[int], lam: Vector, moved: Matrix) -> Matrix:
    """Normals a of the region's faces at x: a direction d leads into it where every a.d <= 0."""
    m = len(data.g_yy)
    J, turn = moved[:m], moved[m:]
    faces = [[-value for value in turn[k]] for k, value in enumerate(lam) if value == 0]
    if set(active) - set(S):
        faces += [difference(data.A[i], apply(transpose(J), data.B[i])) for i in active if i not in S]
    return faces


def _is_full_dimensional(faces: Matrix) -> bool:
    r"""Whether some d has a.d < 0 for every nonzero a.

    By Gordan's theorem: unless the zero vector is a convex combination of them, which phase one of the simplex method
    decides; Bland's rule keeps it from circling.
    """
    normals = [face for face in faces if any(face)]
    if not normals:
        return True
    # Weights >= 0 of sum 1 whose combination of the normals is 0; artificial ones, the first basis, take up the rest.
    rows = [[*column, ZERO] for column in transpose(normals)] + [[Fraction(1)] * (len(normals) + 1)]
    basis = [-1] * len(rows)
    while True:
        cost = [
            sum((row[j] for row, held in zip(rows, basis, strict=True) if held < 0), ZERO) for j in range(len(normals))
        ]
        enter = next((j for j, value in enumerate(cost) if value > 0), None)
        if enter is None:
            return any(held < 0 and row[-1] > 0 for row, held in zip(rows, basis, strict=True))
        ratios = [(row[-1] / row[enter], basis[i], i) for i, row in enumerate(rows) if row[enter] > 0]
        leave = min(ratios)[2]
        pivot = [value / rows[leave][enter] for value in rows[leave]]
        rows = [
            pivot if i == leave else [a - row[enter] * b for a, b in zip(row, pivot, strict=True)]
            for i, row in enumerate(rows)
        ]
        basis[leave] = enter
