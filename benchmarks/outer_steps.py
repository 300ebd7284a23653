"""Seconds for ten million outer steps of Algorithm 2 on a synthetic function of two variables, noise included."""

from __future__ import annotations

import sys
import time

import numpy as np

from f2csa_ref import outer_loop
from spec import OuterParameters
from verify.truth.functions import SyntheticOracle, WeightedAbsolute

REPLICATIONS = 1000
SCHEDULE = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.002, eta=1e-3, M=100, K=100)


def main() -> None:
    """Run and print."""
    rng = np.random.default_rng(0)
    oracle = SyntheticOracle(WeightedAbsolute((0.2, 0.98)), 0.05, 1.0, rng)
    started = time.perf_counter()
    outer_loop(oracle, np.ones((REPLICATIONS, 2)), parameters=SCHEDULE, rng=rng)
    steps = REPLICATIONS * SCHEDULE.T
    sys.stdout.write(f"{steps:,} outer steps in {time.perf_counter() - started:.2f} s\n")


if __name__ == "__main__":
    main()
