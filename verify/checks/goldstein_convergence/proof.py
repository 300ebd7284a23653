"""Proof of the convergence theorem, step by step: what holds along every run, and what its sums are worth."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from spec import OuterParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.outer_runs import Recorded, record
from verify.evidence.decisions import SquareDecision
from verify.evidence.intervals import sub_gaussian_interval
from verify.evidence.laws import SquareLaw
from verify.evidence.model import Point
from verify.evidence.rates import Estimate, fit_power_law, fit_rate
from verify.subjects.protocol import SubjectFaultError
from verify.truth.functions import SyntheticOracle, WeightedAbsolute

FUNCTIONS = {"absolute-fixed": WeightedAbsolute((1.0, 2.0)), "kink": WeightedAbsolute((1.0,))}
BIAS, VARIANCE = 0.2, 1.0
SCHEDULE = OuterParameters(goldstein_radius=0.5, epsilon=0.1, D=0.025, eta=0.02, M=20, K=20)
ROUNDING = 1e-9
BLOCKS = (4, 16, 64, 256)
RUNS = 12_000


def _noisy_run(case: Case, schedule: OuterParameters = SCHEDULE) -> tuple[Recorded, SyntheticOracle]:
    """A run near the kinks of this instance's F under a biased, noisy oracle."""
    function = FUNCTIONS[case.instance.name]
    oracle = SyntheticOracle(function, BIAS, VARIANCE, case.rng)
    return record(case, oracle, np.array([0.3, -0.2])[: len(function.c)], schedule), oracle


def _largest(quantity: str, values: Vector, bound: float = 0.0) -> Measurement:
    worst = float(values.max())
    return Measurement((compare(quantity, worst, "<=", bound, ROUNDING),), {quantity: worst, "bound": bound})


def _references(recorded: Recorded) -> Vector:
    """Points u of norm at most D for every step, the troublesome ones: along the clipped vector and against it."""
    D, eta = recorded.parameters.D, recorded.parameters.eta
    v = recorded.steps - eta * recorded.g
    lengths = np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-300)
    return np.stack([D * v / lengths, -D * v / lengths, v * np.minimum(1.0, D / lengths), np.zeros_like(v)])


@check("goldstein-convergence/clip", instances=("absolute-fixed", "kink"), needs=("optimise",), sure=1)
def clipping(case: Case) -> Measurement:
    """Distance to reference points before and after clipping, at every step of a run."""
    recorded, _ = _noisy_run(case)
    u, v = _references(recorded)[:, :-1], (recorded.steps - recorded.parameters.eta * recorded.g)[:-1]
    excess = np.linalg.norm(recorded.steps[1:] - u, axis=2) - np.linalg.norm(v - u, axis=2)
    return _largest("largest excess of ‖clip(v) - u‖ over ‖v - u‖", excess)


@check("goldstein-convergence/expand", instances=("absolute-fixed", "kink"), needs=("optimise",), sure=1)
def expansion(case: Case) -> Measurement:
    """One step's regret against its bound, at every step of a run."""
    recorded, _ = _noisy_run(case)
    eta, steps, g = recorded.parameters.eta, recorded.steps, recorded.g[:-1]
    u = _references(recorded)[:, :-1]
    left = (g * (steps[:-1] - u)).sum(axis=2)
    fall = ((steps[:-1] - u) ** 2).sum(axis=2) - ((steps[1:] - u) ** 2).sum(axis=2)
    right = fall / (2 * eta) + eta / 2 * (g * g).sum(axis=1)
    return _largest("largest excess of one step's regret over its bound", left - right)


@check("goldstein-convergence/telescope", instances=("absolute-fixed", "kink"), needs=("optimise",), sure=1)
def telescoping(case: Case) -> Measurement:
    """A block's regret against its worst reference point, and its bound."""
    recorded, _ = _noisy_run(case)
    D, eta = recorded.parameters.D, recorded.parameters.eta
    bound = 4 * D**2 / (2 * eta) + eta / 2 * (recorded.blocks(recorded.g) ** 2).sum(axis=(1, 2))
    return _largest("largest excess of a block's regret over its bound", _block_regret(recorded) - bound)


def _block_regret(recorded: Recorded) -> Vector:
    """Largest Σ⟨g_m, Δ_m - u⟩ over ‖u‖ <= D of every block, shape (K,)."""
    g, steps = recorded.blocks(recorded.g), recorded.blocks(recorded.steps)
    return np.asarray((g * steps).sum(axis=(1, 2)) + recorded.parameters.D * np.linalg.norm(g.sum(axis=1), axis=1))


