"""Lemma "Inner-loop Oracle Complexity", step C1: the primal-dual iteration for the lower level."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, exp, log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from spec import Noise, OracleParameters, Quadratic
from spec.problem import parse_problem
from verify.evidence import ComparisonEvidence, Point, RateEvidence
from verify.geometry import quadratic_of, spectral_norm
from verify.linear_iterations import LinearIteration, best_radius, primal_dual, shrinking
from verify.rates import fit_rate
from verify.registry import Case, Measurement, check
from verify.statistics.decisions import SquareDecision
from verify.statistics.intervals import mean_square_interval
from verify.statistics.laws import SquareLaw
from verify.statistics.moments import Moments
from verify.statistics.rates import Estimate, fit_power_law
from verify.truth import Truth, regular_truth

if TYPE_CHECKING:
    from spec.atlas import Instance
    from verify.subjects.protocol import Call, Vector

SEVERAL_ACTIVE = ("absolute-moving", "two-of-three", "fixed-rows", "random-3x5x4")
UNIT = Noise(model="additive", sigma_f=1, sigma_g=1)
SMALL = Noise(model="additive", sigma_f="1/10", sigma_g="1/10")  # type: ignore[arg-type]  # exact spellings are parsed
CONVERGED = 1e-6
"""Relative distance that counts as converged; far above rounding, far below any other point of interest."""
ROW_SCALES = (Fraction(3, 10), Fraction(1, 10), Fraction(3, 100), Fraction(1, 100), Fraction(3, 1000))
"""Factors on one active row, towards a row that hardly matters."""
STEP_SIZES = (0.2, 0.1, 0.05, 0.025)
"""In units of one over the largest curvature."""
RUNS = 3_000
"""Independent iterations, times components of y, behind one mean square."""
LONG = (256, 512, 1024, 2048, 4096, 8192)
"""Steps at which the averaged iteration's exact law is read."""
HELD = 512
"""Steps at which the subject's own iterations are held against that law."""


@check("inner-cost/primal-dual-sign", instances=("toy1", *SEVERAL_ACTIVE), needs=("lower_level_runs",))
def primal_dual_sign(case: Case) -> Measurement:
    """Distance of the noise-free iteration's end from the exact pair, after steps enough for any contraction."""
    truth = regular_truth(case.instance)
    iteration = settled_iteration(case, truth, sigma=0.0)
    steps = ceil(log(CONVERGED / 100) / log(iteration.radius)) + 200
    reading = case.reading.choose(inner_solver="constant-step")
    end = _distance(case, truth, replace(_call(case, iteration, steps), reading=reading))
    size = 1 + float(np.linalg.norm(truth.y_star)) + float(np.linalg.norm(truth.lam))
    compared = ComparisonEvidence(
        quantity="distance of the end from (y*, λ*)", measured=end, relation="==", predicted=0.0,
        tolerance=CONVERGED * size, context={"steps": float(steps), "step size": iteration.eta_y},
    )  # fmt: skip
    short = replace(case.call(1.0), reading=reading)
    parameters = OracleParameters(lower_level_steps=100, eta_y=0.1, eta_lam=0.1)
    y, lam = case.stages.lower_level_runs(
        case.instance.problem, case.x, replace(short, parameters=parameters), case.rng, 1
    )
    values: dict[str, float | str] = {
        "y after 100 steps of 0.1": _shown(y[0]),
        "λ after 100 steps of 0.1": _shown(lam[0]),
        "y*": _shown(truth.y_star),
        "λ*": _shown(truth.lam),
    }
    return Measurement((compared,), values, "∇_y(λᵀh) = -Bᵀλ; with +Bᵀλ the iteration climbs where it should descend.")


