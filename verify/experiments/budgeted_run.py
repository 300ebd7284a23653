"""One run of a method until its budget of work is spent, with F and stationarity on the way.

The unit of work is a *product*: one product of a vector with a dense block of m × m, 2m² operations; what a call takes
is counted as :mod:`verify.experiments.work` says, for all methods and as in the experiment on scaling.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import Any, Literal

import numpy as np

from f2csa_ref.algorithm_2 import OuterState, RunState
from f2csa_ref.baselines.kkt_system import LinearSolveError
from f2csa_ref.lower_level import LowerLevelError, lower_level
from f2csa_ref.objectives import QuadraticObjectives
from spec.errors import InvalidInputError
from spec.exact import Vector
from verify.experiments.benchmark_problems import Course
from verify.experiments.compared_methods import Contender
from verify.experiments.work import WorkBlocks
from verify.truth.goldstein.distance import distance

ENDS = (InvalidInputError, LowerLevelError, LinearSolveError, FloatingPointError, np.linalg.LinAlgError)
"""What a method's step raises where its iterates leave what can be computed: the run has failed there."""
FAILED = 100.0
"""A run has failed where F stands this many times its first size above its first value."""
MOST_CALLS = 20_000
"""A method that does no work would never spend a budget of it."""
Unit = Literal["products", "calls"]
"""What a budget is counted in: work, or calls of a method's oracle."""
TIMED_CALLS = 60
PROVEN_SIZE = 0
"""In more than four dimensions gradients are doubles: enclosures at kinks would take longer than all runs."""


def output(state: RunState) -> Vector:
    """The point a method would give now: of Algorithm 2's loop the last block's mean, of the others the iterate."""
    return state.x_bar[-1] if isinstance(state, OuterState) and state.x_bar else state.x


def run(
    course: dict[str, Any],
    contender: dict[str, Any],
    seed: int,
    budget: tuple[float, Unit],
    *,
    points: int,
    distances: int,
) -> dict[str, list[float] | float | str]:
    """F at ``points`` moments of a run, nearer one another at its start, and dist(0, ∂_δF) at ``distances`` of them.

    ``seed`` is of the run's noise. The last moment is the end; a run that fails ends there, and ``stopped`` says why.
    ``noise`` is that of one sampled value of F at the end; ``held`` are rows active at the moments, over the size of y.
    """
    at, (size, unit) = Course.of(course), budget
    counts: Counter[str] = Counter()
    entrant = Contender(**contender)
    method, rng = entrant.method(at, counts), np.random.default_rng([seed, 1])
    state = method.start(at.x_0, rng)
    assert isinstance(at.objectives, QuadraticObjectives)  # as courses are
    blocks = WorkBlocks.of(at.objectives)
    first, held = _value_and_held(at, at.x_0)
    moments = [size * (i / points) ** 2 for i in range(1, points + 1)]
    record: dict[str, list[float]] = {"calls": [0.0], "products": [0.0], "loss": [first], "held": [held]}
    places, work, calls, stopped = [at.x_0], 0.0, 0, ""
    while moments and not stopped:
        try:
            with np.errstate(over="raise", invalid="raise"):
                method.step(state, rng)
        except ENDS as error:
            stopped = f"no step at call {calls + 1}: {str(error).split(';')[0]}"
            break
        work += blocks.prepared(counts, at.objectives.p) if entrant.fast else blocks.products(counts)
        counts.clear()
        calls += 1
        spent = work if unit == "products" else float(calls)
        if spent < moments[0] and calls < MOST_CALLS:
            continue
        if calls >= MOST_CALLS:
            stopped = f"its budget is not spent after {calls} calls"
        moments = [moment for moment in moments if moment > spent]
        loss, held = _value_and_held(at, output(state))
        if not loss <= first + FAILED * (1 + abs(first)):
            stopped = f"F has grown to {loss:.3g} at call {calls}"
        for name, value in (("calls", calls), ("products", work), ("loss", loss), ("held", held)):
            record[name].append(float(value))
        places.append(output(state))
    bounds = _distances(at, places, distances if not stopped else 0)
    return {**record, **bounds, "noise": noise_of_a_value(at, places[-1]), "stopped": stopped}


def _value_and_held(course: Course, x: Vector) -> tuple[float, float]:
    """F at x, exact up to rounding, and the number of active rows over the size of y; infinite and 0 where F fails."""
    q = course.objectives
    try:
        lower = lower_level(q, x)
        return q.f(x, lower.y_star), float(np.count_nonzero(lower.active)) / q.m
    except ENDS:
        return math.inf, 0.0


def noise_of_a_value(course: Course, x: Vector) -> float:
    """Standard deviation of f sampled once at (x, y*(x)): ½xᵀWx + xᵀWy + ½yᵀWy, each W of its own normal entries."""
    try:
        y = lower_level(course.objectives, x).y_star
    except ENDS:
        return math.nan
    xx, yy = float(x @ x), float(y @ y)
    return course.objectives.noise.scale("f.x") * math.sqrt(xx * xx / 4 + xx * yy + yy * yy / 4)


def _distances(course: Course, places: list[Vector], count: int) -> dict[str, list[float]]:
    """Bounds of the distance at so many of the places, evenly spread, the last included; ``at`` are their indices."""
    chosen = (
        sorted({round(i) for i in np.linspace(0, len(places) - 1, count)}) if count > 1 else [len(places) - 1][:count]
    )
    distances = [distance(course.problem, places[i].tolist(), course.radius, proven_size=PROVEN_SIZE) for i in chosen]
    return {
        "at": [float(i) for i in chosen],
        "lower": [bounds.lower for bounds in distances],
        "upper": [bounds.upper for bounds in distances],
        "certified": [float(bounds.certified) for bounds in distances],
    }


def seconds_of_a_call(course: dict[str, Any], contender: dict[str, Any], seed: int) -> float:
    """Median processor seconds of one call, one thread, over the first calls of a run."""
    at = Course.of(course)
    method, rng = Contender(**contender).method(at, Counter()), np.random.default_rng([seed, 1])
    state, took = method.start(at.x_0, rng), []
    for _ in range(TIMED_CALLS):
        began = time.process_time()
        try:
            method.step(state, rng)
        except ENDS:
            break
        took.append(time.process_time() - began)
    return float(np.median(took[len(took) // 10 :])) if took else math.nan


def lowest_loss(course: dict[str, Any]) -> float:
    """The lowest F that quasi-Newton steps on exact gradients find from the start; at a kink, on one beside it."""
    from scipy.optimize import minimize

    at = Course.of(course)
    best = [math.inf]

    def value_and_slope(x: Vector) -> tuple[float, Vector]:
        value, _ = _value_and_held(at, x)
        best[0] = min(best[0], value)
        return value, at.gradient(x)

    minimize(value_and_slope, at.x_0, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return best[0]
