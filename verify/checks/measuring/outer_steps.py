"""How many outer steps Algorithm 2 takes on its hardest known function, as the target, radius and slope vary.

F = 2ε|x₁| + √(L² - 4ε²)|x₂| from (1/(2ε), 0): as long as |x₁| exceeds the radius the distance from stationarity is 2ε,
and no method that moves by at most D a step is sooner done.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from spec import OuterParameters
from spec.exact import FloatArray
from verify.checks.measuring.case import Case
from verify.evidence.intervals import median_interval
from verify.evidence.power_laws import Estimate
from verify.truth.functions import SyntheticOracle, WeightedAbsolute

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
        """Where F exceeds its infimum by 1."""
        return [1.0 / (2 * self.epsilon), 0.0]


SWEEP = tuple(Target(1 / e, d) for e, d in ((4, 0.1), (6, 0.1), (10, 0.1), (6, 0.05), (6, 0.025)))
"""Targets towards the limit in ε, then in δ; 1/ε² is whole, so that no rounding of M bends the exponents."""
FAR_SWEEP = tuple(Target(1 / e, d) for e, d in ((6, 0.1), (10, 0.1), (14, 0.1), (6, 0.05), (6, 0.025)))
"""The same for the literal schedule, whose blocks are shorter and reach their rate later."""
SLOPES = tuple(Target(0.25, 0.1, L) for L in (1.0, 2.0, 4.0))
REPAIRED_M = 4
"""Leading constant of M under the repaired schedule; the theorem's own 36 multiplies every count by 9."""


def batch(case: Case, epsilon: float) -> int:
    """N_g under this case's reading, with α = ε."""
    return math.ceil(round(SIGMA**2 / epsilon**2, 6)) if case.reading.outer_batch == "sigma2-over-alpha2" else 1


def parameters(case: Case, target: Target, variance: float) -> OuterParameters:
    """The asserted schedule's orders: M = L²/ε² as written, 4G²/ε² repaired."""
    L, e, d = target.lipschitz, target.epsilon, target.radius
    K = math.ceil(PATIENCE / (e * d))
    if case.as_written:
        M = max(1, math.floor(round(L**2 / e**2, 6)))
        eta = d * e**3 / L**4
    else:
        second_moment = L**2 + variance
        M = math.ceil(round(REPAIRED_M * second_moment / e**2, 6))
        eta = 2 * d / M / math.sqrt(second_moment * M)
    return OuterParameters(goldstein_radius=d, epsilon=e, D=d / M, eta=eta, M=M, K=K)


def calls_until(case: Case, target: Target, error: float) -> Estimate:
    """Calls until a run's own mean distance over its blocks falls to ε: the median over runs, with its interval.

    That mean is the expected distance of the paper's random output, given the run.
    """
    schedule = parameters(case, target, _variance(case, target))
    blocks = _blocks(case, target)
    low, high = median_interval(blocks, error)
    at = {"epsilon": target.epsilon, "goldstein_radius": target.radius, "L_F": target.lipschitz}
    # Rounded to whole blocks.
    return Estimate(
        at=at, value=float(np.median(blocks)) * schedule.M, low=(low - 0.5) * schedule.M,
        high=(high + 0.5) * schedule.M,
        samples=len(blocks), law="exponent (order statistics)",
    )  # fmt: skip


def _variance(case: Case, target: Target) -> float:
    return (SIGMA * target.lipschitz) ** 2 / batch(case, target.epsilon)


_Key = tuple[bool, str, Target, int, int]
_KEPT: WeakKeyDictionary[object, dict[_Key, FloatArray]] = WeakKeyDictionary()
"""Runs of a subject by what determines them: several steps of one proof ask for the very same ones."""


def _kept(case: Case) -> dict[_Key, FloatArray]:
    """Runs already made by this very subject in this process; all references are one."""
    subject = case.stages.subject
    try:
        return _KEPT.setdefault(type(subject) if case.stages.are_the_reference else subject, {})
    except TypeError:  # it cannot be referred to weakly, or not be hashed
        return {}


def _blocks(case: Case, target: Target) -> FloatArray:
    """Blocks until each run's own mean distance falls to ε; infinite where it never does, shape (runs,)."""
    runs = case.share.times(RUNS)
    key = (case.as_written, case.reading.outer_batch, target, case.seed, runs)
    rng = case.shared_rng(repr(key[:3]))
    kept = _kept(case)
    if key in kept:
        return kept[key]
    variance = _variance(case, target)
    schedule = parameters(case, target, variance)
    function = target.function
    oracle = SyntheticOracle(function, 0.0, variance, rng)
    x_bar, _ = case.stages.optimise_runs(oracle, np.tile(target.start, (runs, 1)), schedule, rng)
    distances = function.distance(x_bar, target.radius)
    means = np.cumsum(distances, axis=0) / np.arange(1, schedule.K + 1)[:, None]
    reached = means <= target.epsilon
    blocks: FloatArray = np.where(reached.any(axis=0), reached.argmax(axis=0) + 1.0, np.inf)
    kept[key] = blocks
    return blocks


def sweep(case: Case, targets: Sequence[Target] | None = None) -> list[Estimate]:
    """All settings, their intervals jointly valid at half the case's share; by default those in ε and δ."""
    if targets is None:
        targets = FAR_SWEEP if case.as_written else SWEEP
    error = case.share.single.error / 2 / len(targets)
    made = [calls_until(case, target, error) for target in targets]
    return [estimate for estimate in made if math.isfinite(estimate.value)]


def scaled(estimates: Sequence[Estimate], factor: Sequence[float]) -> list[Estimate]:
    """Counts multiplied by what each step costs."""
    return [
        replace(e, value=e.value * c, low=e.low * c, high=e.high * c) for e, c in zip(estimates, factor, strict=True)
    ]
