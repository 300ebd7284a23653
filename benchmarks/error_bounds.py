"""``python -m benchmarks.error_bounds [COUNT]``: bounds of single calls' errors against the truth, and their price.

Random problems with boxes and coupled rows, inexact pairs, weights and minimisers, kept and cancelled dual terms, and
four alphas; the truth is rational. Prints violations, quantiles of bound / error, what a certificate costs, and what
calls that choose alpha from a wanted error come to.
"""

from __future__ import annotations

import math
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from f2csa_ref import (
    Accuracy,
    Assumed,
    Hypergradient,
    OracleCall,
    Stages,
    hypergradient,
    hypergradient_within,
    objectives_of,
)
from f2csa_ref.algorithm_1 import checked_oracle
from f2csa_ref.lower_level import lower_level
from spec import REPAIRED, Generated, OracleParameters, Quadratic
from spec.exact import Vector
from spec.reading import DualTerm
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError
from verify.truth.lower_level.lower_level import DegenerateLowerLevelError
from verify.truth.lower_level.lower_level import hypergradient as exact_gradient

ALPHAS = (0.1, 0.05, 0.02, 0.01)
SECOND, FIRST = Assumed(), Assumed(second_derivatives=False)
FAMILIES = ("paper-experiment", "coupled-rows", "random-rows")
DUAL_TERMS: tuple[DualTerm, ...] = ("cancelled", "cancelled", "cancelled", "frozen", "map", "both-maps")


@dataclass(frozen=True)
class Case:
    """A call, the problem and point it is made at, and the exact gradient there; ``plain``: no stage was disturbed."""

    problem: Quadratic
    x: Vector
    call: OracleCall
    truth: tuple[Fraction, ...]
    plain: bool

    def answer(self, assumed: Assumed) -> Hypergradient:
        """The call with its certificate."""
        return checked_oracle(objectives_of(self.problem), self.x, replace(self.call, certify=assumed), None)

    def error(self, answer: Hypergradient) -> float:
        """Distance from the truth, correctly rounded but for a few units in the last place."""
        gap = [Fraction(a) - b for a, b in zip(answer.hypergradient.tolist(), self.truth, strict=True)]
        scale = max(map(abs, gap))
        return 0.0 if scale == 0 else float(scale) * math.sqrt(float(sum((value / scale) ** 2 for value in gap)))


def cases(count: int, seed: int = 0, most: int = 5) -> Iterator[Case]:
    """Random calls at points where F is differentiable, each of its own problem."""
    made = 0
    for k in range(4 * count):
        if made == count:
            return
        rng = np.random.default_rng([seed, k])
        n, m, p = (int(value) for value in rng.integers(1, most + 1, 3))
        family, shape = FAMILIES[k % 3], {"n": n} if k % 3 == 0 else {"n": n, "m": m, "p": p}
        problem = Generated.model_validate({"family": family, "seed": k, **shape}).quadratic
        x = rng.integers(-16, 17, n) / 64
        try:
            truth = exact_gradient(problem, x.tolist())
        except (DegenerateLowerLevelError, InfeasibleLowerLevelError):
            continue
        made += 1
        yield _disturbed(problem, x, truth, rng)


def _disturbed(problem: Quadratic, x: Vector, truth: tuple[Fraction, ...], rng: np.random.Generator) -> Case:
    """A call with nothing wrong, or with one or more stages given inexactly."""
    alpha = float(rng.choice(ALPHAS))
    m, p, pair = problem.m, problem.p, lower_level(problem, x)
    plain = bool(rng.random() < 0.4)
    y_star, lam, rho, y = None, None, None, None
    if not plain:
        size = alpha ** float(rng.uniform(2, 5))
        if rng.random() < 0.6:
            y_star = pair.y_star + size * rng.standard_normal(m) / math.sqrt(m)
        if rng.random() < 0.6:
            lam = pair.lam + size * rng.standard_normal(p) * (rng.random(p) < 0.5)
        if rng.random() < 0.4:
            active = (pair.lam > 0).astype(np.float64)
            rho = np.where(rng.random(p) < 0.5, active, rng.random(p))
        if rng.random() < 0.3:
            y = pair.y_star + alpha**2 * rng.standard_normal(m)
    reading = REPAIRED.choose(
        dual_term=DUAL_TERMS[int(rng.integers(len(DUAL_TERMS)))] if not plain else "cancelled",
        inner_stop="distance" if rng.random() < 0.3 else "gradient",
    )
    parameters = OracleParameters(lower_level="first-order" if rng.random() < 0.2 else "exact")
    return Case(problem, x, OracleCall(alpha, reading, parameters, Stages(y_star, lam, rho, y)), truth, plain)


