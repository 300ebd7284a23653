"""Algorithms 1 and 2 of a subject together: what one outer step costs, counted by it, and where a whole run ends.

The problem has n = m = p = 1 and a constraint that moves: g = y²/2, x - y <= 0, f = 2y - x; y* = max(x, 0), F = |x|.
Every hypergradient is a complete call with noisy inner solvers, under one of three sampling plans.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, log

import numpy as np

from spec import OracleParameters, OuterParameters, parse_problem
from spec.atlas import Instance, find
from spec.exact import Vector
from verify.checks.inner_cost.oracle_call import LADDER, enough, noise_of
from verify.checks.measuring.case import Case, compare
from verify.checks.measuring.premises import additive, regular_truth
from verify.checks.measuring.runs.iteration_runs import constant_step, settled_iteration, sized_for
from verify.checks.measuring.runs.outer_runs import batch, kept, record
from verify.evidence.model import ComparisonEvidence
from verify.subjects.protocol import Call
from verify.truth.functions import WeightedAbsolute

_LOWER = find("toy1")
TINY = Instance(
    "toy1",
    parse_problem({**_LOWER.problem.to_dict(), "f": {"x": [-1], "y": [2]}}),
    _LOWER.x,
    "the member of absolute-moving with n = m = p = 1",
    _LOWER.strata,
)
"""Its lower level is that of ``toy1``, whose iterations' laws are known exactly."""
TINY_X = np.array([1.0])
F = WeightedAbsolute((1.0,))
SHARE = 0.3
"""α in units of ε, or of √ε."""
ACCURACY = 0.011
"""Inner accuracy in units of ε², where α = √ε."""
LOUD = additive("1")
"""Noise where a sample is shared: its size σ²/α² is then far above 1."""
SETTLED = 1e-9
PHASES = 3
"""Lines 3, 5 and 6: each takes a gradient of every sample at least once."""
TARGET = 2 / 3
"""ε of the whole runs: theorem's constants, at the smallest size at which ε + 2β says something (L_F = 1)."""
RADIUS = 0.5
START = 1.65
"""In radii: the first block stays outside the ball, the second comes within. All lies inside x = 1, where the lower
level's iteration starts further from its solution than anywhere on the way."""


@dataclass(frozen=True)
class RunPlan:
    """How an outer step's samples are drawn: the call at a target ε, and how many gradients it cannot do without."""

    name: str
    call: Callable[[Case, float], Call]
    least: Callable[[Call], int]
    shared: bool = False

    def noisy(self, case: Case) -> Instance:
        """The problem with the plan's noise."""
        return TINY.with_noise(LOUD if self.shared else noise_of(case))


def _fresh(case: Case, alpha: float, accuracy: float, epsilon: float) -> Call:
    """Fresh samples in every phase: as many lower-level steps as its exact law asks for the accuracy."""
    there = replace(case, instance=TINY)
    iteration, steps = enough(there, accuracy ** (1 / 3))
    if constant_step(there) and steps < LADDER[True][0]:
        # Its law is read from there on only.
        steps = LADDER[True][0]
        iteration = sized_for(there, iteration, steps)
    parameters = OracleParameters(
        lower_level_steps=steps, eta_y=iteration.eta_y, eta_lam=iteration.eta_lam, N_g=batch(case, epsilon)
    )
    return case.call(alpha, parameters=parameters)


def _literal(case: Case, epsilon: float) -> Call:
    alpha = SHARE * epsilon
    return _fresh(case, alpha, alpha**3, epsilon)


def _larger(case: Case, epsilon: float) -> Call:
    return _fresh(case, SHARE * epsilon**0.5, ACCURACY * epsilon**2, epsilon)


def _shared(case: Case, epsilon: float) -> Call:
    alpha = SHARE * epsilon
    iteration = settled_iteration(TINY, regular_truth(TINY), sigma=0.0)
    samples = ceil(round(LOUD.scale("f.x") ** 2 / alpha**2, 6))
    steps = ceil(log(SETTLED) / log(iteration.radius))
    parameters = OracleParameters(lower_level_steps=steps, N_g=samples, shared_samples=samples)
    return case.call(alpha, reading=case.reading.choose(inner_solver="shared-sample"), parameters=parameters)


def _steps_and_batch(call: Call) -> int:
    return call.parameters.lower_level_steps + call.parameters.N_g


FRESH = RunPlan("fresh samples, α = 0.3ε", _literal, _steps_and_batch)
LARGER = RunPlan("fresh samples, α = 0.3√ε", _larger, _steps_and_batch)
SHARED = RunPlan(
    "one shared sample, α = 0.3ε", _shared, lambda call: PHASES * call.parameters.shared_samples, shared=True
)


def price(case: Case, plan: RunPlan, epsilon: float) -> float:
    """Gradient samples that the subject counts for one complete call at a target ε, at x = 1."""
    rng = case.shared_rng(f"price {plan.name} {case.reading.inner_solver} {epsilon}")
    return case.stages.hypergradient_runs(plan.noisy(case).problem, TINY_X, plan.call(case, epsilon), rng, 1)[1]


@dataclass(frozen=True)
class WholeRun:
    """One run of both algorithms by the theorem's schedule: mean distance over its blocks, calls of every step."""

    distance: float
    calls: Vector
    least: int
    bound: float
    followed: ComparisonEvidence
    schedule: OuterParameters

    def evidence(self) -> tuple[ComparisonEvidence, ...]:
        """Where it ended, what it counted, and whether Algorithm 2 went where Algorithm 1's answers lead."""
        context: dict[str, float | str] = {
            "epsilon": self.schedule.epsilon,
            "M": float(self.schedule.M),
            "K": float(self.schedule.K),
        }
        name = "expected distance of a whole run, against ε + 2β"
        ended = compare(name, self.distance, "<=", self.bound, context=context)
        counted = compare(
            "fewest gradients counted for an outer step, over the fewest it can do with",
            float(self.calls.min()) / self.least, ">=", 1.0, context={"total": float(self.calls.sum())},
        )  # fmt: skip
        return ended, counted, self.followed


def whole_run(case: Case, plan: RunPlan) -> WholeRun:
    """Run both algorithms together, every call counted; kept, for several steps of one proof ask for the same run.

    The theorem's constants: M = ⌈36G²/ε²⌉, K = ⌈2C₀/(δε)⌉. A run ends elsewhere by chance only if the mean error of a
    block's answers reaches L_F = 1, tens of its standard deviations.
    """
    key = ("whole run", plan.name, case.reading, case.seed)
    memory = kept(case)
    if key not in memory:
        rng = case.shared_rng(repr(key))
        call, problem = plan.call(case, TARGET), plan.noisy(case).problem
        alpha = call.alpha
        # The bias points inwards: at most 2α² by the exact function of α; errors of the stages are of order α.
        beta = 2 * alpha**2 / (1 + alpha**2)
        schedule = OuterParameters.repaired(
            goldstein_radius=RADIUS, epsilon=TARGET, lipschitz_F=1.0, gap=START * RADIUS, bias=beta, variance=alpha**2
        )
        counts: list[float] = []

        def oracle(z: Vector) -> Vector:
            estimates, calls = case.stages.hypergradient_runs(problem, z, call, rng, 1)
            counts.append(calls)
            return np.asarray(estimates[0])

        recorded = record(case, oracle, np.array([START * RADIUS]), schedule, rng)
        distance = float(F.distance(recorded.run.x_bar, RADIUS).mean())
        memory[key] = WholeRun(
            distance, np.array(counts), plan.least(call), TARGET + 2 * beta, recorded.followed, schedule
        )
    run: WholeRun = memory[key]
    return run
