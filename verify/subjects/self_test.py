"""One call of each stage on a tiny problem: whether the answer has the right form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spec import OuterParameters, Problem, parse_problem
from verify.subjects.protocol import Call

TINY = {
    "kind": "quadratic",
    "f": {"xx": [[1, 0], [0, 2]], "xy": [["1/3", 0, 0], [0, 1, 0]], "y": [1, 0, -1]},
    "g": {"yy": [[2, 0, 0], [0, 1, 0], [0, 0, 3]], "xy": [[0, 1, 0], [1, 0, 0]]},
    "constraints": {"A": [[1, 0]], "B": [[1, 1, 0]], "b": ["1/7"]},
    "noise": {"model": "additive", "sigma_f": "1/10", "sigma_g": "1/10"},
}
"""n = 2, m = 3, p = 1: every wrong shape shows."""


class CheckFailedError(Exception):
    """A check that did not pass, in a line."""


def tiny_problem() -> Problem:
    """The problem all stages are tried on."""
    return parse_problem(TINY)


def try_stage(stages: Any, stage: str, problem: Problem) -> str:
    """Call a stage once.

    Args:
        stages: The subject's stages.
        stage: Name of one it offers.
        problem: The tiny problem.

    Raises:
        CheckFailedError: If it asks the oracle a wrong number of times.
        SubjectFaultError: If it does anything else wrong.
    """
    rng, x = np.random.default_rng(2), np.array([0.5, -0.25])
    y_star, lam, rho = np.array([0.1, -0.2, 0.3]), np.array([0.2]), np.array([1.0])
    given = Call(alpha=0.1, y_star=y_star, lam=lam, rho=rho)
    outer = OuterParameters(goldstein_radius=0.4, epsilon=0.1, D=0.1, eta=0.1, M=4, K=3)
    runs = given.parameters.model_copy(update={"lower_level_steps": 8, "penalty_steps": 2, "shared_samples": 2})
    noisy = Call(alpha=0.5, y_star=y_star, lam=lam, rho=rho, parameters=runs)
    inner = Call(alpha=0.5, parameters=runs.model_copy(update={"lower_level": "primal-dual"}))
    tries: dict[str, Callable[[], Any]] = {
        "lower_level": lambda: stages.lower_level(problem, x),
        "activation": lambda: stages.activation(np.array([-0.01]), lam, 0.1, 0.1),
        "penalty_minimiser": lambda: stages.penalty_minimiser(problem, x, given, 1e-6),
        "hypergradient": lambda: stages.hypergradient(problem, x, Call(alpha=0.1), rng),
        "hypergradient_samples": lambda: stages.hypergradient_samples(problem, x, given, rng, 5),
        "lower_level_runs": lambda: stages.lower_level_runs(problem, x, inner, rng, 3),
        "penalty_runs": lambda: stages.penalty_runs(problem, x, noisy, rng, 3),
        "hypergradient_runs": lambda: stages.hypergradient_runs(problem, x, inner, rng, 3),
        "optimise": lambda: _outer(lambda oracle: stages.optimise(oracle, x, outer, rng), outer.T),
        "optimise_runs": lambda: _outer(
            lambda oracle: stages.optimise_runs(oracle, np.tile(x, (5, 1)), outer, rng, keep_path=True), outer.T
        ),
    }
    tries[stage]()
    return "answers in the right shapes"


def _outer(run: Callable[[Callable[[Any], Any]], Any], expected: int) -> Any:
    asked = 0

    def oracle(z: Any) -> Any:
        nonlocal asked
        asked += 1
        return np.asarray(z)

    found = run(oracle)
    if asked != expected:
        raise CheckFailedError(f"asked the oracle {asked} times instead of T = {expected}")
    return found
