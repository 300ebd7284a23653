"""A problem as it is sent: the exact file, and dense doubles for whoever does not read exact numbers."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from spec import Problem
from spec.problem import Generated, Holder
from verify.tasks import plain


def problem_message(name: str, problem: Problem) -> dict[str, Any]:
    """The params of ``problem``.

    Args:
        name: Its id on the wire.
        problem: A problem of any kind.
    """
    noise = problem.noise
    common = {
        "id": name,
        "noise": {
            "model": noise.model,
            "sigma_f": float(noise.sigma_f),
            "sigma_g": float(noise.sigma_g),
            "on": list(noise.on),
        },
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
