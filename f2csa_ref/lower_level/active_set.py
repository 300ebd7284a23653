"""daqp, a dual active-set solver, on ½ yᵀHy + cᵀy over rows y <= upper: set up anew, or once for one H and many c."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import daqp
import numpy as np

from spec.exact import Matrix, Vector

PRIMAL_TOL = 1e-12
"""Infeasibility daqp accepts, relative to the scaled rows; its default 1e-6 loses active rows."""
SINGULAR_TOL = 1e-16
"""Squared distance below which daqp takes a row for dependent; its default mistakes near for exact dependence."""
PREPARED_FROM = 16
"""Unknowns from which a factorisation of H is worth keeping."""
PREPARED_CONDITION = 1e8
"""Condition up to which it is safe: from 1e12 on daqp regularises what it keeps, and answers hang on earlier ones."""

ByDaqp: TypeAlias = Callable[[Vector, Vector], tuple[Vector, Vector, int, int]]
"""Takes c and upper; gives y, the multipliers, daqp's exit flag (1: solved, -1: infeasible) and its iterations."""


def by_daqp(H: Matrix, rows: Matrix) -> ByDaqp:
    """Every program set up anew. H is positive definite and of norm about 1, the rows are of length 1 or 0."""

    def solve(c: Vector, upper: Vector) -> tuple[Vector, Vector, int, int]:
        y, _, flag, info = daqp.solve(H, c, rows, upper, primal_tol=PRIMAL_TOL, sing_tol=SINGULAR_TOL)
        return y, info["lam"], flag, info["iterations"]

    return solve


def prepared_daqp(H: Matrix, rows: Matrix, condition: float) -> ByDaqp:
    """As :func:`by_daqp`; an H of at most this condition is factorised once, where that is worth it and safe.

    Each solve starts without a row, so that an answer does not hang on those before it. Threads may share it.
    """
    if len(H) < PREPARED_FROM or not condition <= PREPARED_CONDITION:
        return by_daqp(H, rows)
    no_row = np.zeros(len(rows), dtype=np.intc)
    idle: list[daqp.Model] = []  # a solver that is taken is no other thread's

    def solve(c: Vector, upper: Vector) -> tuple[Vector, Vector, int, int]:
        try:
            model = idle.pop()
        except IndexError:
            model = daqp.Model()
            model.settings = {"primal_tol": PRIMAL_TOL, "sing_tol": SINGULAR_TOL}
            flag, _ = model.setup(H, c, rows, upper)
        else:
            flag = model.update(f=c, bupper=upper, sense=no_row)
        if flag < 0:
            return c, upper, flag, 0
        y, _, flag, info = model.solve()
        if flag == 1:
            idle.append(model)
        return y, info["lam"], flag, info["iterations"]

    return solve