@check("goldstein-convergence/second-moment", instances=("absolute-fixed", "kink"), needs=("optimise",), decisions=1)
def second_moment(case: Case) -> Measurement:
    """Mean squared answer along a run, the oracle's bias lying along the gradient."""
    # Long enough to tell the two bounds apart with the promised power.
    schedule = SCHEDULE.model_copy(update={"K": case.share.times(600)})
    recorded, oracle = _noisy_run(case, schedule)
    n, L = len(oracle.function.c), oracle.function.lipschitz
    # Off the axes every mean has length L + β, and the law of the square does not depend on its direction.
    mean = np.zeros(n)
    mean[0] = L + BIAS
    law = SquareLaw.of(mean, VARIANCE / n * np.eye(n), schedule.T)
    predicted = L**2 + VARIANCE if case.as_written else (L + BIAS) ** 2 + VARIANCE
    name = "E‖g‖² against L_F² + V" if case.as_written else "E‖g‖² against (L_F + β)² + V"
    decision = SquareDecision(name, case.share, law=law, relation="<=", predicted=predicted)
    measured = float((recorded.g**2).sum(axis=1).mean())
    return Measurement((decision.evidence(measured),), {"E‖g‖²": measured, "bound": predicted, "β": BIAS})


@check("goldstein-convergence/noise-term", instances=("absolute-fixed",), needs=("optimise",), decisions=1)
def noise_term(case: Case) -> Measurement:
    """The noise's part of the regret at its worst reference point, against the block length; F is flat."""
    # Both parts are Gaussian functionals with Lipschitz constant D√(Mσ²): sub-Gaussian around their mean.
    return _growth(case, "E Σ⟨noise, Δ_m - u⟩", lambda M: 0.5 / math.sqrt(M))


@check("goldstein-convergence/step-size", instances=("absolute-fixed",), needs=("optimise",), decisions=1)
def step_size(case: Case) -> Measurement:
    """Regret over a block at the asserted step, the answers as unpredictable as their bound allows."""
    constant = 1.0 if case.as_written else 2.0 / math.sqrt(VARIANCE)
    return _growth(case, "regret over a block", lambda M: constant / math.sqrt(M))


def _growth(case: Case, quantity: str, eta_over_D: Callable[[int], float]) -> Measurement:
    error, runs = case.share.single.error / 2 / len(BLOCKS), case.share.times(RUNS)
    estimates, n, D = [], 2, 1.0
    sigma = math.sqrt(VARIANCE / n)
    for M in BLOCKS:
        schedule = OuterParameters(goldstein_radius=D * M, epsilon=0.1, D=D, eta=D * eta_over_D(M), M=M, K=1)
        told: list[Vector] = []

        def noise(z: Vector, told: list[Vector] = told) -> Vector:
            told.append(np.asarray(sigma * case.rng.standard_normal(z.shape)))
            return told[-1]

        _, path = case.stages.optimise_runs(noise, np.zeros((runs, n)), schedule, case.rng, keep_path=True)
        assert path is not None  # asked for
        g = _by_run(told, M, runs)
        sums = (g * np.diff(path, axis=0)).sum(axis=(0, 2)) + D * np.linalg.norm(g.sum(axis=0), axis=1)
        low, high = sub_gaussian_interval(sums, 2 * D * sigma * math.sqrt(M), error)
        at, mean = {"M": float(M)}, float(sums.mean())
        estimates.append(Estimate(at, mean, None, low, high, runs, law="exponent (sub-Gaussian)"))
    rate = fit_power_law(estimates, case.share.single, quantity=quantity)["M"]
    return Measurement((rate,), {f"at M = {e.at['M']:g}": e.value for e in estimates})


def _by_run(told: list[Vector], M: int, runs: int) -> Vector:
    """A block's answers, shape (M, runs, n), whether the runs, of M questions each, were made together or in turn."""
    groups = [told[first : first + M] for first in range(0, len(told), M)]
    asked = sum(len(answer) for answer in told)
    if asked != M * runs or any({len(answer) for answer in group} != {len(group[0])} for group in groups):
        raise SubjectFaultError(f"optimise_runs asked for {asked} gradients instead of M = {M} for each of {runs} runs")
    if len(groups[-1]) != M:
        raise SubjectFaultError(f"optimise_runs asked the oracle {len(told)} times, no multiple of M = {M}")
    return np.concatenate([np.array(group) for group in groups], axis=1)


