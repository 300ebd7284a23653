"""Families of random problems, drawn reproducibly as plain blocks."""

from __future__ import annotations

import importlib
from typing import Literal, TypeAlias

import numpy as np

from spec.exact import FloatArray

FamilyName = Literal["paper-experiment", "paper-literal", "random-rows", "coupled-rows"]

_DECIMALS = 9
"""Entries of the paper's families are rounded to this many decimals, so files stay short and exact."""
SMALL = 200
"""Largest size whose eigenvectors are drawn by an orthogonal factorisation, which takes d³ operations."""


Blocks: TypeAlias = dict[str, dict[str, FloatArray]]


def draw(family: FamilyName, n: int, m: int, p: int | None, condition: float, seed: int) -> Blocks:
    """Draw the blocks ``f``, ``g`` and ``constraints`` of a quadratic problem, as doubles.

    ``p`` is the number of rows, for the families of rows, by default m; the condition is that of the positive definite
    matrices before rounding.
    """
    rng = np.random.default_rng([seed, n, m])
    if family == "random-rows":
        blocks = _random_rows(rng, n, m, p or m)
    elif family == "coupled-rows":
        blocks = _coupled_rows(rng, n, m, p or m, condition)
    else:
        blocks = draw_experiment(rng, n, None if family == "paper-literal" else condition)
    for held in blocks.values():
        for array in held.values():
            array += 0.0  # no zero is negative
    return blocks


def draw_experiment(rng: np.random.Generator, d: int, condition: float | None) -> Blocks:
    """½xᵀQ_u x + c_uᵀx + ½yᵀPy + xᵀPy over ½yᵀQ_l y + c_lᵀy + xᵀy, y in [-1, 1]^d (section Experiments)."""
    P = rng.standard_normal((d, d))
    if condition is None:
        Q_u, Q_l = rng.standard_normal((d, d)), rng.standard_normal((d, d))
        Q_u, Q_l, P_yy = (Q_u + Q_u.T) / 2, (Q_l + Q_l.T) / 2, (P + P.T) / 2
    else:
        Q_u, Q_l = (_positive_definite(rng, d, condition) for _ in range(2))
        P = P_yy = (P + P.T) / (2 * np.sqrt(d))
    eye = np.eye(d)
    return {
        "f": {"xx": _rounded(Q_u), "xy": _rounded(P), "yy": _rounded(P_yy), "x": _rounded(rng.standard_normal(d))},
        "g": {"xy": eye, "yy": _rounded(Q_l), "y": _rounded(rng.standard_normal(d))},
        "constraints": {"A": np.zeros((2 * d, d)), "B": np.vstack([eye, -eye]), "b": np.ones(2 * d)},
    }


def _coupled_rows(rng: np.random.Generator, n: int, m: int, p: int, condition: float) -> Blocks:
    """As the experiment, but p dense rows with A of the size of B instead of the box; the first half bind at x = 0.

    Rows have length about 1; the binding ones' multipliers lie in [1/2, 3/2], the others' slack too.
    """
    P, S = (rng.standard_normal(shape) / np.sqrt(max(shape)) for shape in ((n, m), (m, m)))
    Q_u, Q_l = (_positive_definite(rng, size, condition) for size in (n, m))
    A, B = rng.standard_normal((p, n)) / np.sqrt(n), rng.standard_normal((p, m)) / np.sqrt(m)
    y0, sizes, binds = rng.standard_normal(m), rng.uniform(0.5, 1.5, p), np.arange(p) < min(m, (p + 1) // 2)
    Q_l, B = _rounded(Q_l), _rounded(B)
    return {
        "f": {"xx": _rounded(Q_u), "xy": _rounded(P), "yy": _rounded((S + S.T) / 2),
              "x": _rounded(rng.standard_normal(n)), "y": _rounded(rng.standard_normal(m))},
        "g": {"xy": _rounded(rng.standard_normal((n, m)) / np.sqrt(max(n, m))), "yy": Q_l,
              "y": _rounded(B.T @ np.where(binds, sizes, 0.0) - Q_l @ y0)},
        "constraints": {"A": _rounded(A), "B": B, "b": _rounded(np.where(binds, 0.0, sizes) - B @ y0)},
    }  # fmt: skip


def _positive_definite(rng: np.random.Generator, d: int, condition: float) -> FloatArray:
    """Eigenvalues spread geometrically over [1, condition], eigenvectors uniform up to ``SMALL``, beyond it mixed.

    Mixed: three times, the axes' signs are drawn and a cosine transform is taken, which is orthogonal.
    """
    eigenvalues = np.geomspace(1.0, condition, d)
    if d > SMALL:
        fft = importlib.import_module("scipy.fft")  # where it is needed: the package itself stays light
        matrix: FloatArray = np.diag(rng.permutation(eigenvalues))
        for _ in range(3):
            signs = rng.choice((-1.0, 1.0), d)
            half = fft.dct(matrix * signs, norm="ortho", overwrite_x=True)
            matrix = fft.dct(half.T * signs, norm="ortho", overwrite_x=True)
    else:
        basis, triangle = np.linalg.qr(rng.standard_normal((d, d)))
        basis = basis * np.sign(np.diag(triangle))
        matrix = (basis * eigenvalues) @ basis.T
    return (matrix + matrix.T) / 2


def _rounded(array: FloatArray) -> FloatArray:
    rounded: FloatArray = np.round(array, _DECIMALS)
    return rounded


def _random_rows(rng: np.random.Generator, n: int, m: int, p: int) -> Blocks:
    """Small integers; g.yy = RRᵀ + I; the first rows bind at x = 0 with chosen positive multipliers.

    Picks y0 and multipliers, then solves for ``g.y`` and ``b`` so that y0 is optimal at x = 0 with
    min(m, (p + 1) // 2) rows active and the rest slack by at least 1.
    """

    def integers(low: int, high: int, *shape: int) -> FloatArray:
        # Sums of their products stay far below 2**53: doubles hold them exactly.
        return rng.integers(low, high, endpoint=True, size=shape).astype(np.float64)

    R = integers(-1, 1, m, m)
    G = R @ R.T + np.eye(m)
    active = min(m, (p + 1) // 2)
    B = integers(-2, 2, p, m)
    while not full_rank(B[:active]):
        B[:active] = integers(-2, 2, active, m)
    y0, lam = integers(-2, 2, m), np.where(np.arange(p) < active, integers(1, 3, p), 0)
    slack = np.where(np.arange(p) < active, 0, integers(1, 3, p))
    S = integers(-2, 2, m, m)
    return {
        "f": {
            "xx": np.eye(n), "xy": integers(-2, 2, n, m), "yy": S + S.T,
            "x": integers(-2, 2, n), "y": integers(-3, 3, m),
        },
        "g": {"xy": integers(-2, 2, n, m), "yy": G, "y": B.T @ lam - G @ y0},
        "constraints": {"A": integers(-2, 2, p, n), "B": B, "b": slack - B @ y0},
    }  # fmt: skip


def full_rank(rows: FloatArray) -> bool:
    """Whether rows are linearly independent, as far as doubles can tell."""
    if len(rows) <= SMALL:
        return bool(np.linalg.matrix_rank(rows) == len(rows))
    return bool(np.linalg.eigvalsh(rows @ rows.T)[0] > 1e-9 * rows.shape[1])
