"""Families of random problems, drawn reproducibly as plain blocks."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from spec.exact import FloatArray

FamilyName = Literal["paper-experiment", "paper-literal", "random-rows"]

_DECIMALS = 9
"""Entries of the paper's families are rounded to this many decimals, so files stay short and exact."""


def draw(family: FamilyName, n: int, m: int, p: int | None, condition: float, seed: int) -> dict[str, Any]:
    """Draw the blocks ``f``, ``g`` and ``constraints`` of a quadratic problem.

    ``p`` is the number of rows, for ``random-rows``, by default m; the condition is that of the positive definite
    matrices before rounding.
    """
    rng = np.random.default_rng([seed, n, m])
    if family == "random-rows":
        return _random_rows(rng, n, m, p or m)
    return _box_experiment(rng, n, None if family == "paper-literal" else condition)


def _box_experiment(rng: np.random.Generator, d: int, condition: float | None) -> dict[str, Any]:
    """½xᵀQ_u x + c_uᵀx + ½yᵀPy + xᵀPy over ½yᵀQ_l y + c_lᵀy + xᵀy, y in [-1, 1]^d (section Experiments)."""
    P = rng.standard_normal((d, d))
    if condition is None:
        Q_u, Q_l = rng.standard_normal((d, d)), rng.standard_normal((d, d))
        Q_u, Q_l, P_yy = (Q_u + Q_u.T) / 2, (Q_l + Q_l.T) / 2, (P + P.T) / 2
    else:
        Q_u, Q_l = (_positive_definite(rng, d, condition) for _ in range(2))
        P = P_yy = (P + P.T) / (2 * np.sqrt(d))
    eye = np.eye(d, dtype=int)
    return {
        "f": {"xx": _rounded(Q_u), "xy": _rounded(P), "yy": _rounded(P_yy), "x": _rounded(rng.standard_normal(d))},
        "g": {"xy": eye.tolist(), "yy": _rounded(Q_l), "y": _rounded(rng.standard_normal(d))},
        "constraints": {
            "A": np.zeros((2 * d, d), dtype=int).tolist(),
            "B": np.vstack([eye, -eye]).tolist(),
            "b": [1] * (2 * d),
        },
    }


def _positive_definite(rng: np.random.Generator, d: int, condition: float) -> FloatArray:
    """Eigenvalues spread geometrically over [1, condition], eigenvectors uniform."""
    basis, triangle = np.linalg.qr(rng.standard_normal((d, d)))
    basis = basis * np.sign(np.diag(triangle))
    matrix: FloatArray = (basis * np.geomspace(1.0, condition, d)) @ basis.T
    return (matrix + matrix.T) / 2


def _rounded(array: FloatArray) -> list[Any]:
    return list(np.round(array, _DECIMALS).tolist())


def _random_rows(rng: np.random.Generator, n: int, m: int, p: int) -> dict[str, Any]:
    """Small integers; g.yy = RRᵀ + I; the first rows bind at x = 0 with chosen positive multipliers.

    Picks y0 and multipliers, then solves for ``g.y`` and ``b`` so that y0 is optimal at x = 0 with
    min(m, (p + 1) // 2) rows active and the rest slack by at least 1.
    """

    def integers(low: int, high: int, *shape: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        return rng.integers(low, high, endpoint=True, size=shape)

    R = integers(-1, 1, m, m)
    G = R @ R.T + np.eye(m, dtype=np.int64)
    active = min(m, (p + 1) // 2)
    B = integers(-2, 2, p, m)
    while np.linalg.matrix_rank(B[:active]) < active:
        B[:active] = integers(-2, 2, active, m)
    y0, lam = integers(-2, 2, m), np.where(np.arange(p) < active, integers(1, 3, p), 0)
    slack = np.where(np.arange(p) < active, 0, integers(1, 3, p))
    S = integers(-2, 2, m, m)
    return {
        "f": {
            "xx": np.eye(n, dtype=int).tolist(),
            "xy": integers(-2, 2, n, m).tolist(),
            "yy": (S + S.T).tolist(),
            "x": integers(-2, 2, n).tolist(),
            "y": integers(-3, 3, m).tolist(),
        },
        "g": {"xy": integers(-2, 2, n, m).tolist(), "yy": G.tolist(), "y": (B.T @ lam - G @ y0).tolist()},
        "constraints": {"A": integers(-2, 2, p, n).tolist(), "B": B.tolist(), "b": (slack - B @ y0).tolist()},
    }
