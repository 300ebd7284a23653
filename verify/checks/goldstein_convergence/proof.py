"""Proof of the convergence theorem, step by step: what holds along every run, and what its sums are worth."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from spec import OuterParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.runs.outer_recursion import Follower, farthest
from verify.checks.measuring.runs.outer_runs import Recorded, kept, record
from verify.evidence.intervals import sub_gaussian_interval
from verify.evidence.model import ComparisonEvidence, Evidence, Point
from verify.evidence.rates.orders import bent
from verify.evidence.rates.rates import SweepEstimate, fit_power_law, fit_rate
from verify.subjects.protocol import SubjectFaultError
from verify.truth.functions import SyntheticOracle, WeightedAbsolute

FUNCTIONS = {"absolute-fixed": WeightedAbsolute((1.0, 2.0)), "kink": WeightedAbsolute((1.0,))}
BIAS, VARIANCE = 0.2, 1.0
SCHEDULE = OuterParameters(goldstein_radius=0.5, epsilon=0.1, D=0.025, eta=0.02, M=20, K=20)
ROUNDING = 1e-9
BLOCKS = (4, 16, 64, 256)
LONG_BLOCKS = (64, 256, 1024)
SHORT_BLOCKS = (1, 4, 16, 64)
"""The same range of M where a run is to be short: noise alone adds up by the root of M from the first step on."""
RUNS = AT_ONCE = 16_000
"""Runs of one block length, and as many as are held in memory."""
DIMENSION = 2


def _noisy_run(case: Case) -> tuple[Recorded, SyntheticOracle]:
    """A run near the kinks of this instance's F under a biased, noisy oracle."""
    function = FUNCTIONS[case.instance.name]
    oracle = SyntheticOracle(function, BIAS, VARIANCE, case.rng)
    return record(case, oracle, np.array([0.3, -0.2])[: len(function.c)], SCHEDULE), oracle


def _largest(recorded: Recorded, quantity: str, values: Vector, bound: float = 0.0) -> Measurement:
    worst = float(values.max())
    within = compare(quantity, worst, "<=", bound, ROUNDING)
    return Measurement((within, recorded.followed), {quantity: worst, "bound": bound})


def _references(recorded: Recorded) -> Vector:
    """Points u of norm at most D for every step, the troublesome ones: along the clipped vector and against it."""
    D, eta = recorded.parameters.D, recorded.parameters.eta
    v = recorded.steps - eta * recorded.g
    lengths = np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-300)
    return np.stack([D * v / lengths, -D * v / lengths, v * np.minimum(1.0, D / lengths), np.zeros_like(v)])


@check("goldstein-convergence/clip", instances=("absolute-fixed", "kink"), needs=("optimise",), sure=2)
def clipping(case: Case) -> Measurement:
    """Distance to reference points before and after clipping, at every step of a run."""
    recorded, _ = _noisy_run(case)
    u, v = _references(recorded)[:, :-1], (recorded.steps - recorded.parameters.eta * recorded.g)[:-1]
    excess = np.linalg.norm(recorded.steps[1:] - u, axis=2) - np.linalg.norm(v - u, axis=2)
    return _largest(recorded, "largest excess of ‖clip(v) - u‖ over ‖v - u‖", excess)


@check("goldstein-convergence/expand", instances=("absolute-fixed", "kink"), needs=("optimise",), sure=2)
def expansion(case: Case) -> Measurement:
    """One step's regret against its bound, at every step of a run."""
    recorded, _ = _noisy_run(case)
    eta, steps, g = recorded.parameters.eta, recorded.steps, recorded.g[:-1]
    u = _references(recorded)[:, :-1]
    left = (g * (steps[:-1] - u)).sum(axis=2)
    fall = ((steps[:-1] - u) ** 2).sum(axis=2) - ((steps[1:] - u) ** 2).sum(axis=2)
    right = fall / (2 * eta) + eta / 2 * (g * g).sum(axis=1)
    return _largest(recorded, "largest excess of one step's regret over its bound", left - right)


