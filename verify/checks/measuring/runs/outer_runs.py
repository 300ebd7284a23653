"""Runs of the subject's Algorithm 2 on functions whose Goldstein distance is known.

All they asked and were told on record; whether their random choices are uniform; and how many outer steps they take
on the hardest known function, as the target, radius and slope vary: F = 2ε|x₁| + √(L² - 4ε²)|x₂| from (1/(2ε), 0). As
long as |x₁| exceeds the radius the distance from stationarity is 2ε, and no method that moves by at most D a step is
sooner done.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from spec import OuterParameters
from spec.exact import FloatArray, Vector
from verify.checks.measuring.case import Case, compare
from verify.checks.measuring.runs.outer_recursion import Follower, farthest
from verify.evidence.intervals import mean_interval, median_interval
from verify.evidence.model import ComparisonEvidence
from verify.evidence.rates.rates import SweepEstimate
from verify.subjects.protocol import OuterRun
from verify.truth.functions import SyntheticOracle, WeightedAbsolute

Oracle = Callable[[Vector], Vector]


@dataclass(frozen=True)
class Recorded:
    """A run with the points z it asked about and the answers g, each of shape (T, n), and whether it followed these."""

    run: OuterRun
    z: Vector
    g: Vector
    parameters: OuterParameters
    followed: ComparisonEvidence

    @property
    def steps(self) -> Vector:
        """The steps Δ_1, ..., Δ_T, shape (T, n)."""
        return np.asarray(np.diff(self.run.path, axis=0))

    def blocks(self, rows: Vector) -> Vector:
        """Rows grouped by block, shape (K, M, n)."""
        return rows.reshape(self.parameters.K, self.parameters.M, -1)


def record(
    case: Case, oracle: Oracle, x_0: Vector, parameters: OuterParameters, rng: np.random.Generator | None = None
) -> Recorded:
    """Run the subject's Algorithm 2 on an oracle that remembers; not to ask T times is the subject's fault."""
    questions: list[Vector] = []
    told: list[Vector] = []

    def remembering(z: Vector) -> Vector:
        answer = oracle(z)
        questions.append(np.array(z, dtype=np.float64))
        told.append(answer)
        return answer

    follower = Follower(remembering, x_0[None], parameters)
    run = case.stages.optimise(follower, x_0, parameters, case.rng if rng is None else rng)
    return Recorded(run, np.array(questions), np.array(told), parameters, follower.evidence(run.path))


def run_many(
    case: Case, oracle: Oracle, starts: Vector, parameters: OuterParameters, rng: np.random.Generator
) -> tuple[Vector, ComparisonEvidence]:
    """Block means (K, R, n) of runs from the rows of ``starts``, and whether they followed their answers."""
    follower = Follower(oracle, starts, parameters)
    x_bar, _ = case.stages.optimise_runs(follower, starts, parameters, rng)
    return x_bar, follower.evidence()


FUNCTION = WeightedAbsolute((1.0,))
UNIFORM_RUNS = 3000
START = 0.3
"""The second segment leads from here to -0.7: its middle and its ends say nothing about the kink's place on it."""
ACROSS = OuterParameters(goldstein_radius=2.0, epsilon=0.1, D=1.0, eta=1.0, M=2, K=1)
TOWARDS = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.1, eta=1.0, M=1, K=4)
"""Four blocks on the way to the kink: far from it, far, near or far by chance, near."""


def uniform_point(case: Case) -> ComparisonEvidence:
    """Mean of ⟨∇F(z), Δ⟩ at the points the subject asks on a segment across a kink, against the change of F."""
    points: list[Vector] = []

    def oracle(z: Vector) -> Vector:
        points.append(np.array(z))
        return FUNCTION.gradient(z)

    runs = case.share.times(UNIFORM_RUNS)
    _, path = case.stages.optimise_runs(oracle, np.full((runs, 1), START), ACROSS, case.rng, keep_path=True)
    assert path is not None  # asked for
    # One run after another, or all at once: the second question of each.
    z = points[1] if len(points) == ACROSS.T and len(points[1]) == runs else np.array(points[1::2]).reshape(-1, 1)
    step = path[2] - path[1]
    inner = (FUNCTION.gradient(z[: len(step)]) * step).sum(axis=1)
    change = FUNCTION.value(path[2]) - FUNCTION.value(path[1])
    quantity = "mean of ⟨∇F(z), Δ⟩ less the change of F, on a segment across a kink"
    return _near_zero(case, inner - change, 2.0, quantity, wanted=0.5)


