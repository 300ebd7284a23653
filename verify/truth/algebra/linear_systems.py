r"""Linear systems enclosed rigorously: refined with an inverse in doubles, judged by exact residuals.

If :math:`\beta = \|I - RA\|_\infty < 1` for an approximate inverse R, then for every approximate solution

.. math:: \|x - \tilde x\|_\infty \le \frac{\|R\,(b - A\tilde x)\|_\infty}{1 - \beta}.

R comes from numpy, beta from a floating-point bound that covers every order of summation, residuals from balls.
Source: S. M. Rump, "Verification methods", Acta Numerica 19 (2010), sections 10.1 and 10.8.1.
"""

from __future__ import annotations

import numpy as np
from flint import arb, arb_mat, ctx

from spec import InvalidInputError
from spec.exact import FloatArray

_EPS = float(np.finfo(np.float64).eps)
_MAX_BETA = 0.5
_SWEEPS = 40
"""Refinement gains -log2(beta) bits a sweep, at least one; a sweep that gains nothing ends it."""


class VerifiedSystem:
    """One square matrix within balls, factored once, solved for many right-hand sides.

    ``slack`` bounds the distance of its ``approximate`` in doubles, entry by entry.
    """

    def __init__(self, matrix: arb_mat, approximate: FloatArray, slack: FloatArray) -> None:
        self._matrix = matrix
        self._inverse: FloatArray | None = None
        self._beta = np.inf
        try:
            inverse = np.asarray(np.linalg.inv(approximate), dtype=np.float64)
        except np.linalg.LinAlgError:
            return
        size = len(approximate)
        rounding = np.abs(inverse) @ (np.abs(approximate) * (_EPS * (size + 4)) + slack)
        error = np.abs(np.eye(size) - inverse @ approximate) + rounding
        # The bound is itself computed in doubles; 1e-10 covers its own rounding for any size used here.
        beta = float(error.sum(axis=1).max(initial=0.0)) * (1 + 1e-10)
        if beta < _MAX_BETA:
            self._inverse, self._beta = inverse, beta

    def solve(self, right: arb_mat) -> arb_mat:
        """Enclose the solution of ``matrix @ v = right``, a column; refused if the matrix may be singular."""
        if self._inverse is None:
            return self._solve_in_balls(right)
        size = right.nrows()
        solution = arb_mat(size, 1)
        previous = np.inf
        target = 2.0 ** -(ctx.prec - 20)
        for _ in range(_SWEEPS):
            residual = (right - self._matrix * solution).entries()
            middle = np.array([float(value.mid()) for value in residual])
            step = self._inverse @ middle
            gained = float(np.abs(step).max(initial=0.0))
            if not gained < previous / 2:
                break
            solution = arb_mat(size, 1, [(v + s).mid() for v, s in zip(solution.entries(), step.tolist(), strict=True)])
            previous = gained
            if gained <= target:
                break
        residual = (right - self._matrix * solution).entries()
        bound = np.abs(self._inverse) @ np.array([upper(value) for value in residual])
        radius = arb(0, float(bound.max(initial=0.0)) * (1 + 1e-10) / (1 - self._beta) * (1 + 1e-10))
        return arb_mat(size, 1, [value + radius for value in solution.entries()])

    def _solve_in_balls(self, right: arb_mat) -> arb_mat:
        try:
            return self._matrix.solve(right, algorithm="precond")
        except ZeroDivisionError:
            raise InvalidInputError("problem", "must have linear systems that balls can tell from singular") from None


def proves_positive_definite(symmetric: FloatArray, slack: float) -> bool:
    """Whether a Cholesky factorisation in doubles proves every matrix within the spectral slack positive definite."""
    size = len(symmetric)
    shift = 2 * (size + 3) * _EPS * float(np.trace(symmetric)) + 2 * slack
    try:
        np.linalg.cholesky(symmetric - shift * np.eye(size))
    except np.linalg.LinAlgError:
        return False
    return True


def upper(value: arb) -> float:
    """A double at least as large as every |number| in the ball."""
    return 0.0 if value.is_zero() else float(np.nextafter(float(value.abs_upper()), np.inf))