@check("goldstein-convergence/telescope", instances=("absolute-fixed", "kink"), needs=("optimise",), sure=2)
def telescoping(case: Case) -> Measurement:
    """A block's regret against its worst reference point over its bound, on noisy answers and on the worst known."""
    _, hard = _worst_regret(case, LONG_BLOCKS[-1], 2.0)
    runs, worst = (_noisy_run(case)[0], hard), 0.0
    for recorded in runs:
        D, eta = recorded.parameters.D, recorded.parameters.eta
        bound = 4 * D**2 / (2 * eta) + eta / 2 * (recorded.blocks(recorded.g) ** 2).sum(axis=(1, 2))
        worst = max(worst, float((_block_regret(recorded) / bound).max()))
    within = compare("largest ratio of a block's regret to its bound", worst, "<=", 1.0, ROUNDING)
    return Measurement((within, farthest([run.followed for run in runs])), {"largest ratio": worst})


def _block_regret(recorded: Recorded) -> Vector:
    """Largest Σ⟨g_m, Δ_m - u⟩ over ‖u‖ <= D of every block, shape (K,)."""
    g, steps = recorded.blocks(recorded.g), recorded.blocks(recorded.steps)
    return np.asarray((g * steps).sum(axis=(1, 2)) + recorded.parameters.D * np.linalg.norm(g.sum(axis=1), axis=1))


@check("goldstein-convergence/noise-term", instances=("absolute-fixed",), needs=("optimise",), decisions=1, sure=1)
def noise_term(case: Case) -> Measurement:
    """The noise's part of the regret at its worst reference point, against the block length; F is flat."""
    blocks = BLOCKS if case.profile.breadth is None else SHORT_BLOCKS
    error, runs = case.share.single.error / 2 / len(blocks), case.share.times(RUNS)
    # Nothing of the reading is in these runs: every one of them asks for the same.
    key, memory = ("noise term", blocks, runs, error, case.seed), kept(case)
    if key not in memory:
        memory[key] = _noise_terms(case, blocks, runs, error)
    estimates, followed = memory[key]
    rate = bent(fit_power_law(estimates, case.share.single, quantity="E Σ⟨noise, Δ_m - u⟩")["M"])
    return Measurement((rate, farthest(followed)), {f"at M = {e.at['M']:g}": e.value for e in estimates})


def _noise_terms(
    case: Case, blocks: Sequence[int], runs: int, error: float
) -> tuple[list[SweepEstimate], list[ComparisonEvidence]]:
    """The mean over runs at every block length, its interval wrong with at most ``error``; how well runs followed."""
    rng = case.shared_rng(f"noise term {blocks}")
    estimates, followed, D = [], [], 1.0
    sigma = math.sqrt(VARIANCE / DIMENSION)
    for M in blocks:
        schedule = OuterParameters(goldstein_radius=D * M, epsilon=0.1, D=D, eta=0.5 * D / math.sqrt(M), M=M, K=1)
        parts = []
        for start in range(0, runs, AT_ONCE):
            part, followed_here = _regrets(case, schedule, min(AT_ONCE, runs - start), rng)
            parts.append(part)
            followed.append(followed_here)
        sums = np.concatenate(parts)
        # A Gaussian functional with Lipschitz constant D√(Mσ²): sub-Gaussian around its mean.
        low, high = sub_gaussian_interval(sums, 2 * D * sigma * math.sqrt(M), error)
        at, mean = {"M": float(M)}, float(sums.mean())
        estimates.append(SweepEstimate(at, mean, None, low, high, runs, law="exponent (sub-Gaussian)"))
    return estimates, followed


def _regrets(
    case: Case, schedule: OuterParameters, runs: int, rng: np.random.Generator
) -> tuple[Vector, ComparisonEvidence]:
    """The noise's part of the regret of each run, shape (runs,), and how well they followed."""
    told: list[Vector] = []

    def noise(z: Vector) -> Vector:
        told.append(np.asarray(math.sqrt(VARIANCE / DIMENSION) * rng.standard_normal(z.shape)))
        return told[-1]

    starts = np.zeros((runs, DIMENSION))
    follower = Follower(noise, starts, schedule)
    _, path = case.stages.optimise_runs(follower, starts, schedule, rng, keep_path=True)
    assert path is not None  # asked for
    g = _by_run(told, schedule.M, runs)
    sums = (g * np.diff(path, axis=0)).sum(axis=(0, 2)) + schedule.D * np.linalg.norm(g.sum(axis=0), axis=1)
    return np.asarray(sums), follower.evidence()