def uniform_block(case: Case) -> ComparisonEvidence:
    """Distance of the outputs against the mean distance of their runs' blocks."""
    radius, excess = TOWARDS.goldstein_radius, np.empty(case.share.times(UNIFORM_RUNS))
    for i in range(len(excess)):
        run = case.stages.optimise(FUNCTION.gradient, np.array([START + 0.05]), TOWARDS, case.rng)
        excess[i] = FUNCTION.distance(run.x_out, radius) - FUNCTION.distance(run.x_bar, radius).mean()
    quantity = "expected distance of the output less the mean over its run's blocks"
    return _near_zero(case, excess, 1.0, quantity, wanted=0.35)


def _near_zero(case: Case, values: Vector, size: float, quantity: str, *, wanted: float) -> ComparisonEvidence:
    """The mean of independent values in [-size, size] against 0."""
    low, high = mean_interval(values + size, 2 * size, case.share.single.error)
    missed_low, missed_high = mean_interval(values + size, 2 * size, case.share.missed)
    mean = float(values.mean())
    tolerance = max(high - size - mean, mean - (low - size))
    return compare(
        quantity, mean, "==", 0.0, tolerance, rung="statistical", error_rate=case.share.error, samples=len(values),
        detectable=2 * tolerance + (missed_high - missed_low) / 2, wanted=wanted, power=1 - case.share.missed,
        law="bounded mean (Bernstein)",
    )  # fmt: skip


RUNS = 72
"""Independent runs a setting; their median's exact interval is what enters a rate."""
SIGMA = 0.5
"""Root of the variance of one sample, in units of L_F."""
PATIENCE = 1.4
"""Blocks given, in units of 1/(εδ): half of one is the way to go at full speed, the rest is for detours."""


@dataclass(frozen=True)
class Target:
    """One setting: ε, the Goldstein radius, L_F."""

    epsilon: float
    radius: float
    lipschitz: float = 1.0

    @property
    def function(self) -> WeightedAbsolute:
        """The hard function for this target."""
        slow = 2 * self.epsilon
        return WeightedAbsolute((slow, math.sqrt(self.lipschitz**2 - slow**2)))

    @property
    def start(self) -> list[float]:
        """Where F exceeds its value at the first stationary points by 1: those are a radius from the axis."""
        return [1.0 / (2 * self.epsilon) + self.radius, 0.0]


SWEEP = tuple(
    Target(e, d)
    for e, d in ((2 / 5, 1 / 4), (1 / 3, 1 / 4), (1 / 4, 1 / 4), (1 / 5, 1 / 4), (2 / 5, 1 / 8), (2 / 5, 1 / 16))
)
"""Targets towards the limit in ε, then in δ; 1/(2εδ), the blocks of the way, is whole, so no rounding bends a power."""
FAR_SWEEP = tuple(Target(1 / e, d) for e, d in ((4, 0.1), (6, 0.1), (8, 0.1), (10, 0.1), (6, 0.05), (6, 0.025)))
"""For the literal schedule, whose blocks are shorter and reach their rate later; 1/(2ε)² is whole, as N_g then is."""
SLOPES = tuple(Target(2 / 5, 1 / 4, L) for L in (1.2, 1.6, 2.4))
"""Slopes of F; L²/ε² is whole."""


def batch(case: Case, epsilon: float) -> int:
    """N_g under this case's reading, with α = ε."""
    return math.ceil(round(SIGMA**2 / epsilon**2, 6)) if case.reading.outer_batch == "sigma2-over-alpha2" else 1


