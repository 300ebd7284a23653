"""Extreme eigenvalues of symmetric matrices of any size."""

from __future__ import annotations

import numpy as np

from f2csa_ref.libraries import scipy_late as sp
from spec.exact import Matrix

LANCZOS_FROM, LANCZOS_TOL = 1000, 1e-3
"""Size above which extreme eigenvalues are taken from Krylov spaces, and their relative error: each is moved
outwards by twice as much, so that both stay bounds."""


def extreme_eigenvalues(matrix: Matrix) -> tuple[float, float]:
    """Smallest and largest eigenvalue of a symmetric matrix; for a large one bounds close to them."""
    if len(matrix) <= LANCZOS_FROM:
        eigenvalues = sp.eigvalsh(matrix)
        return float(eigenvalues[0]), float(eigenvalues[-1])
    from scipy.sparse.linalg import LinearOperator, eigsh  # slow to import, and small matrices never ask

    start = np.random.default_rng(0).standard_normal(len(matrix))
    product = LinearOperator(matrix.shape, matvec=lambda v: sp.dsymv(1.0, matrix.T, v), dtype=np.float64)
    ends = eigsh(product, k=2, which="BE", v0=start, tol=LANCZOS_TOL, return_eigenvectors=False)
    low, high = float(ends.min()), float(ends.max())
    return low - 2 * LANCZOS_TOL * abs(low), high + 2 * LANCZOS_TOL * abs(high)