@check("inner-cost/linear-rate", instances=SEVERAL_ACTIVE[:3], needs=("lower_level_runs",))
def linear_rate(case: Case) -> Measurement:
    """The subject's contraction at the best step sizes, while one active row shrinks and κ_g stays."""
    truth = regular_truth(case.instance)
    problem = quadratic_of(case.instance.problem)
    active = np.flatnonzero(truth.active)
    points, values = [], {}
    for scale in ROW_SCALES:
        scaled = _with_row(problem, int(active[-1]), scale)
        there = replace(case, instance=replace(case.instance, problem=scaled))
        exact = regular_truth(there.instance)
        rows = scaled.arrays.B[active]
        radius, eta_y, eta_lam = best_radius(scaled.arrays.g_yy, rows)
        gap = 1 - _contraction(there, exact, radius, eta_y, eta_lam)
        smallest = float(np.linalg.svd(rows, compute_uv=False)[-1])
        points.append(Point(at=smallest, measured=gap, predicted=1 - radius))
        values[f"best contraction factor at σ_min(B_I) = {smallest:.3g}"] = 1 - gap
    rate = fit_rate(points, quantity="1 - best contraction factor", variable="sigma_min_B")
    shown: dict[str, float | str] = dict(values)
    return Measurement((rate,), shown, "A row of small norm is felt by y only as fast as its multiplier grows.")


@check("inner-cost/noise-floor", instances=("concave-upper", "toy1"), needs=("lower_level_runs",), decisions=6)
def noise_floor(case: Case) -> Measurement:
    """E‖y_t - y*‖² of the constant-step iteration once stationary, against zero or against its exact law in η."""
    truth = regular_truth(case.instance)
    noise = SMALL if truth.active.any() else UNIT
    constant = replace(case, reading=case.reading.choose(inner_solver="constant-step"))
    estimates, held = [], []
    for size in STEP_SIZES:
        iteration = settled_iteration(case, truth, sigma=noise.scale("g.y"), size=size)
        steps = _stationary(iteration)
        moments = iterates(constant, truth, _call(constant, iteration, steps), noise, runs=RUNS, pair=False)
        at = {"eta": iteration.eta_y}
        # One component, its mean faded: a chi-square estimate.
        estimates.append(
            Estimate(at, moments.mean_square, float(moments.count), samples=moments.count, predicted=_floor(iteration))
        )
        mean, covariance = (part[..., : iteration.m] for part in iteration.constant(steps))
        law = SquareLaw.of(mean, covariance[: iteration.m], moments.count)
        decision = SquareDecision(
            quantity="stationary mean squared error", law=law, share=case.share, wanted=0.3,
            predicted=float(mean @ mean) if case.as_written else None, context={"η": iteration.eta_y},
        )  # fmt: skip
        held.append(decision.evidence(moments.mean_square))
    rate = fit_power_law(estimates, case.share, quantity="stationary mean squared error", role="support")["eta"]
    values: dict[str, float | str] = {f"E‖y_t - y*‖² at η = {p.at:g}": p.measured for p in rate.points}
    note = "Each step adds noise of size ησ and forgets a share ημ of the error: what stays is of order ησ²/μ."
    if case.as_written:
        return Measurement((*held, rate), values, note)
    below = _averaged_below(case, truth, noise, 4 * steps, estimates[-1].value)
    return Measurement((_exact_floors(iteration), *held, rate, below), values, note)


@check("inner-cost/samples-for-accuracy", instances=("toy1", "concave-upper"), needs=("lower_level_runs",), decisions=1)
def samples_for_accuracy(case: Case) -> Measurement:
    """Noisy steps against the accuracy of the pair: the method's exact law, to which the subject's runs are held."""
    truth = regular_truth(case.instance)
    iteration = settled_iteration(case, truth, sigma=SMALL.scale("g.y"))
    rate = calls_for_accuracy(case, iteration)
    held = held_to_law(case, truth, iteration)
    values: dict[str, float | str] = {f"steps to δ = {p.at:.3g}": p.measured for p in rate.points}
    return Measurement((rate, held), values, "t gradients of variance σ² cannot tell y* better than σ/(μ√t).")