def parameters(case: Case, target: Target) -> OuterParameters:
    """The stated schedule: M = L²/ε² as written, the theorem's 36G²/ε² repaired; blocks enough for detours."""
    L, e, d = target.lipschitz, target.epsilon, target.radius
    K = math.ceil(PATIENCE / (e * d))
    if case.as_written:
        M = max(1, math.floor(round(L**2 / e**2, 6)))
        return OuterParameters(goldstein_radius=d, epsilon=e, D=d / M, eta=d * e**3 / L**4, M=M, K=K)
    given = {"goldstein_radius": d, "epsilon": e, "lipschitz_F": L, "variance": _variance(case, target)}
    return OuterParameters.repaired(**given, gap=1.0, bias=0.0).model_copy(update={"K": K})


EVEN = 0.05
"""Part of a block by which the fall of the mean within one may be off."""


def calls_until(case: Case, target: Target, error: float) -> SweepEstimate:
    """Calls until a run's own mean distance over its blocks falls to ε: the median over runs, with its interval.

    That mean is the expected distance of the paper's random output, given the run.
    """
    M, (blocks, _) = parameters(case, target).M, _blocks(case, target)
    low, high = median_interval(blocks, error)
    at = {"epsilon": target.epsilon, "goldstein_radius": target.radius, "L_F": target.lipschitz}
    # Where the distance is made up of whole blocks, the runs differ by these or not at all.
    return SweepEstimate(
        at=at, value=float(np.median(blocks)) * M, low=(low - EVEN) * M, high=(high + EVEN) * M, samples=len(blocks),
        law="exponent (order statistics)",
    )  # fmt: skip


def _variance(case: Case, target: Target) -> float:
    return (SIGMA * target.lipschitz) ** 2 / batch(case, target.epsilon)


_KEPT: WeakKeyDictionary[object, dict[Hashable, Any]] = WeakKeyDictionary()
"""Runs of a subject by what determines them: several steps of one proof ask for the very same ones."""


def kept(case: Case) -> dict[Hashable, Any]:
    """Runs already made by this very subject in this process; all references are one."""
    subject = case.stages.subject
    try:
        return _KEPT.setdefault(type(subject) if case.stages.are_the_reference else subject, {})
    except TypeError:  # it cannot be referred to weakly, or not be hashed
        return {}


def _blocks(case: Case, target: Target) -> tuple[FloatArray, ComparisonEvidence]:
    """Blocks until each run's own mean distance falls to ε, shape (runs,), infinite where it never does; and whether
    the runs followed their answers.
    """
    runs = case.share.times(RUNS)
    key = (case.as_written, case.reading.outer_batch, target, case.seed, runs)
    rng = case.shared_rng(repr(key[:3]))
    memory = kept(case)
    if key in memory:
        blocks, followed = memory[key]
        return blocks, followed
    schedule, function = parameters(case, target), target.function
    oracle = SyntheticOracle(function, 0.0, _variance(case, target), rng)
    x_bar, followed = run_many(case, oracle, np.tile(target.start, (runs, 1)), schedule, rng)
    distances = function.distance(x_bar, target.radius)
    means = np.cumsum(distances, axis=0) / np.arange(1, schedule.K + 1)[:, None]
    reached = means <= target.epsilon
    last = reached.argmax(axis=0)
    after, before = (np.take_along_axis(means, at[None], 0)[0] for at in (last, np.maximum(last - 1, 0)))
    # Within the block that brings it to ε, the mean falls evenly.
    part = np.where(last > 0, (before - target.epsilon) / np.where(before > after, before - after, 1.0), 1.0)
    blocks = np.where(reached.any(axis=0), last + part, np.inf)
    memory[key] = blocks, followed
    return blocks, followed


def sweep(case: Case, targets: Sequence[Target] | None = None) -> tuple[list[SweepEstimate], ComparisonEvidence]:
    """All settings, their intervals jointly valid at half the case's share, and whether runs followed their answers.

    By default those in ε and δ; settings that no run reaches are left out.
    """
    if targets is None:
        targets = FAR_SWEEP if case.as_written else SWEEP
    error = case.share.single.error / 2 / len(targets)
    estimates = [calls_until(case, target, error) for target in targets]
    followed = farthest([_blocks(case, target)[1] for target in targets])
    return [estimate for estimate in estimates if math.isfinite(estimate.value)], followed
