"""Lemma "Inner-loop Oracle Complexity", step C1: the primal-dual iteration for the lower level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, log, sqrt
from typing import Any

import numpy as np

from spec import Noise, Quadratic
from spec.exact import Vector
from spec.problem import parse_problem
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.premises import regular_truth, shown_vector
from verify.checks.measuring.runs.iteration_runs import (
    FURTHER,
    SIZES,
    SMALL,
    call_of,
    constant_step,
    error_sampler,
    mean_square_at,
    measured_steps,
    settled_iteration,
    steps_call,
)  # fmt: skip
from verify.evidence.bets.squares import SquareBound
from verify.evidence.intervals import Looks
from verify.evidence.model import ComparisonEvidence, Point, RateEvidence
from verify.evidence.rates.orders import bent
from verify.evidence.rates.rates import SweepEstimate, fit_power_law, fit_rate
from verify.evidence.samples.laws import SquareLaw
from verify.evidence.samples.premises_of_laws import Taken, law_of_variance
from verify.evidence.streams import Sampler
from verify.subjects.protocol import Call
from verify.truth.enclosures.pair import Truth
from verify.truth.geometry import quadratic_of
from verify.truth.iterations import LinearIteration, best_radius, projected, shrinking
from verify.verdict import decide

SEVERAL_ACTIVE = ("absolute-moving", "two-of-three", "fixed-rows", "random-3x5x4")
UNIT = Noise(model="additive", sigma_f=1, sigma_g=1)
ARRIVED = 0.05
"""Part of the distance from the start that is left, up to which an iteration is on its way straight to its end."""
FADED = 1e-12
"""Distance at which an iteration is done."""
SAME_DISTANCE = 1e-3
"""Relative difference that roundings of some thousand steps may leave in a distance far below its start."""
CONVERGED = 1e-6
"""Relative distance that counts as converged; far above rounding, far below any other point of interest."""
ROW_SCALES = (
    Fraction(3, 10),
    Fraction(1, 10),
    Fraction(3, 100),
    Fraction(1, 100),
    Fraction(3, 1000),
    Fraction(1, 1000),
)
"""Factors on one active row, towards a row that hardly matters."""
STEP_SIZES = (0.2, 0.1, 0.05, 0.025)
"""In units of one over the largest curvature."""
RUNS_A_CALL = 250
RUNS = 3_000
"""Independent iterations behind one mean square of a sweep at first."""
TOLD_APART = 20_000
"""The same where the power of the step size is to be known to a tenth."""
LONG = (256, 512, 1024, 2048, 4096, 8192)
"""Steps at which the averaged iteration's exact law is read."""


@check("inner-cost/primal-dual-sign", instances=("toy1", *SEVERAL_ACTIVE), needs=("lower_level_runs",), sure=1)
def primal_dual_sign(case: Case) -> Measurement:
    """Distance of the noise-free iteration's end from the exact pair, after steps enough for any contraction."""
    truth = regular_truth(case.instance)
    iteration = settled_iteration(case.instance, truth, sigma=0.0)
    steps = ceil(log(CONVERGED / 100) / log(iteration.radius)) + 200
    end = _distance(case, truth, call_of(case, iteration, steps, inner_solver="constant-step"))
    size = 1 + float(np.linalg.norm(truth.y_star)) + float(np.linalg.norm(truth.lam))
    context = {"steps": float(steps), "step size": iteration.eta_y}
    compared = compare("distance of the end from (y*, λ*)", end, "==", 0.0, CONVERGED * size, context=context)
    short = steps_call(case, 100, 0.1, 0.1, inner_solver="constant-step")
    y, lam = case.stages.lower_level_runs(case.instance.problem, case.x, short, case.rng, 1)
    shown = {"y after 100 steps of 0.1": y[0], "λ after 100 steps of 0.1": lam[0], "y*": truth.y_star, "λ*": truth.lam}
    values: dict[str, float | str] = {name: shown_vector(vector, 6) for name, vector in shown.items()}
    return Measurement((compared,), values, "∇_y(λᵀh) = -Bᵀλ; with +Bᵀλ the iteration climbs where it should descend.")


