"""Overhead of the wire: one call of the reference served in Python against the same call in process.

Run with ``python benchmarks/wire.py``. A call carries the point, all given stages and the draws; the answer comes back
as n numbers. Both sides do the same mathematics, so the difference of the medians is what the wire costs: validating,
writing and reading JSON on either side, and switching between two processes.
"""

from __future__ import annotations

import json
import shlex
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from f2csa_ref.libraries.one_thread import one_thread
from spec import parse_problem
from verify.subjects import Call, ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.subjects.wire.client import WireSubject

REPEATS = 400


def median_us(call: Callable[[], object]) -> float:
    """Median time of a call, microseconds."""
    call()
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return 1e6 * statistics.median(times)


def measure(n: int) -> dict[str, float]:
    """Medians for one size, microseconds."""
    noise = {"model": "matrix", "sigma_f": "1/10", "sigma_g": "1/10"}
    data = {"kind": "generated", "family": "paper-experiment", "n": n, "seed": 1, "noise": noise}
    problem = parse_problem(data)
    rng = np.random.default_rng(0)
    x, h = rng.standard_normal(n), rng.standard_normal(2 * n)
    # Every stage is given, so that little is left to compute.
    call = Call(
        alpha=0.1, y_star=rng.standard_normal(n), lam=h**2, rho=rng.random(2 * n), y_penalty=rng.standard_normal(n)
    )
    here = StageCalls(ReferenceSubject())
    served = shlex.join([sys.executable, "-m", "verify.subjects.wire.serve", "reference"])
    with WireSubject(served) as subject:
        there = StageCalls(subject)
        started = time.perf_counter()
        there.activation(x, x, 0.1, 0.1)
        start = 1e6 * (time.perf_counter() - started)
        in_process = median_us(lambda: here.hypergradient(problem, x, call, rng))
        over_wire = median_us(lambda: there.hypergradient(problem, x, call, rng))
        rows_here = median_us(lambda: here.activation(h, h, 0.1, 0.1))
        rows_there = median_us(lambda: there.activation(h, h, 0.1, 0.1))
    return {
        "n": n,
        "hypergradient in process": in_process,
        "hypergradient over the wire": over_wire,
        "overhead": over_wire - in_process,
        "activation in process": rows_here,
        "activation over the wire": rows_there,
        "start": start,
    }


if __name__ == "__main__":
    with one_thread():
        rows = [measure(n) for n in (2, 50, 200)]
    for row in rows:
        print(json.dumps({name: round(value, 1) for name, value in row.items()}))
