"""Many points at once against as many calls of the fast oracle, N_g = 30, additive noise."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.speed import ALPHA, LOWER, N_G, LowerName, drawn, named, path
from benchmarks.timing import Row, minima
from f2csa_ref import OracleCall
from f2csa_ref.fast import BatchedEstimate, BatchedOracle, FastOracle
from spec import Generated, OracleParameters
from spec.exact import Matrix

SIZES = (("paper-experiment", 100, None), ("paper-experiment", 1000, None), ("coupled-rows", 100, 5))
POINTS = (16, 64, 256)
RADIUS = 1e-3
"""Length of the steps from the centre to a point and of the centre's own."""


def batched_calls(large: bool) -> Iterator[Row]:
    """Points around a walking centre, on numpy and, where torch sees one, on a GPU."""
    gpu = torch_on_gpu()
    for (family, n, p), K in itertools.product(SIZES, POINTS if not large else (*POINTS, 1024)):
        for lower in LOWER:
            yield from _batched_call(drawn(family, n, p), K, named(n, p), lower, gpu)


def why_no_gpu() -> str:
    """One line for the table where there is no GPU row, empty where there is."""
    if importlib.util.find_spec("torch") is None:
        return "No GPU rows: torch is not installed (no dependency; the oracle takes any array library)."
    return "" if torch_on_gpu() is not None else "No GPU rows: torch sees no GPU here."


def torch_on_gpu() -> Any:
    """Torch where it sees a GPU, else nothing."""
    if importlib.util.find_spec("torch") is None:
        return None
    torch = importlib.import_module("torch")
    return torch if torch.cuda.is_available() else None


def around(n: int, K: int) -> Callable[[], Matrix]:
    """K new points around the next centre of a path."""
    centres, rng = path(n, RADIUS), np.random.default_rng(1)
    return lambda: next(centres) + RADIUS / np.sqrt(n) * rng.standard_normal((K, n))


def _batched_call(problem: Generated, K: int, size: str, lower: LowerName, gpu: Any) -> Iterator[Row]:
    rng, n = np.random.default_rng(0), problem.n
    call = OracleCall(ALPHA, parameters=OracleParameters(N_g=N_G, lower_level=lower))
    answers: dict[str, BatchedEstimate] = {}

    def at_once(oracle: BatchedOracle, name: str) -> Callable[[], object]:
        points = around(n, K)

        def once() -> None:
            answers[name] = oracle(points(), rng)
            oracle.arrays.host(answers[name].hypergradient)  # a GPU has answered when its answer is here

        return once

    def one_by_one() -> Callable[[], object]:
        oracle, points = FastOracle(problem, call), around(n, K)
        return lambda: [oracle(x, rng) for x in points()]

    parties = {"numpy": at_once(BatchedOracle(problem, call), "numpy")}
    if gpu is not None:
        parties["torch, GPU"] = at_once(BatchedOracle(problem, call, gpu, "cuda"), "torch, GPU")
    *ours, theirs = minima(*parties.values(), one_by_one(), most=20)
    for name, seconds in zip(parties, ours, strict=True):
        counts = answers[name].counts
        note = f"{name}; {counts['matrix_products']} products for {counts['matrix_vector_products']}"
        yield Row(f"{K} points at once, {lower}", size, f"{K} calls of FastOracle", seconds, theirs, note)
