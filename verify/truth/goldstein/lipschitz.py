"""The Lipschitz constant of F on all of R^n, where its pieces show it."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import numpy as np
from scipy.optimize import linprog

from spec import Quadratic
from spec.exact import Vector
from verify.truth.goldstein.estimate import GradientPiece, Pieces

MOST_ROWS = 8
"""Rows up to which all sets of active ones are tried."""
ROOM = 1e-9
"""Radius from which a ball in a piece counts."""
INFEASIBLE = 2
"""What the linear program says of no place at all."""
STEEPEST = 1e5
"""Longest row of a piece at which so small a ball is told from none."""


def lipschitz_constant(problem: Quadratic) -> float | None:
    """L_F, the longest gradient of F's pieces, finitely many; ``None`` where they show none.

    That is where a gradient is not constant on a piece, unless n = 1 and the piece has two ends, for many rows, for
    sizes that leave open whether a piece is empty, and where F is nowhere.
    """
    p = len(problem.arrays.b)
    if p > MOST_ROWS:
        return None
    pieces, lengths = Pieces(problem), list[float]()
    for rows in chain.from_iterable(combinations(range(p), size) for size in range(min(p, problem.m) + 1)):
        if np.linalg.matrix_rank(pieces.W[np.ix_(rows, rows)]) < len(rows):
            continue  # dependent rows are the active ones at no place of their own
        piece = pieces.piece(rows)
        ends = [] if piece.is_nowhere else _ends(piece)
        if ends is None:
            return None
        lengths += [float(np.linalg.norm(piece.H @ z + piece.c)) for z in ends]
    return max(lengths, default=None)


def _ends(piece: GradientPiece) -> list[Vector] | None:
    """Places where the gradient is longest, none where no ball fits into M z <= q; ``None`` where that is not known."""
    n, free, sizes = len(piece.c), (None, None), np.linalg.norm(piece.M, axis=1)
    if sizes.max(initial=0.0) > STEEPEST:
        return None
    wide = np.column_stack([piece.M, sizes])
    inside: Any = linprog(np.r_[np.zeros(n), -1.0], wide, piece.q, bounds=[free] * n + [(0.0, 1.0)])
    if inside.status == INFEASIBLE or (inside.status == 0 and inside.x[-1] <= ROOM):
        return []
    if inside.status:
        return None
    if not piece.H.any():
        return [inside.x[:-1]]
    ends: list[Any] = [linprog([sign], piece.M, piece.q, bounds=[free]) for sign in (1.0, -1.0)] if n == 1 else []
    return [end.x for end in ends] if ends and not any(end.status for end in ends) else None