@check("inner-cost/linear-rate", instances=SEVERAL_ACTIVE[:3], needs=("lower_level_runs",), sure=2)
def linear_rate(case: Case) -> Measurement:
    """The subject's contraction at the best step sizes, while one active row shrinks and κ_g stays.

    Where its runs stand at either time is held against the exact iteration.
    """
    truth = regular_truth(case.instance)
    problem = quadratic_of(case.instance.problem)
    active = np.flatnonzero(truth.active)
    points, off = [], 0.0
    values: dict[str, float | str] = {}
    for scale in ROW_SCALES:
        scaled = _with_row(problem, int(active[-1]), scale)
        there = replace(case, instance=replace(case.instance, problem=scaled))
        rows = scaled.arrays.B[active]
        radius, *sizes = best_radius(scaled.arrays.g_yy, rows)
        times = [ceil(log(shrunk) / log(max(radius, 1e-3))) + 3 for shrunk in (1e-4, 1e-8)]
        left, exact = _distances(there, times, sizes)
        off = max(off, *(abs(a - b) / b for a, b in zip(left, exact, strict=True) if b > FADED))
        smallest = float(np.linalg.svd(rows, compute_uv=False)[-1])
        own = regular_truth(there.instance)
        if exact[0] > ARRIVED * _apart(own, 0 * own.y_star, 0 * own.lam):
            # The multipliers' projection keeps it going round: no factor of its linear part shows.
            values[f"steps that do not settle, at σ_min(B_I) = {smallest:.3g}"] = float(times[1])
            continue
        gap = 1 - (radius if left[1] <= FADED else (left[1] / left[0]) ** (1 / (times[1] - times[0])))
        points.append(Point(at=smallest, measured=gap, predicted=1 - radius))
        values[f"best contraction factor at σ_min(B_I) = {smallest:.3g}"] = 1 - gap
    rate = fit_rate(points, quantity="1 - best contraction factor", variable="sigma_min_B")
    same = compare("difference of the distance left from the exact iteration's, relative", off, "<=", SAME_DISTANCE)
    return Measurement((rate, same), values, "A row of small norm is felt by y only as fast as its multiplier grows.")


@check("inner-cost/noise-floor", instances=("concave-upper", "toy1"), needs=("lower_level_runs",), decisions=6, sure=1)
def noise_floor(case: Case) -> Measurement:
    """E‖y_t - y*‖² of the constant-step iteration once stationary: against zero, or its growth with η and its size."""
    truth = regular_truth(case.instance)
    noise = SMALL if truth.active.any() else UNIT
    constant = replace(case, reading=case.reading.choose(inner_solver="constant-step"))
    iterations = [settled_iteration(case.instance, truth, sigma=noise.scale("g.y"), size=size) for size in STEP_SIZES]
    held, sweeps = [], []
    for iteration in iterations:
        steps = _stationary(iteration)
        call = call_of(constant, iteration, steps)
        mean, covariance = (part[..., : iteration.m] for part in iteration.constant(steps))
        # Against the start's remainder alone as written, or the law's own expectation.
        wanted, predicted = (0.3, float(mean @ mean)) if case.as_written else (0.15, None)
        decision = SquareBound(
            "stationary mean squared error", case.share, wanted=wanted, predicted=predicted,
            law=SquareLaw.of(mean, covariance[: iteration.m]), context={"η": iteration.eta_y},
        )  # fmt: skip
        held.append(decision.run(error_sampler(constant, call, noise, block=RUNS_A_CALL, pair=False)))
        sweeps.append(error_sampler(constant, call, noise, block=RUNS_A_CALL, pair=False))
    exact = _exact_floors(settled_iteration(case.instance, truth, sigma=noise.scale("g.y")))
    rate = _rate_of_floors(case, exact, iterations, sweeps)
    values: dict[str, float | str] = {f"E‖y_t - y*‖² at η = {e.context['η']:g}": e.measured for e in held}
    note = "Each step adds noise of size ησ and forgets a share ημ of the error: what stays is of order ησ²/μ."
    if case.as_written:
        return Measurement((*held, rate.model_copy(update={"role": "support"})), values, note)
    below = _averaged_below(case, truth, noise, 4 * steps, _floor(iterations[-1]))
    return Measurement((rate, exact, *held, below), values, note)


def _rate_of_floors(
    case: Case, exact: RateEvidence, iterations: Sequence[LinearIteration], samplers: Sequence[Sampler]
) -> RateEvidence:
    """Power of η in the subject's own floors; the law's, divided out and put back, is known to its interval."""
    floors = [_floor(iteration) for iteration in iterations]
    planned, first = Looks(RUNS if case.as_written else TOLD_APART, case.share.error), iterations[0].eta_y
    while True:
        look = max(1, samplers[0].look)
        share, estimates, laws = replace(case.share, error=planned.spends(look)), [], list[Taken]()
        for iteration, floor, sampler in zip(iterations, floors, samplers, strict=True):
            moments = sampler.reach(planned.size(look))
            laws.append(law_of_variance(moments, share.error / 2 / len(samplers), SIZES))
            # One component, its mean faded: a chi-square estimate. What the exact law bends is divided out.
            bent_by = floor / (floors[0] * (iteration.eta_y / first) ** exact.exponent)
            estimates.append(SweepEstimate(
                {"eta": iteration.eta_y}, moments.mean_square / bent_by, moments.count * laws[-1].worth,
                samples=moments.count, predicted=floor / bent_by,
            ))  # fmt: skip
        rate = bent(fit_power_law(estimates, share, quantity="stationary mean squared error")["eta"])
        low, high = rate.interval
        known = (exact.interval[1] - exact.interval[0]) / 2
        points = tuple(
            point.model_copy(update={"measured": sampler.moments.mean_square, "predicted": floor})
            for point, sampler, floor in zip(rate.points, samplers, floors, strict=True)
        )
        worst = min(laws, key=lambda taken: taken.worth)
        rate = rate.model_copy(update={
            "interval": (low - known, high + known), "points": points, "error_rate": case.share.error,
            "law": worst.law, "checked": worst.checked,
        })  # fmt: skip
        verdict = "" if case.as_written else str(decide(case.bound, [rate]).verdict)
        if look >= FURTHER + case.share.level or (
            verdict != "INCONCLUSIVE" and (look > case.share.level or verdict == "REFUTED")
        ):
            return rate
        samplers[0].look = look + 1