@check("goldstein-convergence/bias-term", instances=("absolute-fixed", "kink"), needs=("optimise",), sure=1)
def bias_term(case: Case) -> Measurement:
    """The bias's inner product with Δ_t - u at the worst reference point, in units of 2Dβ."""
    recorded, oracle = _noisy_run(case)
    bias = oracle.function.gradient(recorded.z) - oracle.mean(recorded.z)
    D = recorded.parameters.D
    contribution = (bias * recorded.steps).sum(axis=1) + D * np.linalg.norm(bias, axis=1)
    return _largest("largest contribution of the bias", contribution, 2 * D * BIAS)


@check("goldstein-convergence/reference-point", instances=("absolute-fixed", "kink"), needs=("optimise",), sure=1)
def reference_point(case: Case) -> Measurement:
    """Both sides with the chosen u_k, over the blocks of a run."""
    recorded, oracle = _noisy_run(case)
    gradients = recorded.blocks(oracle.function.gradient(recorded.z))
    D, sums = recorded.parameters.D, gradients.sum(axis=1)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    u = -D * sums / np.where(lengths > 0, lengths, 1.0)
    off = np.abs((gradients * u[:, None]).sum(axis=(1, 2)) + D * lengths[:, 0])
    return Measurement((compare("largest difference of the two sides", float(off.max()), "==", 0.0, ROUNDING),))


@check("goldstein-convergence/lipschitz-scaling", instances=("kink",), needs=("optimise",), sure=1)
def lipschitz_scaling(case: Case) -> Measurement:
    """Regret over DM at the stated parameters, answers of length L that always oppose the next step."""
    epsilon, points = 1.0, []
    for L in (1.0, 2.0, 4.0, 8.0, 16.0):
        M = 4 if case.as_written else math.ceil(36 * L**2 / epsilon**2)
        D = 1.0 / M
        eta = D * epsilon if case.as_written else 2 * D / (L * math.sqrt(M))
        schedule = OuterParameters(goldstein_radius=1.0, epsilon=epsilon, D=D, eta=eta, M=M, K=2)
        last: list[float] = [0.0]

        def adversary(z: Vector, L: float = L, last: list[float] = last) -> Vector:
            # Whoever answered the previous time with one sign is stepping to the other.
            last[0] = -L if last[0] > 0 else L
            return np.full_like(z, last[0])

        recorded = record(case, adversary, np.zeros(1), schedule)
        points.append(Point(at=L, measured=float(_block_regret(recorded)[-1]) / (D * M), uncertainty=1e-9))
    rate = fit_rate(points, quantity="regret over DM at ε = 1", variable="L_F")
    note = "Without L_F in M and η a step of ηL_F exceeds D: the method answers the last answer only."
    return Measurement((rate,), values_at("at L_F", points), note)


@check("goldstein-convergence/floors", instances=("kink",))
def whole_blocks(case: Case) -> Measurement:
    """Block lengths over parameters of the stated orders: leading constants 1/3 to 3, ε from L_F down."""
    worst, lost, where = math.inf, 0, (0.0, 0.0, 0.0)
    for radius in (0.1, 0.3, 0.5, 0.7, 1.0):
        for epsilon in (1.0, 0.5, 0.3, 0.1):
            for constant in (1 / 3, 0.5, 1.0, 2.0, 3.0):
                if case.as_written:
                    D = constant * radius * epsilon**2
                    M = math.floor(radius / D)
                    exact = math.floor(1 / (Fraction(constant).limit_denominator(10) * Fraction(str(epsilon)) ** 2))
                    lost += exact != M
                else:
                    given = {"goldstein_radius": radius, "epsilon": epsilon, "variance": constant}
                    schedule = OuterParameters.repaired(**given, lipschitz_F=1.0, gap=1.0, bias=0.0)
                    M = schedule.M
                    lost += abs(schedule.D * M - radius) > 1e-15
                if worst > M:
                    worst, where = M, (radius, epsilon, constant)
    context: dict[str, float | str] = {"radius": where[0], "epsilon": where[1], "leading constant": where[2]}
    shortest = compare("smallest block length", worst, ">=", 1.0, context=context)
    rounding = compare("settings in which rounding loses a step", float(lost), "==", 0.0, role="support")
    return Measurement((shortest, rounding), {"M": worst, "settings that lose a step": float(lost), **context})
