"""The affine rows h = A x - B y - b, which all kinds of objectives share."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg

from spec.exact import Matrix, Vector

WideMatrix: TypeAlias = np.ndarray[Any, np.dtype[np.longdouble]]

EXTENDED_LIMIT = 1_000_000
"""Largest number of matrix entries multiplied in extended precision (a few milliseconds each time)."""


class AffineRows:
    """``A (p, n)``, ``B (p, m)``, ``b (p,)``, with their sizes, norm and values."""

    A: Matrix
    B: Matrix
    b: Vector

    @property
    def n(self) -> int:
        return int(self.A.shape[1])

    @property
    def m(self) -> int:
        return int(self.B.shape[1])

    @property
    def p(self) -> int:
        return int(self.B.shape[0])

    @cached_property
    def B_norm(self) -> float:  # noqa: N802  # the paper's letter
        """Spectral norm of ``B``."""
        gram = self.B @ self.B.T if self.p <= self.m else self.B.T @ self.B
        return math.sqrt(max(0.0, extreme_eigenvalues(gram)[1]))

    @cached_property
    def _extended_rows(self) -> tuple[WideMatrix, WideMatrix] | None:
        if self.A.size + self.B.size > EXTENDED_LIMIT:
            return None
        return self.A.astype(np.longdouble), self.B.astype(np.longdouble)

    def h(self, x: Vector, y: Vector) -> Vector:
        """Row values, summed in extended precision where affordable: alpha_2 = alpha**-4 amplifies their rounding."""
        if self._extended_rows is None:
            return self.A @ x - self.B @ y - self.b
        A, B = self._extended_rows
        rows: Vector = (A @ x - B @ y - self.b).astype(np.float64)
        return rows


def extreme_eigenvalues(matrix: Matrix) -> tuple[float, float]:
    """Smallest and largest eigenvalue of a symmetric matrix."""
    eigenvalues = scipy.linalg.eigvalsh(matrix)
    return float(eigenvalues[0]), float(eigenvalues[-1])