@check("goldstein-convergence/step-size", instances=("absolute-fixed",), needs=("optimise",), sure=4)
def step_size(case: Case) -> Measurement:
    """A block's worst regret at the asserted step, and at half and twice it, on answers that make the bound tight."""
    constant = 1.0 if case.as_written else 2.0
    points, followed, ratios, raised = [], [], [], []
    for M in LONG_BLOCKS:
        regret, run = _worst_regret(case, M, constant)
        points.append(Point(at=float(M), measured=regret, uncertainty=ROUNDING))
        followed.append(run.followed)
        ratios.append(regret / (2 * math.sqrt(M)))
        if LONG_BLOCKS[0] == M:
            raised = [_worst_regret(case, M, constant * factor)[0] / regret for factor in (0.5, 2.0)]
    rate = fit_rate(points, quantity="worst regret over a block, in units of DG", variable="M")
    evidence: tuple[Evidence, ...] = (rate, farthest(followed))
    if not case.as_written:
        within = compare("worst regret over 2DG√M", max(ratios), "<=", 1.0, ROUNDING)
        best = compare("least factor by which half or twice the step raises the worst regret", min(raised), ">=", 1.0)
        evidence = (*evidence[:1], within, best, *evidence[1:])
    note = "Answers of length G: a block against the next block's, then -G and G in turn once the step has turned."
    return Measurement(evidence, values_at("at M", points), note)


def _worst_regret(case: Case, M: int, constant: float) -> tuple[float, Recorded]:
    """Largest regret of three blocks, D = G = 1 and η = constant/√M, on fixed answers that oppose whoever listens.

    The first block's answers carry the step to one end of the ball; the second's bring it to the other, which costs
    2D²/η, and then hold it there in turns, each pair at ηG². The third starts like the second, from the other end.
    """
    eta = constant / math.sqrt(M)
    turn = min(M, math.ceil(2 / eta))
    block = np.ones(M)
    block[turn + 1 :: 2] = -1.0
    signs = iter(np.concatenate([-np.ones(M), block, -block]))
    direction = np.array([0.6, 0.8])
    schedule = OuterParameters(goldstein_radius=float(M), epsilon=1.0, D=1.0, eta=eta, M=M, K=3)
    recorded = record(case, lambda z: np.asarray(next(signs, 0.0) * direction + 0.0 * z), np.zeros(2), schedule)
    return float(_block_regret(recorded).max()), recorded


def _by_run(told: list[Vector], M: int, runs: int) -> Vector:
    """A block's answers, shape (M, runs, n), whether the runs, of M questions each, were made together or in turn."""
    groups = [told[first : first + M] for first in range(0, len(told), M)]
    count = sum(len(answer) for answer in told)
    if count != M * runs or any({len(answer) for answer in group} != {len(group[0])} for group in groups):
        raise SubjectFaultError(f"optimise_runs asked for {count} gradients instead of M = {M} for each of {runs} runs")
    if len(groups[-1]) != M:
        raise SubjectFaultError(f"optimise_runs asked the oracle {len(told)} times, no multiple of M = {M}")
    return np.concatenate([np.array(group) for group in groups], axis=1)


@check("goldstein-convergence/bias-term", instances=("absolute-fixed", "kink"), needs=("optimise",), sure=2)
def bias_term(case: Case) -> Measurement:
    """The bias's inner product with Δ_t - u at the worst reference point, in units of 2Dβ."""
    recorded, oracle = _noisy_run(case)
    bias = oracle.function.gradient(recorded.z) - oracle.mean(recorded.z)
    D = recorded.parameters.D
    contribution = (bias * recorded.steps).sum(axis=1) + D * np.linalg.norm(bias, axis=1)
    return _largest(recorded, "largest contribution of the bias", contribution, 2 * D * BIAS)


@check("goldstein-convergence/lipschitz-scaling", instances=("kink",), needs=("optimise",), sure=2)
def lipschitz_scaling(case: Case) -> Measurement:
    """Regret over DM at the stated parameters, answers of length L that always oppose the next step."""
    epsilon, points, followed = 1.0, [], []
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
        followed.append(recorded.followed)
        points.append(Point(at=L, measured=float(_block_regret(recorded)[-1]) / (D * M), uncertainty=1e-9))
    rate = fit_rate(points, quantity="regret over DM at ε = 1", variable="L_F")
    note = "Without L_F in M and η a step of ηL_F exceeds D: the method answers the last answer only."
    return Measurement((rate, farthest(followed)), values_at("at L_F", points), note)
