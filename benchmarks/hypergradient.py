"""One hypergradient by Algorithm 1 against implicit differentiation, in one process, on the same problems.

Both start from the same lower-level solve. Counts are exact; seconds are minima over repetitions and only their
ratio is meant to be compared between machines. Run: python benchmarks/hypergradient.py
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable

import numpy as np

import f2csa_ref
from spec import Generated, Quadratic
from spec.exact import FloatArray

REPETITIONS = 5
ALPHA = 0.05


def implicit(problem: Quadratic, x: FloatArray, y: FloatArray, active: FloatArray) -> FloatArray:
    """The gradient of F by one factorisation of g.yy and one Schur complement on the active rows."""
    a = problem.arrays
    B, A = a.B[active], a.A[active]
    solved = np.linalg.solve(a.g_yy, np.hstack([a.g_xy.T, B.T]))
    J, Z = -solved[:, : problem.n], solved[:, problem.n :]
    if len(B):
        J = J + Z @ np.linalg.solve(B @ Z, A - B @ J)
    grad_y = a.f_xy.T @ x + a.f_yy @ y + a.f_y
    gradient: FloatArray = a.f_xx @ x + a.f_xy @ y + a.f_x + J.T @ grad_y
    return gradient


def fastest(call: Callable[[], object]) -> float:
    """Shortest of a few runs, in seconds."""
    taken = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def main() -> None:
    """Print one line a size."""
    print(f"{'n = m':>6} {'p':>5} {'gradients':>10} {'row products':>13} {'Algorithm 1 / implicit':>23} {'error':>9}")
    for d in (10, 25, 50, 100, 200, 400):
        problem = Generated(family="random-rows", n=d, m=d, p=max(2, d // 4), seed=1).quadratic
        x = np.zeros(d)
        lower = f2csa_ref.lower_level(problem, x)
        given = f2csa_ref.Stages(y_star=lower.y_star, lam=lower.lam)

        def penalty(
            problem: Quadratic = problem, x: FloatArray = x, given: f2csa_ref.Stages = given
        ) -> f2csa_ref.Hypergradient:
            return f2csa_ref.hypergradient(problem, x, alpha=ALPHA, given=given)

        def exact(
            problem: Quadratic = problem, x: FloatArray = x, lower: f2csa_ref.LowerLevelSolution = lower
        ) -> FloatArray:
            return implicit(problem, x, lower.y_star, lower.lam > 0)

        found, truth = penalty(), exact()
        ratio = fastest(penalty) / fastest(exact)
        gradients = sum(count for name, count in found.counts.items() if name.startswith("grad"))
        error = float(np.linalg.norm(found.hypergradient - truth) / np.linalg.norm(truth))
        products = found.counts["row_products"]
        print(f"{d:>6} {problem.p:>5} {gradients:>10} {products:>13} {ratio:>23.2f} {error:>9.1e}")


if __name__ == "__main__":
    main()