def cpu_minima(*actions: Callable[[], object], repeats: int = 40) -> list[float]:
    """Least CPU seconds of each; they take turns."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(repeats):
        for action, taken in zip(actions, times, strict=True):
            start = time.process_time()
            action()
            taken.append(time.process_time() - start)
    return [min(taken) for taken in times]


def main(arguments: list[str]) -> int:
    """Print the tables; 1 where a bound was violated."""
    count = int(arguments[0]) if arguments else 1000
    found: dict[str, list[tuple[float, float, bool, float]]] = {"second derivatives": [], "gradients alone": []}
    refused: dict[str, int] = dict.fromkeys(found, 0)
    violated = 0
    for case in cases(count):
        for name, assumed in (("second derivatives", SECOND), ("gradients alone", FIRST)):
            answer = case.answer(assumed)
            certificate, error = answer.certificate, case.error(answer)
            if certificate is None or not certificate.applies:
                refused[name] += 1
                continue
            violated += not error <= certificate.bound
            found[name].append((certificate.bound, error, case.plain, case.call.alpha))
    print(f"{count} problems, {violated} bounds violated")
    print("| may use | calls | bounds | none | median bound / error, alpha <= .05 | 10 % | 90 % | nothing disturbed |")
    print("|---|---|---|---|---|---|---|---|")
    for name, rows in found.items():
        small = [(bound / error, plain) for bound, error, plain, alpha in rows if alpha <= 0.05 and error > 0]
        ratios, plains = [ratio for ratio, _ in small], [ratio for ratio, plain in small if plain]
        low, middle, high = np.quantile(ratios, [0.1, 0.5, 0.9])
        shown = f"{middle:.4g} | {low:.4g} | {high:.4g} | {np.median(plains):.4g}"
        print(f"| {name} | {count} | {len(rows)} | {refused[name]} | {shown} |")
    print("\n| d, rows | call, CPU ms | with second derivatives | with gradients alone |\n|---|---|---|---|")
    for d, p in ((10, 5), (50, 20), (100, 50), (200, 50)):
        q = objectives_of(Generated(family="coupled-rows", n=d, p=p, seed=1))
        x, call = np.zeros(d), OracleCall(0.05)
        ours = [replace(call, certify=assumed) for assumed in (None, SECOND, FIRST)]
        times = cpu_minima(*(partial(checked_oracle, q, x, one, None) for one in ours))
        shown = " | ".join(f"× {taken / times[0]:.3g}" for taken in times[1:])
        print(f"| {d}, {p} | {1e3 * times[0]:.3g} | {shown} |")
    violated += _wanted(count // 5)
    return int(violated > 0)


def _wanted(count: int) -> int:
    """Calls that choose alpha and stop from a wanted error; how many errors exceed their bound, or that the error."""
    print(f"\n{count} problems each; runs and CPU seconds in units of one call with the reading's stop, uncertified")
    print("| wanted | may use | certified | median bound / wanted | 10 % | 90 % | runs | CPU |\n" + 8 * "|---" + "|")
    violated = 0
    for error in (1e-1, 1e-2, 1e-4, 1e-6):
        for name, assumed in (("second derivatives", SECOND), ("gradients alone", FIRST)):
            ratios, runs, spent = [], 0, [0.0, 0.0]
            for case in cases(count, seed=5):
                started = time.process_time()
                made = hypergradient_within(case.problem, case.x, Accuracy(error, assumed))
                between = time.process_time()
                hypergradient(case.problem, case.x, alpha=made.alpha)
                spent = [spent[0] + between - started, spent[1] + time.process_time() - between]
                runs += made.attempts
                off = case.error(made.estimate)
                violated += not off <= made.bound
                if made.met:
                    violated += not off <= error
                    ratios.append(made.bound / error)
            low, middle, high = np.quantile(ratios, [0.1, 0.5, 0.9])
            shown = f"{len(ratios)} of {count} | {middle:.2g} | {low:.2g} | {high:.2g}"
            print(f"| {error:g} | {name} | {shown} | {runs / count:.2g} | {spent[0] / spent[1]:.2g} |")
    return violated


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