@check("inner-cost/samples-for-accuracy", instances=("toy1", "concave-upper"), needs=("lower_level_runs",),
       decisions=2, sure=1)  # fmt: skip
def samples_for_accuracy(case: Case) -> Measurement:
    """Noisy steps against the accuracy of the pair that the subject's own iterations reach, and its size."""
    truth = regular_truth(case.instance)
    iteration = settled_iteration(case.instance, truth, sigma=SMALL.scale("g.y"))
    law = calls_for_accuracy(case, iteration).model_copy(update={"role": "support"})
    rate, _, held = measured_steps(case, iteration, law, power=1.0, name="inner_tol")
    note = "t gradients of variance σ² cannot tell y* better than σ/(μ√t)."
    return Measurement((rate, held, law), values_at("steps to δ", rate.points, ".3g"), note)


def calls_for_accuracy(
    case: Case, iteration: LinearIteration, *, power: float = 1.0, name: str = "inner_tol"
) -> RateEvidence:
    """Steps against δ**power from the exact law: fewest over all constant steps as written, averaged repaired."""
    points = []
    start = float(np.linalg.norm(iteration.start))
    for steps in LONG:
        reached = sqrt(mean_square_at(constant_step(case), iteration, steps)[0])
        # Logarithms are not counted.
        points.append(Point(at=reached**power, measured=steps / (log(start / reached) if constant_step(case) else 1.0)))
    solver = "constant step, over log 1/δ" if constant_step(case) else "averaged iteration"
    return fit_rate(points, quantity=f"steps to accuracy, {solver}", variable=name)


def _floor(iteration: LinearIteration) -> float:
    return float(np.trace(iteration.floor()[: iteration.m, : iteration.m]))


def _exact_floors(iteration: LinearIteration) -> RateEvidence:
    """The floor's exact law, to step sizes that no run could wait for."""
    sized = [iteration.sized(0.5**k) for k in range(3, 9)]
    points = [Point(at=one.eta_y, measured=_floor(one)) for one in sized]
    return fit_rate(points, quantity="stationary mean squared error, exact law", variable="eta", role="support")


def _averaged_below(case: Case, truth: Truth, noise: Noise, steps: int, floor: float) -> ComparisonEvidence:
    """The averaged solver passes the exact floor of the smallest constant step."""
    averaged = replace(case, reading=case.reading.choose(inner_solver="averaged"))
    iteration = settled_iteration(case.instance, truth, sigma=noise.scale("g.y"), size=0.5)
    mean, covariance = (part[..., : iteration.m] for part in iteration.averaged(steps, shrinking))
    decision = SquareBound(
        f"mean squared error of the averaged solver after {steps} steps", case.share,
        law=SquareLaw.of(mean, covariance[: iteration.m]), relation="<=", predicted=floor, wanted=0.6,
    )  # fmt: skip
    call = call_of(averaged, iteration, steps)
    return decision.run(error_sampler(averaged, call, noise, block=RUNS_A_CALL, pair=False))


def _distance(case: Case, truth: Truth, call: Call) -> float:
    y, lam = case.stages.lower_level_runs(case.instance.problem, case.x, call, case.rng, 1)
    return _apart(truth, y[0], lam[0])


def _distances(case: Case, times: list[int], sizes: list[float]) -> tuple[list[float], list[float]]:
    """Distance of the noise-free iteration from (y*, λ*) after some numbers of steps: the subject's, and exactly."""
    repaired, truth = replace(case, reading=case.repaired), regular_truth(case.instance)
    left, exact = [], []
    for steps in times:
        left.append(_distance(case, truth, steps_call(repaired, steps, *sizes, inner_solver="constant-step")))
        pair = projected(case.instance.problem, case.x, eta_y=sizes[0], eta_lam=sizes[1], steps=steps)
        exact.append(_apart(truth, *pair))
    return left, exact


def _apart(truth: Truth, y: Vector, lam: Vector) -> float:
    return float(np.hypot(np.linalg.norm(y - truth.y_star), np.linalg.norm(lam - truth.lam)))


def _stationary(iteration: LinearIteration) -> int:
    """Steps after which the start has faded a hundred times below the floor."""
    start = float(np.linalg.norm(iteration.start))
    return ceil(log(max(start / sqrt(_floor(iteration)), 1.0) * 100) / -log(iteration.radius))


def _with_row(problem: Quadratic, row: int, factor: Fraction) -> Quadratic:
    """The same problem with one row multiplied by a factor: the same feasible set, the same y*."""
    data: dict[str, Any] = problem.to_dict()
    rows = data["constraints"]
    for name in ("A", "B"):
        rows[name][row] = [str(Fraction(str(value)) * factor) for value in rows[name][row]]
    rows["b"][row] = str(Fraction(str(rows["b"][row])) * factor)
    return quadratic_of(parse_problem(data, "scaled"))
