"""Remark "Inner Loop Complexity": what logarithms in the accuracy leave out."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log, sqrt
from typing import Any

import numpy as np

from spec import Quadratic
from spec.problem import parse_problem
from verify.checks.inner_cost.lower_level_solve import calls_for_accuracy
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.estimates.second_look import looked_twice
from verify.checks.measuring.premises import regular_truth
from verify.checks.measuring.runs.iteration_runs import (
    constant_step,
    held_to_law,
    measured_steps,
    settled_iteration,
    steps_call,
)
from verify.evidence.model import Point, RateEvidence
from verify.evidence.rates.rates import fit_rate
from verify.truth.geometry import quadratic_of
from verify.truth.iterations import LinearIteration, averaged_mean_square
from verify.verdict import NoEvidenceError

UNCONSTRAINED = ("concave-upper", "interior")
CURVATURES = (4, 16, 64, 256)
"""Condition numbers of the lower level."""
TARGET = 1e-6
"""Relative accuracy to which noise-free steps are counted."""
SAME_RATE = 0.01
"""Relative difference of two contraction rates that are one."""
LONG = tuple(2**k for k in range(9, 16))
"""Steps of the averaged iteration at which its exact law is read, one coordinate at a time."""
SIGMA = 0.1
BATCHED = tuple(range(16, 65, 8))
"""Iterations in growing batches at which their exact law is read."""


@check("inner-loop-remark", instances=UNCONSTRAINED, needs=("lower_level_runs",), decisions=2, sure=1)
def noisy_steps(case: Case) -> Measurement:
    """Noisy steps against δ on an unconstrained lower level, by the subject's iterations; growing batches exactly."""
    if case.sense.batches == "growing":
        return _in_growing_batches(case)
    return looked_twice(case, lambda at: _steps(at, power=1.0, name="inner_tol"))


@check("inner-loop-remark/log-in-epsilon", instances=UNCONSTRAINED, needs=("lower_level_runs",), decisions=3, sure=1)
def log_in_epsilon(case: Case) -> Measurement:
    """The same against ε, with δ = ε³: powers of ε are six times as fine, so the exact law's is held to the runs."""
    return looked_twice(case, lambda at: _steps(at, power=1 / 3, name="epsilon"))


@check("inner-loop-remark/noise-free", instances=("interior",), needs=("lower_level_runs",), sure=2)
def noise_free(case: Case) -> Measurement:
    """Noise-free gradient steps of size 1/C_g to a fixed accuracy, against κ_g; the subject's own contraction.

    A constant factor more or less has the same order, so each step's contraction is held to 1 - 1/κ_g besides.
    """
    points, off = [], 0.0
    for kappa in CURVATURES:
        problem = _conditioned(case.instance.problem, kappa)
        truth = regular_truth(replace(case.instance, problem=problem))
        distances, choices = [], {"inner_solver": "constant-step", "primal_dual_sign": "minus"}
        for steps in (2 * kappa, 6 * kappa):
            call = steps_call(case, steps, 1 / kappa, 1 / kappa, **choices)
            y, _ = case.stages.lower_level_runs(problem, case.x, call, case.rng, 1)
            distances.append(float(np.linalg.norm(y[0] - truth.y_star)))
        if distances[1] in (0.0, distances[0]):
            raise NoEvidenceError("lower_level_runs is as far from y* after three times the steps: no rate shows")
        factor = (distances[1] / distances[0]) ** (1 / (4 * kappa))
        off = max(off, abs(log(factor) / log(1 - 1 / kappa) - 1))
        points.append(Point(at=float(kappa), measured=log(TARGET) / log(factor)))
    rate = fit_rate(points, quantity=f"noise-free steps to accuracy {TARGET:g}", variable="kappa_g")
    compared = compare("difference of a step's log contraction from log(1 - 1/κ_g), relative", off, "<=", SAME_RATE)
    return Measurement((rate, compared), values_at("steps at κ_g", rate.points))


def _steps(case: Case, *, power: float, name: str) -> Measurement:
    truth = regular_truth(case.instance)
    iteration = settled_iteration(case.instance, truth, sigma=SIGMA)
    if constant_step(case):
        law = calls_for_accuracy(case, iteration, power=power, name=name)
    else:
        law = _averaged_rate(iteration, power, name)
    rate, slope, held = measured_steps(case, iteration, law, power=power, name=name)
    values = values_at(f"steps at {name}", rate.points, ".3g")
    note = "t gradients of variance σ² cannot tell y* better than σ/(μ√t)."
    if power == 1.0 or case.as_written:
        return Measurement((rate, held, law.model_copy(update={"role": "support"})), values, note)
    return Measurement((law, slope, held, rate.model_copy(update={"role": "support"})), values, note)


def _in_growing_batches(case: Case) -> Measurement:
    """Iterations and samples by the exact law, the batch of each so large that its noise falls as the error does.

    The law is that of the subject's iterations of one sample each, with less noise.
    """
    iteration = settled_iteration(case.instance, regular_truth(case.instance), sigma=SIGMA, size=0.5)
    start, (M, N) = float(np.linalg.norm(iteration.start)), iteration.step()
    mean, covariance, samples = iteration.start, 0 * N @ N.T, 0
    taken, drawn = [], []
    for steps in range(1, BATCHED[-1] + 1):
        batch = ceil(iteration.radius ** (-2 * steps))
        mean, covariance, samples = M @ mean, M @ covariance @ M.T + N @ N.T / batch, samples + batch
        if steps in BATCHED:
            reached = sqrt(float(mean @ mean + np.trace(covariance)))
            taken.append(Point(at=reached, measured=steps / log(start / reached)))
            drawn.append(Point(at=reached, measured=samples / log(start / reached)))
    rate = fit_rate(taken, quantity="iterations in growing batches to accuracy δ, over log 1/δ", variable="inner_tol")
    cost = fit_rate(drawn, quantity="their samples, over log 1/δ", variable="inner_tol")
    values: dict[str, float | str] = {
        "exponent of δ of the samples": cost.exponent,
        **values_at("samples at δ", drawn, ".3g"),
    }
    return Measurement((rate, held_to_law(case, iteration)), values)


def _averaged_rate(iteration: LinearIteration, power: float, name: str) -> RateEvidence:
    """The averaged iteration's exact law in the eigenbasis of g, where its coordinates do not meet."""
    curvatures, vectors = np.linalg.eigh(iteration.H)
    start = vectors.T @ iteration.start[: iteration.m]
    points = []
    for steps in LONG:
        squares = [
            averaged_mean_square(float(c), iteration.eta_y, iteration.sigma, float(e), steps)
            for c, e in zip(curvatures, start, strict=True)
        ]
        points.append(Point(at=sqrt(sum(squares)) ** power, measured=float(steps)))
    return fit_rate(points, quantity="steps to accuracy, averaged iteration", variable=name)


def _conditioned(problem: Any, kappa: int) -> Quadratic:
    """The same problem with g.yy = diag(1, ..., kappa), its minimiser off zero in every coordinate."""
    data: dict[str, Any] = quadratic_of(problem).to_dict()
    m = quadratic_of(problem).m
    data["g"] = {
        "yy": [[(kappa if i == m - 1 else 1) if i == j else 0 for j in range(m)] for i in range(m)],
        "y": [-1] * (m - 1) + [-kappa],
    }
    return quadratic_of(parse_problem(data, "conditioned"))
