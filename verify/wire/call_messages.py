"""What one oracle call is given, as it is sent: stage values, reading, parameters, and the normals drawn for it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from f2csa_ref import objectives_of
from f2csa_ref.oracles import draw_shapes
from spec import OracleParameters, PenaltyParameters, Problem, Reading
from verify.subjects.protocol import Call

NUMBER_BYTES = 25
"""Longest text of a double with its comma."""


def call_message(problem: Problem, call: Call) -> dict[str, Any]:
    """The ``call`` of a request.

    Args:
        problem: The problem it is about; its rows size the ramp.
        call: What is given.
    """
    width = call.parameters.h_width(call.reading, _inner_tol(call.alpha), objectives_of(problem).B_norm)
    made = {
        "alpha": float(call.alpha),
        "reading": _dump(call.reading),
        "parameters": _dump(call.parameters),
        "h_width": width,
        "draws": None if call.draws is None else {name: block.tolist() for name, block in call.draws.items()},
    }
    for name in ("y_star", "lam", "rho", "y_penalty"):
        value = getattr(call, name)
        made[name] = None if value is None else value.tolist()
    return made


def draws(problem: Problem, call: Call, replications: int, rng: np.random.Generator) -> dict[str, Any]:
    """Standard normals for independent estimates by block, each (replications * N_g, k) as lists."""
    return {name: rng.standard_normal(shape).tolist() for name, shape in _shapes(problem, call, replications).items()}


def draw_bytes(problem: Problem, call: Call, replications: int) -> int:
    """At most what these take in a message."""
    shapes = _shapes(problem, call, replications)
    return NUMBER_BYTES * sum(rows * columns for rows, columns in shapes.values())


def _shapes(problem: Problem, call: Call, replications: int) -> dict[str, tuple[int, int]]:
    return draw_shapes(objectives_of(problem), replications * call.parameters.N_g, call.reading.noise_pairing)


@lru_cache(maxsize=64)
def _dump(model: Reading | OracleParameters) -> dict[str, Any]:
    return model.model_dump()


@lru_cache(maxsize=64)
def _inner_tol(alpha: float) -> float:
    return PenaltyParameters(alpha=alpha).inner_tol