def settled_iteration(case: Case, truth: Truth, *, sigma: float, size: float = 1.0) -> LinearIteration:
    """The iteration with both steps ``size`` over the largest curvature of g and of the rows."""
    return settled_iteration_of(case.instance, truth, sigma=sigma, size=size)


def settled_iteration_of(instance: Instance, truth: Truth, *, sigma: float, size: float = 1.0) -> LinearIteration:
    """The same for an instance."""
    a = quadratic_of(instance.problem).arrays
    active = a.B[truth.active > 0]
    largest = spectral_norm(a.g_yy) + (spectral_norm(active) ** 2 if len(active) else 0.0)
    eta = size / largest
    return primal_dual(instance.problem, truth, eta_y=eta, eta_lam=eta, sigma=sigma)


def iterates(case: Case, truth: Truth, call: Call, noise: Noise, *, runs: int, pair: bool = True) -> Moments:
    """Moments of the error of y, and of the active rows' multipliers if asked, over independent iterations."""
    active = truth.active > 0
    problem = case.instance.with_noise(noise).problem
    y, lam = case.stages.lower_level_runs(problem, case.x, call, case.rng, ceil(runs / len(truth.y_star)))
    moments = Moments(np.concatenate([truth.y_star, truth.lam[active]]) if pair else truth.y_star)
    moments.add(np.hstack([y, lam[:, active]]) if pair else y)
    return moments


def calls_for_accuracy(
    case: Case, iteration: LinearIteration, *, power: float = 1.0, name: str = "inner_tol"
) -> RateEvidence:
    """Steps against δ**power from the exact law: fewest over all constant steps as written, averaged repaired."""
    points = []
    start = float(np.linalg.norm(iteration.start))
    for steps in LONG:
        if case.reading.inner_solver == "constant-step":
            reached = sqrt(best_constant(iteration, steps)[0])
            # Logarithms are not counted.
            points.append(Point(at=reached**power, measured=steps / log(start / reached)))
        else:
            reached = sqrt(mean_square(*iteration.averaged(steps, shrinking)))
            points.append(Point(at=reached**power, measured=float(steps)))
    solver = "constant step, over log 1/δ" if case.reading.inner_solver == "constant-step" else "averaged iteration"
    return fit_rate(points, quantity=f"steps to accuracy, {solver}", variable=name)


def best_constant(iteration: LinearIteration, steps: int) -> tuple[float, LinearIteration]:
    """Smallest mean square that a constant step size reaches in so many steps, and the iteration with that size."""
    from scipy.optimize import minimize_scalar

    def reached(logarithm: float) -> float:
        return log(mean_square(*_sized(iteration, exp(logarithm)).constant(steps)))

    grid = np.linspace(log(1e-6), log(1.9), 60)
    best = float(min(grid, key=reached))
    width = float(grid[1] - grid[0])
    found = minimize_scalar(reached, bounds=(best - width, min(best + width, grid[-1])), method="bounded",
                            options={"xatol": 1e-6})  # fmt: skip
    return exp(float(found.fun)), _sized(iteration, exp(float(found.x)))


def held_to_law(case: Case, truth: Truth, iteration: LinearIteration) -> ComparisonEvidence:
    """The subject's mean squared error after :data:`HELD` steps against the law's; both constants count."""
    averaged = case.reading.inner_solver != "constant-step"
    law = iteration.averaged(HELD, shrinking) if averaged else iteration.constant(HELD)
    moments = iterates(case, truth, _call(case, iteration, HELD), SMALL, runs=RUNS)
    return SquareDecision(
        quantity=f"mean squared error after {HELD} steps", law=SquareLaw.of(*law, moments.count), share=case.share,
        wanted=0.4, context={"step size": iteration.eta_y, "solver": "averaged" if averaged else "constant step"},
    ).evidence(moments.mean_square)  # fmt: skip


def _floor(iteration: LinearIteration) -> float:
    return float(np.trace(iteration.floor()[: iteration.m, : iteration.m]))


