"""Large quadratic programs over general rows by proxsuite, where it is installed (extra ``proxsuite``).

Source: Bambade, El-Kazdadi, Taylor and Carpentier, PROX-QP, 2022.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np

from spec.exact import Matrix, Vector

PROXIMAL_FROM = 500
"""Size from which it is faster than daqp: 1.9 times at 500, 5.5 times at 2000 (one core, half as many rows)."""
ACCURACY = 1e-11
"""Absolute residual asked for of a problem scaled to size 1; what follows polishes the pair."""


def installed() -> bool:
    """Whether the extra is there."""
    return importlib.util.find_spec("proxsuite") is not None


def proximal_program(H: Matrix, c: Vector, C: Matrix, upper: Vector) -> tuple[Vector, Vector] | None:
    """Minimise ½ yᵀHy + cᵀy over C y <= upper: y and multipliers >= 0, or nothing where it does not say solved."""
    dense: Any = importlib.import_module("proxsuite").proxqp.dense
    result = dense.solve(H, c, None, None, C, None, upper, eps_abs=ACCURACY, eps_rel=0.0)
    if not str(result.info.status).endswith("PROXQP_SOLVED"):
        return None
    return np.array(result.x), np.maximum(np.array(result.z), 0.0)
