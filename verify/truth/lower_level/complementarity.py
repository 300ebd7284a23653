r"""Linear complementarity over the rationals: the lower level's dual, solved and certified exactly.

Eliminating y from a strictly convex quadratic program with rows leaves, in the multipliers alone,

.. math:: \lambda \ge 0, \quad h = h_0 - S\lambda \le 0, \quad \lambda^T h = 0, \qquad S = B G^{-1} B^T \succeq 0.

The dual active-set method of Goldfarb and Idnani (1983) solves it in finitely many steps, and in exact
arithmetic without tolerances: each full step strictly raises the dual objective, so no working set returns.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq, fmpq_mat

from spec import InvalidInputError
from verify.truth.algebra.rationals import Vector, fraction, select


class InfeasibleLowerLevelError(InvalidInputError):
    """No y satisfies the rows at this x, proven.

    Nonnegative ``weights``, one per row, with ``B.T @ weights = 0`` and a positive combination of ``A @ x - b``: that
    combination of the rows reads "positive <= 0" whatever y is.
    """

    def __init__(self, weights: Vector) -> None:
        self.weights = weights
        combination = " + ".join(f"{weight}·h_{i}" for i, weight in enumerate(weights) if weight)
        super().__init__("x", f"the lower level is infeasible here: {combination} is positive for every y")


def solve(S: fmpq_mat, h_0: fmpq_mat, guess: Sequence[int] = ()) -> tuple[list[fmpq], tuple[int, ...]]:
    """Solve the complementarity problem exactly; the multipliers are unique iff the active rows are independent.

    S is (p, p), symmetric positive semidefinite, h_0 (p, 1) the row values at the unconstrained minimum; the rows
    guessed to carry a multiplier serve as a start and are never trusted. Returns the multipliers and the linearly
    independent rows they live on; refused if there is no solution, with the weights that prove it.
    """
    p = h_0.nrows()
    working, lam = _start(S, h_0, tuple(guess))
    while True:
        h = [h_0[i, 0] - sum((S[i, j] * lam[j] for j in working), fmpq(0)) for i in range(p)]
        if all(value <= 0 for value in h):
            return lam, tuple(sorted(working))
        entering = max(range(p), key=lambda i: h[i])
        working = _admit(S, lam, working, entering, h[entering])


def _start(S: fmpq_mat, h_0: fmpq_mat, guess: tuple[int, ...]) -> tuple[list[int], list[fmpq]]:
    lam = [fmpq(0)] * h_0.nrows()
    if not guess:
        return [], lam
    try:
        multipliers = select(S, guess, guess).solve(select(h_0, guess)).entries()
    except ZeroDivisionError:
        return [], lam
    if any(value < 0 for value in multipliers):
        return [], lam
    for i, value in zip(guess, multipliers, strict=True):
        lam[i] = value
    return list(guess), lam


def _admit(S: fmpq_mat, lam: list[fmpq], working: list[int], entering: int, violation: fmpq) -> list[int]:
    """Raise the multiplier of a violated row until the row holds, dropping rows whose multiplier reaches 0."""
    working = list(working)
    while True:
        rates = select(S, working, working).solve(select(S, working, [entering])).entries() if working else []
        curvature = S[entering, entering] - sum(
            (S[entering, j] * r for j, r in zip(working, rates, strict=True)), fmpq(0)
        )
        blocking = [(lam[j] / r, j) for j, r in zip(working, rates, strict=True) if r > 0]
        full = violation / curvature if curvature > 0 else None
        if full is None and not blocking:
            weights = [fmpq(0)] * len(lam)
            weights[entering] = fmpq(1)
            for j, r in zip(working, rates, strict=True):
                weights[j] = -r
            raise InfeasibleLowerLevelError(tuple(fraction(weight) for weight in weights))
        partial, leaving = min(blocking, default=(None, -1))
        complete = full is not None and (partial is None or full <= partial)
        step = full if complete else partial
        assert step is not None  # one of the two exists, or the rows would be infeasible
        for j, r in zip(working, rates, strict=True):
            lam[j] -= step * r
        lam[entering] += step
        violation -= step * curvature
        if complete:
            return [*working, entering]
        # Its multiplier is exactly 0 now, by the choice of the step.
        working.remove(leaving)
