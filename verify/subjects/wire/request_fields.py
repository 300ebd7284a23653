"""Problems and calls as the fields of a program's messages."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np

from f2csa_ref.objectives import objectives_of
from f2csa_ref.sampling import draw_shapes
from spec import OracleParameters, PenaltyParameters, Problem, Reading
from spec.blocks.exact_json import plain
from spec.problem import Generated, Holder
from verify.subjects.protocol import Call
from verify.subjects.wire.messages import SEEDS

NUMBER_BYTES = 25
"""Longest text of a double with its comma."""


def problem_message(name: str, problem: Problem) -> dict[str, Any]:
    """The params of ``problem``: a problem of any kind, under its id on the wire."""
    noise = problem.noise
    sizes = {"sigma_f": float(noise.sigma_f), "sigma_g": float(noise.sigma_g)}
    common = {
        "id": name,
        "noise": {"model": noise.model, **sizes, "on": list(noise.on)},
        "file": plain(problem.to_dict()),
    }
    if isinstance(problem, Holder):
        rows = problem.constraints
        arrays = {key: getattr(rows, key).to_numpy().tolist() for key in ("A", "B", "b")}
        return common | {"kind": "holder", "n": 1, "m": 1, "p": 1, "s": float(problem.s), "arrays": arrays}
    quadratic = problem.quadratic if isinstance(problem, Generated) else problem
    blocks = quadratic.arrays
    arrays = {block.name: getattr(blocks, block.name).tolist() for block in fields(blocks)}
    return common | {"kind": "quadratic", "n": quadratic.n, "m": quadratic.m, "p": quadratic.p, "arrays": arrays}


def call_message(problem: Problem, call: Call) -> dict[str, Any]:
    """The ``call`` of a request; the problem's rows size the ramp."""
    blocks = None if call.draws is None else {name: block.tolist() for name, block in call.draws.items()}
    return {
        "alpha": float(call.alpha),
        "reading": _dump(call.reading),
        "parameters": _dump(call.parameters),
        "h_width": call.parameters.h_width(call.reading, _inner_tol(call.alpha), objectives_of(problem).B_norm),
        "draws": blocks,
        **{name: None if value is None else value.tolist() for name, value in call.stages.items()},
    }


def draw_bytes(problem: Problem, call: Call) -> int:
    """At most what those of one estimate take in a message."""
    return NUMBER_BYTES * sum(rows * columns for rows, columns in block_shapes(problem, call, 1).values())


def block_shapes(problem: Problem, call: Call, replications: int) -> dict[str, tuple[int, int]]:
    """Shapes of the normals that so many estimates take, by block."""
    return draw_shapes(objectives_of(problem), replications * call.parameters.N_g, call.reading.noise_pairing)


def seed_of(rng: np.random.Generator | None) -> int | None:
    """A seed drawn from a generator; none from none."""
    return None if rng is None else int(rng.integers(SEEDS))


def _dump(model: Reading | OracleParameters) -> dict[str, Any]:
    # By identity: to compare models costs more than all else here.
    known = _dumped.get(id(model))
    if known is None or known[0] is not model:
        if len(_dumped) >= DUMPED:
            _dumped.clear()
        known = _dumped[id(model)] = (model, model.model_dump())
    return known[1]


DUMPED = 256
"""Readings and parameters whose fields are remembered."""
_dumped: dict[int, tuple[Reading | OracleParameters, dict[str, Any]]] = {}


@lru_cache(maxsize=64)
def _inner_tol(alpha: float) -> float:
    return PenaltyParameters(alpha=alpha).inner_tol