def _exact_floors(iteration: LinearIteration) -> RateEvidence:
    """The floor's exact law, to step sizes that no run could wait for."""
    sized = [_sized(iteration, 0.5**k) for k in range(6)]
    points = [Point(at=one.eta_y, measured=_floor(one)) for one in sized]
    return fit_rate(points, quantity="stationary mean squared error, exact law", variable="eta")


def _averaged_below(case: Case, truth: Truth, noise: Noise, steps: int, floor: float) -> ComparisonEvidence:
    """The averaged solver, in support: it passes the floor of the constant step."""
    averaged = replace(case, reading=case.reading.choose(inner_solver="averaged"))
    iteration = settled_iteration(case, truth, sigma=noise.scale("g.y"), size=0.5)
    moments = iterates(averaged, truth, _call(averaged, iteration, steps), noise, runs=RUNS // 2, pair=False)
    low, _ = mean_square_interval(moments, case.share.error)
    return ComparisonEvidence(
        quantity=f"mean squared error of the averaged solver after {steps} steps", measured=moments.mean_square,
        relation="<=", predicted=floor, tolerance=moments.mean_square - low, rung="statistical",
        error_rate=case.share.error, samples=moments.count, role="support",
    )  # fmt: skip


def _call(case: Case, iteration: LinearIteration, steps: int) -> Call:
    parameters = OracleParameters(lower_level_steps=steps, eta_y=iteration.eta_y, eta_lam=iteration.eta_lam)
    return replace(case.call(1.0), parameters=parameters)


def _distance(case: Case, truth: Truth, call: Call) -> float:
    y, lam = case.stages.lower_level_runs(case.instance.problem, case.x, call, case.rng, 1)
    return float(np.hypot(np.linalg.norm(y[0] - truth.y_star), np.linalg.norm(lam[0] - truth.lam)))


def _contraction(case: Case, truth: Truth, radius: float, eta_y: float, eta_lam: float) -> float:
    """Factor a step of the subject's iteration between two late times, noise-free; exactly 0 where it is done."""
    reading = case.repaired.choose(inner_solver="constant-step")
    times = [ceil(log(shrunk) / log(max(radius, 1e-3))) + 3 for shrunk in (1e-4, 1e-8)]
    ends = []
    for steps in times:
        parameters = OracleParameters(lower_level_steps=steps, eta_y=eta_y, eta_lam=eta_lam)
        call = replace(case.call(1.0), reading=reading, parameters=parameters)
        ends.append(_distance(case, truth, call))
    if ends[1] <= 1e-12 or ends[0] == 0:
        return radius
    return float((ends[1] / ends[0]) ** (1 / (times[1] - times[0])))


def _stationary(iteration: LinearIteration) -> int:
    """Steps after which the start has faded a hundred times below the floor."""
    floor = sqrt(float(np.trace(iteration.floor()[: iteration.m, : iteration.m])))
    start = float(np.linalg.norm(iteration.start))
    return ceil(log(max(start / floor, 1.0) * 100) / -log(iteration.radius))


def _sized(iteration: LinearIteration, size: float) -> LinearIteration:
    return replace(iteration, eta_y=size * iteration.eta_y, eta_lam=size * iteration.eta_lam)


def mean_square(mean: Vector, covariance: Vector) -> float:
    return float(mean @ mean + np.trace(covariance))


def _with_row(problem: Quadratic, row: int, factor: Fraction) -> Quadratic:
    """The same problem with one row multiplied by a factor: the same feasible set, the same y*."""
    data: dict[str, Any] = problem.to_dict()
    rows = data["constraints"]
    for name in ("A", "B"):
        rows[name][row] = [_exact(value, factor) for value in rows[name][row]]
    rows["b"][row] = _exact(rows["b"][row], factor)
    made = parse_problem(data, "scaled")
    if not isinstance(made, Quadratic):
        raise TypeError("a quadratic problem stays one")
    return made


def _exact(value: Any, factor: Fraction) -> str:
    return str(Fraction(str(value)) * factor)


def _shown(vector: Vector) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in vector) + ")"
