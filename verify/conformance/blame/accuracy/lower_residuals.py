r"""What a pair leaves of the lower level's optimality conditions, and the terms that could stand for it.

.. math:: g_{yy}y + g_{xy}^Tx + g_y - B^T\lambda = 0, \qquad Ax - By - b = 0 \text{ where } \lambda_i \ne 0.
"""

from __future__ import annotations

import numpy as np

from spec.blocks.quadratic import QuadraticArrays
from spec.exact import Vector
from verify.conformance.probes.probes import Probe

CARRIES = 1e-6
"""Multipliers above this part of the largest belong to rows that are held."""
Terms = dict[str, dict[str, Vector]]


def pair_of(probe: Probe, got: Vector) -> tuple[QuadraticArrays, Vector, Vector, Vector]:
    """A probe's problem and point, and the pair in an answer to it."""
    a: QuadraticArrays = probe.problem.arrays
    return a, probe.x, got[: a.B.shape[1]], got[a.B.shape[1] :]


def stationarity_residual(probe: Probe, got: Vector) -> Vector:
    """Left of the first equation, shape (m,)."""
    a, x, y, lam = pair_of(probe, got)
    return a.g_yy @ y + a.g_xy.T @ x + a.g_y - a.B.T @ lam


def held_rows(probe: Probe, got: Vector, carries: float = CARRIES) -> list[int]:
    """Rows whose multiplier, of either sign, is more than a part of the largest, or of 1."""
    lam = pair_of(probe, got)[3]
    largest = max(1.0, float(np.abs(lam).max(initial=0.0)))
    return [i for i, value in enumerate(lam) if abs(value) > carries * largest]


def row_residual(probe: Probe, got: Vector) -> Vector:
    """Left of the second one, on the rows that carry a multiplier."""
    a, x, y, _ = pair_of(probe, got)
    h: Vector = a.A @ x - a.B @ y - a.b
    return h[held_rows(probe, got)]


def terms_of(probe: Probe, got: Vector) -> Terms:
    """Terms of both equations that may be there too much or too little, by equation and name."""
    a, x, y, lam = pair_of(probe, got)
    held = held_rows(probe, got)
    first = {
        "g_yy": a.g_yy @ y, "g_xy": a.g_xy.T @ x, "g_y": a.g_y, "B": -(a.B.T @ lam), "εI": y, "1": np.ones_like(y),
        "f_yy": a.f_yy @ y, "f_xy": a.f_xy.T @ x, "f_y": a.f_y,
    }  # fmt: skip
    second = {
        "A": (a.A @ x)[held], "B": -(a.B @ y)[held], "b": -a.b[held], "1": np.ones(len(held)), "λ": lam[held],
        "1/λ": 1 / lam[held],
    }  # fmt: skip
    return {"stationarity": first, "rows": second}


def residuals(probe: Probe, got: Vector) -> dict[str, float]:
    """What a pair leaves of each optimality condition, over the size of what is added up in it; none is below 0."""
    a, x, y, lam = pair_of(probe, got)
    size = 1.0 + np.abs(a.g_yy) @ np.abs(y) + np.abs(a.g_xy.T) @ np.abs(x) + np.abs(a.g_y) + np.abs(a.B.T) @ np.abs(lam)
    h = (a.A @ x - a.B @ y - a.b) / (1.0 + np.abs(a.A) @ np.abs(x) + np.abs(a.B) @ np.abs(y) + np.abs(a.b))
    signs = lam / (1.0 + np.abs(lam).max(initial=0.0))
    return {
        "stationarity": float(np.max(np.abs(stationarity_residual(probe, got)) / size)),
        "rows": float(np.max(h, initial=0.0)),
        "signs": float(np.max(-signs, initial=0.0)),
        "complementarity": float(np.max(np.minimum(-h, signs), initial=0.0)),
    }


def relative_residual(probe: Probe, got: Vector) -> float:
    """The largest of them."""
    return max(residuals(probe, got).values())
