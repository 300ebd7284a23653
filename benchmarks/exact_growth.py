"""How the exact layer's cost grows with the problem, up to n = m = p = 20 (balls: 200).

Run ``python benchmarks/exact_growth.py``; each time is the least of a few runs, each ratio is to the row above.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from fractions import Fraction

from spec import Generated, Quadratic
from verify.truth.certificates.certification import WantedBound, certify
from verify.truth.certificates.checker import check
from verify.truth.enclosures.pair import solve_any
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, convex_up_to, error
from verify.truth.functions_of_alpha.scenario import Scenario
from verify.truth.functions_of_alpha.series import worst_scenario
from verify.truth.lower_level.lower_level import solve

SIZES = ((2, 2), (5, 3), (10, 5), (15, 8), (20, 10), (20, 20))
LARGE = ((50, 25), (100, 50), (200, 50))


def draw(size: int, rows: int) -> Quadratic:
    """Small random integers with half of the rows active at x = 0."""
    problem = Generated(family="random-rows", n=size, m=size, p=rows, seed=1).quadratic
    problem.arrays  # noqa: B018  # fills the cache, which is no part of what is measured
    return problem


def convex(family: PenaltyFamily, end: Fraction) -> bool:
    """Whether the penalty Lagrangian is convex on (0, end]."""
    return convex_up_to(family.problem, family.exact_stages.rho or (), end)


def least(call: Callable[[], object], repeats: int = 3) -> float:
    """Least wall-clock time of a few runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print one table a group of sizes."""
    stages = ("solve", "gradient", "bias(alpha)", "certify", "check", "certify, errors", "check, errors")
    print(f"{'n=m':>4} {'p':>3}" + "".join(f"{stage:>24}" for stage in stages))
    before: list[float] = []
    for size, rows in SIZES:
        problem, x = draw(size, rows), [0] * size
        family = PenaltyFamily.at(problem, x)
        end = next(end for end in (Fraction(1, 4 << k) for k in itertools.count()) if convex(family, end))
        even = certify(family, Scenario(), WantedBound(1), end)
        spent = worst_scenario(family, Scenario(), {"gradient_error": 1, "lam_error": 3})
        odd = certify(family, spent, WantedBound(1), end)
        calls: tuple[Callable[[], object], ...] = (
            lambda problem=problem, x=x: solve(problem, x),
            lambda problem=problem, x=x: PenaltyFamily.at(problem, x),
            lambda family=family: error(family, Scenario()),
            lambda family=family, end=end: certify(family, Scenario(), WantedBound(1), end),
            lambda even=even: check(even),
            lambda family=family, spent=spent, end=end: certify(family, spent, WantedBound(1), end),
            lambda odd=odd: check(odd),
        )
        before = report(size, rows, [least(call, 3 if size < 15 else 1) for call in calls], before)
    print("\nground truth in balls")
    before = []
    for size, rows in LARGE:
        problem, x = draw(size, rows), [Fraction(1, 7)] * size
        before = report(size, rows, [least(lambda problem=problem, x=x: solve_any(problem, x))], before)


def report(size: int, rows: int, times: list[float], before: list[float]) -> list[float]:
    """Print one row of times and ratios."""
    ratios = [f"x {now / then:.1f}" for now, then in zip(times, before, strict=True)] if before else [""] * len(times)
    cells = [f"{1e3 * now:>14.1f} ms {ratio:>6}" for now, ratio in zip(times, ratios, strict=True)]
    print(f"{size:>4} {rows:>3}" + "".join(cells), flush=True)
    return times


if __name__ == "__main__":
    main()
